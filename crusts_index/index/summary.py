"""How a run of the index is done, and what it did. On the quick path, so no dataclasses: they import `inspect`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Progress = Callable[[int, int], None]


class Options:
    """How a run is done."""

    def __init__(
        self,
        *,
        jobs: int | None = None,
        keep_text: bool = True,
        seconds: float | None = None,
        kind: str = "index",
        progress: Progress | None = None,
        most_bytes: int | None = None,
        known_only: bool = False,
        fits: bool = False,
    ) -> None:
        self.jobs = jobs
        """Worker processes that read while this one writes; None = as many as pay, perhaps none."""
        self.keep_text = keep_text
        self.seconds = seconds
        """Seconds of reading after which no further transcript is begun or gone on with; None = all are read."""
        self.kind = kind
        self.progress = progress
        """Told after each stretch: bytes read so far, bytes to read in all."""
        self.most_bytes = most_bytes
        """A run with more than this to read is not begun: it is none for the quick path."""
        self.known_only = known_only
        """Only transcripts that the store has a row of are read."""
        self.fits = fits
        """The weights may be fitted on the way, where much is read (D9)."""


class Summary:
    """What a run did. Counts are of this run, `calls` apart: all API calls that the store knows (`index --json`)."""

    def __init__(self) -> None:
        self.files = self.changed = self.gone = 0
        self.bytes_read = self.records = self.calls = self.problems = 0
        self.seconds = 0.0
        self.pending_bytes = 0
        self.is_complete = True
        self.was_kept_up = False
        """Whether prices and search knew of all that the store held before this run."""
        self.was_priced = False
        """Whether prices did."""
        self.before = 0
        """The last run before this one that changed the store."""
        self.run: int | None = None
        """This run, if it did."""
        self.unreadable: list[tuple[str, str]] = []
        self.touched: list[int] = []
        """Ids of the transcripts that were read."""

    def read_since(self, last: int, *, was_known: bool) -> list[int] | None:
        """All transcripts that were read since it `was_known` what the store held before this run.

        `last` is the run that changed the store last. None if another one came between, or it was not known.
        """
        came = [] if self.run is None else [self.run]
        return self.touched if was_known and [*range(self.before + 1, last + 1)] == came else None

    def sentence(self) -> str:
        """What the run did, in one line."""
        if not self.files and not self.gone:
            return "no transcripts found: name a Claude Code folder with --path, or try `crusts demo DIR`"
        read = f"{self.changed:,} of {self.files:,} transcripts read"
        parts = [f"{read} ({_size(self.bytes_read)}, {self.records:,} records) in {self.seconds:.1f} s"]
        if self.changed:
            parts.append(f"{self.calls:,} API calls in the store")
        if self.gone:
            parts.append(f"{self.gone:,} no longer on disk, their history kept")
        if self.problems:
            parts.append(f"{self.problems:,} damaged or odd places (--verbose lists them)")
        if self.unreadable:
            parts.append(f"{len(self.unreadable):,} could not be read")
        return "; ".join(parts)


def _size(count: int) -> str:
    return f"{count:,} B" if count < 1000 else f"{count / 1e3:.1f} KB" if count < 999_950 else f"{count / 1e6:,.1f} MB"
