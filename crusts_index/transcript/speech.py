"""Turns what user and assistant said into blocks: kind, category, characters, tokens, and the text that is kept."""

from __future__ import annotations

from crusts_index.transcript import categories, wrappers
from crusts_index.transcript.blocks import Blocks
from crusts_index.transcript.content import clip, count_keys, measure_result, media_tokens, preview, use_chars
from crusts_index.transcript.measure import measure, measure_json
from crusts_index.transcript.places import Places
from crusts_index.transcript.responses import Part, Response, Responses
from crusts_index.transcript.rows import Row
from crusts_index.transcript.shapes import Block, Record
from crusts_index.transcript.state import State
from crusts_index.transcript.step import Step
from crusts_index.transcript.titles import Titles
from crusts_index.transcript.tools import ToolUses
from crusts_index.transcript.weights import PLAN_MODE_TOKENS

SYNTHETIC = "<synthetic>"
PLAN_MODE = "EnterPlanMode"
ABORTED = "aborted"
"""Origin of a line of an answer that was cut off."""
LONGEST_CONTEXT = 20_000
"""Characters of a `/context` output that are read."""


class Speech:
    """Blocks of the messages of one transcript; rows are collected until they are taken."""

    def __init__(self, state: State, places: Places, responses: Responses, tools: ToolUses, blocks: Blocks) -> None:
        self._state, self._places, self._responses, self._tools = state, places, responses, tools
        self._blocks = blocks
        self.titles = Titles(state)
        self.texts: list[Row] = []
        self.loads: list[Row] = []
        self.contexts: list[Row] = []

    def take_assistant(self, step: Step) -> bool:
        """A line of an API response; False where a usage count was out of range. `<synthetic>` is none (D1)."""
        message = step.record.message
        if message is None or message.model == SYNTHETIC or step.record.model == SYNTHETIC:
            return True
        request_id = step.record.request_id or None
        touched, is_sound = self._responses.take_line(step, message, request_id, step.thread, is_nested=False)
        response = touched.response
        step.response, step.message, step.ordinal = response.id, response.message, response.ordinal
        # But a history that is written anew replaces what it repeats (D10).
        is_again = step.has_parent and response.branch < self._state.threads[step.thread].root <= step.branch
        if not is_again:
            step.branch, step.epoch = response.branch, response.epoch
        if step.record.is_aborted_mid_stream:
            step.origin, response.is_aborted = ABORTED, 1
        self._blocks.meet(step, touched)
        content = message.content
        if isinstance(content, str):
            content = [content]
        block_id = step.id
        for block in content or ():
            part = self._assistant_block(step, block_id, block, response)
            if part is not None:
                touched.parts.append(part)
            block_id += 1
        return is_sound

    def take_user(self, step: Step) -> None:
        """A prompt, tool results, or text that Claude Code put in."""
        record, message = step.record, step.record.message
        if message is None:
            return
        if record.is_compact_summary:
            step.is_summary = 1
        elif record.is_visible_in_transcript_only:
            return
        content = message.content
        if type(content) is list and len(content) == 1 and not record.is_meta and not step.is_summary:
            block = content[0]
            if type(block) is Block and block.type == "tool_result" and record.origin is None:
                # Four of five are a single result: nothing about them is to be judged.
                self._result(step, step.id, block)
                self.number(step)
                return
        blocks: list[Block | str] = [content] if isinstance(content, str) else list(content or ())
        texts = [_text_of(block) for block in blocks]
        said = [None if text is None else wrappers.split(text) for text in texts]
        has_result = any(isinstance(block, Block) and block.type == "tool_result" for block in blocks)
        category = self._judge(step, [one for one in said if one], has_result)
        if step.is_prompt:
            self.titles.take_prompt(step, [one.words for one in said if one])
        elif step.origin == wrappers.COMMAND and not record.is_meta:
            step.is_command = any(text is not None and wrappers.is_command(text) for text in texts)
            self.titles.take_command(step, [text for text in texts if text])
        if record.is_meta or step.is_summary or not _is_of_a_person(record):
            said = [None] * len(blocks)  # Claude Code's as a whole, whatever it looks like
        counted = False
        for place, (block, one) in enumerate(zip(blocks, said, strict=True)):
            counted = self._user_block(step, step.id + place, block, category, one) or counted
        if counted:
            self.number(step)

    def number(self, step: Step) -> None:
        """Give the record the next message number of its thread (D7)."""
        thread = self._state.threads[step.thread]
        thread.messages += 1
        thread.follows_command = step.is_command
        step.message = thread.messages

    def keep(self, block_id: int, text: str) -> None:
        """Keep a block's text (D16)."""
        if text:
            self.texts.append((block_id, text))

    def add_text(self, step: Step, block_id: int, category: str, text: str) -> None:
        """Add a text that is none of the model's."""
        soft, marks = measure(text)
        self._blocks.add(step, block_id, "text", category, len(text), soft, marks)

    def _assistant_block(self, step: Step, block_id: int, block: Block | str, response: Response) -> Part | None:
        add, model = self._blocks.add, response.model
        kind = "text" if isinstance(block, str) else block.type
        if kind == "text":
            text = block if isinstance(block, str) else block.text or ""
            self.keep(block_id, clip(text))
            soft, marks = measure(text)
            category, chars = categories.CONVERSATION, len(text)
            return add(step, block_id, "text", category, chars, soft, marks, model=model, is_answer=True)
        if isinstance(block, str):
            return None
        if kind == "tool_use" or kind == "server_tool_use":
            raw = bytes(block.input)
            use = self._tools.begin(step, block_id, step.thread, block, raw, is_nested=False)
            if use.path is None and use.command is None:
                self.keep(block_id, preview(raw.decode("utf-8", "replace")))
            soft, marks = measure_json(raw)
            category, chars, keys = categories.of_tool_use(block.name), use_chars(block, raw), count_keys(raw)
            return add(step, block_id, "tool_use", category, chars, soft, marks, keys, use=use.id, model=model)
        if kind == "thinking" or kind == "redacted_thinking":
            text = block.thinking or ""
            self.keep(block_id, preview(text))
            soft, marks = measure(text)
            category, chars, signature = categories.CONVERSATION, len(text), len(block.signature or "")
            return add(step, block_id, "thinking", category, chars, soft, marks, signature, model=model)
        return None

    def _judge(self, step: Step, said: list[wrappers.Said], has_result: bool) -> str:
        """The category of a user record's own texts; marks prompts and says why others are none (D8)."""
        record = step.record
        if step.is_summary:
            step.origin = "summary"
            return categories.SYSTEM
        first = next((one.wrapper for one in said if one.wrapper), None)
        is_state = first is not None and first.category == categories.STATE
        if record.is_meta:
            if record.source_tool_use_id or (first is None and self._state.threads[step.thread].follows_command):
                step.origin = "skill"
                return categories.STATE
            step.origin = first.origin if first else "meta"
            return categories.STATE if is_state else categories.SYSTEM
        if not _is_of_a_person(record):
            step.origin = record.origin.kind if record.origin else None
            is_state = is_state or step.origin == "task-notification"
            return categories.STATE if is_state else categories.CONVERSATION
        has_own = any(one.words for one in said)
        if first is not None and not has_own:
            step.origin = first.origin
            self._places.begin_again(step)
            return first.category
        if has_own and not has_result:
            step.is_prompt = 1
            self._places.open_branch(step)
        return categories.CONVERSATION

    def _user_block(
        self, step: Step, block_id: int, block: Block | str, category: str, said: wrappers.Said | None
    ) -> bool:
        """Add one block of a user record; False where it puts nothing into the context."""
        if isinstance(block, str) or block.type == "text":
            text = block if isinstance(block, str) else block.text or ""
            return self._user_text(step, block_id, text, category, said)
        if block.type == "tool_result":
            self._result(step, block_id, block)
        elif block.type == "image" or block.type == "document":
            self._blocks.add(step, block_id, block.type, category, 0, 0, 0, media_tokens(block))
        else:
            return False
        return True

    def _user_text(self, step: Step, block_id: int, text: str, category: str, said: wrappers.Said | None) -> bool:
        if not text:
            return False
        kept = clip(text) if step.is_summary else preview(text)
        if said is not None and said.words:
            kept = clip(said.words if said.wrapper else text) if step.is_prompt else kept
        elif said is not None and said.wrapper:
            category = said.wrapper.category
        self.keep(block_id, kept)
        self.add_text(step, block_id, category, text)
        head = text[:400].lstrip()
        if head.startswith(("## Context Usage", "<local-command-stdout>")) and "Context Usage" in head:
            version = step.record.version or self._state.about.last_version
            self.contexts.append((step.id, step.time_ms, version, text[:LONGEST_CONTEXT]))
        return True

    def _result(self, step: Step, block_id: int, block: Block) -> None:
        result = measure_result(block.content)
        use = self._tools.end(step, block_id, step.thread, block, result, is_nested=False)
        # A result whose parent is unknown follows its call, not the record before it (D10).
        if not step.has_parent:
            place = self._tools.place_of(use)
            if place is not None and place.thread == step.thread:
                step.branch, step.epoch = place.branch, place.epoch
        if use.name == "ToolSearch" or result.loaded:
            self.loads += [(step.id, name) for name in self._tools.loaded(step, result)]
        if result.texts and result.texts[0]:
            self.texts.append((block_id, preview(result.texts[0])))
        extra = result.media + (PLAN_MODE_TOKENS if use.name == PLAN_MODE else 0)
        add, category = self._blocks.add, categories.of_tool_result(use.name)
        chars, soft, marks = result.chars, result.soft, result.marks
        add(step, block_id, "tool_result", category, chars, soft, marks, extra, use=use.id, tool=use.name)


def _text_of(block: Block | str) -> str | None:
    """The text of a text block; None for any other."""
    if isinstance(block, str):
        return block
    return block.text or "" if block.type == "text" else None


def _is_of_a_person(record: Record) -> bool:
    """Whether a record's origin is a person, as far as it is told."""
    return record.origin is None or record.origin.kind in (None, "human")
