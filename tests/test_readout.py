"""`crusts readout`: the period in one line, its detail in context.json (X-readout and the rules before it)."""

from __future__ import annotations

import json
import os
import stat
import statistics
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.insight.money import readout
from crusts_index.quick.readout import encode
from tests.builders import ClaudeFolder, usage
from tests.conftest import Demo, IndexedFolder

S1 = "5e551001-0000-4000-8000-000000000001"
S2 = "5e551001-0000-4000-8000-000000000002"
KEYS = [
    *("sessions", "peak_p50", "over_150k", "over_250k", "compactions", "cache_read_share"),
    *("cache_write_usd", "reread_tok", "findings", "detail"),
]


def worked_example(folder: ClaudeFolder) -> None:
    """X-ex: two sessions and a subagent, one call of them before the period."""
    t = folder.main(S1, start=datetime(2026, 9, 30, 23, 59, tzinfo=UTC))
    t.prompt("look at it")
    t.response("before the period", usage=usage(input=9_999))
    t.clock.now = datetime(2026, 10, 1, 9, tzinfo=UTC)
    # r1 is logged twice: one line a block, the usage on each.
    first = t.tool_use("Read", {"file_path": "/a"})
    t.response("reading", first, usage=usage(input=10, read=1_000), request="req_1")
    t.tool_result(first["id"], "x" * 400)
    t.read("/a", "x" * 400, usage=usage(input=5, read=1_200), request="req_2")
    t.call("Edit", {"file_path": "/a"}, "ok", usage=usage(input=1, read=1_200), request="req_3")
    t.read("/a", "y" * 8, usage=usage(input=1, read=1_250), request="req_4")
    t.boundary("manual", pre=1_300, post=300)
    t.bash("make", "z" * 4_000, usage=usage(input=300), request="req_5")
    t.write()
    agent = folder.subagent(S1, clock=t.clock)
    agent.read("/a", "w", usage=usage(input=0, write=160_000), request="req_6")
    agent.write()
    other = folder.main(S2, project="/home/ada/shop", start=datetime(2026, 10, 2, tzinfo=UTC))
    other.response("hello", usage=usage(input=260_000), request="req_7")
    other.write()


@pytest.fixture
def example(tmp_path: Path) -> ClaudeFolder:
    """The worked example's folder."""
    folder = IndexedFolder(tmp_path)
    worked_example(folder)
    assert folder.crusts("index").code == 0
    return folder


def test_the_worked_example(example: ClaudeFolder) -> None:
    """The numbers of X-ex."""
    told = example.crusts("readout", "--full", "--since", "2026-10-01").json()
    one, two = (next(s for s in told["sessions"] if s["session"] == name) for name in (S1, S2))
    assert [1_010, 1_205, 1_201, 1_251, 300] == one["curve"]
    assert (1_251, 260_000) == (one["peak_ctx"], two["peak_ctx"])
    assert (2, 1, 1) == (len(told["sessions"]), told["over_150k"], told["over_250k"])
    assert (1_251 + 260_000 + 1) // 2 == told["peak_p50"]
    compaction = {key: one["compactions"][0][key] for key in ("before", "after", "trigger")}
    assert {"before": 1_300, "after": 300, "trigger": "manual"} == compaction
    assert (1, 7) == (told["compactions"], told["calls"])
    assert {"count": 1, "tokens": 100} == one["rereads"]
    assert {"count": 1, "tokens": 100, "files": [{"path": "/a", "count": 1, "tokens": 100}]} == told["rereads"]
    assert [("Bash", 1_000), ("Read", 203), ("Edit", 1)] == [(t["name"], t["tokens"]) for t in told["tools"]]
    assert {"1": 130_505, "10": None, "25": None, "50": None, "100": None, "200": None} == told["curve_median"]


def test_the_line_has_the_specs_keys_and_the_detail_the_rest(example: ClaudeFolder) -> None:
    """One compact line under 400 bytes with exactly X-readout's keys in order; context.json has the detail."""
    done = example.crusts("readout", "--since", "2026-10-01")
    line = json.loads(done.out)
    assert list(line) == KEYS
    assert (1, True) == (done.out.count("\n"), len(done.out.encode()) < 400)
    assert ": " not in done.out.replace('": ', "").split('"findings"')[0]
    detail = Path(line["detail"])
    assert detail == example.home / ".claude-crusts" / "context.json"
    assert 0o600 == stat.S_IMODE(detail.stat().st_mode)
    full = example.crusts("readout", "--full", "--since", "2026-10-01").json()
    assert full == json.loads(detail.read_text("utf-8"))
    assert (2, 1, 1, 1, 100) == tuple(
        line[key] for key in ("sessions", "over_150k", "over_250k", "compactions", "reread_tok")
    )
    assert (full["cache"]["read_share"], full["cache"]["write_usd"]) == (
        line["cache_read_share"],
        line["cache_write_usd"],
    )


