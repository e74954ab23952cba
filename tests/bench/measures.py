"""What a measure says, and the table of all sections; a section is a function from a bench to its measures."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.bench import first_index, insight, later_runs, live, reports, watch
from tests.bench.setting import Bench
from tests.bench.setting import Measure as Measure


class Section(NamedTuple):
    """Measures that belong together."""

    title: str
    measure: Callable[[Bench], Iterator[Measure]]


SECTIONS = {
    "first": Section("First index", first_index.measure),
    "large": Section("Four times as much", first_index.measure_large),
    "nothing-new": Section("Nothing new, or next to nothing", later_runs.measure_nothing_new),
    "appended": Section("A line appended to some of many", later_runs.measure_appended),
    "reports": Section("Reports", reports.measure),
    "insight": Section("Why the context fills up: work beyond imports", insight.measure),
    "live": Section("Inside Claude Code", live.measure),
    "watch": Section("A session watched", watch.measure),
}
