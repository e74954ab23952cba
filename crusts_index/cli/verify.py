"""`crusts verify`: count again from the transcripts, and say line by line why the store differs if it does."""

from contextlib import closing

from crusts_index.cli import show
from crusts_index.cli.progress import show_progress
from crusts_index.index.refresh import index_all, keeps_text, roots_of
from crusts_index.index.summary import Options
from crusts_index.index.verify import COUNTS, REASONS, Line, Verdict, as_json
from crusts_index.index.verify import verify as verify_store
from crusts_index.render import console, text
from crusts_index.rows.reports import ToldCost
from crusts_index.store import query
from crusts_index.store.open import open_store
from crusts_index.store.settings import Settings

_ROWS_SHOWN = 20
_LEAST_USD = 0.01


def verify(settings: Settings) -> int:
    """Read all transcripts that still exist again, compare with the store, and explain every difference.

    What Claude Code says by itself that sessions cost (its cost-state records) stands below, and what it has
    more. Exit code 0: equal, or explained; 1: something is not explained. The store is brought up to date first.
    """
    with show_progress("indexing", quiet=settings.json) as progress:
        if settings.refresh:
            index_all(settings, Options(keep_text=keeps_text(settings), progress=progress))
        run = Options(keep_text=False, progress=progress, kind="verify")
        verdict = verify_store(settings.db, [root.projects_dir for root in roots_of(settings)], run)
    with closing(open_store(settings.db)) as store:
        costs = query.rows(store, ToldCost)
    if settings.json:
        show.document(as_json(verdict) | {"costs": [cost._asdict() for cost in costs]})
    else:
        _print(verdict)
        _print_costs(costs)
    for path, reason in verdict.unreadable:
        console.note(f"could not read {path}: {reason}")
    return 0 if verdict.is_explained else 1


def _print(verdict: Verdict) -> None:
    more = tuple(kept - fresh for kept, fresh in zip(verdict.kept, verdict.fresh, strict=True))
    rows = [["store", *verdict.kept], ["read again", *verdict.fresh], ["difference", *more]]
    show.print_table(("API calls", *COUNTS), rows)
    here = verdict.transcripts - verdict.gone
    known = "All numbers are exact."
    if verdict.placeholders:
        known = (
            f"Numbers are as logged: the output of {verdict.placeholders:,} calls is a placeholder, at least so much."
        )
    console.remark(f"{here:,} of {verdict.transcripts:,} transcripts are on disk and were read again. {known}")
    for line in verdict.lines:
        console.remark(f"{_words(line)}: {line.concerned:,} API calls {REASONS[line.reason]}")
    if verdict.forgotten:
        console.remark(
            f"{verdict.forgotten:,} sessions or files were forgotten on request and are counted on neither side."
        )
    for path, what, kept, fresh in verdict.odd_rows[:_ROWS_SHOWN]:
        console.remark(f"{path}: {kept:,} {what} in the store, {fresh:,} in the transcript")
    if len(verdict.odd_rows) > _ROWS_SHOWN:
        console.remark(f"+ {len(verdict.odd_rows) - _ROWS_SHOWN:,} more such rows: --json shows all")
    console.remark(_conclusion(verdict))


def _print_costs(costs: list[ToldCost]) -> None:
    """What Claude Code says by itself that sessions cost, beside ours (D15)."""
    known = [cost for cost in costs if cost.rest_usd is not None]
    if not known:
        return
    told, ours, copied, rest = (
        sum(getattr(cost, name) for cost in known) for name in ("told_usd", "calls_usd", "copied_usd", "rest_usd")
    )
    forks = f", {text.usd(copied)} for calls that forks copied" if copied else ""
    console.remark(
        f"Claude Code's own cost of {text.plural(len(known), 'session')}: {text.usd(told)}; of it {text.usd(ours)} for"
        f" their calls{forks}, and {text.usd(rest)} for what no transcript has: compaction requests and side questions."
    )
    apart = [cost for cost in known if abs(cost.rest_usd or 0.0) >= _LEAST_USD]
    if apart:
        rows = [(cost.session_id[:8], *cost[1:]) for cost in apart[:_ROWS_SHOWN]]
        show.print_table(("session", "its_usd", "calls_usd", "copied_usd", "rest_usd"), rows)


def _words(line: Line) -> str:
    """What the store has more for one reason: `+2 calls, +1,234 tokens`."""
    return f"{line.more[0]:+,} calls, {sum(line.more[1:]):+,} tokens"


def _conclusion(verdict: Verdict) -> str:
    if not verdict.is_explained:
        return "NOT explained: `crusts index --rebuild` reads everything again and keeps the old store; report this."
    return "The store is what the transcripts say" + (", and every difference is explained." if verdict.lines else ".")
