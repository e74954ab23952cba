"""What can be typed on the command line, read from the commands themselves, so that completion cannot drift."""

import enum
from typing import Any, get_args

from crusts_index.cli.app import Commands
from crusts_index.render.completion import Command, Option

_FOLDERS = {"DIR"}
_FILES = {"FILE", "PATH", "TRANSCRIPT"}


def read_words(group: Commands) -> Command:
    """Every command with its options, values and subcommands; hidden ones left out."""
    return _command("crusts", group)


def _command(name: str, command: Any) -> Command:
    import typer

    context = typer.Context(command)
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    inner = [(one, command.get_command(context, one)) for one in names]
    options: list[Option] = []
    values: list[str] = []
    wants_session = False
    for param in command.get_params(context):
        if getattr(param, "hidden", False):
            continue
        if param.param_type_name == "argument":
            metavar = param.metavar or param.human_readable_name
            values += _choices(param) or (metavar.split("|") if "|" in metavar else [])
            wants_session = wants_session or "SESSION" in metavar.upper()
        else:
            options.append(_option(param))
    return Command(
        name=name,
        help=_first_sentence(getattr(command, "short_help", None) or command.help or ""),
        options=options,
        values=values,
        wants_session=wants_session,
        commands=[_command(one, found) for one, found in inner if found is not None and not found.hidden],
    )


def _option(param: Any) -> Option:
    is_switch = bool(param.is_flag or param.count)
    metavar = (param.metavar or "").strip("[]").upper()
    choices = [] if is_switch else _choices(param)
    wants = "folder" if metavar in _FOLDERS else "file" if metavar in _FILES else ""
    if "--session" in param.opts:
        wants = "session"
    return Option(
        names=[*param.opts, *param.secondary_opts],
        help=_first_sentence(param.help or ""),
        takes_value=not is_switch,
        choices=choices,
        wants="choice" if choices else wants,
    )


def _choices(param: Any) -> list[str]:
    """The values of an option or argument that is an enumeration."""
    told = getattr(getattr(param, "type", None), "choices", None)  # where typer builds on click's own types
    if told:
        return [str(getattr(one, "value", one)) for one in told]
    annotation = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    kinds = [annotation, *get_args(annotation)]
    return [str(one.value) for kind in kinds if isinstance(kind, type) and issubclass(kind, enum.Enum) for one in kind]


def _first_sentence(text: str) -> str:
    """The first sentence of the first paragraph, without its full stop."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].rstrip(".")
