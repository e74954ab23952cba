"""Work is in proportion to the bytes, whatever they are: no text makes an expression or a loop go wild."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crusts_index
from crusts_index import models, plain
from crusts_index.claude.context_report import looks_like_context, parse_context, parse_tokens
from crusts_index.claude.measure import frontmatter
from crusts_index.index.find import find_one
from crusts_index.index.ingest import LEAST_BYTES
from crusts_index.index.plan import Job
from crusts_index.index.read import read
from crusts_index.index.run import index_files
from crusts_index.index.summary import Options
from crusts_index.insight.losses import items, summary, survivors
from crusts_index.insight.session import mentions
from crusts_index.insight.waste import noise
from crusts_index.insight.window import catalogue
from crusts_index.render import csvout, report_pages, text
from crusts_index.store import matches, price_list, search
from crusts_index.store.open import open_store
from crusts_index.transcript.measure import measure
from crusts_index.transcript.shorten import Shortener
from tests.builders import OMIT, SESSION, ClaudeFolder, Json, Transcript
from tests.hostile import MOST, PIECES, grown, growth, transcript
from tests.picture import ask, assert_same, index, new_store, one, picture, scratch
from tests.profiles import examples

pieces = st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join)
edges = st.sampled_from(("", *PIECES))


def no_store() -> Connection:
    """For what is read from its beginning."""
    raise AssertionError("there is no past to ask for")


def reading(t: Transcript) -> Callable[[], object]:
    """The work of reading a transcript from its beginning, without a store."""
    t.write()
    (seen,) = find_one(str(t.path))
    return lambda: [stretch.records for stretch in read(Job(seen, None), 1, no_store)]


def growth_of_reading(folder: ClaudeFolder, piece: str, before: str = "", behind: str = "") -> float:
    """How reading grows with the size of a text that stands everywhere."""

    def work(size: int) -> Callable[[], object]:
        t = folder.main()
        t.pieces = transcript(grown(piece, size, before, behind)).pieces
        assert t.path is not None
        t.path.unlink(missing_ok=True)
        return reading(t)

    return growth(work, 6_000)


@pytest.mark.long
@examples(30)
@given(pieces, edges, edges)
def test_reading_grows_with_the_bytes(piece: str, before: str, behind: str) -> None:
    """Twice a text, in every place of a transcript, takes about twice the work."""
    with scratch() as home:
        assert MOST > growth_of_reading(ClaudeFolder(home), piece, before, behind)


@pytest.mark.long
@pytest.mark.parametrize("piece", PIECES)
def test_reading_each_piece_grows_with_the_bytes(folder: ClaudeFolder, piece: str) -> None:
    """The same of every piece alone, with what does not fit behind it."""
    assert MOST > growth_of_reading(folder, piece, "", "x")


def alike(t: Transcript, count: int, kind: str) -> None:
    """Many small records that have something in common."""
    thinking = [{"type": "thinking", "thinking": "x" * (place % 2)} for place in range(count)]
    for place in range(count):
        if kind == "one message, many requests":
            t.response("x", context=place, message="m", request=f"r{place}")
        elif kind == "one message without requests":
            t.response("x", context=place, message="m", request=OMIT)
        elif kind == "one tool use":
            t.tool_result("toolu_a", "x")
        elif kind == "one parent":
            t.prompt("x", parentUuid="0" * 36)
        elif kind == "one uuid":
            t.prompt("x", uuid=SESSION)
        elif kind == "sidechains":
            t.prompt("x", isSidechain=True, parentUuid=None, agentId=f"a{place}")
        elif kind == "sessions":
            t.prompt("x", sessionId=f"s{place}", cwd=f"/{place}")
        elif kind == "reads":
            t.read(f"/{place}/a.py", "x", context=5)
        elif kind == "compactions":
            t.record("system", subtype="compact_boundary", compactMetadata={"preservedMessages": {"uuids": ["a"]}})
    if kind == "thoughts":
        message = {"id": "m", "content": thinking, "usage": {"input_tokens": 5, "output_tokens": 10 * count}}
        t.record("assistant", message=message)
        message["usage"] = {"input_tokens": 5, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 9}}
        t.record("assistant", message=message)


KINDS = (
    *("one message, many requests", "one message without requests", "one tool use", "one parent", "one uuid"),
    *("sidechains", "sessions", "reads", "compactions", "thoughts"),
)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_reading_grows_with_the_records(folder: ClaudeFolder, kind: str) -> None:
    """Twice as many records that belong together take about twice the work."""

    def work(count: int) -> Callable[[], object]:
        t = Transcript(path=folder.main().path)
        alike(t, count, kind)
        assert t.path is not None
        t.path.unlink(missing_ok=True)
        return reading(t)

    assert MOST > growth(work, 2_000 if kind != "thoughts" else 20_000)


@pytest.mark.parametrize("tail", ["ABCDEF", "-of-a-gateway"])
def test_ids_that_end_alike_are_found_as_quickly(tmp_path: Path, tail: str) -> None:
    """Settling what a copy shares takes no more steps where odd ids begin with what tells them apart."""
    alike, apart = (_steps_for_a_copy(tmp_path / name, name, tail) for name in ("alike", "apart"))
    assert alike < 1.5 * apart


def _steps_for_a_copy(home: Path, name: str, tail: str) -> int:
    """Steps of SQLite, by the thousand, for a transcript whose every call stands in another one too."""
    folder = ClaudeFolder(home)
    original = folder.main()
    for place in range(300):
        end = f"{place:06}{tail}" if name == "alike" else f"{tail}{place:06}"
        use = original.tool_use("Bash", id=f"toolu_{end}")
        original.response(use, request=f"req_{end}", message=f"msg_{end}", context=5)
        original.tool_result(f"toolu_{end}")
    original.write()
    db = new_store(home)
    index(db, folder.config)
    assert original.path is not None
    copy = original.path.with_stem("5e551001-0000-4000-8000-000000000002")
    copy.write_bytes(original.path.read_bytes())
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    with closing(open_store(db, write=True)) as store:
        store.set_progress_handler(count, 1000)
        index_files(store, str(db), [str(copy)], Options(jobs=1))
    assert 600 == one(db, "select count(*) from responses")
    return steps


def test_outputs_of_context_are_parsed_by_the_reader(folder: ClaudeFolder) -> None:
    """The rows that are made without a store, and so without its lock, hold them already."""
    t = folder.main()
    t.prompt("## Context Usage\n\n**Model:** m\n**Tokens:** 1k / 200k (1%)\n")
    t.write()
    (seen,) = find_one(str(t.path))
    (stretch,) = read(Job(seen, None), 1, no_store)
    ((_, _, _, *parsed),) = stretch.rows["context_reports"]
    assert ["m", 1_000, 200_000, "[]"] == parsed


JUDGES: dict[str, Callable[[str], object]] = {
    "measure": measure,
    "line": plain.line,
    "lines": plain.lines,
    "escaped": lambda said: plain.escaped(json.dumps(said, ensure_ascii=False)),
    "shorten_path": lambda said: text.shorten_path(said, 40),
    "key_terms": lambda said: [(summary.key_terms(said), items.weight_of(said)) for _ in range(9)],
    "names": lambda said: [summary.names_in(said[:4_000], said, is_command=True) for _ in range(9)],
    "summary": lambda said: (summary.Summary(said).names("/a/b.py"), summary.Summary(said).quotes(said)),
    "file_references": survivors.file_references,
    "base_name": mentions.base_name,
    "short_names": lambda said: mentions.short_names([said, said + "/x"]),
    "model_family": models.model_family,
    "variant_window": catalogue.variant_window,
    "rule_of": noise.rule_of,
    "price": lambda said: list(price_list.rows_of(said, "x", price_list.bundled())),
    "csv": lambda said: csvout.encode(["a"], [[said], ["+" + said]]),
    "markdown": lambda said: (report_pages.escape_markdown(said), report_pages.fenced(said)),
    "search words": search.spaced,
    "search query": matches.match_of,
    "context": lambda said: (parse_context(said), looks_like_context(said), parse_tokens("1" + said + "x")),
    "frontmatter": lambda said: frontmatter("---\n" + said + "\n---"),
}


@pytest.mark.long
@examples(40)
@given(pieces, edges, edges)
def test_judging_grows_with_the_text(piece: str, before: str, behind: str) -> None:
    """So it is with everything that reports do with a text."""
    for name, judge in JUDGES.items():

        def work(size: int, judge: Callable[[str], object] = judge) -> Callable[[], object]:
            said = grown(piece, size, before, behind)
            return lambda: judge(said)

        assert MOST > growth(work, 8_000), name


# Expressions that are asked only where a text begins, or only about a part of bounded length.
ANCHORED = frozenset(
    ("csvout._FORMULA", "csvout._NUMBER", "patterns.STUB", "context_report._AMOUNT", "survivors._REFERENCE")
)


def expressions() -> Iterator[tuple[str, Callable[[str], object]]]:
    """All regular expressions that the package keeps, by module and name, as a search through a whole text."""
    for module in pkgutil.walk_packages(crusts_index.__path__, "crusts_index."):
        if module.name.endswith("__main__"):
            continue
        loaded = importlib.import_module(module.name)
        for name, value in vars(loaded).items():
            for kept in value.values() if isinstance(value, dict) else (value,):
                label = f"{module.name.rpartition('.')[2]}.{name}"
                if isinstance(kept, re.Pattern):
                    yield label, lambda said, kept=kept: sum(1 for _ in kept.finditer(said))  # type: ignore[misc]
                elif isinstance(getattr(kept, "__self__", None), re.Pattern):
                    yield label, kept


def in_kind(pattern: Callable[[str], object], said: str) -> Callable[[], object]:
    """The search, in text or in bytes."""

    def look() -> None:
        try:
            pattern(said)
        except TypeError:
            pattern(said.encode("utf-8", "replace"))  # type: ignore[arg-type]

    return look


@pytest.mark.long
def test_no_expression_goes_wild() -> None:
    """Every regular expression of the package, on every piece: twice the text takes about twice the work."""
    looked = 0
    for label, pattern in expressions():
        if label in ANCHORED:
            continue
        for piece in PIECES:
            for behind in ("", "\n!"):

                def work(size: int, pattern: Callable[[str], object] = pattern) -> Callable[[], object]:
                    return in_kind(pattern, grown(piece, size, "1", behind))  # noqa: B023 - used at once

                assert MOST > growth(work, 4_000), (label, piece, behind)
        looked += 1
    assert looked > 30


def test_expressions_are_kept_under_a_name() -> None:
    """None is written where it is used: there the test above would not find it.

    Quick commands import `re` only for names of files and zones; what they ask of other texts is among the judges.
    """
    at_once = re.compile(r"\bre\.(?:sub|subn|search|match|fullmatch|findall|finditer|split)\(")
    folder = Path(crusts_index.__file__).parent
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    assert [] == [name for name, text in texts.items() if "\nimport re\n" in text and at_once.search(text)]


# ---------------------------------------------------------------- long lines and little time

parts = st.text(st.sampled_from('a"\\\n\u0001é\U0001f600\ud83d'), max_size=60)


@examples(200)
@given(st.dictionaries(parts, st.lists(parts, max_size=3), max_size=4), st.booleans(), st.integers(1, 99))
def test_a_shortened_line_is_the_same_with_its_texts_cut(value: Json, ascii: bool, step: int) -> None:
    """Whatever the pieces that it comes in: the same keys and values, each text a beginning of what it was."""
    line = json.dumps(value, ensure_ascii=ascii).encode("utf-8", "surrogatepass")
    shortener = Shortener(1 << 20, 40)
    for at in range(0, len(line), step):
        shortener.add(line[at : at + step])
    shortened = shortener.line
    assert shortened is not None
    found = json.loads(shortened.decode("utf-8", "surrogatepass"), object_pairs_hook=list)
    for (key, texts), (kept_key, kept_texts) in zip(value.items(), found, strict=True):
        for text_, kept in zip((key, *texts), (kept_key, *kept_texts), strict=True):
            assert units(text_).startswith(units(kept))
            assert text_ == kept or len(json.dumps(text_, ensure_ascii=ascii).encode("utf-8", "surrogatepass")) > 40


def units(text: str) -> bytes:
    """Its UTF-16, in which half an emoji is a part of a whole one."""
    return text.encode("utf-16-le", "surrogatepass")


# Asked for inside: to its parent a process counts the parent's own memory, from before it became another program.
_WITH_PEAK = """
import re, resource
from pathlib import Path
from crusts_index.__main__ import main
assert main(["index"]) == 0
peak = int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
print(max(peak, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc here")
def test_a_very_long_line_takes_little_memory(folder: ClaudeFolder) -> None:
    """A line of 200 MB is read in a part of that: its record is kept, its texts are cut, the others are whole."""
    t = folder.main()
    t.prompt("before")
    t.write()
    assert t.path is not None
    with t.path.open("ab") as file:
        file.write(b'{"type":"user","uuid":"x","message":{"role":"user","content":"long ')
        for _ in range(200):
            file.write(b"word " * (1 << 18))
        file.write(b'"}}\n{"type":"user","message":{"content":[' + b'"",' * (30 << 20) + b'""]}}\n')
        t.prompt("behind")
        file.write(t.pieces.pop())
    done = subprocess.run([sys.executable, "-c", _WITH_PEAK], env=folder.env(), capture_output=True, check=True)
    assert int(done.stdout.split()[-1]) < 300 << 10
    db = folder.home / ".claude-crusts" / "index.db"
    said = [text_[:6] for (text_,) in ask(db, "select text from texts order by block_id")]
    assert ["before", "long w", "behind"] == said
    reasons = [row[0] for row in ask(db, "select reason from problems where reason like 'too long%' order by offset")]
    assert ["too long: its texts were cut", "too long"] == reasons


@pytest.mark.long
def test_a_run_without_time_reads_a_little_and_the_next_goes_on(folder: ClaudeFolder) -> None:
    """It stops within a transcript, behind the first line past its least; what it read is kept."""
    t = folder.main()
    for turn in range(800):
        t.prompt(f"{turn} " + "x" * 2_000)
        t.response("y" * 100, context=turn)
    t.write()
    assert t.path is not None
    size = t.path.stat().st_size
    db = new_store(folder.home)
    offsets = [0]
    while offsets[-1] < size:
        with closing(open_store(db, write=True)) as store:
            index_files(store, str(db), [str(t.path)], Options(jobs=0, seconds=0.0))
        offsets.append(one(db, "select offset from transcripts"))
        assert 0 < min(offsets[-1], size) - offsets[-2] < LEAST_BYTES + 5_000
    assert len(offsets) > 2
    clean = new_store(folder.home, "clean.db")
    index(clean, folder.config)
    assert_same(picture(clean), picture(db))
