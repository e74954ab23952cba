"""What can be typed behind a command's name, declared once: in the signature of its function.

Typer's signature, help, completion and the quick parser are made from it. Nothing here imports typer, which costs a
dozen interpreter starts, or `typing`, which costs a fifth of one.
"""

from collections.abc import Callable, Mapping

from crusts_index.store.settings import Flags, load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated as Annotated
    from typing import Any
else:

    class Annotated:
        """A type, and what is said of the parameter that has it."""

        def __init__(self, annotation, said):
            self.annotation, self.said = annotation, said

        def __class_getitem__(cls, given):
            return cls(*given)


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
    annotation: "Any"  # its type, as typer takes it
    kind: type  # what one value is: bool for a switch, str, int, float, a path or an enumeration
    is_list: bool
    default: object  # `...` where there is none

    def __init__(self, name: str, hint: "Any", default: object) -> None:
        self.name, self.default = name, default
        self.annotation, self.said = hint.annotation, hint.said
        kind = hint.annotation
        if not _is_list(kind):  # the other one of it and None, or the type itself
            kind = next((one for one in getattr(kind, "__args__", ()) if one is not type(None)), kind)
        self.is_list = _is_list(kind)
        self.kind = kind.__args__[0] if self.is_list else kind

    def read(self, word: str) -> object:
        """The value that a word stands for. Raises WrongUsage or ValueError for none."""
        if isinstance(self.said, Option) and self.said.reads is not None:
            return self.said.reads(word)
        return self.kind(word)

    @property
    def choices(self) -> list[str]:
        """The values of an enumeration; none of anything else."""
        return [str(one.value) for one in getattr(self.kind, "__members__", {}).values()]


def _is_list(annotation: "Any") -> bool:
    return getattr(annotation, "__origin__", None) is list


def parameters(command: Command) -> list[Parameter]:
    """All that can be typed behind the command's name, apart from the common options, in the signature's order."""
    code = command.__code__
    names = code.co_varnames[1 : code.co_argcount]
    hints = [_hint(command, name) for name in names]
    values = command.__defaults__ or ()
    defaults = [...] * (len(names) - len(values)) + list(values)
    return [Parameter(*one) for one in zip(names, hints, defaults, strict=True)]


def _hint(command: Command, name: str) -> "Any":
    hint = command.__annotations__[name]  # text under `from __future__ import annotations`
    return eval(hint, command.__globals__) if isinstance(hint, str) else hint  # noqa: S307 - a source of ours


def call(command: Command, flags: Flags, values: Mapping[str, object]) -> int:
    """Run the command on what was typed; its exit code."""
    wants_flags = command.__code__.co_varnames[0] == "flags"
    return command(flags if wants_flags else load_settings(flags), **values) or 0
