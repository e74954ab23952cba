"""What wastes a session's window and what to do about it, as every command has it: hooks and the command line."""

from __future__ import annotations

import os

from crusts_index.claude.additions import denied_reads, read_text
from crusts_index.claude.surroundings import snapshot
from crusts_index.errors import CrustsError
from crusts_index.index.recorded import reader_of
from crusts_index.index.refresh import roots_of
from crusts_index.insight.waste.actions import Sources, actions_of
from crusts_index.insight.waste.find import find_waste
from crusts_index.insight.waste.gate import compact_from, gate_of
from crusts_index.insight.waste.thresholds import thresholds_of
from crusts_index.insight.waste.ways import NOWHERE, Target
from crusts_index.rows.actions import Past, Used
from crusts_index.rows.session import SessionOtherRead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.waste.actions import Action
    from crusts_index.insight.waste.item import WasteItem
    from crusts_index.insight.window.judge import Window
    from crusts_index.rows import Fetch
    from crusts_index.store.settings import Settings

_NAMES = ("settings.json", "settings.local.json")


def waste_of(fetch: Fetch, settings: Settings, facts: Facts, window: Window) -> list[WasteItem]:
    """The waste in a session's window, by the thresholds of config.json."""
    session_id = facts.session.session_id
    elsewhere = fetch(SessionOtherRead, session=session_id)
    return find_waste(facts, window, thresholds_of(settings.config), elsewhere, reader_of(fetch, session_id))


def advised(
    fetch: Fetch,
    settings: Settings,
    facts: Facts,
    window: Window,
    waste: list[WasteItem],
    target: Target | None = None,
) -> list[Action]:
    """What to do, by what is known up to the session's last record; about the project's files as they are now."""
    session = facts.session
    about = {"session": session.session_id, "until": session.last_ms if session.last_ms is not None else 0}
    sources = Sources(
        past=next(iter(fetch(Past, **about)), None),
        used=fetch(Used, **about),
        target=target_of(own_folder(facts), settings) if target is None else target,
        recorded=reader_of(fetch, session.session_id),
        compact_from=compact_from(gate_of(settings.config)),
    )
    return actions_of(facts, window, waste, thresholds_of(settings.config), sources)


def own_folder(facts: Facts) -> str | None:
    """The folder of the session's project, if it is on this machine."""
    own = facts.session.project_folder
    return own if own and os.path.isdir(own) else None


def target_of(folder: str | None, settings: Settings) -> Target:
    """A project's files as they are now; what cannot be understood counts as not there."""
    if folder is None:
        return NOWHERE
    config_dirs = _config_dirs(settings)
    places = [os.path.join(folder, ".claude"), *config_dirs]
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
        denied=tuple(rule for place in places for name in _NAMES for rule in _denied(os.path.join(place, name))),
        instruction_tokens=sum(tokens for _, tokens in files),
        instruction_files=tuple(files),
    )


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
