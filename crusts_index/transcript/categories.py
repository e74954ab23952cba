"""Which of the six CRUSTS categories a block belongs to (D8)."""

from __future__ import annotations

from crusts_index.tools import RETRIEVES, STARTS_AGENTS

CONVERSATION, RETRIEVED, SYSTEM, TOOLS, STATE = "conversation", "retrieved", "system", "tools", "state"

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


def of_tool_use(name: str | None) -> str:
    """The category of a tool_use block."""
    return RETRIEVED if name in RETRIEVES else TOOLS


def of_tool_result(name: str | None) -> str:
    """The category of a tool_result block, by the tool that gave it."""
    if name in RETRIEVES:
        return RETRIEVED
    return STATE if name in STARTS_AGENTS else TOOLS


def of_attachment(kind: str) -> str:
    """The category of an attachment."""
    return _ATTACHMENTS.get(kind, SYSTEM)
