"""A store as a few weeks of work leave it: sessions, agents, forks, compactions, and what has gone from the disk since.

`python -m tests.stores.lived FILE [--no-text]` writes it with the program that it stands beside. `0001-lived.db` and
`0001-no-text.db` were written so by the last program of revision 0001.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from tests.builders import OMIT, START, ClaudeFolder, Clock, Transcript, image_block, thinking_block, usage

LONG = "Please look at how the parser walks the tree, and say which nodes it visits twice, and why. " * 5
CODE = "def walk(node: Node) -> None:\n    for child in node.children:\n        walk(child)  # again\n" * 6
REPORT = """## Context Usage

**Model:** claude-opus-4-8
**Tokens:** 25k / 200k (12%)

| Category | Tokens | Percentage |
|---|---|---|
| System prompt | 3.1k | 1.5% |
| Messages | 22k | 11% |
"""
MODEL = "claude-opus-4-8"
WORK, FORK, GONE, REWRITTEN, ODD = (f"5e551001-0000-4000-8000-{number:012d}" for number in range(1, 6))


def lay(folder: ClaudeFolder) -> None:
    """Write the transcripts as they were first."""
    _work(folder)
    work = folder.main(WORK, model=MODEL)
    gone = folder.main(GONE, "/home/ada/shop", model=MODEL)
    _talk(gone, 4)
    gone.boundary(pre=150_000, post=9_000)
    gone.summary("The shop: the basket was emptied twice. " * 10)
    _talk(gone, 2)
    gone.write()
    agent = folder.subagent(GONE, "abc9876", model=MODEL, project="/home/ada/shop", meta={"agentType": "Explore"})
    _talk(agent, 2)
    agent.write()
    rewritten = folder.main(REWRITTEN, "/home/ada/shop", version="2.0.1", model="claude-sonnet-4-5")
    _talk(rewritten, 5)
    rewritten.write()
    fork = folder.main(FORK, model=MODEL)
    assert work.path is not None
    fork.copy(work.path.read_bytes().splitlines()[:14], forked=True)
    _talk(fork, 2)
    fork.write()
    _odd(folder)


def _work(folder: ClaudeFolder) -> None:
    t = folder.main(WORK, model=MODEL)
    t.meta("custom-title", customTitle="The parser")
    t.prompt(LONG)
    first = t.read("/home/ada/site/parse.py", CODE, context=21_000)
    t.read("/home/ada/site/parse.py", CODE, context=22_000)
    t.edit("/home/ada/site/parse.py", context=22_400)
    t.read("/home/ada/site/parse.py", CODE, offset=2, limit=3, context=22_600)
    t.bash("crusts list", "nothing", context=22_700)
    t.call("mcp__github__search", {"query": "walk twice", "pages": 2}, "found " * 90, context=23_000)
    t.system("microcompact_boundary", microcompactMetadata={"compactedToolIds": [first], "tokensSaved": 500})
    t.call("ToolSearch", {"query": "walk"}, [{"type": "tool_reference", "tool_name": "NotebookEdit"}], context=23_050)
    t.call("Bash", {"command": "false"}, "no", is_error=True, context=23_100)
    t.response(thinking_block("It walks twice. " * 30), "Twice. " * 40, context=23_200, output=300)
    forked = t.parent
    t.prompt("short")
    t.response("an answer that a rewind takes back", context=23_400)
    t.prompt("said otherwise", parentUuid=forked)
    t.response(thinking_block(), "another answer", context=23_500, output=150, placeholder=1)
    t.prompt([{"type": "text", "text": "what is this?"}, image_block()])
    t.response("A picture.", context=25_200, usage=usage(input=4, write=900, write_1h=300, read=24_300, output=40))
    advice = {"type": "advisor_message", "model": "claude-fable-5", **usage(500, output=50)}
    t.response("asked", usage=usage(read=25_200, iterations=[{"type": "message"}, advice]))
    t.prompt(f"<local-command-stdout>{REPORT}</local-command-stdout>")
    side = t.sidechain()
    side.prompt("count the files")
    side.response("nine", context=3_000)
    task = t.call("Task", {"subagent_type": "Explore", "prompt": "look around"}, "looked", context=25_400)
    agent = folder.subagent(WORK, "a1b2c3d", model=MODEL, meta={"agentType": "Explore", "toolUseId": task})
    _talk(agent, 3)
    agent.write()
    t.agent_progress("a1b2c3d", agent.lines()[:4], tool=task)
    t.attachment("nested_memory", content={"content": "Be brief. " * 40}, path="/home/ada/site/CLAUDE.md")
    t.attachment("queued_command", prompt="and the tests? " * 20)
    t.system("local_command", content="<command-name>/context</command-name> " * 9)
    t.response("cut off", context=25_900, output=1, isAbortedMidStream=True)
    t.boundary(post=4_000, preservedMessages={"uuids": [t.parent]})
    t.summary("This session is being continued: the parser is done. " * 12)
    t.read("/home/ada/site/parse.py", CODE, context=9_000)
    t.response("It is as it was.", context=9_500, output=600)
    t.meta("last-prompt", leafUuid=t.parent, lastPrompt="said otherwise")
    t.write()


def _odd(folder: ClaudeFolder) -> None:
    """No price, a speed with a price of its own, ids without their prefix or none at all, a time that is none."""
    t = folder.main(ODD, "/home/ada/odd", model="house-model-1")
    t.prompt("in the house")
    t.response("unpriced", context=5_000)
    t.response("fast", context=5_100, model="claude-opus-4-6", usage=usage(read=5_000, output=60, speed="fast"))
    said = usage(read=5_050, output=70, inference_geo="us", service_tier="batch")
    t.response("far away", model="claude-opus-4-6", usage=said)
    t.response("without ids", context=5_200, request=OMIT, message=OMIT)
    t.response("with others", context=5_300, request="=req_1", message="42", timestamp="yesterday")
    t.tool_result("toolu_nowhere", "of a use that is not here " * 20)
    t.tool_result("=odd", "likewise")
    t.response("no usage", usage=OMIT)
    t.raw(b'{"type":"user","message":\n')
    t.write()


def _talk(t: Transcript, turns: int) -> None:
    for turn in range(turns):
        t.prompt(f"turn {turn}: {LONG[: 60 * turn]}")
        t.read(f"/home/ada/{turn % 2}.py", CODE, context=4_000 + 1_000 * turn)
        t.response(f"done {turn}", context=4_500 + 1_000 * turn, output=20 + turn)


def change(folder: ClaudeFolder) -> None:
    """What became of them: one session is gone, one was written over with less, one went on."""
    shutil.rmtree(folder.project_folder("/home/ada/shop") / GONE)
    (folder.project_folder("/home/ada/shop") / f"{GONE}.jsonl").unlink()
    path = folder.project_folder("/home/ada/shop") / f"{REWRITTEN}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0].replace(b"turn 0", b"turn 00") + b"".join(lines[1:5]))
    work = folder.main(WORK, model=MODEL)
    assert work.path is not None
    work.copy(work.path.read_bytes().splitlines())
    work.pieces.clear()
    work.ids, work.clock = random.Random("later"), Clock(START + timedelta(hours=9))
    work.prompt("one more thing")
    work.response("done, then", context=10_000)
    work.append()


def write(path: Path, *, keep_text: bool) -> None:
    """The store in one file."""
    with tempfile.TemporaryDirectory() as place:
        folder = ClaudeFolder(Path(place))
        home = folder.home / ".claude-crusts"
        home.mkdir()
        (home / "config.json").write_text('{"keepText": %s}' % ("true" if keep_text else "false"))
        lay(folder)
        assert folder.crusts("index").code == 0
        change(folder)
        assert folder.crusts("index").code == 0
        with closing(sqlite3.connect(home / "index.db", isolation_level=None)) as store:
            for column in ("path", "root"):
                store.execute(f"update transcripts set {column} = replace({column}, ?, '/home/ada')", (place,))
            store.execute("delete from store_facts where name like 'look:%'")
            store.execute("pragma journal_mode = delete")
            store.execute("pragma page_size = 1024")
            store.execute("vacuum")
        shutil.copy(home / "index.db", path)


if __name__ == "__main__":
    write(Path(sys.argv[1]), keep_text="--no-text" not in sys.argv[2:])
