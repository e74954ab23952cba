"""`crusts auto-inject`: the hook at UserPromptSubmit. When the window is nearly full, Claude gets advice to pass on;
whatever goes wrong, nothing is printed and the exit code is 0, since any other would stop the user's prompt."""

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

    from crusts_index.insight.waste.actions import Action
    from crusts_index.insight.waste.gate import Gate
    from crusts_index.quick.live import Live
    from crusts_index.store.settings import Settings

EVENT = "UserPromptSubmit"
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
    """Print the advice as Claude Code wants it, and log it, if the gate is open; else nothing."""
    from crusts_index.claude.payloads import read_hook
    from crusts_index.insight.waste.gate import gate_of, is_hot
    from crusts_index.store.when import now_ms

    gate = gate_of(settings.config)
    payload = read_hook(data) if gate.is_enabled else None
    if payload is None:
        return
    from crusts_index.quick.live import Live
    from crusts_index.quick.named import of_payload

    named, now = of_payload(settings, payload), now_ms()
    if not named.session_id or not named.transcript_path or _is_too_soon(settings, named.session_id, gate, now):
        return
    live = Live(settings, named, now)
    try:
        if is_hot(live.window, gate):
            _advise(settings, live, named.session_id, now)
        live.remember()
    finally:
        live.close()


def _advise(settings: "Settings", live: "Live", session_id: str, now: int) -> None:
    import json

    from crusts_index.insight.waste.gate import advice
    from crusts_index.store.when import iso

    actions = _actions(live, settings)
    if not actions:
        return
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
    said = {"hookEventName": EVENT, "additionalContext": text}
    sys.stdout.write(json.dumps({"hookSpecificOutput": said}))


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


def _is_too_soon(settings: "Settings", session_id: str, gate: "Gate", now: int) -> bool:
    """Whether this session was told within the gap, as the end of the log has it."""
    from datetime import datetime

    from crusts_index.jsontext import loads_shallow

    try:
        with open_regular(os.path.join(settings.home, AUTO_INJECT)) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST_BYTES))
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return False
    wanted = session_id.encode()
    for line in reversed(lines):
        if wanted not in line:
            continue
        try:
            entry = loads_shallow(line.decode("utf-8", "replace"))
            if entry["sessionId"] == session_id:
                told = datetime.fromisoformat(entry["ts"]).timestamp() * 1000
                return bool(0 <= now - told < gate.min_gap_ms)
        except (ValueError, KeyError, TypeError):
            continue
    return False


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
