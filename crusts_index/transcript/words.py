"""Words that come again and again - types, kinds, models, tools, branches - as numbers: what the narrow tables hold.

A word has the same number in every store, whoever met it first, so rows can be carried from one store to another and
workers need not ask. Usual words have small numbers, which take a byte; all others 48 bits of their hash.
"""

from __future__ import annotations

from crusts_index.transcript.digest import hash48

# A word's number is its place here, from 1: add at the end, and never take one away.
USUAL = """
user assistant system progress attachment text thinking tool_use tool_result image document
conversation retrieved tools state main subagent sidechain
agent_progress compact_boundary microcompact_boundary local_command turn_duration stop_hook_summary api_error
informational away_summary file-history-snapshot file-history-delta queue-operation last-prompt mode permission-mode
custom-title ai-title agent-name summary pr-link cost-state bridge-session worktree-state api-request
api-request-shape api-request-blob tools-used atis-latch content-replacement
command bash notification interruption reminder aborted meta
hook_success hook_additional_context hook_progress bash_progress mcp_progress query_update search_results_received
waiting_for_task file edited_text_file compact_file_reference deferred_tools_delta mcp_instructions_delta
skill_listing agent_listing_delta queued_command prompt_snapshot task_reminder todo_reminder nested_memory
plan_mode auto_mode date environment model instructions session_context
Read Edit Write MultiEdit NotebookEdit Bash Grep Glob LS WebFetch WebSearch Task Agent TodoWrite TaskCreate TaskUpdate
TaskList TaskGet TaskOutput TaskStop ToolSearch Skill BashOutput KillShell AskUserQuestion EnterPlanMode ExitPlanMode
NotebookRead SendMessage
end_turn stop_sequence max_tokens tool_use_error refusal standard fast batch low medium high xhigh max
main HEAD master develop default auto manual 5m 1h sdk repl_main_thread tool
claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-opus-4-5 claude-opus-4-5-20251101 claude-opus-4-1-20250805
claude-opus-4-20250514 claude-sonnet-5 claude-sonnet-4-6 claude-sonnet-4-5 claude-sonnet-4-5-20250929
claude-sonnet-4-20250514 claude-haiku-4-5 claude-haiku-4-5-20251001 claude-opus-5 claude-fable-5
messages_changed system_changed tools_changed model_changed
global general-purpose Explore Plan async_hook_response remote_session_change command_permissions
hook_system_message hook_non_blocking_error hook_blocking_error deferred_tools_record invoked_skills
skill caveat task-notification ide session_start api_refusal frame-link fork-context-ref relocated agent-setting tag
claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-fable-5-1 claude-fable-5-2 claude-3-7-sonnet-20250219
claude-3-5-sonnet-20241022 claude-3-5-haiku-20241022
LSP Monitor Workflow EnterWorktree ExitWorktree StructuredOutput ListMcpResourcesTool ReadMcpResourceTool
""".split()

_NUMBERS: dict[str, int] = {}
_FIRST_HASHED = 1 << 16
for _word in USUAL:
    _NUMBERS.setdefault(_word, len(_NUMBERS) + 1)


def word_id(word: str) -> int:
    """The number of a word."""
    number = _NUMBERS.get(word)
    if number is None:
        number = hash48(word.encode("utf-8", "replace"))
        if number < _FIRST_HASHED:
            number += _FIRST_HASHED
        if len(_NUMBERS) < _MOST_KEPT:
            _NUMBERS[word] = number
    return number


_MOST_KEPT = 100_000
"""Words remembered in a process; there may be any number of odd ones."""


class Words(dict[str | None, int | None]):
    """The numbers of words as they are asked for; which words those were, until they are taken.

    `words["Read"]` is a number, `words[None]` is None. Only those asked for since the last `take` are told.
    """

    def __init__(self) -> None:
        self[None] = None

    def __missing__(self, word: str | None) -> int:
        assert word is not None
        number = self[word] = word_id(word)
        return number

    def take(self) -> list[tuple[int, str]]:
        """Rows of the words that were asked for since the last time."""
        rows = [(number, word) for word, number in self.items() if word is not None and number is not None]
        self.clear()
        self[None] = None
        return rows
