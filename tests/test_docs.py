"""What is written about the program holds: help, README, the heads of the queries, and the list of dependencies."""

from __future__ import annotations

import ast
import re
import sqlite3
import sys
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import typer

from crusts_index.cli import app
from crusts_index.cli import commands as table
from crusts_index.cli.sql import head
from crusts_index.insight.waste.thresholds import CONFIG_KEYS
from crusts_index.store import query
from tests.conftest import Demo

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
VIEWS = dict(query.view_scripts())
# What is imported by another name than it is installed by.
INSTALLED_AS = {"genai_prices": "genai-prices"}


def section(title: str) -> str:
    """The text under a heading of the README."""
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def sources(*folders: str) -> list[str]:
    """The text of all Python and SQL files below folders of the checkout."""
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.*")))
    return [path.read_text("utf-8") for path in paths if path.suffix in (".py", ".sql")]


def commands(group: Any, name: str = "") -> list[tuple[str, Any]]:
    """Every command below a group by its full name, the groups among them."""
    context = typer.Context(group)
    found = []
    for one in group.list_commands(context):
        command = group.get_command(context, one)
        found.append((f"{name} {one}".strip(), command))
        if hasattr(command, "list_commands"):
            found += commands(command, f"{name} {one}".strip())
    return found


COMMANDS = commands(app.build())


def test_the_help_and_the_readme_list_the_same_commands() -> None:
    """Each command has a row under "What it answers", each row is a command, and both stand in the same order."""
    rows = re.findall(r"^\| `crusts ([\w-]+)[^`]*` \| .+ \|$", section("What it answers"), re.MULTILINE)
    assert list(table.COMMANDS) == rows
    assert rows == app.build().list_commands(typer.Context(app.build()))


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_command_and_option_explains_itself(name: str, command: Any) -> None:
    """A command has a help text that ends like a sentence, and each of its options and arguments has one."""
    assert command.help, name
    assert command.help.rstrip().endswith((".", "…")), name
    assert [] == [param.name for param in command.params if not getattr(param, "help", None)]


@pytest.mark.parametrize("name", query.names())
def test_a_query_says_what_it_is_and_takes(name: str) -> None:
    """Its head begins with its name and has a line for each of its parameters, and for no other."""
    doc = head(query.sql(name))
    assert doc.startswith(f"{name}: ")
    told = {
        word for line in re.findall(r"^  (:.*?)(?:  |$)", doc, re.MULTILINE) for word in re.findall(r":(\w+)", line)
    }
    assert query.parameters(name) == told


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_every_column_of_a_view_is_documented(demo: Demo, name: str) -> None:
    """The comment where the view is defined names each column."""
    doc = head(VIEWS[name])
    assert doc.startswith(f"{name}: ")
    with closing(sqlite3.connect(demo.db)) as store:
        columns = [column[0] for column in store.execute(f"select * from {name} limit 0").description]
    assert set() == set(columns) - set(re.findall(r"\w+", doc))


def test_the_readme_knows_every_setting() -> None:
    """What the program reads of config.json and of variables of its own stands under "Settings", and nothing else."""
    code = "\n".join(sources("crusts_index"))
    constants = dict(re.findall(r"^([A-Z_]+) = (\"\w+\")", code, re.MULTILINE))
    asked = re.findall(r"(?:\bconfig\.get\(|_text\(config, )(\"\w+\"|[A-Z_]+)", code)
    keys = {constants.get(key, key).strip('"') for key in asked}
    told = section("Settings")
    rows = set(re.findall(r"^\| `(\w+)`", told, re.MULTILINE))
    assert keys - {"hooksEnabled", "hookEvents"} == rows
    assert {"hooksEnabled", "hookEvents", *CONFIG_KEYS.values()} <= set(re.findall(r"`(\w+)`", told))
    assert set(re.findall(r"environ(?:\.get\(|\[)\"(CRUSTS_\w+)\"", code)) == set(re.findall(r"`(CRUSTS_\w+)`", told))


def test_every_rule_that_is_cited_is_told() -> None:
    """A name like D10 or X-size in code, queries or tests has a row in the README, and each row is cited."""
    cited = {
        rule
        for text in sources("crusts_index", "queries", "tests")
        for rule in re.findall(r"\b(?:D\d{1,2}|X-[a-z]+)\b", text)
    }
    rows = re.findall(r"^\| (D\d{1,2}|X-[a-z]+) \| ", section("For developers"), re.MULTILINE)
    assert sorted(cited) == sorted(rows)


def test_what_is_imported_is_what_is_required() -> None:
    """Each package that the program imports stands in pyproject.toml with a reason behind it, and no other does."""
    imported: set[str] = set()
    for text in sources("crusts_index", "migrations"):
        if text.startswith("--"):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                imported |= {one.name.partition(".")[0] for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    imported -= {*sys.stdlib_module_names, "crusts_index"}
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    required = tomllib.loads(text)["project"]["dependencies"]
    names = [re.split(r"[<>=!~ \[]", one)[0] for one in required]
    assert sorted(INSTALLED_AS.get(name, name) for name in imported) == sorted(names)
    assert [] == [one for one in required if not re.search(rf'"{re.escape(one)}", +# \w', text)]
