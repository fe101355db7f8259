"""Serve findings, fixes and rule pages to editors, by the language server protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from art_adapt import __version__
from art_adapt.check.diagnostic import Diagnostic
from art_adapt.check.ignores import with_ignores
from art_adapt.check.run import check_source, is_checked
from art_adapt.check.settings import settings_for
from art_adapt.errors import Refusal
from art_adapt.folders import files_in
from art_adapt.report.check import page_address
from art_adapt.report.rules import rule_page
from art_adapt.rules import rules
from art_adapt.rules.rule import Severity, TextEdit
from art_adapt.source import Source

SEVERITIES = {
    Severity.GARBAGE: lsp.DiagnosticSeverity.Error,
    Severity.WASTE: lsp.DiagnosticSeverity.Warning,
    Severity.UNTIDY: lsp.DiagnosticSeverity.Information,
}


class CheckServer(LanguageServer):
    """A server that checks a document as it is in the editor, each time it changes.

    Other files of the project are read as they are on disk.
    """

    def __init__(self) -> None:
        super().__init__("art-adapt", __version__)
        self.found: dict[str, tuple[Source, tuple[Diagnostic, ...]]] = {}
        self.refused: set[str] = set()

    def check(self, uri: str) -> None:
        """Check one document, and publish what is found; a refusal is shown once."""
        document = self.workspace.get_text_document(uri)
        path = Path(to_fs_path(uri) or document.filename or "untitled.py")
        source = _as_source(path, document.source)
        try:
            settings = settings_for(path)
            if _is_excluded(path, settings.exclude):
                return self.publish(document, source, ())
            selection = settings.selection_for(path)
            checked = check_source(source, selection, settings.target)
            found = tuple(
                sorted(checked.found, key=lambda d: (d.found.line, d.found.column))
            )
        except Refusal as refusal:
            found = ()
            if str(refusal) not in self.refused:
                self.refused.add(str(refusal))
                said = lsp.LogMessageParams(lsp.MessageType.Warning, str(refusal))
                self.window_log_message(said)
        self.publish(document, source, found)

    def publish(
        self, document: TextDocument, source: Source, found: Sequence[Diagnostic]
    ) -> None:
        """Show the findings of a document, in place of those before."""
        self.found[document.uri] = source, tuple(found)
        said = [_diagnostic(source, each) for each in found]
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(document.uri, said, document.version)
        )

    def at(self, uri: str, wanted: lsp.Range) -> Iterator[Diagnostic]:
        """Yield the findings of a document that overlap a range."""
        source, found = self.found.get(uri, (None, ()))
        for each in found:
            assert source is not None
            here = _range(source, each)
            if here.start <= wanted.end and wanted.start <= here.end:
                yield each


def make_server() -> CheckServer:
    """Return a server with its features, which is yet to be started."""
    server = CheckServer()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.check(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.check(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        for uri in list(server.found):  # another document may have imported it
            server.check(uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.found.pop(params.text_document.uri, None)
        server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(params.text_document.uri, [])
        )

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]),
    )
    def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        return [
            action
            for each in server.at(uri, params.range)
            for action in _actions(uri, server.found[uri][0], each)
        ]

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        here = lsp.Range(params.position, params.position)
        codes = {each.rule.code for each in server.at(params.text_document.uri, here)}
        pages = [rule_page(each) for each in rules() if each.rule.code in codes]
        if not pages:
            return None
        page = lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n---\n\n".join(pages))
        return lsp.Hover(page)

    return server


def _is_excluded(path: Path, patterns: Sequence[str]) -> bool:
    return path.is_file() and not any(files_in([path], is_checked, patterns))


def _as_source(path: Path, text: str) -> Source:
    """Return a document as its file would be: in the encoding that its first lines declare."""
    encoding = Source(path, text.encode()).encoding
    return Source(path, text.encode(encoding, errors="replace"))


def _diagnostic(source: Source, each: Diagnostic) -> lsp.Diagnostic:
    address = lsp.CodeDescription(page_address(each.rule.code))
    return lsp.Diagnostic(
        _range(source, each),
        each.found.message,
        SEVERITIES[each.rule.severity],
        each.rule.code,
        address,
        "art-adapt",
    )


def _actions(uri: str, source: Source, each: Diagnostic) -> Iterator[lsp.CodeAction]:
    """Yield what can be done about a finding: its fix, and a comment that ignores it."""
    diagnostics = [_diagnostic(source, each)]
    fix = each.found.fix
    if fix is not None:
        title = fix.title if fix.safe else f"{fix.title} (look at it)"
        edits = [_edit(source, edit) for edit in fix.edits]
        yield _action(f"{each.rule.code}: {title}", uri, edits, diagnostics, fix.safe)
    ignored = Source(source.path, with_ignores(source, [(each.rule, each.found)])).lines
    lines = source.lines
    changed = [
        lsp.TextEdit(lsp.Range(lsp.Position(at, 0), lsp.Position(at, _units(old))), new)
        for at, (old, new) in enumerate(zip(lines, ignored, strict=True))
        if old != new
    ]
    yield _action(f"Ignore {each.rule.code} here", uri, changed, diagnostics, False)


def _action(
    title: str,
    uri: str,
    edits: Sequence[lsp.TextEdit],
    diagnostics: Sequence[lsp.Diagnostic],
    preferred: bool,
) -> lsp.CodeAction:
    return lsp.CodeAction(
        title,
        lsp.CodeActionKind.QuickFix,
        diagnostics,
        preferred,
        edit=lsp.WorkspaceEdit({uri: edits}),
    )


def _edit(source: Source, edit: TextEdit) -> lsp.TextEdit:
    here = lsp.Range(_position(source, *edit.start), _position(source, *edit.end))
    return lsp.TextEdit(here, edit.text)


def _range(source: Source, each: Diagnostic) -> lsp.Range:
    found = each.found
    return lsp.Range(
        _position(source, found.line, found.column),
        _position(source, found.end_line, found.end_column),
    )


def _position(source: Source, line: int, column: int) -> lsp.Position:
    """Return a place of ``ast`` (lines from 1, columns in UTF-8 bytes) as editors count."""
    lines = source.lines
    text = lines[line - 1] if line <= len(lines) else ""
    return lsp.Position(
        line - 1, _units(text.encode()[:column].decode(errors="replace"))
    )


def _units(text: str) -> int:
    """Count the UTF-16 code units of a text, in which the protocol counts columns."""
    return len(text.encode("utf-16-le")) // 2
