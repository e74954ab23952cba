"""How large the window was before and after a compaction: the one answer that every command gives (D19)."""

from __future__ import annotations

from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Call, Compaction, Facts

LOGGED, CALL, DERIVED = "logged", "call", "derived"


class Sizes(NamedTuple):
    """Tokens in the window around a compaction, None where they are not known.

    Before: logged, or the context of the call just before it (X-compact). After: the context of the first call after
    it, which has the fixed context as before has; without a call, what was logged and the fixed context, derived.
    """

    before: int | None
    before_basis: str | None
    after: int | None
    after_basis: str | None

    @property
    def dropped(self) -> int | None:
        """Before less after, at least 0."""
        return None if self.before is None or self.after is None else max(0, self.before - self.after)


def sizes_of(facts: Facts, compaction: Compaction, fixed: int | None) -> Sizes:
    """The window before and after a compaction of a session whose fixed context has so many tokens (D11)."""
    before, before_basis = _before(facts, compaction)
    call = first_call_after(facts, compaction)
    if call is not None:
        return Sizes(before, before_basis, call.context_tokens, CALL)
    if fixed is None or compaction.post_tokens is None:
        return Sizes(before, before_basis, None, None)
    return Sizes(before, before_basis, compaction.post_tokens + fixed, DERIVED)


def first_call_after(facts: Facts, compaction: Compaction) -> Call | None:
    """The first call behind a compaction, on its own branch or on one that goes on from it."""
    inferred = compaction.detection != "marker"
    for call in facts.calls:
        follows = call.branch == compaction.branch or (call.on_path and compaction.on_path)
        if call.epoch == compaction.epoch and follows and (not inferred or call.id >= compaction.id):
            return call
    return None


def _before(facts: Facts, compaction: Compaction) -> tuple[int | None, str | None]:
    if compaction.detection != "marker":
        return compaction.pre_tokens, None if compaction.pre_tokens is None else CALL
    if compaction.pre_tokens is not None:
        return compaction.pre_tokens, LOGGED
    transcript = compaction.id >> 40
    same = (call for call in reversed(facts.calls) if call.id >> 40 == transcript and call.id < compaction.id)
    last = next(same, None)
    return (None, None) if last is None else (last.context_tokens, CALL)
