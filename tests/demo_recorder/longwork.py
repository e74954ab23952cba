"""The two long sessions: one fills 200,000 tokens and compacts, one grows past 250,000 of a million."""

from tests.demo_recorder.projects import PARTS
from tests.demo_recorder.recorder import Recorder, tokens_of
from tests.demo_recorder.texts import (
    NOUNS,
    listing,
    picture,
    plural,
    pytest_output,
    server_log,
    title,
    words,
)
from tests.demo_recorder.told import HAIKU, SONNET, Told, announce, finish
from tests.demo_recorder.tools import (
    bash,
    edit,
    grep,
    hook,
    load_cost,
    mcp,
    mention,
    read,
    tool_search,
    write,
)


def deep(s: Recorder, low: int = 2_300, high: int = 4_700) -> int:
    """Thinking tokens of a call in long work."""
    return s.chance.randint(low, high)


def port_reports(told: Told) -> Told:
    """The reports lose their hand-built SQL one by one, until the window is full, and on after that."""
    s = told.main
    day = f"{s.start:%Y-%m-%d}"
    s.prompt(
        "All twelve reports build their SQL by hand. Move them to the query layer, one at a time, tests "
        "green after each. "
        "These were the slow ones yesterday:\n\n" + server_log(s.chance, 110, day)
    )
    announce(s)
    mention(s, "docs/reports.md")
    mention(s, "orchard/reports/base.py")
    s.use(read(s, "orchard/models.py"), read(s, "orchard/paging.py"), text="First the ground.", thinking=deep(s))
    told.delegate(
        "Explore",
        "find every caller of the reports",
        "Which code calls the report classes, and which of their methods? Paths and line numbers only.",
        [f"orchard/reports/{noun}_report.py" for noun in ("invoice", "refund", "payout")],
        "Callers: orchard/api/reports.py:41 (rows), orchard/jobs/monthly.py:17 and :63 (totals), "
        "scripts/reconcile.py:29 "
        "(rows). Nobody calls fill_gaps from outside, so it may change its signature.",
        model=HAIKU,
    )
    s.use(
        bash("python scripts/list_routes.py --all", listing(s.chance, 210), why="List every route"),
        text="I'll also list the routes, in case one is forgotten.",
    )
    s.say(
        "Plan: a `ReportQuery` that all reports share, then one report after the other, starting with "
        "invoices. Each keeps "
        "its columns and file name, so finance will not notice.",
        thinking=deep(s),
    )
    asks = ("Good. Start.", "next: {0}", "continue with {0}", "{0} now, please", "and {0}")
    compacted = False
    for number, noun in enumerate(NOUNS):
        if s.held > s.trigger and not compacted:
            compact_reports(s, number)
            compacted = True
        s.prompt(asks[number % len(asks)].format(words(noun)))
        port_one(s, noun, number)
    s.use(read(s, "orchard/models.py"), thinking=deep(s))
    s.use(
        read(s, "orchard/reports/base.py"),
        text="Let me compare with the base class once more.",
        thinking=deep(s),
    )
    s.use(read(s, "orchard/reports/base.py"), thinking=700)
    s.use(bash("pytest tests/reports -q", pytest_output("reports", 144), why="Run all report tests"))
    s.say(
        "All twelve reports use `ReportQuery` now; 144 tests pass. February adds up to the ledger to the cent.",
        thinking=deep(s),
    )
    s.prompt("thanks, looks good")
    s.say("You're welcome. Nothing is committed yet; I would make one commit per report.", thinking=90)
    last = "Which of them is the slowest now?"
    s.prompt(last)
    s.use(
        bash("python scripts/time_reports.py", server_log(s.chance, 40, day), why="Time every report"),
        thinking=900,
    )
    s.say(
        "Settlements, at 0.9 s for the largest account. It still sorts on disk; an index on the provider would help.",
        thinking=500,
    )
    finish(s, "Move reports to the query layer", last)
    return told


