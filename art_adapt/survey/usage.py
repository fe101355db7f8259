"""Says of an entry point how the project itself uses it."""

from __future__ import annotations

from dataclasses import replace

from art_adapt.survey.call_graph import CallGraph
from art_adapt.survey.callers import files_that_use
from art_adapt.survey.constructions import is_unknown, with_constructions
from art_adapt.survey.model import EntryPoint
from art_adapt.survey.project import Project
from art_adapt.survey.setups import with_setup


def as_used(
    project: Project, graph: CallGraph, entry: EntryPoint, *, everywhere: bool
) -> EntryPoint:
    """Say how the project makes the objects that ``entry`` needs, and what it sets up.

    ``everywhere``: files of the project that the agent does not import are searched, too,
    for what its own do not show.
    """
    entry = with_setup(project, graph, with_constructions(project, graph, entry))
    if not everywhere or not any(map(is_unknown, entry.needs)):
        return entry
    wider = replace(project, files=dict(project.files))
    if not wider.add(files_that_use(project, [entry.key], entry.class_name)):
        return entry
    graph = CallGraph.of(wider)
    return with_setup(wider, graph, with_constructions(wider, graph, entry))
