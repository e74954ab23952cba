"""What Claude Code's tools do: the one table of their traits, which the view `tool_traits` gives to SQL."""

TRAITS: dict[str, tuple[str, ...]] = {
    "Agent": ("starts_agents", "retells"),
    "AskUserQuestion": ("acts",),
    "Bash": ("runs_commands",),
    "Edit": ("edits", "acts"),
    "EnterPlanMode": ("acts",),
    "ExitPlanMode": ("acts",),
    "Glob": ("retrieves",),
    "Grep": ("retrieves",),
    "LS": ("retrieves",),
    "MultiEdit": ("edits", "acts"),
    "NotebookEdit": ("edits", "acts"),
    "NotebookRead": ("retrieves",),
    "PowerShell": ("runs_commands",),
    "Read": ("reads", "retrieves"),
    "Skill": ("acts", "calls_skills"),
    "SlashCommand": ("acts", "calls_skills"),
    "Task": ("starts_agents", "retells"),
    "TaskCreate": ("acts",),
    "TaskUpdate": ("acts",),
    "TodoWrite": ("acts",),
    "ToolSearch": ("acts",),
    "WebFetch": ("retrieves", "retells"),
    "WebSearch": ("retrieves", "retells"),
    "Write": ("edits", "acts"),
}
"""A tool's traits; one that is not here has none."""


def _with(trait: str) -> frozenset[str]:
    return frozenset(name for name, traits in TRAITS.items() if trait in traits)


READS = _with("reads")
"""Give a part of a file, by path, offset and limit: the same part again is a re-read (X-reread)."""
EDITS = _with("edits")
"""Change the file that they name: what was read of it before may be read again (X-reread, D13)."""
RETRIEVES = _with("retrieves")
"""Look something up: what they take and give is of the category retrieved (D8)."""
ACTS = _with("acts")
"""Are used for what they do: nothing need be said of what they answer (D13)."""
RUNS_COMMANDS = _with("runs_commands")
"""Run a command line: crusts itself may be what they run (D7)."""
STARTS_AGENTS = _with("starts_agents")
"""Start a subagent, of whose work they give the result: it is of the category state (D8)."""
CALLS_SKILLS = _with("calls_skills")
"""Call a skill or a command by its name: what is called so is made use of (D18)."""
RETELLS = _with("retells")
"""Give what a model wrote for them: such a text has fewer tokens than its characters tell (D9)."""

_EFFECTS = frozenset(
    """apt apt-get brew cargo chmod chown cmake cp docker dotnet gh git go gradle helm just kill kubectl ln make mkdir
    mix mv mvn nix npm npx pip pip3 pnpm poetry prettier rake rm rsync systemctl task terraform touch tox uv uvx yarn
    bun bundle biome black eslint flake8 golangci-lint jest mypy pylint pyright pytest rspec ruff shellcheck tsc vitest
    sleep wait xcodebuild swift gofmt rustfmt""".split()
)
"""Programs that are run for what they do, or for their verdict: nothing need be said of what they print (D13)."""
_BEFORE = frozenset(
    ("sudo", "time", "timeout", "env", "exec", "command", "nohup", "bash", "sh", "python", "python3", "-m")
)


def is_run_for_its_effect(tool: str | None, command: str | None) -> bool:
    """Whether a command line runs a program for what it does, or for its verdict."""
    if tool not in RUNS_COMMANDS or not command:
        return False
    parts = command
    for sign in ("&&", "||", ";", "|", "(", "\n"):
        parts = parts.replace(sign, "\0")
    return any(_program(part) in _EFFECTS for part in parts.split("\0"))


def _program(part: str) -> str:
    """The program that a simple command runs, without its folder."""
    for word in part.split():
        name = word.rpartition("/")[2]
        if "=" not in word and name not in _BEFORE and not name.replace(".", "").removesuffix("s").isdigit():
            return name
    return ""
