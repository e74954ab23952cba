"""What the integers of a block weigh in tokens: the weights, a factor a model, and the estimate that follows (D9).

A block's estimate follows from what the store keeps of it, so it can be made again when a weight changes, and no text
is read for that.
"""

from __future__ import annotations

from crusts_index.models import model_family
from crusts_index.tools import RETELLS

TYPE_CHECKING = False
if TYPE_CHECKING:  # for quick commands, which estimate now and then
    from collections.abc import Mapping

FACTOR = "factor"
"""Name of the weights that are a model's own."""

SHIPPED: dict[str, float] = {
    "soft": 0.207,
    "marks": 1.12,
    "tool_use": 49,
    "key": 5,
    "tool_result": 18,
    "text": 3,
    "prompt": 0,
    "retold": 0.92,
    "signature": 0.20,
    "signature_less": 35,
    "newer_signature": 0.29,
    "newer_signature_less": 90,
}
"""Weights by name, as they are until the user's own history tells better.

soft, marks: tokens of each of a text's two integers · tool_use, key, tool_result, text, prompt: tokens around a use, a
key of its input, a result, a text of an answer, any other text · retold: what the result of a tool weighs whose text a
model wrote, of any other's · signature: tokens a character of a thinking's signature, less so many; newer_: of the
models with the newer tokenizer.
"""

OLDER, NEWER = 1.0, 1.38
"""Factors of the two tokenizers."""

REMINDER_TOKENS = 135
"""Of a `task_reminder` that renders to nothing."""
PLAN_MODE_TOKENS = 1040
"""Of what the result of EnterPlanMode brings beside its text."""


def is_newer(model: str | None) -> bool:
    """Whether a model has the newer tokenizer: Opus 4.7 and later, and generation 5 and later."""
    name, numbers = model_family(model)
    return numbers >= (5,) or (name == "opus" and numbers >= (4, 7))


def factor_of(model: str | None) -> float:
    """The factor that is shipped for a model."""
    return NEWER if is_newer(model) else OLDER


_Scale = tuple[float, float, float]
"""A model's own: its factor, and tokens a character of a signature, less so many."""


class Weights:
    """The weights that hold; `factors` are those that were fitted, by model."""

    def __init__(self, values: Mapping[str, float] = SHIPPED, factors: Mapping[str, float] | None = None) -> None:
        self.values = {**SHIPPED, **values}
        self.factors = dict(factors or {})
        self._scales: dict[str | None, _Scale] = {}
        one = self.values
        self._soft, self._marks, self._retold = one["soft"], one["marks"], one["retold"]
        self._use, self._key, self._result = one["tool_use"], one["key"], one["tool_result"]
        self._text, self._prompt = one["text"], one["prompt"]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Weights) and (self.values, self.factors) == (other.values, other.factors)

    __hash__ = None  # type: ignore[assignment]

    def factor(self, model: str | None) -> float:
        """The factor that holds for a model."""
        return self._scale(model)[0]

    def shipped_factor(self, model: str | None) -> float:
        """The one that holds for it as long as nothing was fitted."""
        return factor_of(model)

    def terms(self, model: str | None) -> dict[str, float]:
        """All that a model's estimates are made by, by name."""
        factor, a_character, less = self._scale(model)
        return {**self.values, "factor": factor, "a_character": a_character, "less": less}

    def estimate(
        self,
        model: str | None,
        kind: str,
        soft: int,
        marks: int,
        extra: int = 0,
        *,
        tool: str | None = None,
        is_answer: bool = False,
    ) -> int:
        """Tokens of a block, by the kind of block and the model that read or wrote it.

        `extra` is the number of keys of a tool use's input; the length of a thinking's signature; of all others the
        tokens that no text tells: pictures, documents and what is fixed. `tool`: whose result it is. `is_answer`: a
        text of the model's own.
        """
        text, fixed = self.parts(model, kind, soft, marks, extra, tool=tool, is_answer=is_answer)
        factor, _, _ = self._scales.get(model) or self._scale(model)
        return int(factor * text + 0.5) + fixed

    def parts(
        self,
        model: str | None,
        kind: str,
        soft: int,
        marks: int,
        extra: int = 0,
        *,
        tool: str | None = None,
        is_answer: bool = False,
    ) -> tuple[float, int]:
        """Of an estimate what the model's factor multiplies, and what is fixed."""
        text = self._soft * soft + self._marks * marks
        if kind == "tool_result":
            text += self._result
            return text * self._retold if tool in RETELLS else text, extra
        if kind == "tool_use":
            return text + self._use + self._key * extra, 0
        if kind == "text":
            return text + (self._text if is_answer else self._prompt), 0
        if kind != "thinking":
            return text, extra
        if not extra:
            return text + self._text, 0
        _, a_character, less = self._scale(model)
        return 0.0, int(max(0.0, a_character * extra - less) + 0.5)

    def _scale(self, model: str | None) -> _Scale:
        scale = self._scales.get(model)
        if scale is None:
            kind = "newer_signature" if is_newer(model) else "signature"
            factor = self.factors.get(model) if model is not None else None
            factor = factor_of(model) if factor is None else factor
            scale = self._scales[model] = (factor, self.values[kind], self.values[f"{kind}_less"])
        return scale


SHIPPED_WEIGHTS = Weights()
