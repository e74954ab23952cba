"""What a window is judged by: the little of a session that its size, limit, trigger and forecast follow from (D10)."""

from __future__ import annotations

from itertools import pairwise

from crusts_index.insight.window.catalogue import variant_window
from crusts_index.insight.window.fixed import unknown_fixed
from crusts_index.models import model_family
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crusts_index.insight.session.facts import Call, ContextReport, Facts
    from crusts_index.insight.window.fixed import FixedContext
    from crusts_index.rows.window import SessionTold


UNKNOWN = "unknown"
"""The model of a session that has none."""


class LastCall(NamedTuple):
    """The last call of the live path behind the last boundary; tokens. `answer` is what its blocks come to."""

    context: int
    output: int
    answer: int
    is_placeholder: bool


class Automatic(NamedTuple):
    """An automatic compaction of the session: the model whose window it was, its tokens, and when."""

    model: str
    tokens: int
    time_ms: int | None


class Payload(NamedTuple):
    """The size of a window as Claude Code told it of this session, and when."""

    model: str
    tokens: int
    time_ms: int


class Evidence(NamedTuple):
    """A session's window before it is judged. Sizes are tokens.

    `model` is the model in use as logged, `asked` its name as it was asked for, which may end in [1m]; `largest` the
    largest context of a call of it. `last` None: no call since the boundary, or none at all (`has_calls`). `grown` is
    what the `grown_calls` on the live path behind the boundary added. `post_tokens` are the boundary's,
    None where nothing tells; `counted` is the sum of what the window holds with the fixed context, estimated, for where
    no call tells its size.
    """

    session_id: str
    project: str
    version: str | None
    last_ms: int | None
    model: str
    asked: str
    has_calls: bool = False
    last: LastCall | None = None
    largest: int = 0
    grown: int = 0
    grown_calls: int = 0
    post_tokens: int | None = None
    fixed: FixedContext = unknown_fixed("nothing tells")
    counted: int = 0
    automatic: tuple[Automatic, ...] = ()
    payloads: tuple[Payload, ...] = ()
    reports: tuple[ContextReport, ...] = ()


def evidence_of(facts: Facts, calibrated: int | None = None) -> Evidence:
    """The evidence of one session, from its facts as far as the cut goes; `calibrated` as for `start_of`."""
    # Only now: a status line whose payload tells the last call counts nothing.
    from crusts_index.insight.window.contents import contents_of
    from crusts_index.insight.window.fixed import fixed_context

    fixed = fixed_context(facts, calibrated)
    calls = facts.calls
    live = [call for call in calls if call.live_epoch]
    last = live[-1] if live else None
    current = last or (calls[-1] if calls else None)
    model = current.model if current else UNKNOWN
    grown, grown_calls = grown_of(calls)
    boundary = facts.live_from
    return Evidence(
        session_id=facts.session.session_id,
        project=facts.session.project,
        version=facts.session.version,
        last_ms=facts.session.last_ms,
        model=model,
        asked=asked_model(model, current.id if current else None, facts.told),
        has_calls=bool(calls),
        last=last_call(facts, last) if last else None,
        largest=max((call.context_tokens for call in calls if call.model == model), default=0),
        grown=grown,
        grown_calls=grown_calls,
        post_tokens=boundary.post_tokens if boundary else None,
        fixed=fixed,
        counted=contents_of(facts, fixed, current=True).total if last is None else 0,
        automatic=tuple(automatic_of(facts)),
        payloads=payloads_of(facts.told),
        reports=tuple(facts.context_reports),
    )


def grown_of(calls: Iterable[Call]) -> tuple[int, int]:
    """What the calls of the window added to it, but for the first, and how many they are."""
    live = [call for call in calls if call.live_epoch]
    deltas = [after.context_tokens - before.context_tokens for before, after in pairwise(live)]
    return sum(deltas), len(deltas)


def last_call(facts: Facts, call: Call) -> LastCall:
    """What of a call its window's size follows from."""
    answer = sum(block.tokens for block in facts.blocks if block.call_id == call.id) if call.is_placeholder else 0
    return LastCall(call.context_tokens, call.output_tokens, answer, call.is_placeholder)


def automatic_of(facts: Facts) -> Iterable[Automatic]:
    """The session's own automatic compactions, in log order, each with the model of the call before it."""
    for boundary in facts.compactions:
        if boundary.trigger == "auto" and boundary.pre_tokens:
            before = next((call for call in reversed(facts.calls) if call.id < boundary.id), None)
            if before is not None:
                yield Automatic(before.model, boundary.pre_tokens, boundary.time_ms)


def asked_model(model: str, call_id: int | None, told: Sequence[SessionTold]) -> str:
    """A logged model's name with the variant that was asked for: by the call's request, else by what the session says
    of that model elsewhere and nothing contradicts."""
    asked = [row for row in told if row.source == "asked" and row.answered == model]
    if asked and call_id is not None:
        begun = [row for row in asked if row.first_id is not None and row.first_id <= call_id] or asked
        latest = max(begun, key=lambda row: (min(row.last_id or 0, call_id), row.first_id or 0))
        return latest.model
    names = {row.model for row in told if row.source != "asked" and bare(row.model) == bare(model)}
    variants = {name for name in names if variant_window(name)}
    return variants.pop() if len(variants) == 1 and names == variants | {model} & variants else model


def payloads_of(told: Iterable[SessionTold]) -> tuple[Payload, ...]:
    """The windows' sizes that payloads told of the session."""
    return tuple(
        Payload(row.model, row.tokens, row.time_ms or 0) for row in told if row.source == "payload" and row.tokens
    )


def bare(model: str) -> str:
    """A model's name without what stands in brackets behind it."""
    return model.partition("[")[0].lower()


def is_same_model(model: str, other: str) -> bool:
    """Whether two names are of one model: but for the variant the same, or one model's of different providers."""
    if bare(model) == bare(other):
        return True
    family = model_family(model)
    return bool(family[1]) and family == model_family(other)
