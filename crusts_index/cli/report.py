"""`crusts report`: one HTML or Markdown file about a session, a comparison of two, or a project."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from crusts_index import __version__
from crusts_index.cli import options, show
from crusts_index.cli.analyze import analyze
from crusts_index.cli.compare import compare as compare_command
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.session import opened
from crusts_index.errors import WrongUsage
from crusts_index.insight.session.model_history import model_history
from crusts_index.insight.waste.comparison import compare as compare_sides
from crusts_index.insight.waste.comparison import side_of
from crusts_index.insight.window.buckets import lifetime_of
from crusts_index.insight.window.curve import curve_of
from crusts_index.insight.window.toolset import toolset_of
from crusts_index.plain import lines
from crusts_index.render import console, report_pages
from crusts_index.render import trend as trend_page
from crusts_index.render.report_compare import compare_context
from crusts_index.render.report_parts import file_name, when, zone
from crusts_index.render.report_project import ProjectReport, project_context
from crusts_index.render.report_session import SessionReport, session_context
from crusts_index.render.waste_overview import overview_json
from crusts_index.rows.reports import HistoryWaste, ListedSession, ToolUsage, Usage, WindowUsage
from crusts_index.rows.session import Billed
from crusts_index.store import when as times
from crusts_index.store.settings import Settings

if TYPE_CHECKING:
    from crusts_index.rows import Row

_WASTE = 10  # rows of a kind of waste


class Form(enum.StrEnum):
    """What the file is written as."""

    HTML = "html"
    MARKDOWN = "md"


Format = Annotated[Form, Option("--format", any_case=True, help="What to write.")]
Compare = Annotated[str | None, Option("--compare", metavar="SESSION", help="Beside this session: start of its id.")]
Output = Annotated[
    str | None, Option("--output", "-o", metavar="PATH", help="The file to write; - for standard output.")
]


def report(
    settings: Settings,
    session: options.Session = None,
    last: options.Last = None,
    compare: Compare = None,
    format: Format = Form.HTML,
    output: Output = None,
    since: options.Since = None,
    until: options.Until = None,
) -> None:
    """Write a report to a file: by default crusts-report-ID.html in this folder. Prints its name.

    About a session: how its context grew call by call, what fills it, waste and what to do with buttons to copy, what
    compaction lost, cost, cache and models. With --compare about two of them. With --project, --since or --until and
    no session about all sessions of a project or a period: sessions over time, cost, top files, tools and servers.

    The HTML is one file that loads nothing; it is made for light and dark, phones and paper. Every number says whether
    it is exact, derived or estimated. With --json, what analyze or compare say is printed and nothing is written.
    """
    period = options.period(since, until)
    names_session = session is not None or last is not None
    if period != (None, None) and (names_session or compare is not None):
        raise WrongUsage("--since and --until are about a project: name no session beside them")
    if compare is not None:
        _compared(settings, session, last, compare, format, output)
    elif names_session or (settings.project is None and period == (None, None)):
        _session(settings, session, last, format, output)
    else:
        _project(settings, period, format, output)


def _session(settings: Settings, session: str | None, last: int | None, form: Form, output: str | None) -> None:
    if settings.json:
        analyze(settings, session, last, None)
        return
    with opened(settings) as store:
        chosen = store.choose(session, last)
        facts, window = store.look(chosen)
        waste, (current, contents) = store.waste(facts, window), store.filled(facts, window)
        found = SessionReport(
            facts=facts,
            window=window,
            current=current,
            lifetime=lifetime_of(facts, window),
            points=curve_of(facts, window),
            contents=contents,
            waste=waste,
            actions=store.actions(facts, window, waste),
            events=store.events(facts),
            billed=store.fetch(Billed, session=chosen)[0],
            history=model_history(facts),
            toolset=toolset_of(facts, window.fixed_context),
        )
        page = session_context(found)
    _write("session", page, form, output, f"crusts-report-{file_name(chosen)}")


def _compared(
    settings: Settings,
    session: str | None,
    last: int | None,
    other: str,
    form: Form,
    output: str | None,
) -> None:
    sides, curves = [], []
    with opened(settings) as store:
        ids = store.choose(session, last), store.choose(other)
        if not settings.json:
            for chosen in ids:
                facts, window = store.look(chosen)
                sides.append(side_of(store.fetch, facts, window, store.waste(facts, window)))
                curves.append((curve_of(facts, window), facts.all_compactions))
    if settings.json:
        compare_command(settings, *ids)
        return
    page = compare_context(compare_sides(*sides), (curves[0], curves[1]))
    _write("compare", page, form, output, f"crusts-compare-{file_name(*ids)}")


def _project(settings: Settings, period: tuple[int | None, int | None], form: Form, output: str | None) -> None:
    since, until = period
    project = settings.project
    with opened(settings) as store:
        fetch = store.fetch

        def rows(kind: type[Row], **more: object) -> list[Row]:
            return fetch(kind, project=project, since=since, until=until, **more)

        records = [one for one in store.trend(None).records if _is_within(one.active_ms, since, until)]
        models = rows(Usage, by="model", apart=1)
        waste = rows(HistoryWaste, limit=_WASTE)
        listed = fetch(ListedSession, project=project, limit=None)
        found = ProjectReport(
            name=project,
            since_ms=since,
            until_ms=until,
            records=records,
            titles={row.session: row.title for row in listed},
            by_session=rows(Usage, by="session", apart=None),
            by_day=rows(Usage, by="day", apart=1 if settings.json else None),
            by_model=models,
            tools=rows(ToolUsage, by="tool"),
            servers=rows(ToolUsage, by="server"),
            files=rows(WindowUsage, by="file"),
            categories=rows(WindowUsage, by="category"),
            waste=waste,
            total=models[-1],
        )
    if settings.json:
        show.document(
            {
                "project": project,
                "sessions": [trend_page.record_json(one) for one in records],
                "usage": _plain(found.by_model),
                "days": _plain(found.by_day),
                "tools": _plain(found.tools),
                "servers": _plain(found.servers),
                "files": _plain(found.files),
                "categories": _plain(found.categories),
                "waste": overview_json(waste),
            }
        )
        return
    _write("project", project_context(found), form, output, f"crusts-report-{_slug(project)}")


def _is_within(time_ms: int | None, since: int | None, until: int | None) -> bool:
    if time_ms is None:
        return since is None and until is None
    return (since is None or time_ms >= since) and (until is None or time_ms < until)


def _plain(rows: Sequence[Usage] | Sequence[ToolUsage] | Sequence[WindowUsage]) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row._asdict().items() if name != "is_total"} for row in rows if not row.is_total
    ]


def _slug(project: str | None) -> str:
    kept = "".join(char if char.isascii() and char.isalnum() else "-" for char in project or "all").strip("-")
    return kept[-40:] or "project"


def _write(kind: str, page: dict[str, Any], form: Form, output: str | None, name: str) -> None:
    made = report_pages.html if form is Form.HTML else report_pages.markdown
    text = made(kind, {**page, "version": __version__, "written": f"{when(times.now_ms())} {zone()}"})
    if output == "-":
        console.put(lines(text))
        return
    path = output or f"{name}.{form.value}"
    show.write(path, text)
    console.put(path)
