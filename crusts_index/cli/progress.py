"""A progress bar with rate and time left on stderr, for people only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WORTH_BYTES = 20_000_000
"""Pending bytes below which a bar would only flicker."""


@contextmanager
def show_progress(*, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Gives a function to tell of bytes done and bytes in all; None where nobody looks."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    bar = Progress("indexing", *columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("indexing", total=None)

    def tell(done: int, total: int) -> None:
        if total >= WORTH_BYTES:
            bar.start()
            bar.update(task, completed=done, total=max(total, done))

    try:
        yield tell
    finally:
        bar.stop()
