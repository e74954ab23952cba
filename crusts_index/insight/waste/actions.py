"""What to do: one ranked list with its sources, the same in every command (D18)."""

from __future__ import annotations

from crusts_index.insight.session.mentions import base_name, short_names
from crusts_index.insight.waste.announced import Announced
from crusts_index.insight.waste.gate import COMPACT_FROM, is_near
from crusts_index.insight.waste.noise import find_noise
from crusts_index.insight.waste.rules import BY_NAME, DuplicateRead
from crusts_index.insight.waste.ways import NOWHERE, Target, Way, said, ways_of
from crusts_index.insight.window.words import limit_words, trigger_words
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from crusts_index.insight.session.facts import Facts
    from crusts_index.insight.waste.item import WasteItem
    from crusts_index.insight.waste.thresholds import Thresholds
    from crusts_index.insight.window.judge import Window
    from crusts_index.insight.window.listings import Recorded
    from crusts_index.rows.actions import Past, Used

PLAIN = "/compact"
KINDS = (
    *("compact-focus", "compact", "session-prompt", "mcp-disable", "skills-off", "claudemd-oversized"),
    *("permissions-deny", "claudeignore", "claudemd-rule"),
)
"""The kinds of actions, and of ways to carry one out, in the order in which equal ones stand."""
TYPED, SAID, SET = "type", "say", "set"
"""Where an action is done: at the prompt of Claude Code, said to Claude, in files and settings."""
FREED_SHARE = 0.68
"""What compactions free of the window where the user has made none: the median of 71 that were looked at."""
SOON = 20
"""Calls until the trigger below which it is, however small the window."""
CLAUSES = 3
_ENOUGH_REREADS = 2
_LEAST_REREAD = 1_000  # tokens, of a single one
_LEAST_NOISE = 1_000  # tokens
_SESSIONS = 3
"""Sessions of a project that show that something is not used in it; of fewer, many calls do, if it weighs much."""
_LEAST_CALLS, _LEAST_LISTED = 30, 500
_LEAST_SKILLS = 100  # tokens; Claude Code brings a few skills of its own
_NAMES_SHOWN = 10
_LEAST_USD = 0.005


class Action(NamedTuple):
    """Something to do. `do` is what is typed, said or changed, as it is; `why` says when it is worth it.

    `frees_tokens` (estimated; None: not known) has its source in `frees_from`; `saves_usd_a_call` is what these cost
    a call as cache reads, `saves_usd_a_day` that on a day like the project's last ones (None: no price, no history).
    """

    id: str
    title: str
    place: str
    do: str
    why: str
    frees_tokens: int | None
    frees_from: str
    saves_usd_a_call: float | None
    saves_usd_a_day: float | None
    evidence: tuple[str, ...]
    ways: tuple[Way, ...] = ()

    @property
    def gain(self) -> str:
        """What it frees and saves in words, with the source; empty where neither is known."""
        if self.frees_tokens is None:
            return ""
        usd = ""
        if self.saves_usd_a_call is not None:
            usd = f", {_dollars(self.saves_usd_a_call)} a call"
            if self.saves_usd_a_day is not None and self.saves_usd_a_day >= _LEAST_USD:
                usd += f", {_dollars(self.saves_usd_a_day)} a day"
        return f"frees about {self.frees_tokens:,} tokens{usd}: {self.frees_from}"

    def as_json(self) -> dict[str, object]:
        """The shape that other programs rely on; unknown = null."""
        return {
            "id": self.id,
            "do": self.do,
            "why": self.why,
            "frees_tokens": self.frees_tokens,
            "frees_from": self.frees_from,
            "saves_usd_a_call": None if self.saves_usd_a_call is None else round(self.saves_usd_a_call, 6),
            "saves_usd_a_day": None if self.saves_usd_a_day is None else round(self.saves_usd_a_day, 6),
            "evidence": list(self.evidence),
        }


class Sources(NamedTuple):
    """What actions are made from, beside the session: history, what the project uses, its files, the transcripts."""

    past: Past | None = None
    used: Sequence[Used] = ()
    target: Target = NOWHERE
    recorded: Recorded | None = None
    compact_from: float = COMPACT_FROM


def actions_of(
    facts: Facts, window: Window, waste: Sequence[WasteItem], thresholds: Thresholds, sources: Sources
) -> list[Action]:
    """What to do about a session's window and its project: what saves most over the calls left comes first.

    `waste` as `find_waste` gave it. An observation without something to do is none of it.
    """
    announced = Announced(facts, sources.recorded)
    found = [
        *compact(window, waste, sources.past, sources.compact_from),
        *_say(waste),
        *_servers(announced, sources),
        *_skills(announced, sources),
        *_instructions(waste, sources.target, thresholds),
        *_noise(facts, sources.target),
    ]
    price = next((call.cache_read_usd for call in reversed(facts.calls)), None)
    day = sources.past.calls_a_day if sources.past else None
    left = window.calls_left
    priced = [_priced(one, price, day, left) for one in found]
    return sorted(priced, key=lambda one: (one.frees_tokens is None, -(one.frees_tokens or 0), KINDS.index(one.id)))


