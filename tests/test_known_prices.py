"""The file of usual prices: that it says what the installed price list says, and spares its import. Spec: D15."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import genai_prices
import pytest
from genai_prices.data import providers
from genai_prices.types import ClauseOr, MatchLogic, ModelInfo
from hypothesis import example, given
from hypothesis import strategies as st

from crusts_index.store import known_prices, price_list
from crusts_index.store.open import open_store
from crusts_index.store.prices import learn_prices
from tests.builders import SESSION, ClaudeFolder, Transcript, usage
from tests.picture import ask
from tests.profiles import examples
from tests.program import ROOT
from tests.search import OTHER

_ABOUT = "list prices of Claude's models; written by `pytest tests/test_known_prices.py --force-golden`"
_COLUMNS = (
    "speed, first day, above tokens; USD a million tokens: input, cache read, 5m write, 1h write, output;"
    " USD a thousand web searches; what is derived"
)
SOURCE = price_list.source()
_DATES = {"claude-opus-4-5": "20251101"}
"""Days in names on Bedrock that its rules do not name."""


def models_of(provider: str) -> list[ModelInfo]:
    """All models of a provider, in the order in which they are tried."""
    return next(one.models for one in providers if one.id == provider)


def rules_of(match: MatchLogic) -> list[list[str]]:
    """The alternatives of a model's rule: what a name is to be compared with, and how. No others are understood."""
    found = []
    for clause in match.or_ if isinstance(match, ClauseOr) else [match]:
        ((kind, text),) = vars(clause).items()
        assert isinstance(text, str)
        found.append([kind, text if kind == "regex" else text.lower()])
    return found


def names_on_bedrock(model: ModelInfo) -> list[str]:
    """Whole names that the list takes for this model of Bedrock's: those in its rules, with and without a revision."""
    texts = {text for _, text in rules_of(model.match) if "anthropic.claude" in text}
    texts |= {text + "-" + day for text in texts for family, day in _DATES.items() if text.endswith(family)}
    bare = {text.removesuffix("-v1") for text in texts}
    tried = sorted(bare | {text + "-v1:0" for text in bare} | {model.id.removeprefix("regional.")})
    return [name for name in tried if price_list.find(name, providers) == ("aws", model)]


def rows_of(model: str) -> list[Any]:
    """What the list itself says."""
    return list(price_list.rows_of(model, SOURCE, providers))


def made() -> str:
    """What the file is to say of the installed list."""
    bedrock = {f"aws/{model.id}": names for model in models_of("aws") if (names := names_on_bedrock(model))}
    prices: dict[str, Any] = {}
    for entry, names in bedrock.items():
        prices[entry] = rows_of(names[0])
    for model in models_of("anthropic"):
        prices[f"anthropic/{model.id}"] = rows_of(model.id)
    lines = [
        f'"about": {json.dumps(_ABOUT)}',
        f'"source": {json.dumps(SOURCE)}',
        group("anthropic", {f"anthropic/{model.id}": rules_of(model.match) for model in models_of("anthropic")}),
        group("aws", bedrock),
        f'"columns": {json.dumps(_COLUMNS)}',
        table(dict(sorted(prices.items()))),
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def group(name: str, members: dict[str, Any]) -> str:
    """An object with a line for each member."""
    inside = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in members.items())
    return f'"{name}": {{\n{inside}\n}}'


def table(prices: dict[str, list[tuple[Any, ...]]]) -> str:
    """The rows of each entry, each on a line, the source cut down to what follows the entry's name."""
    parts = []
    for entry, rows in prices.items():
        cut = [[*row[:-1], row[-1].removeprefix(f"{SOURCE} {entry}")] for row in rows]
        inside = ",\n".join(f"    {json.dumps(row)}" for row in cut)
        parts.append(f"  {json.dumps(entry)}: [\n{inside}\n  ]")
    return '"prices": {\n' + ",\n".join(parts) + "\n}"


def test_the_file_says_what_the_list_says(request: pytest.FixtureRequest) -> None:
    """For the version that it was made from; `--force-golden` makes it of the one that is installed."""
    file = Path(known_prices.FILE)
    if request.config.getoption("--force-golden"):
        file.write_text(made(), encoding="utf-8")
    if json.loads(file.read_text(encoding="utf-8"))["source"] != SOURCE:
        pytest.skip(f"made from another version than {SOURCE}")
    assert made() == file.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def known() -> known_prices.KnownPrices:
    """What is known of the installed list."""
    found = known_prices.load()
    if found is None:
        pytest.skip(f"made from another version than {SOURCE}")
    return found


