"""A copy of the program whose migrations and queries a test may change, run as a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import crusts_index

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(crusts_index.__file__).parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"
"""Real transcripts, where they are at hand beside the checkout; tests of them are skipped elsewhere."""

_PRELUDE = """
import os, sys
from pathlib import Path
import crusts_index
from crusts_index.errors import CrustsError
from crusts_index.rows import of
from crusts_index.rows.reports import StoreCounts
from crusts_index.store.open import *
from crusts_index.store.upgrade import *
from crusts_index.store import query
from crusts_index.tuples import NamedTuple
if not crusts_index.__file__.startswith(os.environ["EXPECTED"]):
    sys.exit("not the copy: " + crusts_index.__file__)
def drop_root():
    if os.getuid() == 0:  # root may write everywhere, so become nobody
        os.setgid(65534)
        os.setuid(65534)
path = sys.argv[1]
try:
"""
_END = """
except CrustsError as error:
    print(f"CrustsError: {error}")
"""


class Program:
    """The package and its folders, copied to `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("crusts_index", "migrations", "queries"):
            inside = ROOT / "crusts_index" / name
            source = inside if name != "crusts_index" and inside.is_dir() else ROOT / name
            ignored = shutil.ignore_patterns("__pycache__", "migrations", "queries")
            shutil.copytree(source, folder / name, ignore=ignored if name == "crusts_index" else None)

    def add_migration(self, revision: str, upgrade: str) -> None:
        """A migration after the newest one, doing `upgrade`."""
        versions = self.folder / "migrations" / "versions"
        before = max(name for path in versions.glob("[0-9]*.py") if (name := path.name[:4]) < revision)
        (versions / f"{revision}_test.py").write_text(
            "import sqlalchemy as sa\nfrom alembic import op\n"
            f"revision, down_revision = {revision!r}, {before!r}\n\ndef upgrade():\n"
            + "".join(f"    {line}\n" for line in upgrade.splitlines())
        )

    def add_query(self, name: str, text: str) -> Path:
        """`queries/<name>.sql`."""
        path = self.folder / "queries" / f"{name}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def start(self, code: str, store: Path) -> subprocess.Popen[str]:
        """A process that runs `code`, in which `path` is the store; CrustsErrors are printed."""
        body = "".join(f"    {line}\n" for line in code.splitlines())
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", _PRELUDE + body + _END, str(store)],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder), "EXPECTED": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, code: str, store: Path) -> str:
        """What `code` printed; a failure of any other kind fails the test."""
        out, err = self.start(code, store).communicate(timeout=120)
        assert err == ""
        return out.rstrip("\n")


@contextmanager
def folder_for_all() -> Iterator[Path]:
    """A folder that every user can reach, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="crusts-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
