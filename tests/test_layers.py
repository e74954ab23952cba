"""Who may import whom, and what must not be imported on the way to a quick answer."""

import ast
import platform
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "crusts_index"

# Modules that every layer may import, and that import each other only.
OPEN = {"errors", "jsontext", "folders", "models", "plain", "regular", "rows", "tools", "tuples", "windows"}
# A folder of the package -> the folders it may import, besides those and the package itself.
ALLOWED = {
    "claude": set(),
    "transcript": set(),
    "insight": set(),
    "store": {"resources"},
    "index": {"transcript", "store", "claude"},
    "render": {"insight"},
    "quick": {"store", "claude", "index", "insight"},  # insight is pure, and says what a line says
    "cli": {"render", "insight", "index", "store", "claude", "quick"},
    "__main__": {"quick", "cli"},
    "entry": {"__main__"},
    "resources": set(),
    "rows": set(),
    "__init__": set(),
}
# A room of insight -> the rooms it may import.
ROOMS: dict[str, set[str]] = {
    "session": set(),
    "window": {"session"},
    "waste": {"session", "window"},
    "losses": {"session", "window"},
    "money": {"session", "window"},
}
SLOW = {
    "alembic",
    "genai_prices",
    "jinja2",
    "msgspec",
    "prompt_toolkit",
    "pydantic",
    "rich",
    "sqlalchemy",
    "tabulate",
    "typer",
}


def imports(source: str, package: str) -> set[str]:
    """Dotted names that the source imports, anywhere in it; relative ones made absolute."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: -node.level + 1 or None] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{module}.{name.name}" for name in node.names}
    return found


def trespasses(path: Path) -> set[str]:
    """Imports of ours in a file that its layer may not make; what only tests have is no layer's."""
    place = path.relative_to(PACKAGE)
    layer = place.parts[0].removesuffix(".py")
    package = ".".join(["crusts_index", *place.parts[:-1]])
    bad = set()
    for name in imports(path.read_text("utf-8"), package):
        root, *rest = name.split(".")
        open_to_it = ALLOWED.get(layer, set()) | OPEN | {layer, "__version__"}
        if root == "tests" or (root == "crusts_index" and rest and rest[0] not in open_to_it):
            bad.add(name)
    return bad


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_module_imports_only_what_its_layer_may(path: Path) -> None:
    """No module knows a layer that it should not, not even inside a function."""
    assert set() == trespasses(path)