@pytest.mark.parametrize(
    "model",
    [
        "claude-sonnet-4-5-20250929",
        "claude-opus-4-1-20250805",
        "claude-opus-4-5-20251101[1m]",
        "claude-haiku-4-5-20251001",
        "claude-3-5-sonnet-20241022",
        "claude-opus-5-5",
        "claude-opus-4-1@20250805",
        "anthropic/claude-sonnet-4.5",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic.claude-opus-5-5",
        "arn:aws:bedrock:eu-west-1:1:inference-profile/global.anthropic.claude-opus-4-5-20251101-v1:0",
    ],
)
def test_usual_names_are_known(known: known_prices.KnownPrices, model: str) -> None:
    """As they are logged, with dates, long context, on Bedrock and Vertex."""
    assert rows_of(model) == known.rows(model) != []


def test_every_model_of_anthropic_is_known(known: known_prices.KnownPrices) -> None:
    """By its id and with a date behind it."""
    for model in models_of("anthropic"):
        assert rows_of(model.id) == known.rows(model.id) != []
        dated = f"{model.id}-20260203"
        assert not known.rows(dated) or rows_of(dated) == known.rows(dated)


_WORDS = st.sampled_from(
    "claude anthropic anthropic. us. global. anthropic/ arn:aws:x/ opus sonnet haiku fable instant nova llama gpt 2 3 4"
    " 5 5.5 4-5 4.6 1 v2 v1:0 v1 latest 20250805 2026-02-03 20269999 @20251101 @ - . / : [1m] fast".split()
)


@examples(600)
@given(st.lists(_WORDS, min_size=1, max_size=9), st.sampled_from(["", "-", "."]))
@example(["claude-opus-5", "20260203"], "-")
@example(["us.", "anthropic.", "claude-v2"], "")
def test_what_is_known_of_any_name_is_what_the_list_says(
    known: known_prices.KnownPrices, words: list[str], joint: str
) -> None:
    """Nothing else: what the file cannot tell is left to the list."""
    name = joint.join(words)
    found = known.rows(name)
    assert not found or rows_of(name) == found


# ---------------------------------------------------------------- who asks it


def spoke(folder: ClaudeFolder, model: str = "claude-opus-4-5-20251101", session: str = SESSION) -> Transcript:
    """A transcript with a call of the model that took in a million tokens."""
    t = folder.main(session)
    t.prompt("go")
    t.response("done", model=model, usage=usage(1_000_000, output=0))
    t.write()
    return t


class Ran(NamedTuple):
    """What a command printed, and whether it imported the price list."""

    out: str
    err: str
    imported: bool


