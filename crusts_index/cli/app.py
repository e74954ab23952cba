"""The full command line: the table of commands, of which only the one that is named gets imported."""

import importlib
import importlib.util
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from crusts_index.cli import options
from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.plain import lines, tell
from crusts_index.render import console

# name -> (where it is, what it does), in the README's order. The function or Typer at the place is the command.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "overview": ("crusts_index.cli.overview:overview", "What is on this machine, on one page; or a demo."),
    "index": ("crusts_index.cli.index:index", "Bring the store up to date with the transcripts."),
    "readout": ("crusts_index.cli.readout:readout", "The last 30 days in one line of JSON."),
    "usage": ("crusts_index.cli.usage:usage", "Tokens and cost by model, day, project, tool and more."),
    "list": ("crusts_index.cli.list:list_", "Sessions, the last active first."),
    "models": ("crusts_index.cli.models:models", "Which models a session used, one after the other."),
    "analyze": ("crusts_index.cli.analyze:analyze", "What fills the window, by category, and what to do."),
    "waste": ("crusts_index.cli.waste:waste", "Tokens in the window that serve nothing, item by item."),
    "fix": ("crusts_index.cli.fix:fix", "Text to paste: for the session, CLAUDE.md and /compact."),
    "optimize": ("crusts_index.cli.optimize:optimize", "Fixes ranked by the tokens they save."),
    "timeline": ("crusts_index.cli.timeline:timeline", "How the window grew, message by message."),
    "diff": ("crusts_index.cli.diff:diff", "What changed between two messages of a session."),
    "compare": ("crusts_index.cli.compare:compare", "Two sessions side by side."),
    "trend": ("crusts_index.cli.trend:trend", "Sessions over time."),
    "lost": ("crusts_index.cli.lost:lost", "What compaction dropped, and what it cost to get back."),
    "calibrate": ("crusts_index.cli.calibrate:calibrate", "Check the estimates against /context."),
    "accuracy": ("crusts_index.cli.accuracy:accuracy", "How far off the estimates are."),
    "report": ("crusts_index.cli.report:report", "One HTML or Markdown file about a session or project."),
    "status": ("crusts_index.cli.status:status", "The window in one line."),
    "statusline": ("crusts_index.cli.statusline:statusline", "The window in Claude Code's status line."),
    "hooks": ("crusts_index.cli.hooks:hooks", "Let Claude Code keep the store up to date."),
    "auto-inject": ("crusts_index.cli.auto_inject:auto_inject", "Hook target: advice when the window fills."),
    "watch": ("crusts_index.cli.watch:watch", "A session, live."),
    "tui": ("crusts_index.cli.tui:tui", "An interactive shell with every command."),
    "bench": ("crusts_index.cli.bench:bench", "Measure what /compact keeps."),
    "search": ("crusts_index.cli.search:search", "Full text over prompts, answers and commands."),
    "sql": ("crusts_index.cli.sql:sql", "Ask the store in SQL, read-only."),
    "doctor": ("crusts_index.cli.doctor:doctor", "Check that everything is in order."),
    "verify": ("crusts_index.cli.verify:verify", "Count again from the transcripts and compare."),
    "forget": ("crusts_index.cli.forget:forget", "Remove sessions from the store for good."),
    "completion": ("crusts_index.cli.completion:completion", "Completion script for a shell."),
    "install-command": ("crusts_index.cli.install_command:install_command", "Write the /crusts command."),
    "demo": ("crusts_index.cli.demo:demo", "Write a small made-up Claude Code folder to try things on."),
}


class Commands(TyperGroup):
    """The group of all commands; knows them by table and imports them one at a time."""

    table: Mapping[str, tuple[str, str]] = COMMANDS

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Names of the commands whose modules are there, in the table's order."""
        return [name for name, (place, _) in self.table.items() if _exists(place)]

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        """The command, imported now, with the common options added."""
        place, summary = self.table.get(cmd_name, ("", ""))
        if not place or not _exists(place):
            return None
        command = _load(cmd_name, place)
        command.short_help = summary
        _adopt(command, [param for param in self.params if not param.expose_value and param.name != "help"])
        return command

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """As usual, but a mistyped name meets the names of the table."""
        names = self.list_commands(ctx)
        if args[0] not in names:
            from difflib import get_close_matches

            near = " or ".join(get_close_matches(args[0], names))
            ctx.fail(f"no such command {args[0]!r}" + (f": did you mean {near}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """The list of commands from the table alone."""
        rows = [(name, self.table[name][1]) for name in self.list_commands(ctx)]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def _exists(place: str) -> bool:
    try:
        return importlib.util.find_spec(place.partition(":")[0]) is not None
    except ModuleNotFoundError:
        return False


def _load(name: str, place: str) -> Any:
    module, _, attribute = place.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    if isinstance(command, typer.Typer):
        group = typer.main.get_group(command)
        group.name = name
        return group
    single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    single.command(name)(command)
    return typer.main.get_command(single)


def _adopt(command: Any, common: list[Any]) -> None:
    """Give the command, and what stands under it, the common options it does not declare itself."""
    own = {option for param in command.params for option in param.opts}
    command.params.extend(param for param in common if not own.intersection(param.opts))
    command.rich_markup_mode = None
    for inner in getattr(command, "commands", {}).values():
        _adopt(inner, common)


def _crusts(
    context: typer.Context,
    path: options.Path = None,
    db: options.Db = None,
    project: options.Project = None,
    json: options.Json = False,
    timezone: options.Timezone = None,
    verbose: options.Verbose = False,
    no_index: options.NoIndex = False,
    no_color: options.NoColor = False,
    version: options.Version = False,
) -> None:
    """What fills the context window of Claude Code, and what to do about it.

    Transcripts are indexed into a SQLite store, and every command is a query over it.
    """
    if context.invoked_subcommand is None:
        console.put(lines(context.get_help()))


def build(table: Mapping[str, tuple[str, str]] = COMMANDS) -> Commands:
    """The command line over a table of commands."""
    app = typer.Typer(
        cls=Commands,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback(invoke_without_command=True)(_crusts)
    group = typer.main.get_group(app)
    assert isinstance(group, Commands)
    group.table = table
    return group


def run(argv: list[str], table: Mapping[str, tuple[str, str]] = COMMANDS) -> int:
    """Run one command line over a table of commands; returns the exit code. CrustsError is the caller's."""
    try:
        code = build(table).main(argv, prog_name="crusts", standalone_mode=False)
    except typer.Abort:
        raise CrustsError("given up: no answer") from None
    except TyperException as error:
        return _misused(error)
    except SystemExit as end:  # the reader of our output is gone
        code = end.code
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
