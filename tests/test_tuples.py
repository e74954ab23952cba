"""The named tuples of the quick paths behave as those of `typing` do."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest

from crusts_index.tuples import NamedTuple


class Ours(NamedTuple):
    """A point."""

    x: int
    y: int
    name: str = "here"

    @property
    def far(self) -> int:
        """How far from nought."""
        return self.x + self.y


class Theirs(typing.NamedTuple):
    """A point."""

    x: int
    y: int
    name: str = "here"

    @property
    def far(self) -> int:
        """How far from nought."""
        return self.x + self.y


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((1, 2, "a"), {}),
        ((1, 2), {}),
        ((1,), {"y": 2}),
        ((), {"y": 2, "x": 1, "name": "b"}),
        ((1,), {}),
        ((1, 2, "a", 4), {}),
        ((1, 2), {"x": 3}),
        ((1, 2), {"z": 3}),
    ],
)
def test_made_alike_or_refused_alike(values: tuple[typing.Any, ...], named: dict[str, typing.Any]) -> None:
    """By place, by name and by default; too few, too many, twice and unknown are TypeErrors."""
    try:
        wanted = Theirs(*values, **named)
    except TypeError:
        with pytest.raises(TypeError):
            Ours(*values, **named)
        return
    made = Ours(*values, **named)
    assert wanted == made
    assert (wanted.x, wanted.y, wanted.name, wanted.far) == (made.x, made.y, made.name, made.far)
    assert wanted._asdict() == made._asdict()
    assert repr(wanted).replace("Theirs", "Ours") == repr(made)
    assert wanted._replace(y=9) == made._replace(y=9)
    assert type(made) is type(made._replace(y=9)) is type(copy.copy(made)) is type(pickle.loads(pickle.dumps(made)))  # noqa: S301


def test_what_reads_them_finds_what_it_needs() -> None:
    """Fields, defaults, matching; a wrong count and an unknown field are refused."""
    assert (Theirs._fields, Theirs._field_defaults) == (Ours._fields, Ours._field_defaults)
    match Ours(1, 2):
        case Ours(x, y, name):
            assert (1, 2, "here") == (x, y, name)
    assert Ours(1, 2) == Ours._make([1, 2, "here"])
    with pytest.raises(TypeError):
        Ours._make([1])
    with pytest.raises(ValueError, match="z"):
        Ours(1, 2)._replace(z=1)
