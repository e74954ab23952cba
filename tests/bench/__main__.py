"""`python -m tests.bench [FOLDER]`: measure size and speed, and print every figure beside its reference and target."""

import argparse
import compileall
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import crusts_index
from tests.bench.measures import SECTIONS
from tests.bench.setting import FULL, QUICK, Bench, Measure, Sizes, machine

HEADS = ("measure", "figure", "reference", "ratio", "target", "met")
WIDTHS = (58, 14, 26, 8, 8, 4)


def lines(bench: Bench, sections: list[str]) -> Iterator[str]:
    """The table, line by line as it is measured."""
    for name in sections:
        yield f"\n{SECTIONS[name].title}"
        yield _row(HEADS)
        for measure in SECTIONS[name].measure(bench):
            yield _row(_cells(measure))


def _cells(measure: Measure) -> tuple[str, ...]:
    ratio = "" if measure.ratio is None else f"{measure.ratio:.3f}"
    target = ""
    if measure.at_least is not None:
        target = f">= {measure.at_least:g}"
    elif measure.at_most is not None:
        target = f"<= {measure.at_most:g}"
    met = {None: "", True: "yes", False: "NO"}[measure.is_met]
    return (measure.name, measure.figure, measure.reference, ratio, target, met)


def _row(cells: tuple[str, ...]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="keeps the corpora; else they are made anew")
    parser.add_argument("--quick", action="store_true", help="100 MB instead of 1 GB, a tenth of the transcripts")
    parser.add_argument("--large", action="store_true", help="also four times the corpus")
    parser.add_argument("--only", action="append", choices=list(SECTIONS), help="only this section; repeatable")
    given = parser.parse_args()
    sizes: Sizes = QUICK if given.quick else FULL
    compileall.compile_dir(
        Path(crusts_index.__file__).parent, quiet=1
    )  # as an install does, whatever runs here may write
    with tempfile.TemporaryDirectory(prefix="crusts-bench-") as temporary:
        bench = Bench(given.folder or Path(temporary), sizes, large=given.large)
        for line in chain(machine(), lines(bench, given.only or list(SECTIONS))):
            print(line, flush=True)


if __name__ == "__main__":
    main()