def test_the_modules_of_a_program_are_swapped_in_one_place() -> None:
    """Whether a module is loaded may be asked anywhere; only what imports msgspec puts others in its place."""

    def is_modules(node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == "modules" and ast.unparse(node.value) == "sys"

    changing = set()
    for path in PACKAGE.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        asked = {id(side) for node in nodes if isinstance(node, ast.Compare) for side in node.comparators}
        if any(is_modules(node) and id(node) not in asked for node in nodes):
            changing.add(str(path.relative_to(PACKAGE)))
    assert {"transcript/lean.py"} == changing


def test_every_folder_of_the_package_is_a_layer() -> None:
    """A new folder is given its place in the table before it is used."""
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    assert set() == folders - set(ALLOWED)


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("insight/*/*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_room_of_insight_imports_only_what_it_may(path: Path) -> None:
    """A session is known without its window, a window without what is said of it."""
    room = path.parent.name
    bad = set()
    for name in imports(path.read_text("utf-8"), f"crusts_index.insight.{room}"):
        match name.split("."):
            case ["crusts_index", "insight", other, *_] if other != room and other not in ROOMS[room]:
                bad.add(name)
    assert set() == bad


def test_imports_are_seen_in_every_form() -> None:
    """The reading of imports finds plain, from, relative and local ones."""
    source = "import a.b\nfrom c import d\nfrom . import e\nfrom ..f import g\ndef h():\n    import i\n"
    assert {"a.b", "c.d", "p.q.e", "p.f.g", "i"} == imports(source, "p.q")


def test_the_quick_path_imports_nothing_slow() -> None:
    """The entry point, the settings and every quick module load without typer, SQLAlchemy and the like."""
    quick = [f"crusts_index.quick.{path.stem}" for path in sorted(PACKAGE.glob("quick/[!_]*.py"))]
    modules = [
        "crusts_index.__main__",
        "crusts_index.resources",
        "crusts_index.store.settings",
        "crusts_index.store.when",
        *quick,
    ]
    code = f"import importlib, sys\nfor m in {modules!r}: importlib.import_module(m)\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set() == SLOW & set(loaded.split())


DEAR = {"re", "json", "typing", "pathlib", "dataclasses", "argparse"}


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter loads for some code, without what site brings in: that is not ours."""
    done = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*set(sys.modules) - before)",
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKAGE.parent,
        env={"HOME": "/nonexistent"},
    )
    return set(done.stdout.split())


def test_the_settings_need_none_of_the_dear_standard_modules() -> None:
    """Without a config.json, settings load without re, json, typing, pathlib and dataclasses."""
    code = "from crusts_index.store import settings\nsettings.load_settings(settings.split_flags([])[0])"
    assert set() == DEAR & loaded_by(code)


def test_a_window_is_judged_without_the_dear_standard_modules() -> None:
    """What a status line and the hooks load, rows by name included, needs neither those nor contextlib nor dates."""
    loaded = loaded_by(
        "import crusts_index.quick.live, crusts_index.quick.remember, crusts_index.insight.session.loading"
    )
    assert "crusts_index.rows.window" in loaded
    assert set() == (DEAR | {"contextlib", "datetime"}) & loaded


def test_a_payload_is_judged_without_what_a_window_is_made_of() -> None:
    """A status line that believes its payload loads neither the session's rows nor what counts them."""
    loaded = loaded_by(
        "import crusts_index.quick.brief, crusts_index.insight.window.judge, crusts_index.insight.window.payload"
    )
    assert "crusts_index.insight.window.limit" in loaded
    assert set() == {"crusts_index.insight.session.facts", "crusts_index.insight.window.contents"} & loaded


def test_an_index_that_finds_nothing_new_needs_none_of_the_dear_modules() -> None:
    """Nor what lays a store, contextlib and dates."""
    loaded = loaded_by("import crusts_index.quick.index, crusts_index.index.refresh")
    assert "crusts_index.index.run" in loaded
    assert set() == (DEAR | {"contextlib", "datetime", "sqlite3", "crusts_index.store.upgrade"}) & loaded


def test_what_reads_transcripts_imports_only_what_sound_lines_need() -> None:
    """Neither what msgspec and the driver bring along, nor what damaged lines and rare records take."""
    names = ("index.ingest", "index.surround", "index.fit", "store.prices")
    modules = ", ".join(f"crusts_index.{name}" for name in names)
    code = f"import sys\nbefore = set(sys.modules)\nimport {modules}\nprint(*set(sys.modules) - before)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    rare = {"crusts_index.transcript.damaged", "crusts_index.transcript.shorten", "crusts_index.rows.reports"}
    unused = {"typing_extensions", "inspect", "platform", "textwrap", "sqlite3", "json", "msgspec.inspect"}
    assert "msgspec" in loaded
    assert set() == (rare | unused) & loaded


def test_what_msgspec_is_imported_without_is_there_for_others() -> None:
    """Modules that were stood in for are the real ones for whoever imports them later."""
    code = (
        "import crusts_index.transcript.lean\nimport platform, uuid, typing_extensions, msgspec.inspect\n"
        "print(platform.system(), uuid.uuid1().version, typing_extensions.TypedDict is not None,"
        " msgspec.inspect.type_info(int))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"{platform.system()} 1 True IntType(" == done.stdout.partition("gt=")[0]
