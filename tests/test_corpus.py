"""The bench corpus is what its manifest says, in real proportions, and the same every time."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bench.corpus import make_corpus, make_transcript
from tests.bench.threads import FIELDS

Json = dict[str, Any]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Json]:
    """Twelve megabytes and their manifest."""
    folder = tmp_path_factory.mktemp("corpus")
    return folder, make_corpus(folder, 12, seed=3)


def records(folder: Path) -> Iterator[tuple[Path, Json]]:
    """Every record, the ones behind a torn piece too."""
    for path in sorted(folder.rglob("*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                record = whole(line)
                if record is not None:
                    yield path, record


def whole(line: bytes) -> Json | None:
    """The last record on a line that is whole."""
    start = 0
    while start >= 0:
        try:
            record: Json = json.loads(line[start:])
        except ValueError:
            starts = [line.find(head, start + 1) for head in (b'{"parentUuid":', b'{"type":"')]
            start = min([place for place in starts if place > 0], default=-1)
        else:
            return record
    return None


def totals(folder: Path) -> dict[str, dict[str, int]]:
    """Sums by model: each request once, from its own transcript rather than a copy or a progress record."""
    found: dict[str, tuple[tuple[bool, ...], str, Json]] = {}
    for path, record in records(folder):
        nested = record["type"] == "progress"
        said = record["data"].get("message", {}) if nested else record
        if "requestId" in said:
            copied = "forkedFrom" in record or ("agentId" not in record and record["sessionId"] != path.stem)
            rank = (copied, nested)
            best = found.get(said["requestId"])
            if best is None or rank <= best[0]:
                found[said["requestId"]] = (rank, said["message"]["model"], said["message"]["usage"])
    sums: dict[str, dict[str, int]] = {}
    for _, model, usage in found.values():
        counted = sums.setdefault(model, dict.fromkeys(FIELDS, 0))
        counted["calls"] += 1
        counted["input"] += usage["input_tokens"]
        counted["cache_write"] += usage["cache_creation_input_tokens"]
        counted["cache_read"] += usage["cache_read_input_tokens"]
        counted["output"] += usage["output_tokens"]
    return sums


def test_the_manifest_counts_what_is_there(corpus: tuple[Path, Json]) -> None:
    """Files, lines, bytes and the longest line are those on disk."""
    folder, manifest = corpus
    texts = [path.read_bytes() for path in folder.rglob("*.jsonl")]
    counted = (len(texts), sum(text.count(b"\n") for text in texts), sum(map(len, texts)))
    assert (manifest["files"], manifest["lines"], manifest["bytes"]) == counted
    assert json.loads((folder / "manifest.json").read_text()) == manifest


def test_the_totals_are_those_of_a_plain_count(corpus: tuple[Path, Json]) -> None:
    """Tokens by model are the last line of each request, once, whatever copies and progress repeat."""
    folder, manifest = corpus
    assert totals(folder) == manifest["models"]


def test_the_proportions_are_those_of_real_transcripts(corpus: tuple[Path, Json]) -> None:
    """User lines hold about half of the bytes, progress about a third of the lines, originalFile a fifth."""
    _, manifest = corpus
    lines = {kind: counted["lines"] / manifest["lines"] for kind, counted in manifest["kinds"].items()}
    sizes = {kind: counted["bytes"] / manifest["bytes"] for kind, counted in manifest["kinds"].items()}
    assert 0.45 < sizes["user"] < 0.65
    assert 0.15 < sizes["assistant"] < 0.27
    assert 0.3 < lines["assistant"] < 0.4
    assert 0.18 < lines["hook_progress"] + lines["bash_progress"] < 0.42
    assert 0.14 < manifest["parts"]["originalFile"] / manifest["bytes"] < 0.25
    assert 2_200 < manifest["bytes"] / manifest["lines"] < 3_200


@pytest.mark.long
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two corpora of one seed are equal file by file; another seed's is not."""
    made = []
    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        make_corpus(tmp_path / name, 1, seed=seed)
        files = (path for path in (tmp_path / name).rglob("*") if path.is_file())
        made.append({path.relative_to(tmp_path / name): path.read_bytes() for path in files})
    assert made[0] == made[1]
    assert made[0] != made[2]


def test_many_small_files(tmp_path: Path) -> None:
    """Asked for a number of files, it makes that many, small ones, in more than one project."""
    manifest = make_corpus(tmp_path, files=60)
    assert 60 <= manifest["files"] <= 64
    assert manifest["bytes"] / manifest["files"] < 120_000
    assert len(list((tmp_path / "projects").iterdir())) > 3


def test_one_big_transcript(tmp_path: Path) -> None:
    """A single transcript has the size asked for, and its totals count the subagents in its progress."""
    path = tmp_path / "5e551001-0000-4000-8000-000000000001.jsonl"
    manifest = make_transcript(path, 4)
    assert path.stat().st_size == manifest["bytes"]
    assert 4_000_000 <= manifest["bytes"] < 6_000_000
    assert totals(tmp_path) == manifest["models"]
