"""What can be typed behind a command's name, declared once: in the signature of its function.

Typer's signature, help, completion and the quick parser are made from it. Nothing here imports typer, which costs a
dozen interpreter starts.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

from crusts_index.store.settings import Flags, load_settings

Command = Callable[..., int | None]
"""A function that is a command: first come its `settings`, or `flags` where it resolves them itself, then what can be
typed, each parameter `Annotated` with an Option or Argument. It returns its exit code, None for 0; wrong usage and what
could not be done are raised as errors of ours. Its docstring is its help."""


class Option:
    """An option by all its names; one of the type bool is a switch. `reads` makes a value of a word (WrongUsage)."""

    def __init__(
        self,
        *names: str,
        help: str,
        metavar: str | None = None,
        reads: Callable[[str], object] | None = None,
        any_case: bool = False,
    ) -> None:
        self.names, self.help, self.metavar, self.reads, self.any_case = names, help, metavar, reads, any_case


class Argument:
    """What stands behind the name and the options, in its place; a list takes all that is left."""

    def __init__(self, metavar: str, help: str) -> None:
        self.metavar, self.help = metavar, help


class Group:
    """Commands below a name; `alone` is the command that the name is by itself, if it is one."""

    def __init__(self, help: str, commands: "Mapping[str, Command | Group]", alone: Command | None = None) -> None:
        self.help, self.commands, self.alone = help, commands, alone


class Parameter:
    """One that can be typed, as its function has it."""

    name: str
    said: Option | Argument
    annotation: Any  # its type, as typer takes it
    kind: type  # what one value is: bool for a switch, str, int, float, a path or an enumeration
    is_list: bool
    default: object  # `...` where there is none

    def __init__(self, name: str, hint: Any, default: object) -> None:
        self.name, self.default = name, default
        self.annotation, self.said = hint.__origin__, hint.__metadata__[0]
        kind = self.annotation
        if get_origin(kind) is not list:  # one of which None is another, or the type itself
            kind = next((one for one in get_args(kind) if one is not type(None)), kind)
        self.is_list = get_origin(kind) is list
        self.kind = get_args(kind)[0] if self.is_list else kind

    def read(self, word: str) -> object:
        """The value that a word stands for. Raises WrongUsage or ValueError for none."""
        if isinstance(self.said, Option) and self.said.reads is not None:
            return self.said.reads(word)
        return self.kind(word)

    @property
    def choices(self) -> list[str]:
        """The values of an enumeration; none of anything else."""
        return [str(one.value) for one in self.kind] if issubclass(self.kind, Enum) else []


def parameters(command: Command) -> list[Parameter]:
    """All that can be typed behind the command's name, apart from the common options, in the signature's order."""
    code, hints = command.__code__, get_type_hints(command, include_extras=True)
    names = code.co_varnames[1 : code.co_argcount]
    values = command.__defaults__ or ()
    defaults = [...] * (len(names) - len(values)) + list(values)
    return [Parameter(name, hints[name], default) for name, default in zip(names, defaults, strict=True)]


def call(command: Command, flags: Flags, values: Mapping[str, object]) -> int:
    """Run the command on what was typed; its exit code."""
    wants_flags = command.__code__.co_varnames[0] == "flags"
    return command(flags if wants_flags else load_settings(flags), **values) or 0