def test_shares_of_the_cache(example: ClaudeFolder) -> None:
    """Shares are of all calls' context tokens, main and subagents, to four digits (X-cache)."""
    cache = example.crusts("readout", "--full", "--since", "2026-10-01").json()["cache"]
    context = 1_010 + 1_205 + 1_201 + 1_251 + 300 + 160_000 + 260_000
    assert round(4_650 / context, 4) == cache["read_share"]
    assert round(160_000 / context, 4) == cache["write_share"]
    assert 0 == cache["unpriced_calls"]
    assert cache["write_usd"] > 0


def test_what_the_demo_says(demo: Demo, golden: Callable[[str, str], None]) -> None:
    """The detail of the demo is the golden file."""
    told = demo.crusts("readout", "--full", "--since", "2026-01-01").json()
    golden("readout.txt", json.dumps(told, indent=1, ensure_ascii=False) + "\n")


def test_the_quick_path_and_the_full_command_line_say_the_same(example: ClaudeFolder) -> None:
    """Options before the name go through typer: same line, same exit."""
    quick = example.crusts("readout", "--since", "2026-10-01")
    assert quick == example.crusts("--verbose", "readout", "--since", "2026-10-01")
    assert 0 == example.crusts("readout", "--help").code


def test_wrong_usage_is_told(tmp_path: Path) -> None:
    """Unknown options, senseless days and both --days and --since: exit 2."""
    folder = IndexedFolder(tmp_path)
    for args in (("--what",), ("--days", "0"), ("--days", "x"), ("--since", "x"), ("--days", "3", "--since", "7d")):
        assert 2 == folder.crusts("readout", *args).code, args


def test_days_count_back_from_now(tmp_path: Path) -> None:
    """Thirty days unless --days says otherwise."""
    folder = IndexedFolder(tmp_path)
    for session, age in ((S1, 40), (S2, 10)):
        now = datetime.fromtimestamp(int(datetime.now(UTC).timestamp()) - age * 86_400, UTC)
        t = folder.main(session, start=now)
        t.response("a", context=100)
        t.write()
    counts = [folder.crusts("readout", *args).json()["sessions"] for args in ((), ("--days", "50"), ("--days=5",))]
    assert [1, 2, 0] == counts


def test_an_empty_period(tmp_path: Path) -> None:
    """No calls: nothing is unknown but peaks and shares."""
    told = IndexedFolder(tmp_path).crusts("readout", "--full").json()
    assert ([], 0, None, [], []) == tuple(told[key] for key in ("sessions", "calls", "peak_p50", "tools", "findings"))
    assert (None, 0.0) == (told["cache"]["read_share"], told["cache"]["write_usd"])


def test_the_detail_takes_the_place_of_no_pipe_or_device(example: ClaudeFolder, tmp_path: Path) -> None:
    """A named pipe gets it and stays one, as /dev/null must; a linked file gets it and stays linked."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "file")
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        assert 0 == example.crusts("readout", "--since", "2026-10-01", "--detail", str(pipe)).code
        out, _ = reader.communicate(timeout=60)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert 0 == example.crusts("readout", "--since", "2026-10-01", "--detail", str(link)).code
    assert link.is_symlink()
    assert json.loads(out) == json.loads((tmp_path / "file").read_text("utf-8"))


def test_the_detail_goes_where_it_is_told(example: ClaudeFolder, tmp_path: Path) -> None:
    """--detail names the file; one that cannot be written is an error, and nothing is left beside it."""
    place = tmp_path / "there" / "detail.json"
    done = example.crusts("readout", "--detail", str(place))
    assert (1, True) == (done.code, "--detail" in done.err)
    place.parent.mkdir()
    assert str(place) == example.crusts("readout", "--detail", str(place)).json()["detail"]
    assert ["detail.json"] == os.listdir(place.parent)


def test_rereads_need_the_earlier_read_in_the_period(tmp_path: Path) -> None:
    """A file read before the period and again in it was not read twice in it (D13)."""
    folder = IndexedFolder(tmp_path)
    t = folder.main(start=datetime(2026, 9, 30, 23, tzinfo=UTC))
    t.read("/a", "x" * 400, context=100)
    t.clock.now = datetime(2026, 10, 1, tzinfo=UTC)
    t.read("/a", "x" * 400, context=200)
    t.write()
    assert 0 == folder.crusts("readout", "--since", "2026-10-01").json()["reread_tok"]
    assert 100 == folder.crusts("readout", "--since", "2026-09-30").json()["reread_tok"]


def test_a_call_before_the_period_is_not_before_a_compaction(tmp_path: Path) -> None:
    """A boundary without sizes takes the calls around it, of those in the period (X-compact, D6)."""
    folder = IndexedFolder(tmp_path)
    t = folder.main(start=datetime(2026, 9, 30, 23, tzinfo=UTC))
    t.response("a", context=100)
    t.clock.now = datetime(2026, 10, 1, tzinfo=UTC)
    t.boundary(pre=None, post=None)
    t.response("b", context=50)
    t.write()
    ends = []
    for since in ("2026-10-01", "2026-09-30"):
        told = folder.crusts("readout", "--full", "--since", since).json()
        ends.append([(c["before"], c["after"]) for s in told["sessions"] for c in s["compactions"]])
    assert [[(None, 50)], [(100, 50)]] == ends


def test_a_fork_has_its_history_in_its_own_view_and_not_in_the_totals(tmp_path: Path) -> None:
    """Copied calls, compactions and re-reads are in the fork's curve and view, and counted once in all (D2)."""
    folder = IndexedFolder(tmp_path)
    t = folder.main(S1)
    t.read("/a", "x" * 400, context=1_000)
    t.read("/a", "x" * 400, context=2_000)
    t.boundary(pre=2_000, post=100)
    t.response("on", context=500)
    t.write()
    fork = folder.main(S2)
    fork.copy(t.lines(), forked=True)
    fork.response("my way", context=600)
    fork.write()
    told = folder.crusts("readout", "--full", "--since", "2026-10-01").json()
    of = {session["session"]: session for session in told["sessions"]}
    assert [1_000, 2_000, 500, 600] == of[S2]["curve"]
    assert (4, 1, {"count": 1, "tokens": 100}) == (
        told["calls"],
        told["compactions"],
        {key: told["rereads"][key] for key in ("count", "tokens")},
    )
    assert (3, 1) == (of[S1]["calls"], of[S2]["calls"])
    assert 1 == len(of[S2]["compactions"])
    assert {"count": 1, "tokens": 100} == of[S2]["rereads"]


