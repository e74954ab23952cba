"""Hooks and the status line in someone's settings: ours come and go, everything else stays."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from crusts_index.claude.commands import is_crusts_command, runs_crusts
from crusts_index.claude.hooks import add_hook, find_hooks, remove_hook
from crusts_index.claude.status_line import (
    remove_status_line,
    set_status_line,
    status_line_command,
    status_line_state,
    wrapped_command,
)
from crusts_index.errors import CrustsError

OURS = "crusts index --hook"


def ours(command: str) -> bool:
    """Whether the command is the hook these tests add."""
    return is_crusts_command(command, "index", "--hook")


def meaning(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings without what says nothing: an event without entries, hooks without events."""
    rest = {key: value for key, value in settings.items() if key != "hooks"}
    hooks = settings.get("hooks", {})
    if isinstance(hooks, dict):
        hooks = {event: entries for event, entries in hooks.items() if entries != []}
    return rest if hooks == {} else {**rest, "hooks": hooks}


def test_add_to_nothing_and_back() -> None:
    """The first hook makes the containers it needs; removing it takes them away."""
    added = add_hook({}, "Stop", OURS, timeout=30)
    assert added == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": OURS, "timeout": 30}]}]}}
    assert find_hooks(added, ours) == {"Stop": [{"type": "command", "command": OURS, "timeout": 30}]}
    assert remove_hook(added, ours) == {}


def test_matcher_is_written_only_if_given() -> None:
    """Events without a matcher get none; an empty one is one."""
    (entry,) = add_hook({}, "Notification", OURS, matcher="")["hooks"]["Notification"]
    assert list(entry) == ["matcher", "hooks"]


def test_adding_twice_adds_once() -> None:
    """Adding is idempotent, wherever in the event the command stands; another event is another hook."""
    once = add_hook({}, "Stop", OURS)
    assert add_hook(once, "Stop", OURS) == once
    assert find_hooks(add_hook(once, "SessionEnd", OURS), ours).keys() == {"Stop", "SessionEnd"}


FOREIGN: dict[str, Any] = {
    "model": "opus",
    "hooks": {
        "Stop": [
            "say done",
            {"command": "old form"},
            {"matcher": "", "hooks": []},
            {"matcher": "x", "hooks": [{"type": "command", "command": "lint"}], "comment": "mine"},
            {
                "hooks": [
                    {"type": "prompt", "prompt": OURS},
                    {"type": "command", "command": f"echo {OURS}"},
                    5,
                ]
            },
            None,
        ],
        "PreToolUse": [],
        "Odd": {"not": "a list"},
    },
    "statusLine": {"type": "command", "command": "mine"},
}


def test_foreign_entries_stay_in_place() -> None:
    """Old forms, empty lists and unknown keys are kept, in their order, through adding and removing."""
    before = copy.deepcopy(FOREIGN)
    added = add_hook(FOREIGN, "Stop", OURS)
    assert FOREIGN == before  # the argument is not touched
    assert added["hooks"]["Stop"][:-1] == FOREIGN["hooks"]["Stop"]
    assert json.dumps(remove_hook(added, ours)) == json.dumps(FOREIGN)
    assert remove_hook(FOREIGN, ours) is FOREIGN