def port_one(s: Recorder, noun: str, number: int) -> None:
    """One report: read, test, change, test."""
    path, tests = f"orchard/reports/{noun}_report.py", f"tests/reports/test_{noun}_report.py"
    seen = [read(s, path), read(s, tests)] if number % 3 == 0 else [read(s, path)]
    s.use(*seen, thinking=deep(s))
    if number % 4 == 1:
        s.use(read(s, f"orchard/{plural(noun)}.py", offset=1, limit=60), thinking=deep(s))
    query = (
        f'"""What the {noun.replace("_", " ")} report asks the database."""\n\n'
        "from orchard.queries.base import ReportQuery, by_month\n\n\n"
        f"class {title(noun)}Query(ReportQuery):\n    table = '{plural(noun)}'\n    group = "
        f"by_month('{NOUNS[noun][0]}')\n"
        + "".join(f"    {name} = ReportQuery.filter('{name}')\n" for name in NOUNS[noun])
    )
    s.use(
        write(s, f"orchard/queries/{noun}_query.py", query),
        text=f"The {words(noun)} need only filters.",
        thinking=deep(s),
    )
    old = '        sql += " GROUP BY 1, 2 ORDER BY 1, 2"\n        found = session.execute(text(sql))\n'
    new = f"        found = {title(noun)}Query(self.filters).rows(session, account_id, start, end)\n"
    s.use(edit(s, path, old, new), thinking=deep(s))
    hook(s, "PostToolUse", "make --silent format", matcher="Edit", took=280)
    run = f"pytest {tests} -q"
    if number % 4 == 2:
        failure = (
            f"tests/reports/test_{noun}_report.py:31: AssertionError\n"
            "    assert [(row.count, row.amount) for row in rows] == [(1, 1200)]\nE   assert [(2, 2000)] "
            "== [(1, 1200)]"
        )
        s.use(bash(run, pytest_output("reports", 11, failure), why="Run its tests", fails=True))
        fixed = f"        query = {title(noun)}Query(self.filters)\n"
        fixed += "        found = query.rows(session, account_id, start, end)\n"
        s.use(edit(s, path, new, fixed), text="The filter was applied after grouping.", thinking=deep(s))
    s.use(bash(run, pytest_output("reports", 12), why="Run its tests"))
    s.say(f"The {words(noun)} report is on the query layer; its 12 tests pass.", thinking=deep(s, 300, 900))


def compact_reports(s: Recorder, done: int) -> None:
    """The window is full in the middle of the work."""
    ported = ", ".join(words(noun) for noun in list(NOUNS)[:done])
    s.compact(
        "This session is being continued; what came before is summed up here.\n\n"
        "1. Task: move the twelve reports in orchard/reports from hand-built SQL to the query layer, one "
        "at a time, tests "
        f"green after each. Columns and file names must not change.\n2. Done so far: {ported}.\n"
        "3. How: each report gets a class in orchard/queries/<noun>_query.py that derives from ReportQuery "
        "and names its "
        "table, its grouping and its filters; the report calls rows() on it. Filters must be applied "
        "before grouping, "
        "which two tests caught.\n4. Callers are orchard/api/reports.py, orchard/jobs/monthly.py and "
        "scripts/reconcile.py; "
        "fill_gaps has none outside.\n5. Not started: an index for settlements, which the user has not "
        "asked for.\n"
        f"6. Next: {words(list(NOUNS)[done])}.\n"
    )
    mention(s, "orchard/reports/base.py")
    s.attach("compact_file_reference", filename=str(s.cwd / "orchard/models.py"), displayPath="orchard/models.py")


