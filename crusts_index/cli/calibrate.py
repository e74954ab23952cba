"""`crusts calibrate`: take pasted `/context` output, and hold the estimates against it."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from typing import Any, TextIO

from crusts_index.claude.context_report import ContextReport, parse_context
from crusts_index.cli import options, show
from crusts_index.cli.calibrated import COLUMNS, cells, compare, compare_last, comparison_json, print_spreads
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.session import Store, opened
from crusts_index.errors import CrustsError
from crusts_index.index.privacy import withhold_from
from crusts_index.index.refresh import keeps_text, open_writer
from crusts_index.insight.session.circumstances import report_of
from crusts_index.insight.window.accuracy import Sample, spreads
from crusts_index.insight.window.calibration import Comparison
from crusts_index.render import console
from crusts_index.rows.reports import Calibration
from crusts_index.store import when
from crusts_index.store.calibrations import keep_pasted
from crusts_index.store.settings import Settings

MOST_LINES = 2_000
RECENT_MS = 3_600_000
"""How long ago the last session may have been active to be taken for the one that was pasted from."""


def calibrate(
    settings: Settings,
    session: options.Session = None,
    report: Annotated[
        bool, Option("--report", help="Only show estimates against truth, by part and Claude Code version.")
    ] = False,
) -> None:
    """Paste what /context printed; it is kept in the store and held against the estimates.

    All three forms are read: the Markdown table, the terminal's rows, and `label: number` lines. Two empty lines
    or the end of the input end it. Without SESSION it is taken for the session that was active in the last hour.
    /context output found in transcripts is used the same way without asking. Its numbers are rounded as printed;
    ours are estimated, the total is exact.
    """
    if report:
        _show_all(settings)
        return
    pasted = parse_context(_pasted(sys.stdin))
    if pasted is None:
        raise CrustsError("that is no /context output: paste all that /context printed, its heading included")
    missing = [name for name in ("system_prompt", "messages") if name not in {row.bucket for row in pasted.rows}]
    if missing:
        raise CrustsError("that is only a part of a /context output: paste all of it, its heading included")
    # Without a heading and without the free space the window is not told, only what is used of it.
    is_told = bool(pasted.buckets["free_space"]) or pasted.window_tokens != pasted.used_tokens
    window = pasted.window_tokens if is_told else None
    with opened(settings) as store:
        told = _session(store, session)
    rows = [(row.label, row.tokens, row.deferred) for row in pasted.rows]
    said: dict[str, str | None] = {
        "model": pasted.model,
        "rows": json.dumps([list(row) for row in rows], ensure_ascii=False),
    }
    keep_text = keeps_text(settings)
    if not keep_text:
        said = withhold_from("context_reports", said)
    with closing(open_writer(settings)) as writer:
        keep_pasted(
            writer,
            session=told,
            time_ms=when.now_ms(),
            used=pasted.used_tokens,
            window=window,
            said=said,
            keep_text=keep_text,
        )
    found: list[Comparison] = []
    if told is not None:
        with opened(settings) as store:
            found = compare_last(store, told)
    if settings.json:
        show.document({"session": told, **_told(pasted, window), **_json(found)})
        return
    console.remark(f"Kept: {pasted.used_tokens:,} of {window or 'an unknown number of'} tokens, {len(rows)} rows.")
    if told is None:
        console.remark("No session was active in the last hour: name one to have it compared.")
        return
    console.put(f"Session {told}:")
    show.print_table(COLUMNS, [cells(one) for one in found])


def _show_all(settings: Settings) -> None:
    samples: list[Sample] = []
    with opened(settings) as store:
        outputs = store.fetch(Calibration)
        for row in outputs:
            if row.session_id is None:
                continue
            age = row.version or "unknown"
            parts = compare(store, row.session_id, report_of(row))
            samples += [Sample(age, one.category, one.crusts_estimate, one.context_actual) for one in parts]
    found = spreads(samples)
    if settings.json:
        show.document({"outputs": len(outputs), "rows": [one._asdict() for one in found]})
        return
    if not found:
        console.remark("No /context output is in the store yet: paste one to `crusts calibrate`.")
        return
    print_spreads("part", "outputs", found)
    console.remark("Error: (estimate − /context) / /context; half of the outputs lie between from and to.")


def _session(store: Store, named: str | None) -> str | None:
    """The session named, or the one of this folder, or of any, that was active in the last hour."""
    if named is not None:
        return store.choose(named)
    try:
        chosen = store.choose(None)
    except CrustsError:
        return None
    last_ms = store.load(chosen).session.last_ms
    return chosen if last_ms is not None and when.now_ms() - last_ms < RECENT_MS else None


def _pasted(stream: TextIO) -> str:
    """What was pasted, up to two empty lines in a row."""
    if stream.isatty():
        console.note("paste the output of /context, then press Enter twice (or Ctrl-D)")
    lines: list[str] = []
    empty = 0
    for line in stream:
        empty = empty + 1 if not line.strip() else 0
        if (empty == 2 and any(one.strip() for one in lines)) or len(lines) > MOST_LINES:
            break
        lines.append(line)
    return "".join(lines)


def _told(pasted: ContextReport, window: int | None) -> dict[str, Any]:
    """What was pasted; rows that are in no sum, announced tools and the buffer, are marked."""
    return {
        "model": pasted.model,
        "used": pasted.used_tokens,
        "window": window,
        "autocompactBuffer": pasted.autocompact_buffer or None,
        "rows": [
            {"label": row.label, "tokens": row.tokens, "deferred": row.deferred, "bucket": row.bucket}
            for row in pasted.rows
        ],
    }


def _json(found: list[Comparison]) -> dict[str, Any]:
    return {"calibration": comparison_json(found) or None}