def test_only_ours_is_taken_out_of_a_shared_entry() -> None:
    """An entry someone put more into keeps the rest, with its other keys."""
    entry = {
        "matcher": "x",
        "hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": OURS}],
    }
    left = remove_hook({"hooks": {"Stop": [entry]}}, ours)
    assert left == {"hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "a"}]}]}}


def test_exec_form_is_found() -> None:
    """A hook may have its arguments in a list of their own."""
    settings = {"hooks": {"Stop": [{"hooks": [{"command": "/bin/crusts", "args": ["index", "--hook"]}]}]}}
    assert find_hooks(settings, ours).keys() == {"Stop"}
    assert remove_hook(settings, ours) == {}


@pytest.mark.parametrize("settings", [{"hooks": []}, {"hooks": None}, {"hooks": {"Stop": "say"}}])
def test_alien_containers_are_refused(settings: dict[str, Any]) -> None:
    """What stands in the place of hooks and is none is not overwritten, and does not stop a removal."""
    with pytest.raises(CrustsError, match="left alone"):
        add_hook(settings, "Stop", OURS)
    assert remove_hook(settings, ours) == settings


@pytest.mark.parametrize(
    ("command", "is_ours"),
    [
        ("crusts index --hook", True),
        ("crusts index --hook --db x", True),
        ("'/opt/my tools/crusts' index --hook", True),
        ("uvx crusts index --hook", True),
        ("/usr/bin/python3.12 -m crusts_index index --hook", True),
        ("/usr/bin/python3 -I -S '/my lib/crusts_index/entry.py' index --hook", True),
        ("python.exe -I -S 'C:\\lib\\crusts_index\\entry.py' index --hook", True),
        ("/usr/bin/python3 -I -S /lib/other/entry.py index --hook", False),
        ("/usr/bin/python3 -I -S", False),
        ("crusts index", False),
        ("crusts statusline", False),
        ("claude-crusts index --hook", False),
        ("echo crusts index --hook", False),
        ("my-line --wrap 'crusts index --hook'", False),
        ("crusts 'index --hook", False),
        ("", False),
    ],
)
def test_which_commands_are_ours(command: str, is_ours: bool) -> None:
    """Ours is what runs crusts, wherever it is installed; what only mentions it is not."""
    assert is_crusts_command(command, "index", "--hook") is is_ours
    assert runs_crusts("crusts") is True


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
foreign_hook = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=8)}) | json_values
entry = st.fixed_dictionaries({"hooks": st.lists(foreign_hook, max_size=3)}) | json_values
events = st.dictionaries(st.sampled_from(["Stop", "SessionEnd", "PreToolUse", "x"]), st.lists(entry, max_size=3))
random_settings = st.dictionaries(st.text(max_size=5).filter(lambda key: key != "hooks"), json_values, max_size=3)


@hypothesis_settings(deadline=None)
@given(random_settings, st.none() | events, st.sampled_from(["Stop", "SessionEnd", "new"]))
def test_add_then_remove_means_the_same(settings: dict[str, Any], hooks: dict[str, Any] | None, event: str) -> None:
    """For any settings, adding our hook and removing it gives back what they meant, in the same order."""
    if hooks is not None:
        settings = {**settings, "hooks": hooks}
    before = copy.deepcopy(settings)
    added = add_hook(settings, event, OURS)
    assert [*find_hooks(added, ours)] == [event]
    removed = remove_hook(added, ours)
    assert json.dumps(meaning(removed)) == json.dumps(meaning(before))
    assert settings == before


def test_status_line_of_ours() -> None:
    """Where there is none, ours is set and removed again; setting again changes nothing."""
    settings = {"model": "opus"}
    assert status_line_state(settings) == "none"
    changed = set_status_line(settings, "crusts statusline")
    assert changed["statusLine"] == {"type": "command", "command": "crusts statusline", "padding": 0}
    assert status_line_state(changed) == "ours"
    assert set_status_line(changed, "crusts statusline") == changed
    assert remove_status_line(changed) == settings


def test_status_line_of_another_is_refused() -> None:
    """Another's status line is neither replaced nor removed, and the refusal says what can be done."""
    settings = {"statusLine": {"type": "command", "command": "my-line"}}
    with pytest.raises(CrustsError, match=r"my-line.*--wrap"):
        set_status_line(settings, "crusts statusline")
    assert remove_status_line(settings) == settings
    for alien in ("text", {"type": "static"}, {"command": 5}):
        with pytest.raises(CrustsError, match="left alone"):
            set_status_line({"statusLine": alien}, "crusts statusline", wrap=True)


@hypothesis_settings(deadline=None)
@given(st.text(min_size=1).filter(lambda text: text.strip() and not runs_crusts(text)))
def test_wrap_then_remove_gives_back_the_command(command: str) -> None:
    """Whatever another's command is, wrapping keeps it whole, and removing ours gives it back."""
    settings = {"statusLine": {"type": "command", "command": command, "padding": 2, "refreshInterval": 5}}
    wrapped = set_status_line(settings, "'/my tools/crusts' statusline", wrap=True)
    assert status_line_state(wrapped) == "wrapped"
    assert wrapped_command(status_line_command(wrapped) or "") == command
    assert set_status_line(wrapped, "'/my tools/crusts' statusline", wrap=True) == wrapped
    moved = set_status_line(wrapped, "/elsewhere/crusts statusline")
    assert wrapped_command(status_line_command(moved) or "") == command
    assert remove_status_line(moved) == settings
