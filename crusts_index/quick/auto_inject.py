"""`crusts auto-inject`: the hook at UserPromptSubmit and SessionStart. When the window is nearly full, Claude gets
advice to pass on; when its cache is cold, the user is told what that costs. Whatever goes wrong, nothing is printed and
the exit code is 0, since any other would stop the user's prompt."""

import errno
import os
import sys

from crusts_index.folders import make_private
from crusts_index.quick import target
from crusts_index.regular import is_regular, open_regular
from crusts_index.store.config import keeps_text
from crusts_index.store.files import AUTO_INJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from crusts_index.claude.payloads import HookPayload
    from crusts_index.insight.waste.actions import Action
    from crusts_index.insight.waste.gate import Gate
    from crusts_index.quick.live import Live
    from crusts_index.store.settings import Settings

EVENT = "UserPromptSubmit"
COLD = "cold"
"""The kind of an entry of the log that speaks of a cold cache; one of a full window has none."""
_LAST_BYTES = 1 << 17
_MOST_LOG = 4 << 20


def run(argv: list[str]) -> int:
    """Answer the hook's payload on stdin."""
    target.begin(target.LOOK_SECONDS)
    try:
        inject(target.CommandLine(argv).settings(), target.read_stdin())
    except Exception:  # see above
        return 0
    return 0


def inject(settings: "Settings", data: bytes) -> None:
    """Print what there is to say as Claude Code wants it, and log it, if the gate is open; else nothing."""
    from crusts_index.claude.payloads import read_hook
    from crusts_index.insight.waste.gate import gate_of, is_hot
    from crusts_index.quick.cold import AT_START, SOURCES
    from crusts_index.store.when import now_ms

    gate = gate_of(settings.config)
    payload = read_hook(data) if gate.is_enabled else None
    is_start = payload is not None and payload.hook_event_name == AT_START
    if payload is None or (is_start and payload.source not in SOURCES):
        return
    from crusts_index.quick.live import Live
    from crusts_index.quick.named import of_payload

    named, now = of_payload(settings, payload), now_ms()
    if not named.session_id or not named.transcript_path:
        return
    live = Live(settings, named, now)
    try:
        answer = _warn(settings, live, payload, named.session_id, gate)
        last_ms = _last_told(settings, named.session_id, None)
        is_soon = last_ms is not None and 0 <= now - last_ms < gate.min_gap_ms
        if not is_start and not is_soon and is_hot(live.window, gate):
            answer |= _advise(settings, live, named.session_id, now)
        if answer:
            import json

            sys.stdout.write(json.dumps(answer))
        live.remember()
    finally:
        live.close()


def _warn(
    settings: "Settings", live: "Live", payload: "HookPayload", session_id: str, gate: "Gate"
) -> "dict[str, Any]":
    """What the user is told, once a pause, of a cold cache; it is for no model to read."""
    from crusts_index.quick.cold import AT_PROMPT, cold_of, warning
    from crusts_index.store.when import iso

    cold = cold_of(live, payload, gate.cold_usd)
    told_ms = _last_told(settings, session_id, COLD) if cold is not None else None
    last_ms = max((call.time_ms for call in live.facts.calls if call.time_ms is not None), default=0)
    if cold is None or (told_ms is not None and told_ms >= last_ms):
        return {}
    text = warning(cold, payload.hook_event_name or AT_PROMPT)
    entry = {
        "ts": iso(live.now_ms),
        "sessionId": session_id,
        "kind": COLD,
        "windowTokens": cold.tokens,
        "againUsd": round(cold.usd, 6),
        "advisoryText": text if keeps_text(settings.config) else None,
    }
    target.speak()
    _log(settings, entry)
    return {"systemMessage": text}


def _advise(settings: "Settings", live: "Live", session_id: str, now: int) -> "dict[str, Any]":
    """What Claude is told of a window that is nearly full."""
    from crusts_index.insight.waste.gate import advice
    from crusts_index.store.when import iso

    actions = _actions(live, settings)
    if not actions:
        return {}
    text, may_keep = advice(live.window, actions), keeps_text(settings.config)
    entry = {
        "ts": iso(now),
        "sessionId": session_id,
        "usagePercent": round(live.window.usage_percentage or 0, 1),
        "windowTokens": live.window.size,
        "reclaimableTokens": actions[0].frees_tokens or 0,
        "advisoryText": text if may_keep else None,
        "actions": [one.as_json() for one in actions] if may_keep else None,
    }
    target.speak()
    _log(settings, entry)  # first: without a log there would be no gap between two
    return {"hookSpecificOutput": {"hookEventName": EVENT, "additionalContext": text}}


def read_log(settings: "Settings", limit: int | None = None) -> "list[dict[str, Any]]":
    """The entries of the log, newest first; lines that are none are skipped."""
    from crusts_index.jsontext import loads_shallow

    try:
        with open_regular(os.path.join(settings.home, AUTO_INJECT)) as file:
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    found: list[dict[str, Any]] = []
    for line in reversed(lines):
        if limit is not None and len(found) >= limit:
            break
        try:
            entry = loads_shallow(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("ts"), str):
            found.append(entry)
    return found


def _actions(live: "Live", settings: "Settings") -> "list[Action]":
    """What to do about the window, by what the store knows of the session."""
    from crusts_index.insight.waste.actions import compact
    from crusts_index.insight.waste.gate import compact_from, gate_of

    if live.head is None:
        return compact(live.window, (), least=compact_from(gate_of(settings.config)))
    from crusts_index.quick.advised import advised, waste_of

    waste = waste_of(live.fetch, settings, live.facts, live.window)
    return advised(live.fetch, settings, live.facts, live.window, waste)


def _last_told(settings: "Settings", session_id: str, kind: str | None) -> int | None:
    """When this session was last told something of a kind, UTC milliseconds, as the end of the log has it."""
    from datetime import datetime

    from crusts_index.jsontext import loads_shallow

    try:
        with open_regular(os.path.join(settings.home, AUTO_INJECT)) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST_BYTES))
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return None
    wanted = session_id.encode()
    for line in reversed(lines):
        if wanted not in line:
            continue
        try:
            entry = loads_shallow(line.decode("utf-8", "replace"))
            if entry["sessionId"] == session_id and entry.get("kind") == kind:
                return round(datetime.fromisoformat(entry["ts"]).timestamp() * 1000)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return None


def _log(settings: "Settings", entry: "dict[str, Any]") -> None:
    import json

    path = os.path.join(settings.home, AUTO_INJECT)
    make_private(settings.home)
    if is_regular(path) is False:
        raise OSError(errno.EINVAL, "not a regular file", path)
    if os.path.exists(path) and os.path.getsize(path) > _MOST_LOG:
        os.replace(path, path + ".1")
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    finally:
        os.close(handle)