def compact_focus(waste: Sequence[WasteItem]) -> tuple[str, list[WasteItem]] | None:
    """`/compact focus "…"` for the worst three things in the window, and the findings it names; None for nothing."""
    named = [item for item in waste if item.severity in ("high", "medium") and item.is_counted]
    names = short_names(item.path for item in named if item.path)
    clauses: list[str] = []
    items = []
    for item in named:
        name = _quoted(names[item.path]) if item.path and base_name(item.path) else ""
        clause = BY_NAME[item.type].focus(item, name)
        if not clause or (clause not in clauses and len(clauses) == CLAUSES):
            continue
        if clause not in clauses:
            clauses.append(clause)
        items.append(item)
    return (f'{PLAIN} focus "{"; ".join(clauses)}"', items) if clauses else None


def compact(
    window: Window, waste: Sequence[WasteItem], past: Past | None = None, least: float = COMPACT_FROM
) -> list[Action]:
    """The `/compact` for a window worth one: full by `least` per cent, near its trigger, or with waste to name."""
    size, share, left = window.size, window.usage_percentage, window.calls_left
    if size is None or share is None:
        return []
    focus = compact_focus(waste)
    is_due = share >= least or is_near(window) or (left is not None and left < SOON)
    if not is_due and focus is None:
        return []
    used = f"the window is at {share:.0f}% of {limit_words(window)} tokens"
    if left is not None:
        used += f"; {trigger_words(window)}"
    evidence = tuple(f"{item.description} ({item.estimated_tokens:,} tokens)" for item in focus[1]) if focus else ()
    if is_due:
        freed = past.freed_share if past is not None else None
        source = f"{FREED_SHARE} of the window of {size:,} tokens, as compactions do; none of yours is logged yet"
        if past is not None and freed is not None:
            yours = (
                "as your one compaction did"
                if past.compactions == 1
                else f"the median of your {past.compactions:,} compactions"
            )
            source = f"{freed:.2f} of the window of {size:,} tokens, {yours}"
        frees = round((FREED_SHARE if freed is None else freed) * size)
        why = f"{used}; at a break between tasks it costs less of what matters than in the middle of one"
    else:
        frees = sum(item.estimated_tokens for item in focus[1]) if focus else 0
        source = "the findings that it names, each counted once"
        why = f"{used}: no need to yet; type it at the next break between tasks, instead of a plain {PLAIN}"
    command, id = (focus[0], "compact-focus") if focus else (PLAIN, "compact")
    title = ("Compact" if is_due else "At the next break, compact") + (" with a focus" if focus else "")
    return [Action(id, title, TYPED, command, why, frees, source, None, None, evidence)]


def _say(waste: Sequence[WasteItem]) -> list[Action]:
    items = [item for item in waste if item.type == DuplicateRead.name and item.is_counted and item.path]
    reads, tokens = sum(len(item.messages) for item in items), sum(item.estimated_tokens for item in items)
    if not items or (reads < _ENOUGH_REREADS and tokens < _LEAST_REREAD):
        return []
    names = short_names(item.path or "" for item in items)
    shown = items[:_NAMES_SHOWN]
    do = BY_NAME[DuplicateRead.name].fix(shown, [_one_line(names[item.path or ""]) for item in shown])
    times = "once" if reads == 1 else f"{reads:,} times"
    why = f"read again {times} without need, for {tokens:,} tokens so far"
    source = "nothing at once: it keeps the next re-read out"
    evidence = tuple(f"{item.description} ({item.estimated_tokens:,} tokens)" for item in items)
    return [Action("session-prompt", "Have files not read again", SAID, do, why, None, source, None, None, evidence)]


def _servers(announced: Announced, sources: Sources) -> list[Action]:
    used = {one.name for one in sources.used if one.kind == "server"}
    idle = {name: tokens for name, tokens in announced.servers.items() if name not in used}
    weights = {announced.labels.get(name, name): tokens for name, tokens in idle.items()}
    frees = round(sum(tokens or 0 for tokens in weights.values()))
    if not weights or not _is_established(sources.past, frees):
        return []
    names = sorted(weights, key=lambda name: (-(weights[name] or 0), name))
    servers = "an MCP server" if len(names) == 1 else f"{len(names)} MCP servers"
    do = f"switch off for this project in /mcp: {', '.join(map(_one_line, names))}"
    why = f"{servers} that {_unused(sources.past)}"
    source = "their tools' names and instructions, in every call, as logged in this window"
    if not frees:
        source = "not logged: configured, and what that adds to a call is not in the transcript"
    evidence = tuple(
        f"{_one_line(name)}: " + (f"{weights[name]:,.0f} tokens" if weights[name] is not None else "not logged")
        for name in names
    )
    return [
        Action(
            *("mcp-disable", f"Switch off {servers} not in use", SET, do, why, frees or None, source),
            *(None, None, evidence),
        )
    ]


