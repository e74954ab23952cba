"""A first index, against a process that only parses every line; and how it grows with the corpus."""

from collections.abc import Iterator
from pathlib import Path

from tests.bench.setting import Bench, Measure, manifest
from tests.bench.timing import Took, median, python, ratio, rounds, run

PARSE = """
import glob, sys, orjson
for name in glob.glob(sys.argv[1] + "/projects/**/*.jsonl", recursive=True):
    with open(name, "rb", buffering=1 << 20) as file:
        for line in file:
            try:
                orjson.loads(line)
            except ValueError:
                pass
"""
MOST_MEMORY = 150
"""Million bytes over all processes, beside five times the longest line."""

STORE_SHARE = 0.12


def measure(bench: Bench) -> Iterator[Measure]:
    """With one worker and with two, its memory, its store."""
    corpus = bench.corpus(bench.sizes.megabytes)
    size = manifest(corpus)["bytes"]
    took = rounds(
        bench.sizes.rounds,
        parse=lambda: parse(corpus),
        one=lambda: bench.first_index(corpus, "first", "--jobs", "1"),
        two=lambda: bench.first_index(corpus, "first", "--jobs", "2"),
    )
    for jobs, name, target in ((1, "one", 0.3), (2, "two", 0.38)):
        yield Measure(
            f"first index, wall rate, {jobs} worker{'s' if jobs > 1 else ''}",
            rate(size, took[name]),
            f"orjson on every line {rate(size, took['parse'])}",
            ratio(took["parse"], took[name]),
            at_least=target,
        )
    yield Measure(
        "MB a CPU second, 1 worker",
        f"{size / 1e6 / median(took['one'], 'cpu'):.0f} MB/s",
        f"orjson {size / 1e6 / median(took['parse'], 'cpu'):.0f} MB/s",
        size / 1e6 / median(took["one"], "cpu"),
        at_least=115,
    )
    yield memory("peak memory, 2 workers", took["two"], manifest(corpus)["longest_line"])
    stored = sum(file.stat().st_size for file in bench.store("first").parent.glob("*.db*"))
    yield Measure(
        "store, every *.db*, search not yet used",
        f"{stored / 1e6:,.1f} MB",
        f"transcripts {size / 1e6:,.1f} MB",
        stored / size,
        at_most=STORE_SHARE,
    )
    searched = rounds(
        1,
        index=lambda: bench.first_index(corpus, "searched", "--jobs", "2"),
        search=lambda: bench.search(corpus, "searched", "anything"),
    )
    found = bench.store("searched").with_name("search.db").stat().st_size
    yield Measure("search file", f"{found / 1e6:,.1f} MB", f"transcripts {size / 1e6:,.1f} MB", found / size)
    yield Measure(
        "the first search, which makes it",
        f"{median(searched['search']):.2f} s",
        f"first index {median(searched['index']):.2f} s",
        ratio(searched["search"], searched["index"]),
    )
    bench.forget("searched")


def measure_large(bench: Bench) -> Iterator[Measure]:
    """Rate and memory with four times the corpus; asked for by --large."""
    if not bench.large:
        return
    small, large = bench.corpus(bench.sizes.megabytes), bench.corpus(bench.sizes.large)
    took = rounds(
        min(2, bench.sizes.rounds),
        small=lambda: bench.first_index(small, "small", "--jobs", "2"),
        large=lambda: bench.first_index(large, "large", "--jobs", "2"),
    )
    bytes_of = {"small": manifest(small)["bytes"], "large": manifest(large)["bytes"]}
    yield Measure(
        f"first index of {bench.sizes.large:,} MB, rate",
        rate(bytes_of["large"], took["large"]),
        f"{bench.sizes.megabytes:,} MB {rate(bytes_of['small'], took['small'])}",
        ratio(took["small"], took["large"]) * bytes_of["large"] / bytes_of["small"],
        at_least=0.75,
    )
    yield memory(f"peak memory, {bench.sizes.large:,} MB", took["large"], manifest(large)["longest_line"])
    bench.forget("large")


def memory(name: str, took: list[Took], longest_line: int) -> Measure:
    """The peak against what it may be."""
    peak = median(took, "peak_bytes")
    bound = MOST_MEMORY * 1e6 + 5 * longest_line
    return Measure(name, f"{peak / 1e6:.0f} MB", f"bound {bound / 1e6:.0f} MB", peak / bound, at_most=1.0)


def parse(corpus: Path) -> Took:
    """The reference: a bare process that parses every line."""
    return run(python(PARSE, str(corpus)), {})


def rate(size: int, took: list[Took]) -> str:
    """Million bytes a second."""
    return f"{size / 1e6 / median(took):,.0f} MB/s"
