"""What fills the window: one list of everything in it, which sums to the window to the token (D17)."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.insight.session.loading import load
from crusts_index.insight.window.buckets import buckets_of
from crusts_index.insight.window.contents import apportioned
from crusts_index.insight.window.habits import Habits
from crusts_index.insight.window.judge import window_of
from crusts_index.insight.window.listed import NO_ROW, list_contents
from crusts_index.insight.window.many import Many
from crusts_index.render.contents import shown_contents
from crusts_index.rows.trend import Standing
from crusts_index.store import query
from crusts_index.store.open import open_store
from tests.analysed import Analysed, analysed
from tests.builders import CWD, SESSION, ClaudeFolder, Transcript, text_block, thinking_block, tool
from tests.picture import read
from tests.profiles import examples
from tests.terminal import running

PAGE = "a line of a file that is read\n" * 60
KEYS = ["what", "kind", "category", "count", "tokens", "share", "accuracy", "carried_usd"]


def many_kinds(folder: ClaudeFolder) -> Transcript:
    """A window that holds something of most kinds."""
    t = folder.main()
    t.attachment("skill_listing", content="- deploy: ship it\n" * 30, names=["deploy"])
    t.attachment(
        "deferred_tools_delta",
        addedNames=["CronList", "mcp__tracker__search", "mcp__tracker__close"],
        addedLines=["CronList", "mcp__tracker__search", "mcp__tracker__close"],
        removedNames=[],
    )
    t.attachment(
        "mcp_instructions_delta",
        addedNames=["tracker", "wiki"],
        addedBlocks=["## tracker\n" + "Search first. " * 40, "## wiki\nRead."],
        removedNames=[],
    )
    t.prompt("look at the parser, please")
    t.read(f"{CWD}/one.py", PAGE, context=30_000)
    t.read(f"{CWD}/one.py", PAGE, context=31_000, offset=60)
    t.call("mcp__tracker__search", {"q": "x"}, "issue " * 200, context=32_000)
    t.edit(f"{CWD}/one.py", context=33_000)
    t.bash("ls", "file\n" * 50, context=33_500)
    t.response(thinking_block(signature="s" * 2_000), text_block("It is done."), context=34_000, output=200)
    t.prompt("and now the lexer")
    t.response("done", context=34_500)
    return t


def contents(folder: ClaudeFolder, *args: str, command: str = "analyze") -> list[dict[str, Any]]:
    """The list as a command prints it."""
    found: list[dict[str, Any]] = folder.crusts(command, *args, "--json").json()["contents"]
    return found


def test_everything_in_the_window_has_a_row(folder: ClaudeFolder) -> None:
    """Fixed context, listings by server, prompts, answers, thinking, inputs by tool, files with all their reads,
    results by tool: largest first, with the keys that programs rely on, summing to the window."""
    many_kinds(folder).write()
    document = folder.crusts("analyze", "--json").json()
    rows = document["contents"]
    assert all(list(row) == KEYS for row in rows)
    assert document["window"]["tokens"] == sum(row["tokens"] for row in rows)
    assert [row["tokens"] for row in rows] == sorted((row["tokens"] for row in rows), reverse=True)
    named = {row["what"]: (row["kind"], row["category"], row["count"]) for row in rows}
    assert {
        "tool schemas by the table": ("schemas", "tools", 1),
        "fixed context, not divided": ("fixed", "system", 1),
        "skill listing": ("skills", "system", 1),
        "tools announced: built-in": ("listing", "tools", 1),
        "tools announced: tracker": ("listing", "tools", 1),
        "MCP instructions: tracker": ("listing", "tools", 1),
        "MCP instructions: wiki": ("listing", "tools", 1),
        "earlier prompts": ("prompt", "conversation", 1),
        "last prompt": ("prompt", "user", 1),
        "answers": ("answer", "conversation", 2),
        "thinking": ("thinking", "conversation", 1),
        f"{CWD}/one.py": ("file", "retrieved", 2),
        "Read inputs": ("input", "retrieved", 2),
        "Edit inputs": ("input", "tools", 1),
        "Edit results": ("result", "tools", 1),
        "Bash inputs": ("input", "tools", 1),
        "Bash results": ("result", "tools", 1),
        "mcp__tracker__search inputs": ("input", "tools", 1),
        "mcp__tracker__search results": ("result", "tools", 1),
    } == named
    tokens = {row["what"]: row["tokens"] for row in rows}
    assert tokens["MCP instructions: tracker"] > 5 * tokens["MCP instructions: wiki"]


def test_categories_are_sums_of_the_list(folder: ClaudeFolder) -> None:
    """Each of the six is the sum of its rows (D12)."""
    many_kinds(folder).write()
    document = folder.crusts("analyze", "--json").json()
    now = document["breakdown"]["currentContext"]
    assert "window" == now["reconciliation"]["basis"]
    assert {bucket["category"]: bucket["tokens"] for bucket in now["buckets"]} == {
        bucket["category"]: sum(row["tokens"] for row in document["contents"] if row["category"] == bucket["category"])
        for bucket in now["buckets"]
    }


def test_every_command_has_the_same_list(folder: ClaudeFolder) -> None:
    """analyze, waste, report and watch."""
    many_kinds(folder).write()
    found = contents(folder)
    assert found == contents(folder, command="waste")
    assert found == contents(folder, command="report")
    with running(folder, "watch", SESSION, "--json", cwd=folder.home) as watch:
        assert found == watch.document()["contents"]


def test_people_see_the_first_ten_and_the_rest_in_one_row(folder: ClaudeFolder) -> None:
    """In the order of the list."""
    many_kinds(folder).write()
    rows = contents(folder)
    said = folder.crusts("analyze").out.split("What takes most\n")[1].split("\n\n")[0].splitlines()
    tokens = [int(line.split()[0].replace(",", "")) for line in said[2:13]]
    assert [row["tokens"] for row in rows[:10]] == tokens[:10]
    assert (sum(row["tokens"] for row in rows[10:]), True) == (tokens[10], f"{len(rows) - 10} more" in said[12])


def test_what_no_row_explains_is_the_last_row(folder: ClaudeFolder) -> None:
    """Where the estimates are too far below the window they stay as counted, and what is left is told as that."""
    t = folder.main()
    t.prompt("go")
    t.response("ok", context=3_000)
    t.prompt("go on")
    t.response("ok", context=90_000)
    found = analysed(folder, t)
    rows = list_contents(found.facts, found.window, found.buckets)
    assert (NO_ROW, "rest", None) == (rows[-1].what, rows[-1].kind, rows[-1].category)
    assert found.window.size - found.buckets.content_sum == rows[-1].tokens
    assert found.window.size == sum(row.tokens for row in rows)


def test_a_window_smaller_than_its_estimates_is_shared_out(folder: ClaudeFolder) -> None:
    """Then every row is scaled down, and none is negative."""
    t = folder.main()
    t.prompt("word " * 4_000)
    t.response("ok", context=1_500)
    found = analysed(folder, t)
    rows = list_contents(found.facts, found.window, found.buckets)
    assert found.window.size == sum(row.tokens for row in rows)
    assert all(row.tokens > 0 for row in rows)


def test_a_session_without_a_call_has_no_list_yet(folder: ClaudeFolder) -> None:
    """Nothing is known of its window."""
    t = folder.main()
    t.prompt("go")
    t.write()
    assert None is folder.crusts("analyze", "--json").json()["contents"]
    assert "What takes most" not in folder.crusts("analyze").out


def test_carried_cost_is_tokens_times_later_calls(folder: ClaudeFolder) -> None:
    """At the price of a cache read; what only the last call brought has cost nothing yet (D13)."""
    many_kinds(folder).write()
    usd = {row["what"]: row["carried_usd"] for row in contents(folder)}
    assert 0 == usd["last prompt"] or usd["last prompt"] < usd["earlier prompts"]
    assert 0 < usd["Bash results"] < usd[f"{CWD}/one.py"]


@examples(100)
@given(sizes=st.lists(st.integers(0, 10**9), max_size=30), total=st.integers(0, 10**9))
def test_shares_by_largest_remainder_sum_to_the_whole(sizes: list[int], total: int) -> None:
    """Each is its share rounded down or up, and together they are the total; of nothing, nothing."""
    found = apportioned(sizes, total)
    whole = sum(sizes)
    assert (total if whole else 0) == sum(found)
    assert all(0 <= part - size * total // whole <= 1 for size, part in zip(sizes, found, strict=True) if whole)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["prompt", "read", "bash", "think", "skills", "tools", "compact", "summary", "hook"]),
        st.integers(0, 3_000),
        st.integers(0, 60_000),
    ),
    max_size=14,
)


@pytest.mark.usefixtures("folder")
@examples(25)
@given(steps=STEPS)
def test_the_list_sums_to_any_window(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]
) -> None:
    """Whatever is logged: the rows sum to the window, and those of a category to the category."""
    folder = ClaudeFolder(tmp_path_factory.mktemp("any"))
    t = folder.main()
    for kind, size, context in steps:
        words = "word 1 " * size
        if kind == "prompt":
            t.prompt(words or "go")
        elif kind == "read":
            t.read(f"{CWD}/{size % 3}.py", words, context=context)
        elif kind == "bash":
            t.bash("make", words, context=context)
        elif kind == "think":
            t.response(thinking_block(words), text_block("so"), context=context, output=size)
        elif kind == "skills":
            t.attachment("skill_listing", content=words, names=["a", "b"])
        elif kind == "tools":
            t.attachment("deferred_tools_delta", addedNames=["mcp__a__b", "X"], addedLines=["mcp__a__b", "X"])
        elif kind == "compact":
            t.boundary(pre=context, post=size)
        elif kind == "summary":
            t.summary(words or "so far")
        else:
            t.attachment("hook_additional_context", content=[words], hookName="Stop", hookEvent="Stop")
    if steps:
        check_sums(read(folder, t))


def check_sums(db: Path, session: str = SESSION) -> None:
    """The list of a session sums to its window, and its categories are the buckets."""
    with closing(open_store(db)) as store:
        facts = load(partial(query.rows, store), session)
        window = window_of(facts)
        buckets = buckets_of(facts, window)
    rows = list_contents(facts, window, buckets)
    assert (window.size or 0) == sum(row.tokens for row in rows)
    assert (buckets is None) == (window.size is None)
    if buckets is not None and buckets.basis == "window":
        for bucket in buckets.buckets:
            assert bucket.tokens == sum(row.tokens for row in rows if row.category == bucket.category)


def test_what_a_drop_without_a_marker_left_is_in_no_row(folder: ClaudeFolder) -> None:
    """Old versions clear old results without a word in the middle of an answer. The drop is taken for a compaction
    (D10), nothing says what stayed of before: it is in the window and in no row."""
    t = folder.main(version="2.0.76")
    t.prompt("go")
    t.read(f"{CWD}/a.py", "one line of code\n" * 6_000, context=40_000)
    for number in range(2):
        t.read(f"{CWD}/{number}.py", "one line of code\n" * 6_000, context=80_000 + 25_000 * number)
    t.bash("make", "ok\n" * 20, context=135_000)
    t.response("done", context=99_900)
    found = analysed(folder, t)
    (cut,) = found.facts.inferred
    rows = list_contents(found.facts, found.window, found.buckets)
    assert ("heuristic", 135_000) == (cut.detection, cut.pre_tokens)
    assert (NO_ROW, True) == (rows[-1].what, rows[-1].tokens > 40_000)
    assert found.window.size == sum(row.tokens for row in rows)
    shown = shown_contents(rows, most=3)
    assert [rows[0].what, rows[1].what, NO_ROW, f"{len(rows) - 3} more"] == [row.what for row in shown]
    assert found.window.size == sum(row.tokens for row in shown)


# ---------------------------------------------------------------- tools and fixed context as sent


def test_tools_are_those_that_were_sent(folder: ClaudeFolder) -> None:
    """System prompt and tools of the last shape before the first call share what the bill leaves, as sent (D11)."""
    t = folder.main(version="2.1.332")
    t.prompt("go")
    t.request_shape(["You are a helper. " * 800], [tool("Read", "reads " * 900), tool("Bash", "runs " * 300)])
    t.response("ok", context=6_000)
    found = analysed(folder, t)
    fixed = found.window.fixed_context
    assert ("as sent", ("Read", "Bash")) == (fixed.source, fixed.tool_names)
    assert (fixed.tokens, True) == (fixed.schema_tokens + fixed.system_tokens, fixed.schema_tokens < 6_000)
    rows = {row.what for row in list_contents(found.facts, found.window, found.buckets)}
    assert {"tool schemas as sent", "system prompt as sent"} <= rows
    said = folder.crusts("analyze").out
    assert "2 loaded" in said
    assert "tokens of schemas, as sent" in said


def test_a_snapshot_of_the_prompt_tells_where_no_request_was_logged(folder: ClaudeFolder) -> None:
    """And says so; parts far below what the bill leaves stay as they are, the rest is not divided."""
    t = folder.main(version="2.1.332")
    t.prompt("go")
    t.prompt_snapshot(["You are a helper."], [tool("Read", "reads " * 100)])
    t.response("ok", context=12_000)
    found = analysed(folder, t)
    fixed = found.window.fixed_context
    assert ("from the prompt's snapshot", ("Read",)) == (fixed.source, fixed.tool_names)
    rows = {row.what: row.tokens for row in list_contents(found.facts, found.window, found.buckets)}
    assert rows["fixed context, not divided"] > 10_000 > rows["tool schemas from the prompt's snapshot"]


def test_schemas_never_exceed_what_the_bill_leaves(folder: ClaudeFolder) -> None:
    """Where the table's do not fit, nothing is said of them, and JSON has null."""
    t = folder.main(version="2.1.332")
    t.prompt("go")
    t.response("ok", context=12_558)
    t.write()
    assert "what their schemas take is not known" in folder.crusts("analyze").out
    assert folder.crusts("analyze", "--json").json()["breakdown"]["toolBreakdown"]["schemaTokens"] is None


