"""What flags, environment and config.json say, resolved once; cheap enough for the quick path.

Neither dataclasses nor pathlib here: either costs as much as a bare interpreter start.
"""

import os
import time

from crusts_index.errors import CrustsError, WrongUsage
from crusts_index.folders import absolute, listed, project_path
from crusts_index.plain import note
from crusts_index.store.config import Config, read_config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

COMMON = (
    ("--path", "DIR", "Claude Code folder to read; repeatable."),
    ("--db", "FILE", "The store."),
    ("--project", "TEXT", "Only projects whose path has TEXT."),
    ("--json", "", "Print JSON."),
    ("--timezone", "ZONE", "Zone of days, weeks and months."),
    ("--verbose -v", "", "Say more."),
    ("--no-index", "", "Answer from the store as it is."),
    ("--no-color", "", "No colour."),
)
"""The options of every command: names, what stands for the value (none: a switch), and what it does."""

_NAMED = [(name, names.split()[0][2:].replace("-", "_"), value) for names, value, _ in COMMON for name in names.split()]
VALUED = {name: place for name, place, value in _NAMED if value}
"""Options that take a value, and where `Flags` keeps it."""
SWITCHES = {name: place for name, place, value in _NAMED if not value}
_told_zones: set[tuple[str, str]] = set()
"""Home and zone that config.json names and nobody knows: said once, however often a run asks for its settings."""


class Flags:
    """The common options as given on the command line; empty, None or False where not given."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self.db: str | None = None
        self.project: str | None = None
        self.timezone: str | None = None
        self.json = False
        self.verbose = False
        self.no_index = False
        self.no_color = False

    def give(self, name: str, value: str | None = None) -> None:
        """Note one option, a switch if it has no value; `--path` adds up, of the others the last counts."""
        if name == "path":
            self.path.append(value or "")
        else:
            setattr(self, name, True if value is None else value)


class Settings:
    """The resolved settings of one run; frozen."""

    home: str  # the folder of the store and all that is ours, absolute
    db: str  # the store's file, absolute
    roots: tuple[str, ...]  # folders that the user named to be indexed, absolute, there or not; none = the default ones
    roots_from: str  # what named them, in the words of an error
    project: str | None  # part of a project's path or folder name, to be matched without case
    timezone: str | None  # the zone of days and weeks; None is the system's
    json: bool
    verbose: bool
    refresh: bool  # reports bring the store up to date first
    no_color: bool
    config: Config  # config.json as it stands

    def __init__(self, **values: object) -> None:
        vars(self).update(values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"settings are frozen: {name}")


def backup_folder(settings: Settings) -> str:
    """Where copies of files of the user's are kept; it need not exist."""
    return os.environ.get("CRUSTS_BACKUP_DIR_OVERRIDE") or os.path.join(settings.home, "backups")


def search_path(db: str) -> str:
    """The search file of a store: `search.db` beside `index.db`, `<name>.search.db` beside another."""
    folder, name = os.path.split(os.path.abspath(db))
    stem = name.removesuffix(".db")
    return os.path.join(folder, "search.db" if stem == "index" else f"{stem}.search.db")


def split_flags(argv: list[str]) -> tuple[Flags, list[str]]:
    """The common options in `argv`, and all else in its order; `--` ends the options.

    Raises WrongUsage for an option that lacks its value.
    """
    flags, rest = Flags(), []
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--":
            rest += [word, *words]
        elif word in SWITCHES:
            flags.give(SWITCHES[word])
        elif name in VALUED:
            given = value if equals else next(words, None)
            if given is None:
                raise WrongUsage(f"{name} needs a value")
            flags.give(VALUED[name], given)
        else:
            rest.append(word)
    return flags, rest


def load_settings(flags: Flags) -> Settings:
    """Resolve the settings of this process and put its time zone in place."""
    settings = resolve_settings(flags, os.environ)
    if settings.timezone is not None and settings.timezone != os.environ.get("TZ"):
        os.environ["TZ"] = settings.timezone  # SQLite's 'localtime' and Python's agree on it
        time.tzset()
    return settings


def resolve_settings(flags: Flags, environ: "Mapping[str, str]") -> Settings:
    """Flag before environment before config.json before default. Changes nothing.

    Raises WrongUsage for a time zone that is not known, CrustsError where no home folder can be told.
    """
    home = absolute(environ.get("CRUSTS_HOME") or _in_home("~/.claude-crusts"), environ)
    config = read_config(home)
    roots, roots_from = _roots(flags, environ, config)
    db = flags.db or environ.get("CRUSTS_DB") or _text(config, "db") or f"{home}/index.db"
    return Settings(
        home=home,
        db=absolute(db, environ),
        roots=roots,
        roots_from=roots_from,
        project=project_path(flags.project) if flags.project else None,
        timezone=_timezone(flags, environ, config, home),
        json=flags.json,
        verbose=flags.verbose,
        refresh=not flags.no_index,
        no_color=flags.no_color or bool(environ.get("NO_COLOR")),
        config=config,
    )


def _roots(flags: Flags, environ: "Mapping[str, str]", config: Config) -> tuple[tuple[str, ...], str]:
    """The roots that the user named, and where. Spec: D3."""
    configured = config.get("path")
    told = configured if isinstance(configured, list) else [configured]
    named = [path.strip() for path in told if isinstance(path, str) and _is_path(path)]
    given = [path for path in flags.path if path.strip()]
    for source, paths in (
        ("--path", [absolute(path, environ) for path in given]),
        ("CLAUDE_CONFIG_DIR", listed(environ.get("CLAUDE_CONFIG_DIR", ""), environ)),
        ("path in config.json", [absolute(path, environ) for path in named if path]),
    ):
        if paths:
            return tuple(dict.fromkeys(paths)), source
    _in_home("~")
    return (), ""


def _timezone(flags: Flags, environ: "Mapping[str, str]", config: Config, home: str) -> str | None:
    zone, told = environ.get("TZ"), _text(config, "timezone")
    if flags.timezone is None and not zone and told is None:
        return None
    from crusts_index.store.zones import can_be_tz, is_zone

    if flags.timezone is not None:
        if not is_zone(flags.timezone):
            raise WrongUsage(f"--timezone: unknown zone {flags.timezone!r}: say UTC, or one like Europe/Paris")
        return flags.timezone
    if zone:
        if can_be_tz(zone):
            return zone
        note(f"TZ: unknown zone {zone!r}; using UTC: say UTC, or one like Europe/Paris")
        return "UTC"
    if told is None or is_zone(told):
        return told
    if (home, told) not in _told_zones:
        _told_zones.add((home, told))
        note(f"config.json: unknown timezone {told!r}; using the system's")
    return None


def _text(config: Config, key: str) -> str | None:
    value = config.get(key)
    return value if isinstance(value, str) and value and _is_path(value) else None


def _is_path(text: str) -> bool:
    """Whether a file can have that name: one with a NUL, or with half of a surrogate pair, cannot be asked for."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _in_home(path: str) -> str:
    expanded = os.path.expanduser(path)
    if expanded.startswith("~"):
        raise CrustsError("cannot tell your home folder: set HOME, or CRUSTS_HOME and CLAUDE_CONFIG_DIR")
    return expanded
