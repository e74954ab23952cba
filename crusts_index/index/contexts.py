"""Turns recorded outputs of `/context` into rows, where transcripts are read: no lock is held meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator

from crusts_index.claude.context_report import looks_like_context, parse_context
from crusts_index.transcript.rows import Row


def context_rows(outputs: list[Row]) -> Iterator[Row]:
    """Rows of `context_reports` for those of the texts that are one."""
    for record, time_ms, version, text in outputs:
        report = parse_context(text) if looks_like_context(text) else None
        if report is not None:
            parts = json.dumps([[row.label, row.tokens, row.deferred] for row in report.rows], ensure_ascii=False)
            yield record, time_ms, version, report.model, report.used_tokens, report.window_tokens, parts