def test_each_file_of_instructions_has_a_row(folder: ClaudeFolder) -> None:
    """By its path, with its share of the record by what was sent of it; nested ones too (D17)."""
    t = folder.main(version="2.1.332")
    t.instructions({f"{CWD}/CLAUDE.md": "Write plain code. " * 30, "/home/ada/.claude/CLAUDE.md": "Be brief. " * 10})
    t.attachment("nested_memory", path=f"{CWD}/src/CLAUDE.md", content={"content": "Test it. " * 30})
    t.prompt("go")
    t.response("ok", context=20_000)
    found = analysed(folder, t)
    rows = {row.what: row for row in list_contents(found.facts, found.window, found.buckets) if row.kind == "memory"}
    assert {f"{CWD}/CLAUDE.md", "/home/ada/.claude/CLAUDE.md", f"{CWD}/src/CLAUDE.md"} == set(rows)
    ratio = rows[f"{CWD}/CLAUDE.md"].tokens / rows["/home/ada/.claude/CLAUDE.md"].tokens
    assert 4 < ratio < 6
    assert {"system"} == {row.category for row in rows.values()}


def test_tools_loaded_since_weigh_what_was_sent_of_them(folder: ClaudeFolder) -> None:
    """By the request that had them, on the scale of the bill; by the table where none is logged (D11)."""
    t = folder.main(version="2.1.332")
    t.prompt("go")
    system, read_tool, more = "You are a helper. " * 800, tool("Read", "reads " * 900), tool("CronList", "lists " * 450)
    t.request_shape([system], [read_tool])
    t.response("ok", context=6_000)
    loads = [{"type": "tool_reference", "tool_name": name} for name in ("CronList", "mcp__wiki__find")]
    t.call("ToolSearch", {"query": "cron"}, loads, context=6_100)
    t.request_shape([system], [read_tool, more], shape="5" * 64)
    t.response("done", context=7_000)
    db = read(folder, t)
    found = Analysed(db)
    rows = {row.what: row for row in list_contents(found.facts, found.window, found.buckets)}
    schemas = found.window.fixed_context.schema_tokens
    loaded = found.buckets.contents.loaded_tokens - 330
    assert 2 == rows["schemas loaded on demand"].times
    assert 0.45 * schemas < loaded < 0.6 * schemas
    assert found.buckets.content_sum == judged_by_sums(db)


def judged_by_sums(db: Path) -> int:
    """What the store's sums say that the window of the only session holds."""
    with closing(open_store(db)) as store:
        fetch = partial(query.rows, store)
        (standing,) = fetch(Standing, project=None, limit=None)
        buckets = Many(fetch, [standing], {}, {}, Habits(), 0).judge(standing).buckets
    assert buckets is not None
    return buckets.content_sum
