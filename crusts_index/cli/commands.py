"""The table of commands, and how one is run: only the one that is named gets imported."""

from collections.abc import Mapping

from crusts_index.cli import plain
from crusts_index.cli.declared import Command, Group
from crusts_index.errors import NotQuick
from crusts_index.store.laid import watched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from crusts_index.cli.progress import Tell

# name -> (where it is, what it does), in the README's order. The function or Group at the place is the command.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "overview": ("crusts_index.cli.overview:overview", "What is on this machine, on one page; or a demo."),
    "index": ("crusts_index.cli.index:index", "Bring the store up to date with the transcripts."),
    "readout": ("crusts_index.cli.readout:readout", "The last 30 days in one line of JSON."),
    "usage": ("crusts_index.cli.usage:usage", "Tokens and cost by model, day, project, tool and more."),
    "why": ("crusts_index.cli.why:why", "Where the money of a session or a period went."),
    "cache": ("crusts_index.cli.cache:cache", "What was cached and sent again, why, and what that cost."),
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


def load(name: str, table: Mapping[str, tuple[str, str]] = COMMANDS) -> Command | Group | None:
    """The command of that name, imported now; None if there is none."""
    if name not in table:
        return None
    module, _, attribute = table[name][0].partition(":")
    found: Command | Group = getattr(__import__(module, fromlist=[attribute]), attribute)
    return found


def run(argv: list[str], table: Mapping[str, tuple[str, str]] = COMMANDS) -> int:
    """Run one command line; returns the exit code. CrustsError is the caller's.

    A plain line is answered without typer; all else, and all that is odd about a line, is typer's.
    """
    with watched(_shown):
        try:
            return plain.run(argv, lambda name: load(name, table))
        except NotQuick:
            from crusts_index.cli import app

            return app.run(argv, table)


def _shown(_: int) -> "AbstractContextManager[Tell | None]":
    """How far an upgrade of the store is."""
    from crusts_index.cli.progress import show_progress

    return show_progress("bringing the store up to date", quiet=False)
