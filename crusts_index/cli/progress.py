"""A progress bar with rate and time left on stderr, for people only."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

Tell = Callable[[int, int], None]

WORTH_SECONDS = 1.0
"""What is done sooner has no bar: it would only flicker."""


@contextmanager
def show_progress(doing: str, *, quiet: bool) -> Iterator[Tell | None]:
    """Gives a function to tell of bytes done and bytes in all; None where nobody looks."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    begun, bar = time.monotonic(), None

    def tell(done: int, total: int) -> None:
        nonlocal bar
        if bar is None and time.monotonic() - begun >= WORTH_SECONDS:
            bar = shown.enter_context(_bar(doing, done))
        if bar is not None:
            bar(done, max(total, done))

    with ExitStack() as shown:
        yield tell


@contextmanager
def _bar(doing: str, done: int) -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn(doing), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=None, completed=done)
        yield lambda done, total: bar.update(task, completed=done, total=total)
