"""Check a document in an editor: through the real protocol, with a real server process."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

BAD = """\
import art


async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    # "🦊" takes two code units
    said = "🦊"; response = await client.chat.completions.create(model="m", messages=messages, temperature=0)
    trajectory.messages_and_choices.append(response.choices[0].message)
    return trajectory
"""
Talk = Callable[
    [LanguageClient, list[lsp.PublishDiagnosticsParams], str], Awaitable[Any]
]


def talked(tmp_path: Path, text: str, talk: Talk) -> Any:
    """Open a document in a new server, and return what ``talk`` does with it."""

    async def whole() -> Any:
        client = LanguageClient("test", "1")
        published: list[lsp.PublishDiagnosticsParams] = []

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params: lsp.PublishDiagnosticsParams) -> None:
            published.append(params)

        await client.start_io(sys.executable, "-m", "art_adapt", "server")
        await client.initialize_async(
            lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=tmp_path.as_uri())
        )
        client.initialized(lsp.InitializedParams())
        uri = (tmp_path / "rollout.py").as_uri()
        item = lsp.TextDocumentItem(uri, "python", 1, text)
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        await said(published, 1)
        result = await talk(client, published, uri)
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()
        return result

    return asyncio.run(asyncio.wait_for(whole(), 60))


async def said(published: list[Any], number: int) -> Any:
    while len(published) < number:
        await asyncio.sleep(0.01)
    return published[-1]


def test_findings_are_shown_with_their_pages_and_fixes(tmp_path: Path) -> None:
    async def talk(
        client: LanguageClient, published: list[lsp.PublishDiagnosticsParams], uri: str
    ) -> None:
        found = published[-1].diagnostics
        assert [each.code for each in found] == ["ART401", "ART201"]
        first, second = found
        assert first.severity is lsp.DiagnosticSeverity.Error
        assert "ART401.md" in first.code_description.href  # type: ignore[union-attr]
        line = BAD.splitlines()[first.range.start.line]
        units = line.encode("utf-16-le")
        start, end = first.range.start.character * 2, first.range.end.character * 2
        assert units[start:end].decode("utf-16-le") == "0"
        document = lsp.TextDocumentIdentifier(uri)
        hover = await client.text_document_hover_async(
            lsp.HoverParams(document, second.range.start)
        )
        assert "# ART201: message-not-choice" in hover.contents.value  # type: ignore[union-attr]
        actions = await client.text_document_code_action_async(
            lsp.CodeActionParams(
                document, second.range, lsp.CodeActionContext([second])
            )
        )
        titles = [each.title for each in actions or ()]
        assert titles == ["ART201: append the Choice", "Ignore ART201 here"]
        fixed = applied(BAD, actions[0].edit.changes[uri])  # type: ignore[index, union-attr]
        assert "append(response.choices[0])\n" in fixed
        ignored = applied(BAD, actions[1].edit.changes[uri])  # type: ignore[index, union-attr]
        assert "message)  # art: ignore[ART201]\n" in ignored
        change = lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(2, uri),
            [lsp.TextDocumentContentChangeWholeDocument(fixed)],
        )
        client.text_document_did_change(change)
        later = await said(published, 2)
        assert [each.code for each in later.diagnostics] == ["ART401"]

    talked(tmp_path, BAD, talk)


def applied(text: str, edits: list[lsp.TextEdit]) -> str:
    """Return a text of one-line edits, from the last to the first."""
    lines = text.splitlines(keepends=True)
    for edit in sorted(edits, key=lambda e: -e.range.start.character):
        units = lines[edit.range.start.line].encode("utf-16-le")
        start, end = edit.range.start.character * 2, edit.range.end.character * 2
        new = units[:start] + edit.new_text.encode("utf-16-le") + units[end:]
        lines[edit.range.start.line] = new.decode("utf-16-le")
    return "".join(lines)


def test_the_configuration_is_heard_and_what_is_wrong_is_no_end(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.art-adapt.check]\nper-file-ignores = {"rollout.py" = ["ART4"]}\n'
    )

    async def talk(
        client: LanguageClient, published: list[lsp.PublishDiagnosticsParams], uri: str
    ) -> None:
        assert [each.code for each in published[-1].diagnostics] == ["ART201"]
        (tmp_path / "pyproject.toml").write_text(
            "[tool.art-adapt.check]\nselekt = []\n"
        )
        client.text_document_did_save(
            lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(uri))
        )
        assert not (await said(published, 2)).diagnostics

    talked(tmp_path, BAD, talk)


def test_a_declared_encoding_and_what_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.art-adapt.check]\nexclude = ["old/*.py"]\n'
    )
    text = (
        "# -*- coding: latin-1 -*-\nimport art\n\n\n"
        "start = art.types.Message(role='user', content='café')\n"
    )

    async def talk(
        client: LanguageClient, published: list[lsp.PublishDiagnosticsParams], uri: str
    ) -> None:
        (found,) = published[-1].diagnostics
        document = lsp.TextDocumentIdentifier(uri)
        (action,) = (
            await client.text_document_code_action_async(
                lsp.CodeActionParams(
                    document, found.range, lsp.CodeActionContext([found])
                )
            )
            or ()
        )
        changed = applied(text, action.edit.changes[uri])  # type: ignore[union-attr, index]
        assert "content='café')  # art: ignore[ART522]\n" in changed
        client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))
        assert not (await said(published, 2)).diagnostics
        old = tmp_path / "old" / "x.py"
        old.parent.mkdir()
        old.write_text(text, encoding="latin-1")
        item = lsp.TextDocumentItem(old.as_uri(), "python", 1, text)
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        assert not (await said(published, 3)).diagnostics

    talked(tmp_path, text, talk)


@pytest.mark.slow
def test_five_hundred_lines_are_checked_in_a_moment(tmp_path: Path) -> None:
    longer = (
        BAD
        + "\n\n"
        + "\n".join(f"def f{n}(x):\n    return x + {n}\n" for n in range(160))
    )
    assert len(longer.splitlines()) > 480

    async def talk(
        client: LanguageClient, published: list[lsp.PublishDiagnosticsParams], uri: str
    ) -> float:
        taken = []
        for version in range(2, 8):
            change = lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(version, uri),
                [lsp.TextDocumentContentChangeWholeDocument(f"{longer}# {version}\n")],
            )
            before = time.perf_counter()
            client.text_document_did_change(change)
            await said(published, version)
            taken.append(time.perf_counter() - before)
        return min(taken)

    print(f"{1000 * talked(tmp_path, longer, talk):.0f} ms")
