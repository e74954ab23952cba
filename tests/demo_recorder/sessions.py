"""The demo's sessions: eight pieces of work in three projects over twenty days, told call by call."""

from datetime import datetime, timedelta
from pathlib import Path

from tests.demo_recorder.longwork import port_reports, restyle_checkout
from tests.demo_recorder.recorder import SYSTEM_TOKENS, Json, Recorder, tokens_of
from tests.demo_recorder.texts import picture, pytest_output, server_log
from tests.demo_recorder.told import HAIKU, OPUS, SONNET, Told, announce, begin, finish
from tests.demo_recorder.tools import bash, edit, grep, hook, load_cost, mcp, read, tool_search, write


def tell(work: Path, now: datetime) -> list[Told]:
    """All sessions, oldest first. `work` is the folder that the projects are in."""
    orchard, lantern, notes = work / "orchard-api", work / "lantern-web", work / "fieldnotes"
    first = csv_export(begin(1, orchard, now - timedelta(days=19, hours=3), OPUS, "2.1.218"))
    second = begin(2, orchard, now - timedelta(days=18, hours=6), OPUS, "2.1.218")
    return [
        first,
        csv_export_again(second, first),
        double_submit(begin(3, lantern, now - timedelta(days=15, hours=2), SONNET, "2.1.220", limit=1_000_000)),
        index_speed(begin(4, notes, now - timedelta(days=11, hours=5), HAIKU, "2.1.220")),
        slow_report(begin(5, orchard, now - timedelta(days=8, hours=4), OPUS, "2.1.222")),
        restyle_checkout(begin(6, lantern, now - timedelta(days=5, hours=7), SONNET, "2.1.226", limit=1_000_000)),
        release_notes(begin(7, notes, now - timedelta(days=2, hours=3), SONNET, "2.1.226", limit=1_000_000)),
        port_reports(begin(8, orchard, now - timedelta(hours=2), OPUS, "2.1.226")),
    ]


def csv_export(told: Told) -> Told:
    """A short, tidy session: read, change, test, read again after the change."""
    s = told.main
    ask = "Customers want their invoices as CSV. Add an export next to the list, streaming, with a header row."
    s.prompt(ask)
    announce(s)
    s.use(
        grep("def list_invoices", ["orchard/invoices.py", "orchard/paging.py", "tests/test_invoices.py"]),
        text="I'll look at how invoices are listed first.",
        thinking=640,
    )
    s.use(read(s, "orchard/invoices.py"), read(s, "orchard/paging.py"))
    code = (
        "def export_invoices(session: Session, chosen: InvoiceFilter) -> Iterator[str]:\n"
        '    """The same rows as the list, as CSV lines; the first one names the columns."""\n'
        '    yield "id,created_at,due_date,currency,total\\r\\n"\n'
        "    for row in iterate_invoices(session, chosen):\n"
        '        yield f"{row.id},{row.created_at:%Y-%m-%d},{row.due_date},{row.currency},{row.total / '
        '100:.2f}\\r\\n"\n\n\n'
    )
    marker = "def change_status("
    s.use(
        edit(s, "orchard/invoices.py", marker, code + marker),
        text="`iterate_invoices` already streams; I'll build on it.",
        thinking=1_150,
    )
    hook(s, "PostToolUse", "make --silent format", matcher="Edit", took=310)
    s.use(read(s, "orchard/invoices.py", offset=50, limit=40))
    s.use(bash("pytest tests/test_invoices.py -q", pytest_output("invoices", 36), why="Run the invoice tests"))
    s.say(
        "The export is in `orchard/invoices.py` as `export_invoices`. It streams in batches of 500, so an "
        "account with "
        "a million invoices does not fill the memory. Amounts are printed in major units with two places.",
        thinking=310,
    )
    follow = "Names with commas will break that. Use the csv module."
    s.prompt(follow)
    s.use(
        edit(
            s,
            "orchard/invoices.py",
            '    yield "id,created_at',
            '    # TODO quoting\n    yield "id,created_at',
        ),
        thinking=890,
    )
    s.use(read(s, "orchard/invoices.py", offset=50, limit=40))
    s.use(bash("pytest tests/test_invoices.py -q", pytest_output("invoices", 38), why="Run the invoice tests"))
    s.say(
        "Fields now go through `csv.writer`, so commas, quotes and line breaks survive. Two tests cover them.",
        thinking=220,
    )
    finish(s, "CSV export for invoices", follow)
    return told


