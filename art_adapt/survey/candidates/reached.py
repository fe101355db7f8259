"""Tells which completion calls belong to the files that the user named."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from art_adapt.code.brought_in import brought_in
from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey, lineage
from art_adapt.code.project import Project
from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.survey.calls.create_aliases import uses_of


def of_this_agent(
    project: Project,
    graph: CallGraph,
    found: dict[Path, list[FoundCall]],
    run: Collection[FunctionKey],
) -> dict[Path, list[FoundCall]]:
    """Leave out calls in imported files that no function of a named file can reach.

    What a class inherits is its own, as is what the episode is known to ``run``. A call is reached by another name for it as well.
    """
    starts = [
        (path, name)
        for path in project.given
        for name in (MODULE_LEVEL, *project.files[path].functions)
    ]
    starts += [
        (place.source.path, method.qualname)
        for path in project.given
        for class_name in project.files[path].classes
        for place, base in lineage(project, project.files[path], class_name)
        for _, method in place.methods_of(base)
    ]
    starts += (*brought_in(project, project.given), *run)
    reachable = graph.reachable(starts)
    uses = uses_of(project, [call for calls in found.values() for call in calls])
    return {
        path: calls
        if path in project.given
        else [
            call
            for call in calls
            if (call.syntax.source.path, call.function) in reachable
            or any(key in reachable for key, _ in uses[call])
        ]
        for path, calls in found.items()
    }