def restyle_checkout(told: Told) -> Told:
    """Fourteen components get a new look, each checked at three widths: pictures fill the window."""
    s = told.main
    s.prompt(
        "The new checkout design is in @docs/design.md. Restyle the components one by one and check each "
        "at three widths."
    )
    announce(s)
    mention(s, "docs/design.md")
    mention(s, "src/styles/tokens.css")
    wanted = [f"mcp__playwright__{tool}" for tool in ("navigate", "resize", "screenshot")]
    s.use(tool_search("playwright screenshot", wanted, 11), thinking=deep(s))
    s.held += load_cost(wanted)
    told.delegate(
        "general-purpose",
        "list the texts of the components",
        "Which user-visible texts stand in the components instead of src/texts? Give component and text.",
        [f"src/components/{name}.tsx" for name in ("AddressForm", "OrderSummary", "CartLine", "GiftOptions")],
        "All four have their heading inline, and the button text Continue. Everything else already comes from props.",
        model=SONNET,
    )
    tasks = [{"id": str(n), "subject": f"Restyle {name}", "status": "pending"} for n, name in enumerate(PARTS, 1)]
    s.attach("task_reminder", adds=tokens_of(str(tasks)), content=tasks, itemCount=len(tasks))
    for number, name in enumerate(PARTS):
        if number == 8:
            s.wait(95 * 60)  # lunch: the cache goes cold
        s.prompt(f"{name}, please." if number else "Begin with the pay button.")
        restyle_one(s, name, number)
    s.use(read(s, "src/components/AddressForm.tsx"), text="One last look at the longest form.", thinking=deep(s))
    s.say(
        "All fourteen are restyled and checked at 390, 820 and 1280 pixels. The address form wraps late; I "
        "left a note.",
        thinking=deep(s),
    )
    focus = "keep the decisions about spacing and the open point on the address form; drop the screenshots"
    command = f"<command-name>/compact</command-name>\n<command-args>focus {focus}</command-args>"
    s.record("user", message={"role": "user", "content": command})
    s.compact(
        "This session is being continued; what came before is summed up here.\n\n"
        "1. Task: restyle the checkout components after docs/design.md.\n2. Done: all fourteen, each "
        "checked at three "
        "widths.\n3. Decisions: 12 pixels between fields, labels above, errors below in the text colour; "
        "spacing only from "
        "src/styles/tokens.css.\n4. Open: AddressForm wraps at 780 pixels instead of 820, because of the "
        "phone field.\n",
        trigger="manual",
        focus=focus,
        keep=2,
    )
    last = "Fix the wrapping of the address form, then we are done."
    s.prompt(last)
    s.use(read(s, "src/components/AddressForm.tsx"), thinking=deep(s))
    s.use(
        edit(s, "src/components/AddressForm.tsx", "<h2>Address form</h2>", "<h2>{texts.address}</h2>"),
        text="The heading was too long for one row, so everything moved.",
        thinking=deep(s),
    )
    s.use(mcp("playwright", "screenshot", {"width": 820}, "Viewport 820 by 1180", picture=picture(s.chance, 820)))
    s.say("It wraps at 820 now. The heading comes from `src/texts` as well.", thinking=600)
    finish(s, "Restyle the checkout", last)
    return told


def restyle_one(s: Recorder, name: str, number: int) -> None:
    """One component: read, change, three pictures, a correction now and then."""
    path = f"src/components/{name}.tsx"
    s.use(read(s, path), thinking=deep(s, 2_300, 4_900))
    s.use(edit(s, path, "className={styles.root}", "className={styles.stack}"), thinking=deep(s, 1_800, 4_200))
    shots = [
        mcp(
            "playwright",
            "screenshot",
            {"story": name, "width": width},
            f"{name} at {width} pixels",
            picture=picture(s.chance, width),
        )
        for width in (390, 820, 1280)
    ]
    s.use(*shots, text="Three widths.")
    if number % 3 == 1:
        s.use(
            edit(s, path, "className={styles.total}", "className={styles.sum}"),
            text="Too tight at 390.",
            thinking=deep(s, 2_000, 4_000),
        )
        s.use(shots[0])
    if number % 5 == 2:
        s.use(bash(f"npm test -- {name}", f"PASS src/components/{name}.test.tsx\nTests: 4 passed, 4 total\n"))
    if number == 9:
        s.use(grep("styles.root", [f"src/components/{part}.tsx" for part in list(PARTS)[10:]]))
    s.say(f"{name} follows the design at all three widths.", thinking=deep(s, 900, 2_400))
