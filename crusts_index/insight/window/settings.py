"""What the user set that a window is judged by: config.json, Claude Code's settings files, its environment (D10)."""

from __future__ import annotations

from crusts_index.insight.session.numbers import usable_number
from crusts_index.insight.window.catalogue import core_schema_tokens
from crusts_index.jsontext import loads
from crusts_index.models import model_family
from crusts_index.rows.window import SessionPasted
from crusts_index.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from crusts_index.insight.session.facts import Facts, Surrounding
    from crusts_index.rows import Fetch

LIVE_MS = 3_600_000
_ENVIRONMENT = (
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
    "CLAUDE_CODE_DISABLE_1M_CONTEXT",
    "DISABLE_AUTO_COMPACT",
)


class WindowSettings(NamedTuple):
    """What the user set and Claude Code says now. `env` is the session's environment: what its settings files set, and
    today's own for a live session.

    `payload_model` and `payload_window` come from a status line's payload, `context_windows` and `autocompact_buffer`
    from config.json; of `files`, the details of Claude Code's settings files, the last counts most.
    """

    context_windows: Mapping[str, Any] = {}
    autocompact_buffer: int | None = None
    payload_model: str | None = None
    payload_window: int | None = None
    files: tuple[Mapping[str, Any], ...] = ()
    env: Mapping[str, str] = {}
    calibrated_schema_tokens: int | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The models that the settings files name."""
        found = []
        for one in self.files:
            found += [one.get("model"), *(one.get("env") or {}).values()]
        return tuple(model for model in found if isinstance(model, str))

    @property
    def environment(self) -> Mapping[str, str]:
        """What the settings files set in the session's environment, today's own above it."""
        env: dict[str, str] = {}
        for one in self.files:
            env.update(one.get("env") or {})
        return {**env, **self.env}

    @property
    def is_1m_off(self) -> bool:
        """Whether every model is held to 200,000."""
        return is_set(self.environment.get("CLAUDE_CODE_DISABLE_1M_CONTEXT"))

    @property
    def off_by(self) -> str | None:
        """What switches auto-compaction off; None where it is on."""
        if is_set(self.environment.get("DISABLE_AUTO_COMPACT")):
            return "DISABLE_AUTO_COMPACT"
        said = [one["autoCompactEnabled"] for one in self.files if isinstance(one.get("autoCompactEnabled"), bool)]
        return "autoCompactEnabled: false" if said and not said[-1] else None

    @property
    def share(self) -> float | None:
        """The share of the window at which it is compacted, if that is set."""
        number = _number(self.environment.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"))
        if number is None or number > 100:
            return None
        return number if number <= 1 else number / 100

    def compact_window(self, model: str) -> tuple[int, str] | None:
        """The window that is compacted as if it were all there is, in tokens, and what sets it."""
        window = _number(self.environment.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW"))
        if window:
            return int(window), "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
        for one in reversed(self.files):
            for each in one.get("modelWindows") or ():
                if _names(each["model"], model):
                    return int(each["tokens"]), f"autoCompactWindow of {each['model']} in modelSettings"
        for one in reversed(self.files):
            if one.get("autoCompactWindow"):
                return int(one["autoCompactWindow"]), "autoCompactWindow"
        return None


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
    last_ms = facts.session.last_ms
    is_live = not facts.is_partial and last_ms is not None and now_ms - last_ms < LIVE_MS
    return settings_by(
        config,
        environ if is_live else {},
        facts.settings,
        pasted_schemas(fetch(SessionPasted), facts.session.first_version),
    )._replace(payload_model=payload_model, payload_window=payload_window)


def settings_by(
    config: Mapping[str, Any], environ: Mapping[str, str], files: Iterable[Surrounding], schemas: int | None = None
) -> WindowSettings:
    """The settings by config.json, an environment and settings files; `schemas` as `pasted_schemas` has them."""
    windows = config.get("contextWindows")
    buffer = usable_number(config.get("autocompactBufferTokens"))
    return WindowSettings(
        context_windows=windows if isinstance(windows, dict) else {},
        autocompact_buffer=None if buffer is None else int(buffer),
        files=settings_files(files),
        env={name: environ[name] for name in _ENVIRONMENT if name in environ},
        calibrated_schema_tokens=schemas,
    )


def settings_files(files: Iterable[Surrounding]) -> tuple[Mapping[str, Any], ...]:
    """Their details, those that count more last: the user's, the project's, the project's local ones."""
    kept = [one for one in files if one.kind == "settings"]
    kept.sort(key=lambda one: (one.name == "managed-settings.json", one.project_path is not None, one.name or ""))
    return tuple(one.detail for one in kept)


def pasted_schemas(pasted: Iterable[SessionPasted], version: str | None) -> int | None:
    """Tokens of the loaded system tools as the user last pasted them, for a Claude Code of the same age."""
    for one in pasted:
        same = one.version is None or core_schema_tokens(one.version) == core_schema_tokens(version)
        return schemas_of(loads(one.rows)) if same else None
    return None


def schemas_of(rows: Iterable[tuple[str, int, bool]]) -> int | None:
    """Tokens of the loaded system tools in the rows of a `/context` report."""
    return next(
        (tokens for label, tokens, deferred in rows if "system tools" in label.lower() and not deferred and tokens),
        None,
    )


def is_set(value: str | None) -> bool:
    """Whether a switch in the environment is on."""
    return (value or "").strip().lower() not in ("", "0", "false", "no", "off")


def _names(name: str, model: str) -> bool:
    """Whether a key of modelSettings means a model: its name, with or without variant and date, or an alias."""
    name, model = name.strip().lower(), model.strip().lower()
    if name in (model, model.partition("[")[0]):
        return True
    family, numbers = model_family(name)
    other, other_numbers = model_family(model)
    return "[" not in name and bool(family) and family == other and (not numbers or numbers == other_numbers)


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value else None
    except ValueError:
        return None
    return number if number is not None and 0 < number < 2**53 else None
