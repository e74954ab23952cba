"""`crusts bench`: measure what `/compact` keeps and frees, live or over the compactions already in the store."""

from __future__ import annotations

import os
import pathlib
import time
from typing import Any

from crusts_index.claude.files import write_atomically
from crusts_index.cli import options, show
from crusts_index.cli.compactions import result_of, sizes_json, snapshot, summary_of
from crusts_index.cli.declared import Annotated, Argument, Group, Option
from crusts_index.cli.session import opened
from crusts_index.errors import CrustsError
from crusts_index.index.refresh import index_named, keeps_text
from crusts_index.index.summary import Options
from crusts_index.insight.losses.survivors import compare_results, delta_of
from crusts_index.jsontext import loads_shallow
from crusts_index.render import clipboard, console, jsonout, text
from crusts_index.rows.reports import CompactedSession
from crusts_index.store.settings import Settings

TIMED_OUT = 2
POLL_SECONDS = 1.0
SETTLE_SECONDS = 2.5
"""How long Claude Code goes on writing after a boundary."""

Output = Annotated[pathlib.Path | None, Option("--output", metavar="PATH", help="Write the result there.")]


def compact(
    settings: Settings,
    session: options.Session = None,
    focus: Annotated[
        str | None, Option("--focus", metavar="TEXT", help='Put /compact focus "TEXT" on the clipboard first.')
    ] = None,
    timeout: Annotated[
        float, Option("--timeout", reads=options.number(0), metavar="SECONDS", help="How long to wait.")
    ] = 900,
    output: Output = None,
    all_: Annotated[
        bool, Option("--all", help="Every compaction in the store instead; --output is a folder then.")
    ] = False,
) -> int:
    """Wait for the session's next /compact and measure it: exit 0 compacted, 2 not within the time, 1 an error.

    Windows before and after are exact where calls stand on both sides; totals and waste are estimated.
    """
    if all_:
        _past(settings, session, output)
        return 0
    result = _wait(settings, session, focus, timeout)
    if output is not None and result["status"] == "compacted":
        _write(output, result)
    _print(settings, result)
    return TIMED_OUT if result["status"] == "timeout" else 0


def reextract(
    settings: Settings,
    result: Annotated[pathlib.Path, Argument("RESULT", "A result file of `bench compact`.")],
) -> None:
    """Read the files that the summary names again, from the store, without compacting again; rewrites the file."""
    document = _read(result)
    prior = document.get("summaryFileRefs") or []
    with opened(settings) as store:
        facts = store.load(store.choose(str(document.get("sessionId"))))
        number = document.get("compaction")
        if not facts.all_compactions:
            raise CrustsError(f"session {facts.session.session_id} has no compaction in the store")
        chosen = facts.all_compactions[number - 1 if isinstance(number, int) else -1]
        found = summary_of(facts, chosen)
    if found["summaryExcerpt"] is None:
        raise CrustsError("the store has no summary of that compaction")
    _write(result, document | found)
    refs = found["summaryFileRefs"]
    counts = {"priorRefCount": len(prior), "newRefCount": len(refs)}
    show.say(
        settings,
        {"resultPath": str(result), **counts, "summaryFileRefs": refs},
        f"{len(prior)} files before, {len(refs)} now, in {result}",
    )


def compare(
    settings: Settings,
    a: Annotated[pathlib.Path, Argument("A", "A result file.")],
    b: Annotated[pathlib.Path, Argument("B", "Another.")],
    label_a: Annotated[str, Option("--label-a", metavar="TEXT", help="What to call the first.")] = "A",
    label_b: Annotated[str, Option("--label-b", metavar="TEXT", help="What to call the second.")] = "B",
) -> None:
    """Two results side by side: what each freed, and which files each summary kept in mind."""
    found = compare_results(_read(a), _read(b), (label_a, label_b))
    if settings.json:
        show.document(found)
        return
    after = found["after"]
    rows = [
        (key, *((after[side] or {}).get(key) for side in ("a", "b")), (after.get("delta") or {}).get(key))
        for key in ("tokensCurrentContext", "usagePercentage", "tokensTotal", "wasteCount")
    ]
    show.print_table(("after", label_a, label_b, "delta"), rows)
    for line in found["insights"]:
        console.remark(f"* {line}")


