"""`crusts optimize`: fixes ranked by the tokens they save, written to the project's files if asked to."""

from __future__ import annotations

import os

from crusts_index.cli import options, show
from crusts_index.cli.apply import Outcome, apply_fixes
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.judged import judge
from crusts_index.cli.session import opened
from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.insight.session.facts import Facts
from crusts_index.insight.waste.actions import KINDS
from crusts_index.insight.waste.optimize import MIN_SAVINGS, fixes_of, total_of
from crusts_index.quick.advised import own_folder, target_of
from crusts_index.render import console, findings_json
from crusts_index.render.actions import actions_json, fixes_text
from crusts_index.store.settings import Settings

Apply = Annotated[bool, Option("--apply", help="Write the fixes to the project's files, asking for each.")]
Yes = Annotated[bool, Option("--yes", "-y", help="With --apply: do not ask.")]
MinSavings = Annotated[
    int, Option("--min-savings", reads=options.whole(0), metavar="TOKENS", help="Leave out what saves less.")
]
Filter = Annotated[
    str | None, Option("--filter", metavar="KINDS", help=f"Only these kinds, by comma: {', '.join(KINDS)}.")
]
ProjectPath = Annotated[
    str | None, Option("--project-path", metavar="DIR", help="Project to write to; else the session's own.")
]


def optimize(
    settings: Settings,
    session: options.Session = None,
    last: options.Last = None,
    apply: Apply = False,
    yes: Yes = False,
    min_savings: MinSavings = MIN_SAVINGS,
    filter: Filter = None,
    project_path: ProjectPath = None,
) -> int:
    """What to do about a session and its project, ranked by the tokens that it frees (estimated).

    It is the list that `crusts analyze` has, each way to carry an item out by itself: what is installed, built or
    locked is kept from being read by permissions.deny rules in the project's .claude/settings.json, by .claudeignore
    (which newer versions of Claude Code do not heed) and by a wish in CLAUDE.md; these free the same tokens, so the
    sum counts them once.
    --apply asks for each fix, keeps a copy of the file (the newest ten, in `backups` of CRUSTS_HOME) and writes it
    whole or not at all; running it again changes nothing more.
    """
    kinds = _kinds(filter)
    if settings.json and apply and not yes:
        raise WrongUsage("--apply --json cannot ask: add --yes")
    with opened(settings) as store:
        found = judge(store, settings, store.choose(session, last))
        facts, window, actions = found.facts, found.window, found.actions
        folder = _folder(facts, project_path)
        if project_path is not None:
            actions = store.actions(facts, window, found.waste, target_of(folder, settings))
    if folder is None:
        console.note(f"the session's project {facts.session.project} is not on this machine; name one: --project-path")
    fixes = fixes_of(actions, min_savings, kinds)
    outcomes: list[Outcome] = []
    total = total_of(fixes)
    share = total / window.limit * 100 if window.limit else 0.0
    if not settings.json:
        page = show.page(settings)
        page.head_session(facts.session.session_id, facts.session.title)
        fixes_text(page, fixes, total, share, folder)
        console.put(page.text())
    if apply:
        outcomes = apply_fixes(fixes, settings, ask=not yes)
    if settings.json:
        show.document(
            {
                "sessionId": facts.session.session_id,
                "projectPath": folder,
                "actions": actions_json(actions),
                "fixes": [findings_json.fix_json(fix) for fix in fixes],
                "totalSaveable": total,
                "percentOfContext": round(share, 2),
                "accuracy": "estimated",
                **({"results": [outcome.as_json() for outcome in outcomes]} if apply else {}),
            }
        )
    return 1 if any(outcome.status == "failed" and outcome.target for outcome in outcomes) else 0


def _kinds(filter: str | None) -> list[str]:
    kinds = [kind.strip() for kind in (filter or "").split(",") if kind.strip()]
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise WrongUsage(f"--filter: no kind of fix is called {', '.join(unknown)}; there are {', '.join(KINDS)}")
    return kinds


def _folder(facts: Facts, named: str | None) -> str | None:
    if named is not None:
        folder = os.path.abspath(os.path.expanduser(named))
        if not os.path.isdir(folder):
            raise CrustsError(f"--project-path: {folder} is not a folder")
        return folder
    return own_folder(facts)
