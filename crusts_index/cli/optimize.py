"""`crusts optimize`: fixes ranked by the tokens they save, written to the project's files if asked to."""

from __future__ import annotations

import os

from crusts_index.claude.additions import denied_reads, read_text
from crusts_index.claude.surroundings import snapshot
from crusts_index.cli import options, show
from crusts_index.cli.apply import Outcome, apply_fixes
from crusts_index.cli.declared import Annotated, Option
from crusts_index.cli.judged import judge
from crusts_index.cli.session import opened
from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.index.refresh import roots_of
from crusts_index.insight.session.facts import Facts
from crusts_index.insight.waste.optimize import KINDS, MIN_SAVINGS, Target
from crusts_index.insight.waste.optimize import optimize as find_fixes
from crusts_index.render import console, findings_json, optimization
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
    """Fixes for a session and its project, ranked by the tokens they save (estimated).

    What is installed, built or locked is kept from being read by permissions.deny rules in the project's
    .claude/settings.json, by .claudeignore (which newer versions of Claude Code do not heed) and by a wish in
    CLAUDE.md; these save the same tokens, so the sum counts them once.
    --apply asks for each fix, keeps a copy of the file (the newest ten, in `backups` of CRUSTS_HOME) and writes it
    whole or not at all; running it again changes nothing more.
    """
    kinds = _kinds(filter)
    if settings.json and apply and not yes:
        raise WrongUsage("--apply --json cannot ask: add --yes")
    with opened(settings) as store:
        found = judge(store, settings, store.choose(session, last))
    facts, window = found.facts, found.window
    target = look_at(_folder(facts, project_path), settings)
    if target.folder is None:
        console.note(f"the session's project {facts.session.project} is not on this machine; name one: --project-path")
    result = find_fixes(facts, found.waste, target, found.thresholds, min_savings, kinds)
    outcomes: list[Outcome] = []
    share = result.total / window.limit * 100 if window.limit else 0.0
    if not settings.json:
        page = show.page(settings)
        optimization.optimization_text(page, facts, result, share, target.folder)
        console.put(page.text())
    if apply:
        outcomes = apply_fixes(result.fixes, settings, ask=not yes)
    if settings.json:
        show.document(
            {
                "sessionId": facts.session.session_id,
                "projectPath": target.folder,
                "fixes": [findings_json.fix_json(fix) for fix in result.fixes],
                "totalSaveable": result.total,
                "percentOfContext": round(share, 2),
                "accuracy": "estimated",
                **({"results": [outcome.as_json() for outcome in outcomes]} if apply else {}),
            }
        )
    return 1 if any(outcome.status == "failed" and outcome.target for outcome in outcomes) else 0


def look_at(folder: str | None, settings: Settings) -> Target:
    """The project's files as they are now; what cannot be understood counts as not there."""
    if folder is None:
        return Target(None, None, None, (), 0, ())
    config_dirs = _config_dirs(settings)
    places = [os.path.join(folder, ".claude"), *config_dirs]
    denied = [
        rule
        for place in places
        for name in ("settings.json", "settings.local.json")
        for rule in _denied(os.path.join(place, name))
    ]
    files = [
        (one.path, int(one.detail.get("loaded_tokens", one.tokens)) + int(one.detail.get("import_tokens", 0)))
        for one in (snapshot(config_dirs[0], folder) if config_dirs else ())
        if one.kind in ("claude_md", "rule")
    ]
    files = [(path, tokens) for path, tokens in files if tokens]
    return Target(
        folder=folder,
        ignore=_text(os.path.join(folder, ".claudeignore")),
        claude_md=_text(os.path.join(folder, "CLAUDE.md")),
        denied=tuple(denied),
        instruction_tokens=sum(tokens for _, tokens in files),
        instruction_files=tuple(files),
    )


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
    own = facts.session.project_folder
    return own if own and os.path.isdir(own) else None


def _config_dirs(settings: Settings) -> list[str]:
    try:
        roots = roots_of(settings)
    except CrustsError:
        return []
    return [root.config_dir for root in roots if root.config_dir is not None]


def _denied(path: str) -> list[str]:
    try:
        return denied_reads(path)
    except CrustsError:
        return []


def _text(path: str) -> str | None:
    try:
        return read_text(path)
    except CrustsError:
        return None
