"""The full command line by typer, made from what the commands declare: help, usage errors, all that is not plain."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from crusts_index import __version__
from crusts_index.cli.commands import COMMANDS, load
from crusts_index.cli.declared import Argument, Command, Group, Parameter, call, parameters
from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.plain import lines, tell
from crusts_index.render import console
from crusts_index.store.settings import COMMON, Flags


class Commands(TyperGroup):
    """The group of all commands; knows them by table and imports them one at a time."""

    table: Mapping[str, tuple[str, str]] = COMMANDS

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Their names, in the table's order."""
        return list(self.table)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        """The command, imported now, with the common options added."""
        found = load(cmd_name, self.table)
        assert found is not None
        command = _typed(cmd_name, found)
        command.short_help = self.table[cmd_name][1]
        _adopt(command, [param for param in self.params if not param.expose_value and param.name != "help"])
        return command

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """As usual, but a mistyped name meets the names of the table."""
        if args[0] not in self.table:
            from difflib import get_close_matches

            near = " or ".join(get_close_matches(args[0], self.table))
            ctx.fail(f"no such command {args[0]!r}" + (f": did you mean {near}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """The list of commands from the table alone."""
        if self.table:
            with formatter.section("Commands"):
                formatter.write_dl([(name, about) for name, (_, about) in self.table.items()])


def _new(**more: Any) -> typer.Typer:
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, **more)


def _typed(name: str, found: Command | Group) -> Any:
    """The command or group as typer has it."""
    if isinstance(found, Group):
        group = typer.main.get_group(_group(found))
        group.name = name
        return group
    single = _new()
    single.command(name)(_function(found))
    return typer.main.get_command(single)


def _group(found: Group) -> typer.Typer:
    group = _new(help=found.help, no_args_is_help=found.alone is None)
    if found.alone is not None:
        group.callback(invoke_without_command=True)(_function(found.alone, is_alone=True))
    for name, one in found.commands.items():
        if isinstance(one, Group):
            group.add_typer(_group(one), name=name)
        else:
            group.command(name)(_function(one))
    return group


def _function(command: Command, *, is_alone: bool = False) -> Callable[..., int]:
    """The command with a signature that typer reads."""

    def run_it(context: typer.Context, **values: object) -> int:
        return 0 if is_alone and context.invoked_subcommand else call(command, _flags(context), values)

    known = [_parameter(one.name, one.annotation, _info(one), one.default) for one in parameters(command)]
    return _signed(run_it, known, command.__doc__)


def _signed(function: Callable[..., Any], known: list[inspect.Parameter], doc: str | None) -> Callable[..., Any]:
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    function.__signature__ = inspect.Signature([context, *known])  # type: ignore[attr-defined]
    function.__annotations__ = {one.name: one.annotation for one in [context, *known]}
    function.__doc__ = doc
    return function


def _parameter(name: str, annotation: Any, info: Any, default: object) -> inspect.Parameter:
    given = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=given, annotation=Annotated[annotation, info]
    )


def _info(one: Parameter) -> Any:
    """What typer is to know of a parameter."""
    said = one.said
    if isinstance(said, Argument):
        return typer.Argument(metavar=said.metavar, help=said.help)
    parser = None if said.reads is None else _parser(said.reads)
    return typer.Option(
        *said.names, help=said.help, metavar=said.metavar, parser=parser, case_sensitive=not said.any_case
    )


def _parser(reads: Callable[[str], object]) -> Callable[[Any], Any]:
    def parse(word: Any) -> Any:
        try:
            return reads(str(word))  # a default is a number already
        except WrongUsage as error:
            raise typer.BadParameter(str(error)) from None

    return parse


def _flags(context: typer.Context) -> Flags:
    if not isinstance(context.obj, Flags):
        context.obj = Flags()
    return context.obj


def _remember(context: typer.Context, option: typer.CallbackParam, value: object) -> None:
    """Note a common option; the values before and after the command's name end up in one Flags."""
    for item in value if isinstance(value, list | tuple) else [value]:
        if option.name and (isinstance(item, str) or item is True):
            _flags(context).give(option.name, None if item is True else item)


def _common() -> list[inspect.Parameter]:
    """The options of every command, before or behind its name."""
    known = []
    for names, metavar, about in COMMON:
        info = typer.Option(
            *names.split(),
            help=about,
            metavar=metavar or None,
            show_default=False,
            callback=_remember,
            expose_value=False,
        )
        name = names.split()[0][2:].replace("-", "_")
        annotation = bool if not metavar else list[str] | None if name == "path" else str | None
        known.append(_parameter(name, annotation, info, None if metavar else False))
    return known


def _adopt(command: Any, common: list[Any]) -> None:
    """Give the command, and what stands under it, the common options it does not declare itself."""
    own = {option for param in command.params for option in param.opts}
    command.params.extend(param for param in common if not own.intersection(param.opts))
    command.rich_markup_mode = None
    for inner in getattr(command, "commands", {}).values():
        _adopt(inner, common)


def _crusts(context: typer.Context, **_: object) -> None:
    """What fills the context window of Claude Code, and what to do about it.

    Transcripts are indexed into a SQLite store, and every command is a query over it.
    """
    if context.invoked_subcommand is None:
        console.put(lines(context.get_help()))


def _print_version(asked: bool) -> None:
    if asked:
        console.put(f"crusts {__version__}")
        raise typer.Exit


def build(table: Mapping[str, tuple[str, str]] = COMMANDS) -> Commands:
    """The command line over a table of commands."""
    app = _new(cls=Commands, context_settings={"help_option_names": ["--help", "-h"]})
    version = typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version.")
    known = [*_common(), _parameter("version", bool, version, default=False)]
    app.callback(invoke_without_command=True)(_signed(_crusts, known, _crusts.__doc__))
    group = typer.main.get_group(app)
    assert isinstance(group, Commands)
    group.table = table
    return group


def run(argv: list[str], table: Mapping[str, tuple[str, str]] = COMMANDS) -> int:
    """Run one command line over a table of commands; returns the exit code.

    CrustsError is the caller's, and BrokenPipeError where the reader of our output is gone.
    """
    try:
        code = build(table).main(argv, prog_name="crusts", standalone_mode=False)
    except typer.Abort:
        raise CrustsError("given up: no answer") from None
    except TyperException as error:
        return _misused(error)
    except SystemExit:  # as typer ends where the reader of our output is gone
        raise BrokenPipeError from None
    return code if isinstance(code, int) else 0


def _misused(error: TyperException) -> int:
    """Raise WrongUsage for what typer could not make sense of; a group without a command shows its help instead."""
    context = getattr(error, "ctx", None)
    message = error.format_message().rstrip(".")
    if context is not None and error.message == context.get_help():
        tell(lines(error.message))
        return WrongUsage.exit_code
    message = message.replace("Value error, ", "", 1)
    more = f"; `{context.command_path} --help` tells more" if context is not None else ""
    raise WrongUsage(f"{message[:1].lower()}{message[1:]}{more}") from None