def _wait(settings: Settings, named: str | None, focus: str | None, timeout: float) -> dict[str, Any]:
    with opened(settings) as store:
        session_id = store.choose(named)
        facts = store.load(session_id)
        before = snapshot(store, facts)
    path = facts.session.transcript_path
    result: dict[str, Any] = {"sessionId": session_id, "sessionPath": path, "before": before}
    if path is None or not os.path.isfile(path):
        raise CrustsError(f"the transcript of session {session_id} is no longer on disk: {path}")
    if focus is not None:
        said = focus.replace("\\", "\\\\").replace('"', '\\"')
        result["focusCommandStaged"] = clipboard.copy(f'/compact focus "{said}"') is not None
    console.note(f"waiting for /compact in session {session_id[:8]}; Ctrl-C stops")
    started, size = time.monotonic(), os.path.getsize(path)
    while time.monotonic() - started < timeout:
        time.sleep(min(POLL_SECONDS, max(0.05, timeout / 10)))
        if os.path.getsize(path) == size:
            continue
        size = os.path.getsize(path)
        if _compactions(settings, session_id, path) > before["compactionCount"]:
            time.sleep(SETTLE_SECONDS)
            _compactions(settings, session_id, path)
            return result | _after(settings, session_id, before) | _waited(started)
    return result | {"status": "timeout", "message": f"no /compact within {timeout:g} seconds"} | _waited(started)


def _after(settings: Settings, session_id: str, before: dict[str, Any]) -> dict[str, Any]:
    with opened(settings) as store:
        facts = store.load(session_id)
        after = snapshot(store, facts)
        return {
            "status": "compacted",
            "compaction": len(facts.all_compactions),
            "after": after,
            "delta": delta_of(before, after),
            **sizes_json(facts, facts.all_compactions[-1]),
            **summary_of(facts, facts.all_compactions[-1]),
        }


def _compactions(settings: Settings, session_id: str, path: str) -> int:
    """Compactions of the session, with what is new in its transcript taken in."""
    index_named(settings, [path], Options(jobs=1, keep_text=keeps_text(settings), kind="bench"))
    with opened(settings) as store:
        return len(store.load(session_id).all_compactions)


def _waited(started: float) -> dict[str, Any]:
    return {"waitSec": round(time.monotonic() - started, 1)}


def _past(settings: Settings, named: str | None, output: pathlib.Path | None) -> None:
    results: list[dict[str, Any]] = []
    with opened(settings) as store:
        rows = store.fetch(CompactedSession, project=settings.project, session=store.choose(named) if named else None)
        for row in rows:
            facts = store.load(row.session_id)
            results += [result_of(store, facts, one) for one in facts.all_compactions]
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for one in results:
            _write(output / f"compact-{one['sessionId'][:8]}-{one['compaction']}.json", one)
    if settings.json:
        show.document({"results": results})
        return
    if not results:
        console.remark("No compaction is in the store.")
        return
    columns = ("session", "cut", "trigger", "before", "after", "dropped", "files_named")
    shown = [
        (
            one["sessionId"][:8],
            one["compaction"],
            one["trigger"],
            *(one[key] for key in ("tokensBefore", "tokensAfter", "tokensDropped")),
            len(one.get("summaryFileRefs") or ()),
        )
        for one in results
    ]
    show.print_table(columns, shown)
    console.remark("before: as logged or the context of the call before; after: of the first call after it; exact.")


def _print(settings: Settings, result: dict[str, Any]) -> None:
    if settings.json:
        show.document(result)
    elif result["status"] == "compacted":
        before, after = (text.number(result[key]) for key in ("tokensBefore", "tokensAfter"))
        shares = " → ".join(f"{result[side]['usagePercentage']}%" for side in ("before", "after"))
        console.put(f"Compacted: {before} → {after} tokens in the window ({shares}), waited {result['waitSec']} s.")
        console.remark(f"The summary names {len(result['summaryFileRefs'])} files.")
    else:
        console.put(result["message"])


def _read(path: pathlib.Path) -> dict[str, Any]:
    try:
        document = loads_shallow(path.read_text("utf-8"))
    except OSError as error:
        raise CrustsError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise CrustsError(f"{path} is no JSON: {error}") from error
    if not isinstance(document, dict) or "before" not in document or "status" not in document:
        raise CrustsError(f"{path} is no result of `crusts bench compact`")
    return document


def _write(path: pathlib.Path, document: dict[str, Any]) -> None:
    try:
        write_atomically(str(path), jsonout.encode(document, indent=True) + "\n")
    except OSError as error:
        raise CrustsError(f"cannot write {path}: {error.strerror}") from error


bench = Group(
    "Measure what /compact keeps and frees.", {"compact": compact, "reextract": reextract, "compare": compare}
)
