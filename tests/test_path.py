"""The live path (D10) against a naive reading: from the live leaf from parent to parent, with a seen-set."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysed import analysed
from tests.builders import ClaudeFolder, Transcript, dumps
from tests.picture import scratch
from tests.profiles import examples

Move = tuple[str, int]
moves = st.tuples(st.sampled_from(("turn", "turn", "pane", "rewind", "compact", "leaf", "root")), st.integers(0, 99))


@dataclass
class Tree:
    """A conversation as it was logged: parents, tips of its branches, and what its leaf is."""

    t: Transcript
    parents: dict[str, str | None] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    tips: list[str] = field(default_factory=list)
    forks: list[str] = field(default_factory=list)
    boundaries: set[str] = field(default_factory=set)
    leaf: str | None = None

    def note(self, uuid: str, parent: str | None, text: str) -> str:
        """A record was logged; it is the tip of its branch, and the leaf."""
        self.parents[uuid], self.texts[uuid], self.leaf = parent, text, uuid
        if parent in self.tips:
            self.tips.remove(parent)
        self.tips.append(uuid)
        return uuid

    def turn(self, parent: str | None) -> None:
        """A prompt on a parent, and its answer of two lines."""
        if parent is not None:
            self.forks.append(parent)
        text = f"prompt {len(self.texts)}"
        prompt = self.note(self.t.prompt(text, parentUuid=parent), parent, text)
        text = f"answer {len(self.texts)}"
        before = len(self.t.pieces)
        self.t.response(text, text, context=20_000 + len(self.texts))
        for line in self.t.pieces[before:]:
            record = json.loads(line)
            self.note(record["uuid"], record["parentUuid"], text)
        assert json.loads(self.t.pieces[before])["parentUuid"] == prompt

    def compact(self, parent: str) -> None:
        """A boundary behind a tip, and its summary."""
        self.t.boundary()
        record = json.loads(self.t.pieces.pop())
        record["logicalParentUuid"] = parent
        self.t.raw(dumps(record) + b"\n")
        self.forks.append(parent)
        boundary = self.note(record["uuid"], parent, "")
        self.boundaries.add(boundary)
        self.t.parent = boundary
        text = f"summary {len(self.texts)}"
        self.note(self.t.summary(text), boundary, text)

    def path(self) -> list[str]:
        """Uuids from the leaf to the root, by the parents."""
        found: list[str] = []
        at = self.leaf
        while at is not None and at not in found:
            found.append(at)
            at = self.parents[at]
        return found

    def window(self) -> set[str]:
        """The texts on the path since the last boundary."""
        texts = set()
        for uuid in self.path():
            if uuid in self.boundaries:
                break
            texts.add(self.texts[uuid])
        return texts


def play(tree: Tree, move: Move) -> None:
    """Go on with the last branch or another one, rewind, compact, begin anew, or name a leaf."""
    kind, place = move
    tip = tree.tips[-1] if kind in ("turn", "compact") else tree.tips[place % len(tree.tips)]
    if kind == "rewind":
        tree.turn(tree.forks[place % len(tree.forks)])
    elif kind == "compact":
        tree.compact(tip)
    elif kind == "root":
        tree.turn(None)
    elif kind == "leaf":
        tree.t.meta("last-prompt", lastPrompt="x", leafUuid=tip)
        tree.leaf = tip
    else:
        tree.turn(tip)


@pytest.mark.long
@examples(60)
@given(st.lists(moves, max_size=14))
def test_the_live_path_read_naively(todo: list[Move]) -> None:
    """What is on the path, and what of it is in the window: rewinds, panes, compactions, named leaves."""
    with scratch() as home:
        folder = ClaudeFolder(home)
        tree = Tree(folder.main())
        tree.turn(None)
        tree.turn(tree.tips[-1])
        for move in todo:
            play(tree, move)
        facts = analysed(folder, tree.t).facts
        on_path = {facts.text(block.id) for block in facts.blocks if block.on_path}
        in_window = {facts.text(block.id) for block in facts.blocks if block.in_window}
        assert {tree.texts[uuid] for uuid in tree.path()} - {""} == on_path
        assert tree.window() == in_window