def _skills(announced: Announced, sources: Sources) -> list[Action]:
    used = {_skill_of(one.name) for one in sources.used if one.kind == "skill"}
    # A plugin's skill may be called by its own name alone.
    idle = {name: tokens for name, tokens in announced.skills.items() if used.isdisjoint((name, name.split(":")[-1]))}
    frees = round(sum(idle.values()))
    if frees < _LEAST_SKILLS or not _is_established(sources.past, frees):
        return []
    names = sorted(idle, key=lambda name: (-idle[name], name))
    shown = ", ".join(map(_one_line, names[:_NAMES_SHOWN]))
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    skills = "a skill" if len(names) == 1 else f"{len(names):,} skills"
    plugins = "; those of plugins in /plugin" if any(":" in name for name in names) else ""
    do = (
        f"in /skills, set to user-invocable-only (skillOverrides in .claude/settings.local.json{plugins}): "
        f"{shown}{more}"
    )
    why = f"{skills} that {_unused(sources.past)}"
    evidence = tuple(f"{_one_line(name)}: {idle[name]:,.0f} tokens" for name in names[:_NAMES_SHOWN])
    source = "their lines in the listing of skills, in every call, as logged in this window"
    return [Action("skills-off", f"Unlist {skills} not in use", SET, do, why, frees, source, None, None, evidence)]


def _is_established(past: Past | None, tokens: int) -> bool:
    """Whether the project's last sessions are enough to say that it does not use something of so many tokens."""
    if past is None:
        return False
    return past.sessions >= _SESSIONS or (past.session_calls >= _LEAST_CALLS and tokens >= _LEAST_LISTED)


def _unused(past: Past | None) -> str:
    if past is None:
        return "nothing has used"
    sessions = "the only session" if past.sessions == 1 else f"the last {past.sessions:,} sessions"
    calls = "1 call" if past.session_calls == 1 else f"{past.session_calls:,} calls"
    return f"{sessions} of this project ({calls}) did not use"


def _instructions(waste: Sequence[WasteItem], target: Target, thresholds: Thresholds) -> list[Action]:
    threshold = int(thresholds.claude_md_oversized)
    item = next((item for item in waste if item.type == "oversized_system"), None)
    files = list(target.instruction_files)
    frees, source = target.instruction_tokens - threshold, f"what its files take now, above {threshold:,} tokens"
    if target.folder is None and item is not None:
        frees, source = item.estimated_tokens, "what they took in this session, above the threshold"
    if frees <= 0:
        return []
    lines = "".join(f"\n{path}: about {tokens:,} tokens" for path, tokens in files)
    do = f"shorten CLAUDE.md: move what few tasks need into files that are read on demand{':' if lines else ''}{lines}"
    why = "it is in every call of every session of this project"
    evidence = tuple(f"{path}: {tokens:,} tokens" for path, tokens in files) or (item.description if item else "",)
    return [Action("claudemd-oversized", "Shorten CLAUDE.md", SET, do, why, frees, source, None, None, evidence)]


def _noise(facts: Facts, target: Target) -> list[Action]:
    noise = find_noise(facts.tool_uses, facts.session.project_folder)
    if sum(one.tokens for one in noise) < _LEAST_NOISE:
        return []
    ways = ways_of(noise, target)
    deny = next((way for way in ways if way.kind == "permissions-deny"), None)
    if deny is None:
        return []
    do = "add to permissions.deny in the project's .claude/settings.json:\n" + "\n".join(deny.lines)
    reads = sum(one.reads for one in noise)
    source = f"what {'1 read' if reads == 1 else f'{reads:,} reads'} of them took in this session"
    evidence = tuple(said(one) for one in noise)
    return [
        Action(deny.kind, deny.title, SET, do, deny.why, deny.frees_tokens, source, None, None, evidence, ways=ways)
    ]


def _priced(action: Action, price: float | None, day: float | None, left: int | None) -> Action:
    """With what it saves: tokens at the price of a cache read; what ends at the compaction to come counts until it."""
    if price is None or action.frees_tokens is None:
        return action
    a_call = action.frees_tokens * price / 1e6
    if day is not None and action.place == TYPED and left is not None:
        day = min(day, float(max(0, left)))
    return action._replace(saves_usd_a_call=a_call, saves_usd_a_day=None if day is None else a_call * day)


def _dollars(usd: float) -> str:
    return f"${usd:,.2f}" if usd >= _LEAST_USD else "less than a cent"


def _skill_of(name: str) -> str:
    """A skill's name in what was logged of its use: as called, or as a person typed it."""
    if name.startswith("<command-"):
        name = name.partition("<command-name>")[2].partition("<")[0]
    return name.strip().removeprefix("/").split(" ")[0]


def _one_line(name: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in name).split())


def _quoted(name: str) -> str:
    """A name fit to stand between double quotes on one line, nothing invisible in it."""
    return _one_line(name).replace("\\", "\\\\").replace('"', '\\"')
