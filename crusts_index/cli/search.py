"""`crusts search`: full text over prompts, answers, summaries, tool paths and commands."""

import enum
import os
import sys
from sqlite3 import Connection
from typing import Any

from crusts_index.cli import options, show
from crusts_index.cli.declared import Annotated, Argument, Option
from crusts_index.cli.progress import show_progress
from crusts_index.cli.session import Store, opened
from crusts_index.errors import CrustsError
from crusts_index.index.refresh import keeps_text
from crusts_index.plain import Safe, join, line
from crusts_index.render import console, jsonout, text
from crusts_index.rows.reports import Hit
from crusts_index.store import matches
from crusts_index.store import search as file
from crusts_index.store.search_file import is_ours
from crusts_index.store.settings import Settings, search_path

SHOWN = 20
"""Hits shown where no limit is given."""
PATIENCE = 2.0
"""Seconds to wait for another process that brings the search file up to date."""
_KEYS = ("session", "project", "message", "agent", "time", "role", "tool", "preview", "copies", "gone")


class Role(enum.StrEnum):
    """Who said it."""

    PROMPT = "prompt"
    ANSWER = "answer"
    SUMMARY = "summary"
    TOOL = "tool"


Words = Annotated[
    list[str],
    Argument("TEXT", 'Words that must all occur; "a phrase"; begin* for any ending.'),
]
RoleOption = Annotated[Role | None, Option("--role", help="Only what was said in this role.")]
Tool = Annotated[str | None, Option("--tool", metavar="NAME", help="Only uses of this tool or MCP server.")]
SessionOption = Annotated[str | None, Option("--session", metavar="ID", help="Only this session: the start of its id.")]


def search(
    settings: Settings,
    words: Words,
    role: RoleOption = None,
    tool: Tool = None,
    session: SessionOption = None,
    since: options.Since = None,
    until: options.Until = None,
    limit: options.Limit = None,
) -> None:
    """Find what was said: in prompts, answers, compaction summaries, tool paths and commands.

    The latest come first. Sessions whose transcripts are gone are searched too.
    """
    if not file.is_wanted(settings):
        raise CrustsError('config.json says "search": false, so there is no search file: set it to true first')
    wanted = " ".join(words)
    begin, end = options.period(since, until)
    filters: dict[str, object] = {
        "role": role and role.value,
        "tool": tool,
        "project": settings.project,
        "since": begin,
        "until": end,
    }
    with opened(settings) as store:
        filters["session"] = store.choose(session) if session else None
        hits, in_all = _find(settings, store, wanted, filters, limit or SHOWN)
    if not keeps_text(settings):
        console.note("keepText is not true: no text is kept, so there is none to find")
    if settings.json:
        _print_json(wanted, hits, in_all)
    else:
        _print(hits, in_all, wanted, colour=console.use_colour(sys.stdout, no_color=settings.no_color))


def _find(
    settings: Settings, store: Store, wanted: str, filters: dict[str, object], limit: int
) -> tuple[list[dict[str, Any]], int]:
    """The hits to show, each with its marked preview, and how many there are."""
    match = matches.match_of(wanted)
    if match is None:
        return [], 0
    path = search_path(settings.db)
    _bring_up(settings, store.connection, path)
    ids = matches.find(store.connection, path, match)
    found = store.fetch(Hit, ids=jsonout.encode_plain(ids), limit=limit, **filters)
    hits: list[dict[str, Any]] = [hit._asdict() for hit in found]
    previews = matches.previews(store.connection, match, [hit["id"] for hit in hits])
    shown = [hit for hit in hits if hit["id"] in previews]  # a file that is behind may name a text that is another now
    for hit in shown:
        hit["preview"] = text.clean(previews[hit["id"]])
    return shown, hits[0]["in_all"] - len(hits) + len(shown) if hits else 0


def _bring_up(settings: Settings, store: Connection, path: str) -> None:
    """Take what is new into the search file; where that cannot be, say so and go on with the file as it is."""
    try:
        with show_progress("making the search file", quiet=settings.json) as progress:
            if not file.update(store, path, timeout=PATIENCE, progress=progress):
                console.note("another crusts is bringing the search file up to date: answering from what is there")
    except CrustsError as error:
        if not os.path.exists(path) or not is_ours(path):
            raise
        console.note(f"could not bring the search file up to date ({error}); answering from what is there")


def _print_json(wanted: str, hits: list[dict[str, Any]], in_all: int) -> None:
    found = []
    for hit in hits:
        preview, spans = _unmark(hit["preview"])
        row = {key: hit[key] for key in _KEYS if key in hit} | {"preview": preview, "gone": bool(hit["gone"])}
        found.append(row | {"matches": spans})
    show.document({"text": wanted, "hits": found, "total": in_all})


def _unmark(preview: str) -> tuple[str, list[list[int]]]:
    """The preview without marks, and where its matches begin and end."""
    begin, end = matches.MARKS
    plain, spans = "", []
    for number, part in enumerate(preview.replace(end, begin).split(begin)):
        if number % 2:
            spans.append([len(plain), len(plain) + len(part)])
        plain += part
    return plain, spans


def _print(hits: list[dict[str, Any]], in_all: int, wanted: str, *, colour: bool) -> None:
    if not hits:
        console.put(f"Nothing found for {wanted!r}.")
        return
    width = console.table_width()
    heads = [_head(hit) for hit in hits]
    for hit, head in zip(hits, _aligned(heads), strict=True):
        room = None if width is None else max(20, width - text.width(head) - 2)
        console.put(join([f"{head}  ", _marked(hit["preview"], room, colour=colour)]))
    if in_all > len(hits):
        console.put(f"+ {in_all - len(hits):,} more: --limit N shows N")
    if any(hit["gone"] for hit in hits):
        console.put("* its transcript is gone from disk.")


def _head(hit: dict[str, Any]) -> list[str]:
    """Session, message, time, and who said it."""
    number = text.NULL if hit["message"] is None else f"#{hit['message']}"
    if hit["agent"] != "main":
        number = f"{hit['agent'] or 'agent'}{number}"
    return [
        (hit["session"] or text.NULL)[:8] + ("*" if hit["gone"] else ""),
        number,
        hit["local_time"] or text.NULL,
        hit["tool"] or hit["role"],
    ]


def _aligned(heads: list[list[str]]) -> list[str]:
    widths = [min(24, max(text.width(head[place]) for head in heads)) for place in range(4)]
    cells = ([text.shorten(cell, size) for cell, size in zip(head, widths, strict=True)] for head in heads)
    return [
        "  ".join(cell + " " * (size - text.width(cell)) for cell, size in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def _marked(preview: str, room: int | None, *, colour: bool) -> Safe:
    """The preview with its matches shown: bold, or between asterisks."""
    begin, end = matches.MARKS
    if room is not None:
        marks = 0 if colour else preview.count(begin) + preview.count(end)  # an asterisk more each
        room -= marks
        before = preview.partition(begin)[0]
        if text.width(preview) > room and text.width(before) > room // 2:
            preview = text.ELLIPSIS + preview[len(before) - room // 4 :]  # the match is what must be seen
        preview = text.shorten(preview, room)
    if preview.count(begin) > preview.count(end):  # the cut went through a match
        preview = (preview if room is None else text.shorten(preview, room - 1)).rstrip(begin) + end
    if not colour:
        return line(preview.replace(begin, "**").replace(end, "**"))
    parts = preview.replace(end, begin).split(begin)
    return join(console.paint(part, "match" if place % 2 else "", on=True) for place, part in enumerate(parts))
