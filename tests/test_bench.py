"""The bench measures what it says; on a corpus so small that its figures mean nothing."""

import math

import pytest

from tests.bench.__main__ import lines
from tests.bench.measures import SECTIONS
from tests.bench.setting import TINY, Bench, Measure

pytest.importorskip("orjson")
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A bench of next to nothing."""
    return Bench(tmp_path_factory.mktemp("bench"), TINY, large=True)


@pytest.mark.parametrize("name", SECTIONS)
def test_every_section_measures(bench: Bench, name: str) -> None:
    """Each figure has a name, and each ratio is a number; no timing decides anything here."""
    found = list(SECTIONS[name].measure(bench))
    assert found
    for measure in found:
        assert measure.name
        assert measure.figure
        assert measure.ratio is None or (math.isfinite(measure.ratio) and measure.ratio >= 0)


def test_a_target_is_met_or_not() -> None:
    """A rate must reach its target, a share must stay below it; without a target nothing is said."""
    assert [True, False] == [Measure("rate", "", ratio=ratio, at_least=0.25).is_met for ratio in (0.25, 0.2)]
    assert [True, False] == [Measure("share", "", ratio=ratio, at_most=0.15).is_met for ratio in (0.15, 0.2)]
    assert Measure("size", "").is_met is None


def test_the_table_has_a_row_a_measure(bench: Bench) -> None:
    """Under a title and the names of its columns."""
    table = list(lines(bench, ["appended"]))
    assert table[0].strip() == SECTIONS["appended"].title
    assert table[1].split()[:2] == ["measure", "figure"]
    assert len(table) > 2
