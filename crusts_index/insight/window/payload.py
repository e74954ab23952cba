"""A window as a payload tells it, beside a few rows of what the store has of its calls (D10)."""

from __future__ import annotations

from crusts_index.insight.window.evidence import Evidence, LastCall
from crusts_index.insight.window.fixed import unknown_fixed
from crusts_index.tuples import NamedTuple
from crusts_index.windows import DROP_TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.session.facts import ContextReport
    from crusts_index.rows.live import LiveCalls, LiveTranscript

JUST_BEFORE = 3
"""A payload may tell of one of the last calls but the last, since it comes late: it is not believed then."""


class Told(NamedTuple):
    """The call that a payload tells of: its context and its output, in tokens."""

    context: int
    output: int


def told_evidence(
    told: Told, head: LiveTranscript, calls: LiveCalls, ahead: Sequence[int], reports: Sequence[ContextReport]
) -> Evidence | None:
    """The evidence with a payload's call as the last one; `ahead` are the contexts of calls that the store lacks.

    None where the payload is of an earlier call, where a boundary took it out, and where rows as few do not tell.
    """
    if not _is_plain(head, calls) or calls.is_out or told.context in ahead[:-1]:
        return None
    behind = None if calls.since_told is None else calls.since_told + len(ahead)
    if behind is not None and 0 < behind < JUST_BEFORE:
        return None
    is_logged = told.context == (ahead[-1] if ahead else calls.context)
    if is_logged and ahead and (calls.answer is not None or calls.context in ahead):
        return None  # its output may be a placeholder, or some of its lines the store has
    last = LastCall(told.context, told.output, 0, is_placeholder=False)
    if is_logged and not ahead and (calls.answer is None or told.output <= calls.output):
        last = LastCall(told.context, calls.output, calls.answer or 0, calls.answer is not None)
    return Evidence(
        session_id=head.session_id,
        project=head.project,
        version=head.version,
        last_ms=head.last_ms,
        model=calls.model,
        asked=calls.model,
        has_calls=True,
        last=last,
        largest=max(told.context, calls.largest, *ahead),
        grown=told.context - calls.first_context,
        grown_calls=calls.calls + len(ahead) - is_logged,
        post_tokens=None,
        fixed=unknown_fixed("not asked for"),
        counted=0,
        automatic=(),
        payloads=(),
        reports=tuple(reports),
    )


def _is_plain(head: LiveTranscript, calls: LiveCalls) -> bool:
    """Whether its calls are those of one part and one branch, with every compaction marked."""
    is_marked = calls.compactions or not (calls.summaries or (calls.fall or 0) > DROP_TOKENS)
    return bool(head.parts == 1 and not calls.branches and calls.leaf is None and is_marked)
