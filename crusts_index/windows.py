"""What is known of models' context windows: how large they are, where Claude Code compacts them, how fast they grow.

Whoever indexes learns by it, whoever judges asks it; pure functions of names and numbers (D10).
"""

from functools import cache

from crusts_index.models import model_family
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:  # `collections.abc` stays off the quick paths
    from collections.abc import Mapping, Sequence

    Ranges = Sequence[tuple[float, float]]

Version = tuple[int, ...]

DEFAULT_CONTEXT_LIMIT = 200_000
NATIVE_1M = 1_000_000
KNOWN_WINDOWS = (DEFAULT_CONTEXT_LIMIT, NATIVE_1M)
FIRST_NATIVE_1M = (4, 7)
"""The generation from which on models have 1,000,000 without being asked; those of no known name have too."""
AUTOCOMPACT_BUFFER_TOKENS = 33_000
EARLIER_BUFFER_TOKENS = 45_000
LAST_EARLIER_BUFFER: Version = (2, 1, 20)
"""The last version that kept the larger buffer."""
WAITS_TO_BE_REFUSED = (4, 5)
FIRST_TO_WAIT: Version = (2, 1, 200)
"""Models of that generation are compacted only when the prompt is refused, from that version on."""

PRIOR = 870.0
"""Tokens a call where the user's own history is too short to tell."""
PRIOR_CALLS = 150
"""As many calls of the session's own count as much as what is known beforehand."""
HORIZONS = (10, 25, 50, 100)
"""Calls predicted below which a range is one of its own; the last range is for all above."""
RANGES: "Ranges" = ((0.79, 3.85), (0.64, 2.41), (0.63, 1.95), (0.58, 1.58), (0.49, 1.16))
"""What held 80 % of the truth, as shares of the forecast, by horizon."""
LOW, HIGH = "range_low", "range_high"
"""What the two ends of a range are called among what is learned."""
FIRST_POINT = 4
"""Calls of a past window before the first one whose forecast is judged."""
DROP_TOKENS = 30_000
"""Where no compaction is marked, a fall of the context by more than this from one call to the next is one."""


@cache
def parse_version(version: str | None) -> Version:
    """The numbers of a Claude Code version, fit for comparing; empty (below all others) if it has none."""
    numbers = []
    for part in (version or "").strip().removeprefix("v").split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits[:9]))
        if digits != part:
            break
    return tuple(numbers)


def usual_window(model: str | None) -> int:
    """What a model's window is where nothing tells: 1,000,000 from generation 4.7 on and of names that are not known,
    200,000 of all before (D10)."""
    numbers = model_family(model)[1]
    return DEFAULT_CONTEXT_LIMIT if numbers and numbers < FIRST_NATIVE_1M else NATIVE_1M


def usual_buffer(model: str | None, version: str | None) -> int:
    """Tokens below its window at which Claude Code compacts a model, by version; 0 where it waits to be refused."""
    if compacts_when_refused(model, version):
        return 0
    numbers = parse_version(version)
    return EARLIER_BUFFER_TOKENS if numbers and numbers <= LAST_EARLIER_BUFFER else AUTOCOMPACT_BUFFER_TOKENS


def version_line(version: str | None) -> str:
    """The line of versions that compacts alike, as far as is known: `2.1`, or `2.1 early` with the larger buffer."""
    numbers = parse_version(version)
    line = ".".join(map(str, numbers[:2]))
    is_early = line == "2.1" and numbers <= LAST_EARLIER_BUFFER
    return f"{line} early" if is_early else line


def compacts_when_refused(model: str | None, version: str | None) -> bool:
    """Whether Claude Code lets a model run into its limit: those of generation 4.5, on recent versions."""
    return model_family(model)[1][:2] == WAITS_TO_BE_REFUSED and parse_version(version) >= FIRST_TO_WAIT


def lift_window(limit: int, largest_call: int) -> int:
    """`limit`, or the next known size if a call was larger: such a call proves a larger window (D10)."""
    if largest_call <= limit:
        return limit
    return next((size for size in KNOWN_WINDOWS if size >= largest_call), max(limit, KNOWN_WINDOWS[-1]))


def buffer_scope(limit: int, model: str, version: str | None) -> str:
    """Windows that are compacted alike: of one limit and version line; models that wait to be refused apart."""
    scope = f"{limit} {version_line(version)}"
    return f"{scope} {model}" if compacts_when_refused(model, version) else scope


def growth_of(grown: int, calls: int, prior: float) -> float:
    """Tokens a call: what `calls` of the window added, drawn towards the prior; at least 1."""
    return max(1.0, (grown + PRIOR_CALLS * prior) / (calls + PRIOR_CALLS))


def ranges_by(shares: "Mapping[tuple[str, str], float]") -> "Ranges":
    """The ranges, by what was learned of each horizon under the kinds LOW and HIGH; else as they are shipped."""
    return tuple(
        (shares.get((LOW, str(horizon)), low), shares.get((HIGH, str(horizon)), high))
        for horizon, (low, high) in enumerate(RANGES)
    )


def horizon_of(calls: float) -> int:
    """Which of the ranges is for a forecast of so many calls."""
    return sum(calls >= bound for bound in HORIZONS)


def quantile(values: "Sequence[float]", share: float) -> float:
    """The quantile of sorted values by linear interpolation."""
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


class PastWindow(NamedTuple):
    """A window that was compacted by itself: context and output of its calls, in tokens, and what the history before it
    had shown of such windows: the model's limit (None: nothing), `buffers` by `buffer_scope`, growth and ranges."""

    model: str
    asked: str
    version: str | None
    calls: "Sequence[tuple[int, int]]"
    seen_limit: int | None
    buffers: "Mapping[str, int]"
    prior: float
    ranges: "Ranges"