def csv_export_again(told: Told, source: Told) -> Told:
    """A fork of the session before: its history copied, then other work."""
    s = told.main
    s.lines.clear()
    s.parent = None
    answers = [n for n, line in enumerate(source.main.lines, 1) if b'"stop_reason":"end_turn"' in line]
    s.copy_of(source.main, answers[0])
    s.cached = 0
    ask = "Same thing for refunds, please, but let the caller choose the columns."
    s.prompt(ask)
    s.use(read(s, "orchard/refunds.py"), text="Refunds have the same shape as invoices.", thinking=480)
    code = (
        "def export_refunds(session: Session, chosen: RefundFilter, columns: tuple[str, ...]) -> "
        "Iterator[str]:\n"
        '    """CSV lines with the columns that were asked for, in that order."""\n'
        "    buffer = LineBuffer()\n"
        "    writer = csv.writer(buffer)\n"
        "    writer.writerow(columns)\n"
        "    for row in iterate_refunds(session, chosen):\n"
        "        writer.writerow([getattr(row, column) for column in columns])\n"
        "        yield buffer.take()\n\n\n"
    )
    s.use(edit(s, "orchard/refunds.py", "def change_reason(", code + "def change_reason("), thinking=930)
    s.use(bash("pytest tests/test_refunds.py -q", pytest_output("refunds", 27), why="Run the refund tests"))
    s.say(
        "`export_refunds` takes the columns as a tuple and refuses names that the table does not have.",
        thinking=190,
    )
    finish(s, "CSV export for refunds", ask)
    return told


def double_submit(told: Told) -> Told:
    """A bug hunt in the browser: deferred MCP tools, screenshots, and reads that were not worth it."""
    s = told.main
    ask = "Clicking Pay twice quickly sends two orders. Please reproduce it in the browser, then fix it."
    s.prompt(ask)
    announce(s)
    wanted = [f"mcp__playwright__{tool}" for tool in ("navigate", "click", "screenshot")]
    s.use(
        tool_search("select:" + ",".join(wanted), wanted, 11),
        text="I need the browser tools for that.",
        thinking=260,
    )
    s.held += load_cost(wanted)
    page = {"url": "http://localhost:5173/checkout"}
    s.use(mcp("playwright", "navigate", page, "Opened /checkout, status 200"))
    s.use(mcp("playwright", "click", {"selector": "text=Pay", "count": 2}, "Clicked twice, 40 ms apart"))
    s.use(mcp("playwright", "screenshot", {}, "Viewport 1280 by 800", picture=picture(s.chance)), thinking=540)
    s.use(
        read(s, "package-lock.json"),
        text="Two requests went out. Which version of the query library is this?",
    )
    s.use(read(s, "node_modules/query-cache/dist/index.js"), thinking=410)
    s.use(
        read(s, "src/components/PaymentButton.tsx"),
        text="The button is only disabled after the first response.",
        thinking=820,
    )
    s.use(
        edit(
            s,
            "src/components/PaymentButton.tsx",
            "disabled={cart.lines.length === 0}",
            "disabled={busy || cart.lines.length === 0}",
        ),
        thinking=450,
    )
    s.use(
        bash(
            "npm test -- PaymentButton",
            "PASS src/components/PaymentButton.test.tsx\nTests: 6 passed, 6 total\n",
        )
    )
    s.use(
        mcp(
            "playwright",
            "click",
            {"selector": "text=Pay", "count": 2},
            "Second click ignored: the button is disabled",
        )
    )
    s.say(
        "Reproduced and fixed: the button goes grey with the first click. The lock file and the library "
        "were a dead end.",
        thinking=330,
    )
    thanks = "great, that works"
    s.prompt(thanks)
    s.say("Glad to hear it. The change is not committed yet.", thinking=40)
    finish(s, "Pay button sends two orders", thanks)
    s.meta(
        "pr-link",
        prNumber=214,
        prUrl="https://example.com/lantern-web/pull/214",
        prRepository="example/lantern-web",
        timestamp=s.stamp(),
    )
    return told


