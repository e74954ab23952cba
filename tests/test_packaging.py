"""The wheel holds all that the checkout reads at run time."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from crusts_index import __version__
from crusts_index.resources import resource_path

ROOT = Path(__file__).parent.parent


def files_below(folder: Path) -> set[str]:
    """Paths below the checkout, as text, of what is no by-product of running."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from the checkout without a network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_every_file_of_the_shipped_folders(wheel: zipfile.ZipFile) -> None:
    """Each file of queries/ and migrations/ lies inside the package of the wheel, byte for byte."""
    shipped = files_below(ROOT / "queries") | files_below(ROOT / "migrations")
    assert shipped
    assert {name: (ROOT / name).read_bytes() for name in shipped} == {
        name: wheel.read(f"crusts_index/{name}") for name in shipped if f"crusts_index/{name}" in wheel.namelist()
    }


def test_the_wheel_holds_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    """Every module is in it; tests, caches and other top-level names are not."""
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert files_below(ROOT / "crusts_index") <= names
    assert {"crusts_index"} == {name.split("/")[0] for name in names}
    assert not [name for name in names if "__pycache__" in name]


def test_the_wheel_names_its_version_and_its_command(wheel: zipfile.ZipFile) -> None:
    """Metadata says the version of the package, and `crusts` is the entry point."""
    folder = f"crusts_index-{__version__}.dist-info"
    assert f"\nVersion: {__version__}\n" in wheel.read(f"{folder}/METADATA").decode()
    entry_points = wheel.read(f"{folder}/entry_points.txt").decode()
    assert "crusts = crusts_index.__main__:main" in entry_points


def test_a_checkout_reads_its_own_folders() -> None:
    """In a checkout the folders at the top are used, so that an edited query is live."""
    assert str(ROOT / "queries") == resource_path("queries")
    assert str(ROOT / "queries" / "a" / "b.sql") == resource_path("queries", "a", "b.sql")


def test_an_unpacked_wheel_reads_its_own_folders(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """Away from the checkout the folders inside the package are used."""
    wheel.extractall(tmp_path)
    code = "from crusts_index.resources import *; print(resource_path('queries'), resource_path('migrations'))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [str(tmp_path / "crusts_index" / name) for name in ("queries", "migrations")] == done.stdout.split()


def test_an_unpacked_wheel_lays_out_the_demo(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """The recording is in the wheel, and is found there, unpacked or not."""
    laid = []
    wheel.extractall(tmp_path / "unpacked")
    for place in (wheel.filename, str(tmp_path / "unpacked")):
        code = (
            "from crusts_index.claude.demo import *; print(len(dict(recording())), __import__('crusts_index').__file__)"
        )
        done = subprocess.run(
            [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {place!r}); {code}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        count, found = done.stdout.split()
        assert found.startswith(str(place))
        laid.append(int(count))
    assert [22, 22] == laid


@pytest.mark.long
def test_the_sources_hold_what_the_wheel_is_made_of(tmp_path: Path) -> None:
    """From the source archive alone the same wheel can be built, recording and all."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert (
        files_below(ROOT / "crusts_index") | files_below(ROOT / "queries") | files_below(ROOT / "migrations") <= names
    )
