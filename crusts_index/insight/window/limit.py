"""How large a session's window is, and where it is compacted: by the signals, in their order (D10)."""

from __future__ import annotations

from crusts_index.insight.session.numbers import usable_number
from crusts_index.insight.window.catalogue import (
    AUTOCOMPACT_BUFFER_TOKENS,
    DEFAULT_CONTEXT_LIMIT,
    NATIVE_1M,
    configured_window,
    core_schema_tokens,
    lift_window,
    native_window,
    settings_window,
    variant_window,
)
from crusts_index.jsontext import loads
from crusts_index.models import model_family
from crusts_index.rows.window import SessionPasted
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from crusts_index.insight.session.facts import ContextReport, Facts
    from crusts_index.rows import Fetch


class WindowSettings(NamedTuple):
    """What the user set and Claude Code says now. `env` is today's environment, given for a live session only.

    `payload_model` and `payload_window` come from a status line's payload, `context_windows` and
    `autocompact_buffer` from config.json, `settings_models` from today's settings files.
    """

    context_windows: Mapping[str, Any] = {}
    autocompact_buffer: int | None = None
    payload_model: str | None = None
    payload_window: int | None = None
    settings_models: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    calibrated_schema_tokens: int | None = None


_LIVE_MS = 3_600_000
_ENVIRONMENT = (
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
    "CLAUDE_CODE_DISABLE_1M_CONTEXT",
)


def window_settings(
    fetch: Fetch,
    facts: Facts,
    config: Mapping[str, Any],
    environ: Mapping[str, str],
    now_ms: int,
    *,
    payload_model: str | None = None,
    payload_window: int | None = None,
) -> WindowSettings:
    """The settings that hold for a session: of `environ` only for a live one, active in the last hour."""
    windows = config.get("contextWindows")
    buffer = usable_number(config.get("autocompactBufferTokens"))
    last_ms = facts.session.last_ms
    is_live = not facts.is_partial and last_ms is not None and now_ms - last_ms < _LIVE_MS
    return WindowSettings(
        context_windows=windows if isinstance(windows, dict) else {},
        autocompact_buffer=None if buffer is None else int(buffer),
        payload_model=payload_model,
        payload_window=payload_window,
        env={name: environ[name] for name in _ENVIRONMENT if name in environ} if is_live else {},
        calibrated_schema_tokens=_pasted_schemas(fetch, facts.session.first_version),
    )


def _pasted_schemas(fetch: Fetch, version: str | None) -> int | None:
    """Tokens of the loaded system tools as the user last pasted them, for a Claude Code of the same age."""
    for pasted in fetch(SessionPasted):
        same = pasted.version is None or core_schema_tokens(pasted.version) == core_schema_tokens(version)
        return schemas_of(loads(pasted.rows)) if same else None
    return None


def schemas_of(rows: Iterable[tuple[str, int, bool]]) -> int | None:
    """Tokens of the loaded system tools in the rows of a `/context` report."""
    return next(
        (tokens for label, tokens, deferred in rows if "system tools" in label.lower() and not deferred and tokens),
        None,
    )


class Limit(NamedTuple):
    """The window's size in tokens, the signal that says so, and why, in words."""

    tokens: int
    signal: str
    why: str


class Trigger(NamedTuple):
    """The size at which Claude Code compacts, in tokens, and why, in words."""

    tokens: int
    why: str


def limit_of(facts: Facts, settings: WindowSettings, model: str) -> Limit:
    """The context limit by the first signal that speaks; a larger call lifts it to the next known size."""
    named = settings.payload_model or model
    largest = max((call.context_tokens for call in facts.calls if call.model == model), default=0)
    limit = _signalled(facts, settings, named, largest)
    lifted = lift_window(limit.tokens, largest)
    if lifted != limit.tokens:
        why = f"{limit.why}; but a call had {largest:,} tokens of context"
        return Limit(lifted, "usage", why)
    return limit