def index_speed(told: Told) -> Told:
    """A first attempt that was taken back (a rewind), and a change of model on the way."""
    s = told.main
    s.prompt("`fieldnotes find` takes four seconds on my 9,000 notes. Where does the time go?")
    announce(s)
    s.use(read(s, "src/walk.rs"), read(s, "src/query.rs"), thinking=300)
    s.use(
        bash(
            "cargo bench --bench find",
            "find/9000 notes   time: 4.11 s\n  walk   0.09 s\n  parse  3.87 s\n  match  0.15 s\n",
        )
    )
    told_where = s.say("Nearly all of it is parsing: every note is read whole for its first three lines.", thinking=380)
    s.prompt("Then parse on four threads.")
    s.use(read(s, "src/index.rs"), thinking=520)
    s.use(
        bash(
            "cargo build --release",
            "error[E0277]: `Rc<Notes>` cannot be sent between threads safely\n --> src/index.rs:88:22\n",
            fails=True,
        ),
        thinking=700,
    )
    s.say(
        "The notes share an `Rc`, so this becomes a larger change: about nine functions would have to move to `Arc`.",
        thinking=410,
    )
    s.model = SONNET
    s.cached = 0
    better = "No, go back. Read only the first 2 KB of each note instead."
    s.prompt(better, back_to=told_where)
    old = "    for entry in fs::read_dir(&folder)? {"
    s.use(
        edit(s, "src/walk.rs", old, "    // Titles and tags stand at the top: 2 KB are enough.\n" + old),
        thinking=640,
    )
    s.use(
        bash(
            "cargo bench --bench find",
            "find/9000 notes   time: 0.41 s\n  walk   0.09 s\n  parse  0.18 s\n  match  0.14 s\n",
        )
    )
    s.say(
        "0.41 s now, ten times faster, with one thread. Notes whose header is longer than 2 KB are read whole.",
        thinking=300,
    )
    finish(s, "Faster find", better, own_title=True)
    return told


