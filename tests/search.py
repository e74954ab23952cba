"""What the tests of the search share: a transcript to search in, what is found in it, and the search file itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.builders import ClaudeFolder, Transcript
from tests.picture import ask

OTHER = "5e551001-0000-4000-8000-000000000002"


def with_lanterns(folder: ClaudeFolder) -> Transcript:
    """A transcript with the word `lantern` in each place, written."""
    t = folder.main()
    t.prompt("hang the lantern")
    t.response("the lantern hangs", context=1000)
    t.bash("light lantern", "a lantern burns", context=1100)
    t.read("/home/ada/lantern.py", "lantern = 1", context=1200)
    t.call("Task", {"subagent_type": "Explore", "prompt": "find the lantern"}, context=1300)
    t.boundary()
    t.summary("So far the lantern hung.")
    t.prompt("<command-name>/lantern</command-name>")
    t.write()
    return t


def search(folder: ClaudeFolder, *args: str) -> list[dict[str, Any]]:
    """The hits."""
    hits: list[dict[str, Any]] = folder.crusts("search", "--json", *args).json()["hits"]
    return hits


def previews(folder: ClaudeFolder, *args: str) -> list[str]:
    """What the hits show, the latest first."""
    return [hit["preview"] for hit in search(folder, *args)]


def search_db(folder: ClaudeFolder) -> Path:
    """The search file."""
    return folder.home / ".claude-crusts" / "search.db"


def db_of(folder: ClaudeFolder) -> Path:
    """The store."""
    return folder.home / ".claude-crusts" / "index.db"


def matching(folder: ClaudeFolder, word: str) -> list[int]:
    """Ids of the texts that have the word, as the search file stands."""
    return [row[0] for row in ask(search_db(folder), "select rowid from words where words match ? order by 1", word)]
