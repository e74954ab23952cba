"""What hooks and status lines get on standard input is read whatever it is."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crusts_index.claude.payloads import Told, read_hook, read_status

NEVER_NONE = ("limits", "cache_is_expired")

HOOK = {
    "session_id": "s1",
    "transcript_path": "/t/s1.jsonl",
    "agent_transcript_path": "/t/s1/subagents/agent-a.jsonl",
    "cwd": "/src/app",
    "hook_event_name": "PreCompact",
    "unknown": {"x": 1},
}
STATUS = {
    "session_id": "s1",
    "transcript_path": "/t/s1.jsonl",
    "cwd": "/src/app",
    "version": "2.1.240",
    "model": {"id": "claude-opus-4-6[1m]", "display_name": "Opus"},
    "workspace": {"current_dir": "/src/app/x", "project_dir": "/src/app", "added_dirs": ["/lib", 5]},
    "cost": {"total_cost_usd": 1.25},
    "context_window": {
        "context_window_size": 1_000_000,
        "used_percentage": 21,
        "current_usage": {
            "input_tokens": 1,
            "output_tokens": 20,
            "cache_creation_input_tokens": 300,
            "cache_read_input_tokens": 4000,
        },
    },
    "prompt_cache": {"ttl": "5m", "expires_at": 1_796_056_856},
    "rate_limits": {"five_hour": {"used_percentage": 5, "resets_at": 1_796_056_856}},
    "worktree": {"name": "try", "path": "/w/p/.claude/worktrees/try", "branch": "try", "original_cwd": "/w/p"},
    "pr": {"number": 7, "review_state": "approved"},
}


def encode(value: object) -> bytes:
    """The payload as it arrives."""
    return json.dumps(value).encode()


def test_hook_fields() -> None:
    """Every field that we use is read as sent; unknown ones are passed over."""
    payload = read_hook(encode(HOOK))
    assert payload is not None
    assert {key: getattr(payload, key) for key in HOOK if key != "unknown"} == {
        key: value for key, value in HOOK.items() if key != "unknown"
    }


def test_status_fields() -> None:
    """The context is the input side of the last call; model, cost and folder are as sent."""
    payload = read_status(encode(STATUS))
    assert payload is not None
    assert (payload.context_tokens, payload.output_tokens, payload.window_size) == (4301, 20, 1_000_000)
    assert (payload.model_id, payload.model_name) == ("claude-opus-4-6[1m]", "Opus")
    assert (payload.project_dir, payload.cost_usd) == ("/src/app", 1.25)


def window(**fields: object) -> Any:
    """A status line payload with this context window."""
    return read_status(encode({"session_id": "s", "context_window": fields}))


def test_window_size_has_two_names() -> None:
    """total_tokens serves where context_window_size is missing or nonsense."""
    assert window(total_tokens=500_000).window_size == 500_000
    assert window(context_window_size=200_000, total_tokens=5).window_size == 200_000
    assert window(context_window_size=None, total_tokens=7).window_size == 7
    assert window(context_window_size=0).window_size is None


def test_size_below_what_is_in_it_is_distrusted() -> None:
    """A window smaller than its contents is no window: its size is then unknown."""
    usage = {"input_tokens": 100_000, "cache_read_input_tokens": 150_000}
    payload = window(context_window_size=200_000, current_usage=usage)
    assert (payload.window_size, payload.context_tokens) == (None, 250_000)


def test_no_usage_yet() -> None:
    """Before the first call, and after a compaction, there is no usage, or only zeros: unknown, not 0."""
    assert window(context_window_size=200_000, current_usage=None).context_tokens is None
    assert window(context_window_size=200_000, current_usage={}).context_tokens is None
    zeros = window(current_usage={"input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0})
    assert (zeros.context_tokens, zeros.output_tokens) == (None, None)
    assert window(current_usage=0).context_tokens is None


@pytest.mark.parametrize(
    "rest",
    ['"prompt":"never end', '"a":' + "[" * 100_000, '"a":' + '{"a":' * 100_000, '"cwd":"/x","a":{"b":1,"c":'],
    ids=len,
)
def test_the_beginning_of_what_cannot_be_read(rest: str) -> None:
    """A payload that is cut off or nested too deeply still says which session it is about."""
    said = read_hook(f'{{"session_id":"s-1","transcript_path":"/t/s-1.jsonl",{rest}'.encode())
    assert said is not None
    assert ("s-1", "/t/s-1.jsonl") == (said.session_id, said.transcript_path)


def test_numbers_that_cannot_be_make_no_sum() -> None:
    """One part of a usage that is no count makes the whole of it unknown; a size beyond belief is none."""
    for part in (-5, "many", float("nan"), 1e300, True, [], 2 * 10**9):
        said = window(context_window_size=200_000, current_usage={"input_tokens": 5, "cache_read_input_tokens": part})
        assert (None, None) == (said.context_tokens, said.output_tokens)
        assert window(context_window_size=part).window_size is None
    assert 5 == window(current_usage={"input_tokens": 5, "cache_read_input_tokens": None}).context_tokens


BROKEN = [
    b"",
    b" ",
    b"{",
    b"null",
    b"[]",
    b'"text"',
    b"5",
    b"{}",
    b'{"other": 1}',
    b'{"session_id": 5}',
    b'{"session_id": ""}',
    b"[" * 200_000,
    b'{"a":' * 200_000,
    b"\xff\xfe",
    b"9" * 10_000,
]


@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
def test_what_is_no_payload_is_none(data: bytes) -> None:
    """Empty, broken, alien and deeply nested input is no payload, and no error."""
    assert read_hook(data) is None
    assert read_status(data) is None


def test_bom_and_bad_bytes() -> None:
    """A BOM is passed over, undecodable bytes cost only themselves, half a surrogate pair becomes a ?."""
    payload = read_hook(b'\xef\xbb\xbf{"session_id": "a\xffb", "cwd": "/\\ud83d", "transcript_path": "x\\u0000"}')
    assert payload is not None
    assert (payload.session_id, payload.cwd, payload.transcript_path) == ("a\ufffdb", "/?", None)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=5,
)


@pytest.mark.long
@settings(deadline=None)
@given(st.data())
def test_wrong_types_cost_only_their_field(data: st.DataObject) -> None:
    """Whatever stands in any field, reading does not fail, and the session is still known."""
    mangled = {key: data.draw(values | st.just(value)) for key, value in STATUS.items()}
    for part in (key for key, value in STATUS.items() if isinstance(value, dict)):
        if data.draw(st.booleans()):
            mangled[part] = {key: data.draw(values) for key in STATUS[part]}  # type: ignore[attr-defined]
    payload = read_status(encode({**mangled, "session_id": "s"}))
    assert payload is not None
    assert payload.session_id == "s"
    assert payload.window_size is None or payload.window_size > 0
    hook = read_hook(encode({**mangled, "session_id": "s"}))
    assert hook is not None
    for told in (payload.told, hook.told):
        kinds = {name: type(getattr(told, name)) for name in Told.__slots__}
        assert {"limits": list, "cache_is_expired": bool} == {name: kinds.pop(name) for name in NEVER_NONE}
        numbers = {"window_tokens": int, "cache_expires_ms": int}
        assert all(kind in (type(None), numbers.get(name, str)) for name, kind in kinds.items())