def slow_report(told: Told) -> Told:
    """A recorded /context, a retried request, a prompt typed while the model was busy, and skills."""
    s = told.main
    day = f"{s.start:%Y-%m-%d}"
    ask = "The settlement report times out for two customers. Here is the log of this morning:\n\n"
    s.prompt(ask + server_log(s.chance, 60, day))
    announce(s)
    retry = {
        "status": 529,
        "error": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    }
    s.record(
        "system",
        subtype="api_error",
        level="error",
        error=retry,
        retryInMs=540,
        retryAttempt=1,
        maxRetries=10,
    )
    s.use(
        read(s, "orchard/reports/settlement_report.py"),
        read(s, "orchard/settlements.py", offset=1, limit=80),
        thinking=1_400,
    )
    plan = "\n".join(
        f"{'  ' * depth}-> {step}  (cost={cost} rows={rows})"
        for depth, (step, cost, rows) in enumerate(
            (
                ("GroupAggregate", "918,211", "12,004"),
                ("Sort  key: date_trunc('month', created_at), provider", "901,553", "2,110,480"),
                ("Seq Scan on settlements  filter: account_id = 4471", "611,020", "2,110,480"),
            )
        )
    )
    s.use(
        bash("scripts/explain.sh settlement_report 4471", plan, why="Show the query plan"),
        text="The plan will tell.",
    )
    queued = "also check whether payouts have the same problem"
    s.meta("queue-operation", operation="enqueue", timestamp=s.stamp(), content=queued)
    s.use(grep("Index(", ["orchard/models.py", "migrations/0041_settlement_index.py"]), thinking=780)
    s.meta("queue-operation", operation="remove", timestamp=s.stamp())
    s.attach(
        "queued_command",
        adds=tokens_of(queued),
        prompt=queued,
        commandMode="prompt",
        origin={"kind": "human"},
    )
    s.use(read(s, "orchard/models.py"), read(s, "orchard/reports/payout_report.py"), thinking=1_020)
    s.say(
        "There is no index on `(account_id, created_at)`, so a month of one account reads the whole table. "
        "Payouts have "
        "the index since migration 38 and are fine. I suggest one concurrent index and nothing else.",
        thinking=900,
    )
    s.record(
        "user",
        message={
            "role": "user",
            "content": "<command-name>/context</command-name>\n<command-message>context</command-message>",
        },
    )
    report = context_report(s)
    s.record("user", adds=tokens_of(report), message={"role": "user", "content": report}, isMeta=True)
    go = "Write the migration."
    s.prompt(go)
    sql = (
        '"""Settlements are read by account and month; without this every report scans the table."""\n\n'
        "from alembic import op\n\n\ndef upgrade() -> None:\n    with op.get_context().autocommit_block():\n"
        '        op.create_index("settlements_by_account_created", "settlements", ["account_id", '
        '"created_at"],\n'
        "                        postgresql_concurrently=True)\n"
    )
    s.use(write(s, "migrations/0042_settlements_by_account.py", sql), thinking=700)
    s.use(
        bash(
            "make migrate-staging",
            "Running upgrade 0041 -> 0042\nReport for account 4471: 214 ms (was 31,870 ms)\n",
        )
    )
    s.say(
        "On staging the report takes 0.2 s instead of 32 s. The index is built concurrently, so nothing is locked.",
        thinking=240,
    )
    cut: Json = {"model": "<synthetic>", "id": s.new_uuid(), "type": "message", "role": "assistant"}
    nothing = {
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    cut |= {
        "content": [{"type": "text", "text": "No response requested."}],
        "stop_reason": "stop_sequence",
        "usage": nothing,
    }
    s.record("assistant", message=cut, isApiErrorMessage=False)
    finish(s, "Settlement report times out", go)
    return told


def context_report(s: Recorder) -> str:
    """The output of /context at this point of a session."""
    memory, skills = 420, 160
    prompt, core = 7_000, SYSTEM_TOKENS - 7_000 - memory - skills
    rows = [
        ("System prompt", prompt),
        ("System tools", core),
        ("MCP tools (deferred)", 1_650),
        ("System tools (deferred)", 5_000),
    ]
    rows += [("Memory files", memory), ("Skills", skills), ("Messages", s.held - SYSTEM_TOKENS)]
    rows += [("Free space", s.trigger - s.held), ("Autocompact buffer", s.limit - s.trigger)]

    def short(tokens: int) -> str:
        return f"{tokens / 1000:.1f}k" if tokens >= 1_000 else str(tokens)

    table = "\n".join(f"| {label} | {short(tokens)} | {100 * tokens / s.limit:.1f}% |" for label, tokens in rows)
    used = f"{short(s.held)} / {s.limit // 1000}k ({100 * s.held / s.limit:.0f}%)"
    return (
        f"## Context Usage\n\n**Model:** {s.model}\n**Tokens:** {used}\n\n### Estimated usage by category\n\n"
        f"| Category | Tokens | Percentage |\n|----------|--------|------------|\n{table}\n"
    )


def release_notes(told: Told) -> Told:
    """A small session with a skill, and a subagent that looks things up."""
    s = told.main
    ask = "Write the release notes for 0.5.0."
    s.prompt(ask)
    announce(s)
    skill = "Base directory: skills/release-notes\n\n1. List what was merged since the last tag.\n"
    skill += "2. Leave out what a user cannot notice.\n3. One line each, no internal names.\n"
    use = bash(
        "git log --oneline v0.4.0..",
        "8c1f0aa read only the head of a note\n51be772 find: --without\n9d20c4e docs\n",
    )
    s.use(use, text="I'll collect what was merged.", thinking=200)
    body = {"role": "user", "content": [{"type": "text", "text": skill}]}
    s.record("user", adds=tokens_of(skill), message=body, isMeta=True, sourceToolUseID=s.used[0])
    told.delegate(
        "Explore",
        "check what changed in find",
        "Compare src/query.rs and src/walk.rs with the README and list what a user would notice.",
        ["src/query.rs", "src/walk.rs", "README.md"],
        "Noticeable: `find --without` is new; find is about ten times faster on large folders. Nothing else.",
        model=HAIKU,
    )
    s.use(read(s, "CHANGELOG.md"), thinking=260)
    entry = "# Changes\n\n## 0.5.0\n\n- `find` is ten times faster on large folders\n- `find --without TAG`\n"
    s.use(edit(s, "CHANGELOG.md", "# Changes\n", entry), thinking=310)
    s.say("The notes for 0.5.0 are in `CHANGELOG.md`: speed first, then `--without`.", thinking=120)
    finish(s, "Release notes 0.5.0", ask)
    return told
