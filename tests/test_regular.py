"""Files of ours are written whole or not at all, for their owner only."""

import os
import stat
from pathlib import Path

import pytest

from crusts_index.regular import replace_private


@pytest.mark.parametrize("lasting", [False, True])
def test_a_file_is_replaced_for_its_owner_alone(tmp_path: Path, lasting: bool) -> None:
    """Whatever its mode was, nobody else reads the new one, and nothing is left beside it."""
    path = tmp_path / "report.html"
    path.write_text("old")
    path.chmod(0o644)
    replace_private(str(path), b"new", lasting=lasting)
    assert (b"new", 0o600) == (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
    assert [path] == list(tmp_path.iterdir())


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What it leads to is replaced."""
    (tmp_path / "link").symlink_to("file")
    replace_private(str(tmp_path / "link"), b"new")
    assert (True, b"new") == ((tmp_path / "link").is_symlink(), (tmp_path / "file").read_bytes())


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    """A folder in its place stays, and so does a missing folder above it."""
    (tmp_path / "folder").mkdir()
    for place in ("folder", "no/such"):
        with pytest.raises(OSError, match=place):
            replace_private(str(tmp_path / place), b"new")
    assert ["folder"] == [path.name for path in tmp_path.iterdir()]


def test_nothing_takes_the_place_of_a_device() -> None:
    """It is written to."""
    replace_private(os.devnull, b"new")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
