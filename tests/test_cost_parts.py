"""Where the money of each call went: parts that sum to its cost, whatever the history (D21)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given

from tests.builders import ClaudeFolder, usage
from tests.picture import ask, index, new_store, one, read, scratch, set_prices
from tests.profiles import examples
from tests.strategies import MODELS, Step, histories, write_step

PARTS = "new carried rebuilt compaction output thinking searches".split()
USD = " + ".join(f"{part}_usd" for part in PARTS)
TOKENS = "new_tokens + carried_tokens + rebuilt_tokens + compaction_tokens + output_tokens + thinking_tokens"


def assert_sums(db: Path) -> None:
    """Each call has its parts, in tokens and in USD; so has the sum that usage is made of."""
    off = f"abs(cost_usd - ({USD})) > 1e-9 or (cost_usd is null) <> ({USD} is null)"
    assert [] == ask(db, f"select * from cost_parts where {off} or min(new_tokens, rebuilt_tokens, output_tokens) < 0")
    counted = "select call_key, " + TOKENS + " from cost_parts"
    assert ask(db, f"{counted} except select id, context_tokens + output_tokens from priced_calls") == []
    assert one(db, "select count(*) from stored_calls") == one(db, "select count(*) from cost_parts")
    summed = one(db, "select sum(cost_usd), sum(calls) from priced_sums")
    parts = one(db, f"select sum({USD}), count(*) from cost_parts")
    assert summed[1] == (parts[1] or None)
    assert abs((summed[0] or 0) - (parts[0] or 0)) <= 1e-9 * (1 + parts[1])


@pytest.mark.long
@examples(60)
@given(histories())
def test_the_parts_of_any_history_sum_to_its_cost(history: list[Step]) -> None:
    """Main threads, subagents, nested ones, copies, forks, placeholders: every priced call."""
    with scratch() as folder:
        config, db = folder / "claude", new_store(folder)
        set_prices(db, MODELS)
        for step in history:
            write_step(config, step)
        index(db, config)
        assert_sums(db)


def test_what_is_new_carried_and_sent_again(folder: ClaudeFolder) -> None:
    """Of what was in the context before, what was not read is rebuilt: at most what was sent."""
    t = folder.main(model="claude-opus-4-6")
    t.response("one", usage=usage(10, write=30_000, output=100))
    t.response("two", usage=usage(5, write=2_000, read=30_000, output=100))
    t.clock.now += timedelta(minutes=9)
    t.response("three", usage=usage(5, write=33_000, read=0, output=100))
    t.response("four", usage=usage(1_000, write=0, read=0, output=100))
    db = read(folder, t)
    set_prices(db, ["claude-opus-4-6"])
    told = ask(
        db, "select new_tokens, carried_tokens, rebuilt_tokens, compaction_tokens from cost_parts order by time_ms"
    )
    assert [(30_010, 0, 0, 0), (1_995, 30_000, 10, 0), (1_000, 0, 32_005, 0), (0, 0, 1_000, 0)] == told
    assert [("pause", 32_005)] == ask(db, "select reason, rebuilt_tokens from cache_breaks")


def test_what_a_compaction_sent(folder: ClaudeFolder) -> None:
    """All that the first call behind a boundary sent is the compaction's, and no break; its answer is output."""
    t = folder.main()
    t.response("one", usage=usage(10, write=90_000))
    t.boundary()
    t.summary()
    t.response("two", usage=usage(10, write=20_000, read=5_000, output=70))
    t.response("three", usage=usage(10, write=100, read=25_000, output=70))
    db = read(folder, t)
    told = ask(
        db,
        "select new_tokens, carried_tokens, rebuilt_tokens, compaction_tokens, output_tokens from cost_parts"
        " order by time_ms",
    )
    assert [(90_010, 0, 0, 0, 20), (0, 5_000, 0, 20_010, 70), (100, 25_000, 10, 0, 70)] == told
    assert [] == ask(db, "select * from cache_breaks")


def test_calls_that_made_a_summary(folder: ClaudeFolder) -> None:
    """Where they are logged, in a file of a compaction's agent, they are the compaction's as a whole."""
    t = folder.main()
    t.response("one", usage=usage(10, write=50_000))
    agent = folder.subagent(agent="acompact-77")
    agent.response("summary", usage=usage(10, write=100, read=50_000, output=900))
    db = read(folder, t, agent)
    told = "select new_tokens, carried_tokens, compaction_tokens, output_tokens from cost_parts"
    assert [(0, 0, 51_010, 0)] == ask(db, f"{told} where thread_kind <> 'main'")


def test_thinking_is_told_apart_where_it_is_logged(folder: ClaudeFolder) -> None:
    """Never more of it than was put out."""
    t = folder.main()
    for thinking in (15, 900):
        t.response("x", usage=usage(10, output=20, output_tokens_details={"thinking_tokens": thinking}))
    t.response("x", usage=usage(10, output=20))
    db = read(folder, t)
    assert [(5, 15), (0, 20), (20, 0)] == ask(
        db, "select output_tokens, thinking_tokens from cost_parts order by time_ms"
    )


def test_no_part_of_an_unpriced_call_has_a_price(folder: ClaudeFolder) -> None:
    """Neither have its searches."""
    t = folder.main(model="claude-next-9")
    t.response("x", usage=usage(10, output=20, server_tool_use={"web_search_requests": 2}))
    db = read(folder, t)
    columns = ", ".join(f"{part}_usd" for part in PARTS)
    assert [(2, *[None] * 7)] == ask(db, f"select searches, {columns} from cost_parts")
