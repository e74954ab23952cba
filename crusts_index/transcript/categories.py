"""Which of the six CRUSTS categories a block belongs to (D8), and what kind of user text a text is."""

from __future__ import annotations

CONVERSATION, RETRIEVED, SYSTEM, TOOLS, STATE = "conversation", "retrieved", "system", "tools", "state"

RETRIEVAL_TOOLS = frozenset("Read Grep Glob LS WebFetch WebSearch NotebookRead".split())
AGENT_TOOLS = frozenset(("Task", "Agent"))
EDIT_TOOLS = frozenset("Edit Write MultiEdit NotebookEdit".split())
SHELL_TOOLS = frozenset(("Bash", "PowerShell"))

_ATTACHMENTS = {
    "file": RETRIEVED,
    "edited_text_file": RETRIEVED,
    "compact_file_reference": RETRIEVED,
    "deferred_tools_delta": TOOLS,
    "mcp_instructions_delta": TOOLS,
    "task_reminder": STATE,
    "todo_reminder": STATE,
    "task_status": STATE,
    "plan_mode": STATE,
    "plan_mode_exit": STATE,
    "plan_mode_reentry": STATE,
    "plan_file_reference": STATE,
    "invoked_skills": STATE,
    "dynamic_skill": STATE,
}

# How a text begins that Claude Code wrapped itself: (opening, origin, category).
_WRAPPERS = (
    ("<command-name>", "command", CONVERSATION),
    ("<command-message>", "command", CONVERSATION),
    ("<local-command-stdout>", "command", CONVERSATION),
    ("<local-command-stderr>", "command", CONVERSATION),
    ("<bash-input>", "bash", CONVERSATION),
    ("<bash-stdout>", "bash", CONVERSATION),
    ("<bash-stderr>", "bash", CONVERSATION),
    ("<task-notification>", "notification", STATE),
    ("[Request interrupted", "interruption", CONVERSATION),
    ("<local-command-caveat>", "caveat", SYSTEM),
    ("Caveat: The messages below", "caveat", SYSTEM),
    ("<system-reminder>", "reminder", SYSTEM),
    ("<ide_opened_file>", "ide", SYSTEM),
    ("<ide_selection>", "ide", SYSTEM),
)

BESIDE_A_PROMPT = frozenset(("ide", "reminder", "caveat"))
"""Origins of texts that Claude Code lays beside the person's own words in one record."""


def of_tool_use(name: str | None) -> str:
    """The category of a tool_use block."""
    return RETRIEVED if name in RETRIEVAL_TOOLS else TOOLS


def of_tool_result(name: str | None) -> str:
    """The category of a tool_result block, by the tool that gave it."""
    if name in RETRIEVAL_TOOLS:
        return RETRIEVED
    return STATE if name in AGENT_TOOLS else TOOLS


def of_attachment(kind: str) -> str:
    """The category of an attachment."""
    return _ATTACHMENTS.get(kind, SYSTEM)


def is_command(text: str) -> bool:
    """Whether a text is a slash command as Claude Code logs it."""
    return text.lstrip().startswith(("<command-name>", "<command-message>"))


def wrapper(text: str) -> tuple[str, str] | None:
    """`(origin, category)` of a text that Claude Code wrapped, or None for the person's own words."""
    head = text.lstrip()
    if not head or head[0] not in "<[C":
        return None
    for opening, origin, category in _WRAPPERS:
        if head.startswith(opening):
            return origin, category
    return None