def ran(folder: ClaudeFolder, *args: str, site: Path | None = None) -> Ran:
    """Run a command as a process of its own that looks for packages in `site` first."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "crusts_index", *args],
        env=folder.env(PYTHONPATH=str(site or "")),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stderr.splitlines()
    said = [line for line in lines if not line.startswith("import time:")]
    return Ran(done.stdout, "\n".join(said), any(line.endswith(" genai_prices") for line in lines))


def costs(folder: ClaudeFolder) -> list[float | None]:
    """What the sessions cost, as the store has it."""
    db = folder.home / ".claude-crusts" / "index.db"
    return [row[0] for row in ask(db, "select cost_usd from sessions_overview order by session_id")]


@pytest.mark.usefixtures("known")
def test_a_first_index_of_usual_models_does_not_import_the_list(folder: ClaudeFolder) -> None:
    """Its calls have their prices all the same, as the list has them."""
    spoke(folder)
    done = ran(folder, "index")
    assert ("", False) == (done.err, done.imported)
    assert [5.0] == costs(folder)
    db = folder.home / ".claude-crusts" / "index.db"
    assert [(SOURCE,)] == ask(db, "select source from models")
    assert {row[-1] for row in rows_of("claude-opus-4-5-20251101")} == {
        source for (source,) in ask(db, "select source from prices")
    }


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("command", ["readout --full --since 2026-01-01", "usage --json", "trend --json"])
def test_a_first_report_has_its_costs(folder: ClaudeFolder, command: str) -> None:
    """On a store that it makes itself, without importing the list, and without a word of it."""
    spoke(folder)
    spoke(folder, session=OTHER)
    done = ran(folder, *command.split())
    assert ("", False) == (done.err, done.imported)
    assert [5.0, 5.0] == costs(folder)
    assert 0 == json.loads(done.out).get("total", {"unpriced_calls": 0})["unpriced_calls"]


@pytest.mark.usefixtures("known")
def test_what_a_report_reads_itself_has_its_price_at_once(folder: ClaudeFolder) -> None:
    """A model that was not there before, in a session that another index knew."""
    spoke(folder)
    ran(folder, "index")
    spoke(folder, "claude-haiku-4-5-20251001", OTHER)
    done = ran(folder, "list", "--json")
    assert ("", False, [5.0, 1.0]) == (done.err, done.imported, costs(folder))


@pytest.mark.usefixtures("known")
def test_a_hook_leaves_prices_to_the_next_report(folder: ClaudeFolder) -> None:
    """It has no time for them; the report reads nothing new, and prices what the hook read."""
    t = spoke(folder)
    payload = json.dumps({"session_id": SESSION, "transcript_path": str(t.path)})
    assert 0 == folder.crusts("index", "--hook", stdin=payload).code
    assert [None] == costs(folder)
    assert 0 == folder.crusts("list", "--no-index").code
    assert [None] == costs(folder)
    assert 0 == folder.crusts("list").code
    assert [5.0] == costs(folder)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("recorded", [True, False])
def test_no_call_is_missed(folder: ClaudeFolder, *, recorded: bool) -> None:
    """What a hook read before an index that reads another session, also where the hook was killed at its end."""
    db = folder.home / ".claude-crusts" / "index.db"
    first = spoke(folder, "claude-haiku-4-5-20251001")
    assert 0 == folder.crusts("index").code
    second = spoke(folder, session=OTHER)
    payload = json.dumps({"session_id": OTHER, "transcript_path": str(second.path)})
    assert 0 == folder.crusts("index", "--hook", stdin=payload).code
    if not recorded:
        with closing(sqlite3.connect(db)) as store, store:
            store.execute("delete from runs where id = (select max(id) from runs)")
    first.prompt("more")
    first.append()
    assert 0 == folder.crusts("index").code
    assert [1.0, 5.0] == costs(folder)


def test_an_append_looks_at_the_calls_of_its_transcript(folder: ClaudeFolder) -> None:
    """Not at those of a history of years, once all of them have their prices."""
    t = folder.main()
    for number in range(600):
        t.response("on", context=1000 + number)
    t.write()
    spoke(folder, session=OTHER)
    assert 0 == folder.crusts("index").code
    with closing(open_store(folder.home / ".claude-crusts" / "index.db", write=True)) as store:
        (few,) = store.execute("select t.id from transcripts t where stem = ?", (OTHER,)).fetchone()
        all_steps, some = (steps_of(store, only) for only in (None, [few]))
    assert some < all_steps / 4


def steps_of(store: sqlite3.Connection, only: list[int] | None) -> int:
    """Steps of SQLite's machine that learning prices takes."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    store.set_progress_handler(count, 1)
    assert [] == learn_prices(store, 1, only=only)
    store.set_progress_handler(None, 1)
    return steps


def test_a_report_asks_the_list_of_a_model_that_is_not_usual_and_says_so(folder: ClaudeFolder) -> None:
    """Once, whether the list knows it or not; beside those that are known."""
    spoke(folder, "gpt-5")
    spoke(folder, "claude-mystery-9", OTHER)
    first, second = ran(folder, "list", "--json"), ran(folder, "list", "--json")
    assert "crusts: looking up the prices of claude-mystery-9, gpt-5, once" == first.err
    assert first.imported
    assert ("", False) == (second.err, second.imported)
    found = costs(folder)
    assert (True, None) == (found[0] is not None, found[1])


def test_index_is_not_advised_where_it_would_not_help(folder: ClaudeFolder) -> None:
    """The report asked the list that is installed: a newer one may know more."""
    spoke(folder, "claude-mystery-9")
    said = folder.crusts("usage").err
    assert "the cost lacks 1 call without a price: try `crusts index --prices --fetch`" in said


@pytest.mark.parametrize("other", ["0.2.2", None])
def test_where_another_version_is_installed_that_is_asked(
    folder: ClaudeFolder, tmp_path: Path, other: str | None
) -> None:
    """What is known holds for one version; what cannot be told to be of that version is another."""
    site = tmp_path / "site"
    shutil.copytree(Path(genai_prices.__file__).parent, site / "genai_prices")
    if other:
        (site / f"genai_prices-{other}.dist-info").mkdir()
        (site / f"genai_prices-{other}.dist-info" / "METADATA").write_text(f"Name: genai-prices\nVersion: {other}\n")
    spoke(folder)
    done = ran(folder, "index", site=site)
    assert done.imported
    assert [5.0] == costs(folder)


@pytest.mark.usefixtures("known")
def test_index_prices_asks_the_list(folder: ClaudeFolder) -> None:
    """Of every model, the usual ones too."""
    spoke(folder)
    assert not ran(folder, "index").imported
    assert ran(folder, "index", "--prices").imported
    assert [5.0] == costs(folder)