def test_unpriced_calls_stand_beside_what_the_cache_writes_cost(tmp_path: Path) -> None:
    """write_usd sums what is priced and is null where nothing is; never 0 for the unknown (D15)."""
    folder = IndexedFolder(tmp_path)
    t = folder.main(model="someones-own-model")
    t.response("a", usage=usage(write=1_000))
    t.write()
    told = folder.crusts("readout", "--full", "--since", "2026-10-01").json()
    assert (None, 1) == (told["cache"]["write_usd"], told["cache"]["unpriced_calls"])
    assert folder.crusts("readout", "--since", "2026-10-01").json()["cache_write_usd"] is None


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=300))
def test_a_curve_is_cut_to_twenty_points_with_its_peak(curve: list[int]) -> None:
    """Short ones stay; of long ones 20 points of the curve in order, its peak among them."""
    cut = readout.downsample(curve)
    assert min(len(curve), 20) == len(cut)
    assert max(curve) == max(cut)
    rest = iter(curve)
    assert all(point in rest for point in cut)
    if len(curve) <= 20:
        assert curve == cut


@given(st.lists(st.integers(0, 10**6)))
def test_the_median_rounds_half_up(values: list[int]) -> None:
    """The middle value, or the mean of the two middle ones; none of nothing."""
    expected = int(statistics.median(values) + 0.5) if values else None
    assert expected == readout.median(values)


@given(
    st.lists(st.text(max_size=80), max_size=3),
    st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=600),
)
def test_the_line_is_short_whatever_the_findings_and_the_path(findings: list[str], path: str) -> None:
    """Findings go first, from the last on and whole, then the path shrinks."""
    told: dict[str, Any] = {
        "sessions": [None] * 12_345,
        "peak_p50": 999_999,
        "over_150k": 12_345,
        "over_250k": 12_345,
        "compactions": 99_999,
        "cache": {"read_share": 0.9999, "write_usd": 123456.123456},
        "rereads": {"tokens": 10**10},
        "findings": findings,
    }
    line = readout.compact(told, path, encode)
    assert len(line.encode()) < readout.MAX_READOUT_BYTES
    told_back = json.loads(line)
    assert list(told_back) == KEYS
    kept = told_back["findings"]
    assert kept == findings[: len(kept)]
    if kept != findings and told_back["detail"] == path:
        assert len(encode({**told_back, "findings": findings[: len(kept) + 1]}).encode()) >= 400


@pytest.mark.parametrize("text", ["\x1b[31m", "\x07\x7f", "\u202eevil", "a\u2028b", "plain", "Grüße, 世界"])
def test_json_is_safe_on_a_terminal(text: str) -> None:
    """Control and bidi characters are escaped, and come back the same."""
    encoded = encode({"text": text})
    assert json.loads(encoded) == {"text": text}
    assert encoded.isprintable()


def test_nothing_slow_is_imported_when_nothing_is_new(example: ClaudeFolder) -> None:
    """An answer from an up-to-date store needs no typer, SQLAlchemy, msgspec, price list or decoding."""
    code = "import sys\nfrom crusts_index.__main__ import main\nmain(['readout'])\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=example.env())
    loaded = set(done.stderr.split())
    assert "crusts_index.insight.money.readout" in loaded
    slow = {"typer", "rich", "sqlalchemy", "alembic", "tabulate", "msgspec", "genai_prices", "pathlib"}
    assert set() == slow & loaded | {"crusts_index.transcript.fold"} & loaded
