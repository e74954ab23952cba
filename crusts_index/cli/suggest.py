"""What can be typed next in the shell, from the same words as the completion scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from crusts_index.render.completion import Command, Option


class Suggestion(NamedTuple):
    """A word that can stand there; `kind` is word, or folder or file where a path is wanted instead."""

    word: str
    about: str = ""
    kind: str = "word"


class Place(NamedTuple):
    """Where a line of words leads: the command, what was given to it, and the option that waits for its value."""

    command: Command
    names: tuple[str, ...]
    positionals: tuple[str, ...]
    options: frozenset[str]
    waiting: Option | None


def place_of(root: Command, words: list[str]) -> Place:
    """Follow the words of a line from the program on."""
    command, waiting = root, None
    names: list[str] = []
    positionals: list[str] = []
    given: set[str] = set()
    is_open = True  # behind `--` nothing is an option
    for word in words:
        if waiting is not None:
            waiting = None
        elif word == "--" and is_open:
            is_open = False
        elif word.startswith("-") and is_open:
            name, equals, _ = word.partition("=")
            given.add(name)
            option = _option(command, root, name)
            waiting = option if option is not None and option.takes_value and not equals else None
        elif not positionals and (inner := _inner(command, word)) is not None:
            command = inner
            names.append(word)
        else:
            positionals.append(word)
    return Place(command, tuple(names), tuple(positionals), frozenset(given), waiting)


def suggestions(
    root: Command, words: list[str], current: str, sessions: Callable[[], list[str]]
) -> Iterator[Suggestion]:
    """What can stand in place of `current` behind `words`."""
    place = place_of(root, words)
    waiting, prefix = place.waiting, ""
    name, equals, value = current.partition("=")
    if waiting is None and equals and current.startswith("-"):
        waiting, prefix, current = _option(place.command, root, name), f"{name}=", value
        if waiting is None:
            return
    if waiting is not None:
        yield from _values(waiting, prefix, current, sessions)
        return
    if current.startswith("-"):
        for option in _options(place.command, root):
            yield from (Suggestion(one, option.help) for one in option.names if one.startswith(current))
        return
    for one in place.command.commands:
        if one.name.startswith(current):
            yield Suggestion(one.name, one.help)
    for one_value in place.command.values:
        if one_value.startswith(current):
            yield Suggestion(one_value)
    if place.command.wants_session:
        yield from (Suggestion(one) for one in sessions() if one.startswith(current))


def _values(option: Option, prefix: str, current: str, sessions: Callable[[], list[str]]) -> Iterator[Suggestion]:
    takes = option.takes
    if takes.startswith("choice "):
        found = takes.split()[1:]
    elif takes == "session":
        found = sessions()
    elif takes in ("folder", "file"):
        yield Suggestion(current, kind=takes)
        return
    else:
        return
    yield from (Suggestion(prefix + one) for one in found if one.startswith(current))


def _inner(command: Command, name: str) -> Command | None:
    return next((one for one in command.commands if one.name == name), None)


def _options(command: Command, root: Command) -> list[Option]:
    known = {name for one in command.options for name in one.names}
    return command.options + [one for one in root.options if not known.intersection(one.names)]


def _option(command: Command, root: Command, name: str) -> Option | None:
    return next((one for one in _options(command, root) if name in one.names), None)