def _signalled(facts: Facts, settings: WindowSettings, model: str, largest: int) -> Limit:
    if settings.payload_window:
        return Limit(settings.payload_window, "payload", "Claude Code's own payload says so")
    window = configured_window(model, settings.context_windows)
    if window:
        return Limit(window, "config", f"contextWindows in config.json has it for {model}")
    report = _last_report(facts, model)
    if report is not None and report.window_tokens:
        return Limit(report.window_tokens, "context-command", "the last /context in the session said so")
    window = variant_window(model)
    if window:
        return Limit(window, "model-id", f"the model's id {model} names it")
    window = settings_window(model, (*settings_models(facts), *settings.settings_models))
    if window:
        return Limit(window, "settings", "a settings file sets this model family's variant")
    if largest > DEFAULT_CONTEXT_LIMIT:
        return Limit(NATIVE_1M, "usage", f"a call had {largest:,} tokens of context")
    disabled = is_set(environment(facts, settings).get("CLAUDE_CODE_DISABLE_1M_CONTEXT"))
    window = native_window(model, disabled)
    if window:
        seen = _least_automatic(facts)
        if seen is not None and seen <= DEFAULT_CONTEXT_LIMIT:
            why = f"models of {model}'s generation have {window:,}, but one compacted by itself at {seen:,}"
            return Limit(DEFAULT_CONTEXT_LIMIT, "default", why)
        return Limit(window, "native", f"models of {model}'s generation have it without being asked")
    return Limit(DEFAULT_CONTEXT_LIMIT, "default", "nothing says otherwise")


def _least_automatic(facts: Facts) -> int | None:
    """The smallest context that was compacted without being asked: a window of 1,000,000 would not have been."""
    automatic = (one.pre_tokens for one in facts.compactions if one.trigger == "auto" and one.pre_tokens)
    return min(automatic, default=None)


def _last_report(facts: Facts, model: str) -> ContextReport | None:
    """The last /context, unless it was of another model family than the one in use now."""
    family = model_family(model)[0]
    for report in reversed(facts.context_reports):
        if report.window_tokens:
            other = model_family(report.model)[0]
            return report if not family or not other or family == other else None
    return None


def trigger_of(facts: Facts, settings: WindowSettings, limit: int) -> Trigger:
    """Limit − 33,000, unless the environment of the session or config.json says otherwise (D10)."""
    buffer = settings.autocompact_buffer
    buffer = AUTOCOMPACT_BUFFER_TOKENS if buffer is None else buffer
    env = environment(facts, settings)
    share = _number(env.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"))
    if share and 0 < share <= 100:
        fraction = share if share <= 1 else share / 100
        return Trigger(int(limit * fraction), f"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: {fraction:.0%} of the limit")
    window = _number(env.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW"))
    if window and window > buffer:
        tokens = int(window)
        return Trigger(tokens - buffer, f"CLAUDE_CODE_AUTO_COMPACT_WINDOW {tokens:,} − {buffer:,}")
    if limit <= buffer:
        return Trigger(limit, f"the limit itself, which is not above the buffer of {buffer:,}")
    return Trigger(limit - buffer, f"limit {limit:,} − {buffer:,}")


def settings_models(facts: Facts) -> tuple[str, ...]:
    """The models that the settings files named while the session ran."""
    found = []
    for one in _settings_files(facts):
        found += [one.get("model"), *(one.get("env") or {}).values()]
    return tuple(model for model in found if isinstance(model, str))


def environment(facts: Facts, settings: WindowSettings) -> Mapping[str, str]:
    """What the settings files set in the session's environment, today's own environment above it."""
    env: dict[str, str] = {}
    for one in _settings_files(facts):
        env.update(one.get("env") or {})
    return {**env, **settings.env}


def _settings_files(facts: Facts) -> list[Mapping[str, Any]]:
    """Their details, those that count more last: the user's, the project's, the project's local ones."""
    files = [one for one in facts.surroundings if one.kind == "settings"]
    files.sort(key=lambda one: (one.name == "managed-settings.json", one.project_path is not None, one.name or ""))
    return [one.detail for one in files]


def is_set(value: str | None) -> bool:
    """Whether a switch in the environment is on."""
    return (value or "").strip().lower() not in ("", "0", "false", "no", "off")


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value else None
    except ValueError:
        return None
    return number if number is not None and 0 < number < 2**53 else None
