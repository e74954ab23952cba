"""Texts that make careless readers slow: one short piece many times over, in every place where a text can stand."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from tests.builders import Json, Transcript, dumps

PIECES = (
    *("1", "1,", "0.", "-1 ", "1 / 1 ", "1k", "1%", "(1 "),
    *(" ", "\t", "\n", " x", "\r", "\u2028"),
    *("[", "]", "{", "}", "(", "[]", "{}", "[1,", '{"a":1},', '{"a":'),
    *('{"type":', '{"type":[', '{"type":"user","uuid":"'),
    *('"', "\\", '\\"', "\\\\", "\\u0000", "'", "`", "```\n"),
    *("<", ">", "<system-reminder>", "<command-name>", "<local-command-stdout>", "&", "<!--"),
    *("File ", "File unchanged", " crusts", "crusts;", "import", "import ", "truncated", "not ", "thanks "),
    *("%", "⛁ ", "⛶", "⎿", "|", "| a ", ":", "#", "## Context Usage\n", "**Tokens:** 1k/", "**Model:** a "),
    *("a", "a.", "a/", "a-", "a\\", "a_", ".", "/", "-", "_", "*", "~", "$", "=", "+", "@", "@a", "mcp__", "://"),
    *("\x9d", "\x9b", "\x90", "\x1b", "\x1b]", "\x1b[", "\x1b[1", "\x07", "\0", "\x1bP\x9d"),
    *("é", "\U0001f600", "\u0301", "\u202e", "\u4e00", "\ud800", "\ufeff", "²"),
)


def grown(piece: str, size: int, before: str = "", behind: str = "") -> str:
    """About `size` characters of a piece, between two others."""
    return before + piece * max(1, size // len(piece)) + behind


def transcript(text: str) -> Transcript:
    """A transcript with the text wherever one can stand, in sound and in damaged lines."""
    t = Transcript()
    for said in (text, f"File {text}", f"<local-command-stdout>Context Usage\n{text}"):
        t.prompt(said)
        t.response(said, {"type": "thinking", "thinking": text}, context=10)
    t.prompt(f"<local-command-stdout>Context Usage\ntokens %{text}\n⛁ A: 10 tokens (1%)\nm · 1k/2k tokens (1%)\n")
    table = f"| Category |{text}|\n| A | 1{text} |"
    t.prompt(f"## Context Usage\n**Model:** a{text}b\n**Tokens:** 1k / 200k (1%){text}\n{table}")
    ids = [text, "toolu_b", "toolu_c"]
    t.response(
        t.tool_use("Read", {"file_path": text, "offset": text, "limit": text}, ids[0]),
        t.tool_use("Bash", {"command": text, "description": text}, ids[1]),
        t.tool_use(f"mcp__{text}__x", {text[:99]: text}, ids[2]),
        context=20,
        model=text,
        request=text,
        message=text,
        stop=text,
    )
    for id, result in zip(ids, (text, text[:900] + "File x", [{"type": "text", "text": text}] * 2), strict=True):
        t.tool_result(id, result, tool_use_result={"agentId": text, "matches": [text]})
    fields = ("cwd", "version", "gitBranch", "entrypoint", "agentId", "uuid", "parentUuid", "subtype", "effort")
    t.response("x", context=30, **dict.fromkeys(fields, text))
    t.prompt("x", timestamp=f"2026-10-01T00:00:00.{text}", forkedFrom={"sessionId": text, "messageUuid": text})
    attachments: list[Json] = [
        {"type": "file", "filename": text, "content": {"file": {"content": text}}},
        {"type": "task_reminder", "content": [text, {"a": text}]},
        {"type": "hook_success", "hookName": text, "hookEvent": text, "content": text},
        {"type": "queued_command", "prompt": text},
        {"type": text, "addedNames": [text]},
    ]
    for attachment in attachments:
        t.record("attachment", attachment=attachment)
    for kind, field in (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("summary", "summary")):
        t.meta(kind, **{field: text})
    t.meta("cost-state", models={text[:99]: text})
    t.record("system", subtype="compact_boundary", compactMetadata={"trigger": text, "userContext": text})
    t.prompt(text, isCompactSummary=True)
    t.response(text, context=10)
    return damaged(t, text.replace("\n", " ").encode("utf-8", "replace"))


def damaged(t: Transcript, text: bytes) -> Transcript:
    """Lines that are no record, or not only one, with the text in them."""
    whole = dumps({"type": "user", "uuid": "x", "message": {"role": "user", "content": "whole"}})
    for opening in (b"", b"x", b"{", b'{"type":"user","x":', b'{"type":"user","x":"', b'{"type":["'):
        t.raw(opening + text + b"\n" + opening + text + whole + b"\n")
    t.raw(whole[:-9] + text + whole + text + whole + b"\n")
    return t


def seconds(work: Callable[[], object], *, tries: int = 2) -> float:
    """The least CPU time that the work took."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        found = []
        for _ in range(tries):
            begin = time.process_time()
            work()
            found.append(time.process_time() - begin)
        return min(found)
    finally:
        if was_on:
            gc.enable()


MOST = 2.6
"""How many times the work twice the size may take."""


def growth(work: Callable[[int], Callable[[], object]], size: int) -> float:
    """How many times longer `work(2 * size)` takes than `work(size)`; the least of several looks at it."""
    found = 9.9
    for tries in (1, 2, 4):
        small, large = seconds(work(size), tries=tries), seconds(work(2 * size), tries=tries)
        # What takes no time at all says nothing of its growth.
        found = min(found, large / max(small, 0.002))
        if found < MOST:
            break
    return found
