"""What can be typed on the command line, read from the commands' own declarations, so that completion cannot drift."""

from collections.abc import Mapping

from crusts_index.cli.commands import COMMANDS, load
from crusts_index.cli.declared import Argument, Group, Parameter, parameters
from crusts_index.cli.declared import Command as Function
from crusts_index.render.completion import Command, Option
from crusts_index.store.settings import COMMON

_FOLDERS = {"DIR"}
_FILES = {"FILE", "PATH", "TRANSCRIPT"}
_HELP = Option(["--help"], "Show this message and exit", takes_value=False, choices=[], wants="")
_VERSION = Option(["--version"], "Show the version", takes_value=False, choices=[], wants="")


def read_words(table: Mapping[str, tuple[str, str]] = COMMANDS) -> Command:
    """Every command with its options, values and subcommands."""
    found = [(name, about, load(name, table)) for name, (_, about) in table.items()]
    inner = [_command(name, about, one) for name, about, one in found if one is not None]
    about = "What fills the context window of Claude Code, and what to do about it"
    return Command("crusts", about, [*_common([]), _VERSION, _HELP], [], wants_session=False, commands=inner)


def _command(name: str, about: str, found: Function | Group) -> Command:
    inner = found.commands if isinstance(found, Group) else {}
    own = found.alone if isinstance(found, Group) else found
    known = parameters(own) if own is not None else []
    values: list[str] = []
    wants_session = False
    for one in known:
        if isinstance(one.said, Argument):
            values += one.choices or (one.said.metavar.split("|") if "|" in one.said.metavar else [])
            wants_session = wants_session or "SESSION" in one.said.metavar or "session's id" in one.said.help
    options = [_option(one) for one in known if not isinstance(one.said, Argument)]
    return Command(
        name=name,
        help=_first_sentence(about),
        options=[*options, *_common(options), _HELP],
        values=values,
        wants_session=wants_session,
        commands=[_command(one, _about(below), below) for one, below in inner.items()],
    )


def _about(found: Function | Group) -> str:
    return found.help if isinstance(found, Group) else found.__doc__ or ""


def _common(own: list[Option]) -> list[Option]:
    """The options of every command, less those that the command declares itself."""
    taken = {name for one in own for name in one.names}
    found = [_read(names.split(), about, metavar) for names, metavar, about in COMMON]
    return [one for one in found if not taken.intersection(one.names)]


def _option(one: Parameter) -> Option:
    assert not isinstance(one.said, Argument)
    metavar = one.said.metavar or ("" if one.kind is bool else "TEXT")
    return _read(list(one.said.names), one.said.help, metavar, one.choices)


def _read(names: list[str], about: str, metavar: str, choices: list[str] | None = None) -> Option:
    """An option; a switch if nothing stands for its value."""
    wants = "folder" if metavar in _FOLDERS else "file" if metavar in _FILES else ""
    wants = "choice" if choices else "session" if "--session" in names or metavar == "SESSION" else wants
    return Option(names, _first_sentence(about), bool(metavar), choices or [], wants)


def _first_sentence(text: str) -> str:
    """The first sentence of the first paragraph, without its full stop."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].rstrip(".")
