"""Imports an agent without what its module runs when it is imported."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Sequence
from types import CodeType, ModuleType

from art_adapt.definitions import definitions_of
from art_adapt.recording.installed import is_installed
from art_adapt.recording.parsing import parsed


@contextlib.contextmanager
def without_runs_of(*calls: str) -> Iterator[None]:
    """Import modules of the project in this block without statements that make ``calls``.

    Only statements at module level count. With them goes what works on their results. An
    agent that is run below its definition, without ``if __name__ == "__main__":``, would
    otherwise ask its production model each time a training run starts.

    Args:
        calls: as the agent's source says them: ``"run_agent"``, ``"demo.launch"``.

    Raises:
        ImportError: a function or class of the module needs what such a statement makes.
    """
    finder = _WithoutRuns(calls)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class Finder(importlib.abc.MetaPathFinder):
    """Finds modules as those after it do; subclasses load the ones of the project their way."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        finders = [*sys.meta_path]  # a block of another thread may end meanwhile
        later = finders[finders.index(self) + 1 :] if self in finders else finders
        specs = (finder.find_spec(fullname, path, target) for finder in later)
        found = next((spec for spec in specs if spec is not None), None)
        if (
            found is not None
            and isinstance(found.loader, importlib.machinery.SourceFileLoader)
            and not is_installed(found.loader.path)
        ):
            found.loader = self.loader(found.loader)
        return found

    def loader(
        self, usual: importlib.machinery.SourceFileLoader
    ) -> importlib.machinery.SourceFileLoader:
        """Return what loads a module of the project, instead of the usual loader."""
        raise NotImplementedError


class _WithoutRuns(Finder):
    def __init__(self, calls: Sequence[str]) -> None:
        self._calls = calls

    def loader(
        self, usual: importlib.machinery.SourceFileLoader
    ) -> importlib.machinery.SourceFileLoader:
        code_file = getattr(usual, "code_file", usual.path)  # of a copy: the project's
        return _Loader(usual.name, usual.path, self._calls, code_file)


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(
        self, fullname: str, path: str, calls: Sequence[str], code_file: str
    ) -> None:
        super().__init__(fullname, path)
        self._calls = calls
        self.code_file = code_file

    def get_code(self, fullname: str) -> CodeType:
        """Compile the module anew: bytecode that is cached has all of its statements."""
        file = self.get_filename(fullname)
        tree = parsed(self.get_data(file), file)
        kept = definitions_of(tree, self._calls)
        if kept is None:
            raise ImportError(
                f"{file} cannot be imported without the code that it runs "
                f"({', '.join(self._calls)}), because its functions need the result; "
                'move that code under if __name__ == "__main__":',
                name=fullname,
                path=file,
            )
        tree.body = kept
        return compile(tree, self.code_file, "exec", dont_inherit=True)
