"""Runs a command whose line is plain, without typer: every word is understood here as typer would understand it.

Anything else is typer's: help, abbreviations, values that make no sense, words that are missing or too many.
"""

import os
from collections.abc import Callable, Iterator

from crusts_index.cli.declared import Argument, Command, Group, Option, Parameter, call, parameters
from crusts_index.errors import NotQuick, WrongUsage
from crusts_index.store.settings import SWITCHES, VALUED, Flags

Load = Callable[[str], Command | Group | None]


def run(argv: list[str], load: Load) -> int:
    """Run the command; its exit code. NotQuick, with nothing done, where the line is not plain."""
    command, flags, values = parse(argv, load)
    return call(command, flags, values)


def parse(argv: list[str], load: Load) -> tuple[Command, Flags, dict[str, object]]:
    """The command that a line names, the common options and the values given to it. NotQuick if it is not plain."""
    flags, words = Flags(), iter(argv)
    if "_CRUSTS_COMPLETE" in os.environ:
        raise NotQuick  # typer answers a shell
    name = next(words, "")
    while _take_common(name, words, flags):
        name = next(words, "")
    command = None if name.startswith("-") else load(name)
    while isinstance(command, Group):
        command = command.commands.get(next(words, ""))
    if command is None:
        raise NotQuick
    return command, flags, _values(parameters(command), words, flags)


def _values(known: list[Parameter], words: Iterator[str], flags: Flags) -> dict[str, object]:
    options = {name: one for one in known if isinstance(one.said, Option) for name in one.said.names}
    places = [one for one in known if isinstance(one.said, Argument)]
    values: dict[str, object] = {}
    for word in words:
        name = word.partition("=")[0]
        if name in options:
            option = options[name]
            is_switch = option.kind is bool and word == name
            _take(values, option, True if is_switch else _read(option, _value(word, words)))
        elif _take_common(word, words, flags):
            pass
        elif places and word and (word == "-" or word[0] != "-"):
            _take(values, places[0], _read(places[0], word))
            if not places[0].is_list:
                del places[0]
        else:
            raise NotQuick
    if any(one.default is ... and one.name not in values for one in known):
        raise NotQuick
    return values


def _take(values: dict[str, object], parameter: Parameter, value: object) -> None:
    """A list adds up, of all else the last counts."""
    values[parameter.name] = [*values.get(parameter.name, ()), value] if parameter.is_list else value  # type: ignore[misc]


def _take_common(word: str, words: Iterator[str], flags: Flags) -> bool:
    """Whether the word is one of the common options, which is then noted."""
    name = word.partition("=")[0]
    if word in SWITCHES:
        flags.give(SWITCHES[word])
    elif name in VALUED:
        flags.give(VALUED[name], _value(word, words))
    else:
        return False
    return True


def _value(word: str, words: Iterator[str]) -> str:
    """The value of an option: behind its sign of equality, else the next word, if that can be nothing else."""
    name, equals, value = word.partition("=")
    if not equals:
        value = next(words, "")
        if value != "-" and value.startswith("-"):
            raise NotQuick
    if not value or (equals and not name.startswith("--")):
        raise NotQuick
    return value


def _read(parameter: Parameter, word: str) -> object:
    if parameter.kind is bool:
        raise NotQuick  # a switch takes no value
    try:
        return parameter.read(word)
    except (WrongUsage, ValueError):
        raise NotQuick from None
