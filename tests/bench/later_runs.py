"""Runs over a store that knows nearly all: nothing new, a line appended to one transcript, to some of many."""

from collections.abc import Iterator
from pathlib import Path

from tests.bench.setting import Bench, Measure, append_line, transcripts
from tests.bench.timing import Took, median, program, python, ratio, rounds, run

WALK = """
import os, sys
def walk(path):
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir():
                walk(entry.path)
            else:
                entry.stat()
walk(sys.argv[1])
"""
HOOK = b'{"hook_event_name":"Stop","session_id":"%s","transcript_path":"%s"}'


def measure_nothing_new(bench: Bench) -> Iterator[Measure]:
    """Against a bare process that walks the folders and stats the transcripts."""
    corpus = bench.corpus(files=bench.sizes.many)
    bench.first_index(corpus, "many")
    paths = iter(transcripts(corpus))
    hooked = transcripts(corpus)[0]
    environment = bench.environment(corpus, "many")

    def append_and_index() -> Took:
        append_line(next(paths))
        return bench.index(corpus, "many")

    took = rounds(
        bench.sizes.rounds * 3,
        bare=lambda: run(python("pass"), {}),
        walk=lambda: run(python(WALK, str(corpus / "projects")), {}),
        index=lambda: bench.index(corpus, "many"),
        json=lambda: bench.index(corpus, "many", "--json"),
        readout=lambda: run(program("readout"), environment),
        appended=append_and_index,
        hook=lambda: run(program("index", "--hook"), environment, _hook(hooked)),
    )
    walked = f"bare walk's process {milliseconds(took['walk'])}"
    for name, what, target in (
        ("index", f"nothing new over {bench.sizes.many:,} transcripts", 1.2),
        ("json", "the same with --json", 1.4),
        ("appended", "one line appended to one of them", 1.6),
    ):
        yield Measure(what, milliseconds(took[name]), walked, ratio(took[name], took["walk"]), at_most=target)
    start = f"python -c pass {milliseconds(took['bare'])}"
    yield Measure(
        "index --hook, nothing new",
        milliseconds(took["hook"]),
        start,
        ratio(took["hook"], took["bare"]),
        at_most=6.0,
    )
    # The walk is all but the interpreter's start of the process that walks.
    beyond = [one._replace(wall=one.wall - walk.wall + bare.wall) for one, walk, bare in _zip(took)]
    yield Measure(
        "readout, nothing new, the walk taken off",
        milliseconds(beyond),
        start,
        ratio(beyond, took["bare"]),
        at_most=8.0,
    )


def measure_appended(bench: Bench) -> Iterator[Measure]:
    """Time and writes in proportion to the change."""
    corpus = bench.corpus(files=bench.sizes.some)
    first = bench.first_index(corpus, "some")
    rounds_of_it: list[Took] = []
    appended = 0
    for _ in range(bench.sizes.rounds):
        step = max(1, len(transcripts(corpus)) // bench.sizes.appended)
        appended = sum(append_line(path) for path in transcripts(corpus)[::step][: bench.sizes.appended])
        rounds_of_it.append(bench.index(corpus, "some"))
    yield Measure(
        f"{bench.sizes.appended} of {bench.sizes.some:,} appended, CPU",
        f"{median(rounds_of_it, 'cpu') * 1e3:.0f} ms",
        f"first index {first.cpu:.2f} s",
        median(rounds_of_it, "cpu") / first.cpu,
        at_most=0.03,
    )
    written = median(rounds_of_it, "written_bytes")
    yield Measure(
        f"bytes written for it ({appended / 1e3:,.0f} KB appended)",
        f"{written / 1e6:.2f} MB",
        f"first index {first.written_bytes / 1e6:.1f} MB",
        written / first.written_bytes if first.written_bytes else None,
        at_most=0.05,
    )


def milliseconds(took: list[Took]) -> str:
    """The median wall time."""
    return f"{median(took) * 1e3:.0f} ms"


def _zip(took: dict[str, list[Took]]) -> Iterator[tuple[Took, Took, Took]]:
    yield from zip(took["readout"], took["walk"], took["bare"], strict=True)


def _hook(path: Path) -> bytes:
    return HOOK % (path.stem.encode(), str(path).encode())
