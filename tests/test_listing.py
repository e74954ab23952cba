"""Folders that lie as they did are not read again, and whatever happens in them is seen all the same (D3)."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crusts_index.index.find import Walk
from crusts_index.index.listing import Listings, is_settled
from crusts_index.store.open import open_store
from tests.builders import SESSION, ClaudeFolder
from tests.picture import ask, index, new_store, scratch
from tests.profiles import examples

pytestmark = pytest.mark.skipif(os.name != "posix", reason="folders are read again wherever ctime is no change's time")

SECOND = 10**9
OTHER = "7e550000-0000-4000-8000-000000000002"
_scanned: list[str] = []
_is_counting: list[bool] = []


def _count(event: str, args: tuple[object, ...]) -> None:
    if _is_counting and event == "os.scandir":
        _scanned.append(str(args[0]))


sys.addaudithook(_count)


class Memory:
    """Walks over one projects folder, each of which remembers what the one before kept."""

    def __init__(self, root: Path) -> None:
        self.root, self.kept = root, dict[str, str]()

    def walk(self, later_ns: int = 10 * SECOND) -> list[str]:
        """Walk, `later_ns` from now by the clock; gives back the folders that were read. All is as a walk that knows
        nothing finds it."""
        listings = Listings(str(self.root.resolve()), self.kept, time.time_ns() + later_ns)
        found = Walk(str(self.root), listings)
        _scanned.clear()
        _is_counting.append(True)
        found.walk()
        _is_counting.clear()
        fresh = Walk(str(self.root))
        fresh.walk()
        assert sorted(fresh.found()) == sorted(found.found())
        assert sorted(fresh.unreadable) == sorted(found.unreadable)
        assert list(fresh.projects) == list(found.projects)
        assert [one.look() for one in fresh.projects.values()] == [one.look() for one in found.projects.values()]
        self.kept = listings.now
        return [os.path.relpath(path, self.root.resolve()) for path in _scanned]


def write(path: Path, text: str = "{}\n") -> Path:
    """A file, and the folders it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two projects, subagents with and without a sidecar, one deep down, one in the old place, spilled results."""
    projects = tmp_path / "projects"
    for project in ("-p", "-q"):
        write(projects / project / f"{SESSION}.jsonl")
        write(projects / project / f"{OTHER}.jsonl")
        write(projects / project / "agent-old.jsonl")
        write(projects / project / SESSION / "subagents" / "agent-a.jsonl")
        write(projects / project / SESSION / "subagents" / "agent-a.meta.json")
        write(projects / project / SESSION / "subagents" / "agent-b.jsonl")
        write(projects / project / SESSION / "subagents" / "deep" / "agent-c.jsonl")
        write(projects / project / OTHER / "tool-results" / "x.txt")
    return projects


@pytest.fixture
def memory(root: Path) -> Memory:
    """What a walk remembers of them, and a second one that reads none of them."""
    memory = Memory(root)
    assert len(memory.walk()) > 1
    assert ["."] == memory.walk()
    return memory


def tick() -> None:
    """Wait until the file system's clock has gone on: older kernels tell times by up to 10 ms."""
    time.sleep(0.02)


AGENTS = f"-p/{SESSION}/subagents"


THIRD = "9e551001-0000-4000-8000-000000000009"

Change = Callable[[Path], object]

IN_PLACE: dict[str, Change] = {
    "a transcript grows": lambda root: append(root / "-p" / f"{SESSION}.jsonl"),
    "an agent's grows": lambda root: append(root / AGENTS / "deep" / "agent-c.jsonl"),
    "written over": lambda root: os.utime(write(root / "-p" / f"{SESSION}.jsonl", "[]\n"), (1, 1)),
    "another time": lambda root: os.utime(root / "-p" / f"{SESSION}.jsonl", (1, 1)),
    "a sidecar": lambda root: os.utime(root / AGENTS / "agent-a.meta.json", (1, 1)),
    "a folder of none of ours": lambda root: write(root / "-p" / OTHER / "tool-results" / "y.txt"),
}


def append(path: Path) -> None:
    """A line more."""
    with path.open("a") as file:
        file.write("{}\n")


@pytest.mark.parametrize("change", IN_PLACE.values(), ids=IN_PLACE)
def test_what_changes_in_place_is_seen_without_reading_a_folder(memory: Memory, change: Change) -> None:
    """Transcripts and sidecars are looked at one by one; a folder without transcripts is none of ours."""
    change(memory.root)
    assert ["."] == memory.walk()


def projects_exchanged(root: Path) -> None:
    """Two folders change names."""
    write(root / "-p" / f"{THIRD}.jsonl")
    (root / "-p").rename(root / "x")
    (root / "-q").rename(root / "-p")
    (root / "x").rename(root / "-q")


def folder_replaced(root: Path) -> None:
    """By another of the same name and the same times, as a backup lays it."""
    before = (root / AGENTS).stat()
    shutil.rmtree(root / AGENTS)
    write(root / AGENTS / "agent-e.jsonl")
    os.utime(root / AGENTS, ns=(before.st_atime_ns, before.st_mtime_ns))


def with_old_times(root: Path) -> None:
    """As `rsync -t` does: a file comes, and the folder's mtime is what it was."""
    before = (root / AGENTS).stat()
    os.utime(write(root / AGENTS / "agent-e.jsonl"), (1, 1))
    os.utime(root / AGENTS, ns=(before.st_atime_ns, before.st_mtime_ns))


def rsync(root: Path) -> None:
    """The real one, from a copy with a file more whose folders bear the same times."""
    if shutil.which("rsync") is None:
        pytest.skip("no rsync here")
    copy = root.parent / "copy"
    shutil.copytree(root, copy)
    write(copy / AGENTS / "deep" / "agent-e.jsonl")
    for folder, _, _ in os.walk(root):
        shutil.copystat(folder, copy / os.path.relpath(folder, root))
    subprocess.run(["rsync", "-rt", f"{copy}/", f"{root}/"], check=True)


def tar(root: Path) -> None:
    """An archive laid over the folders, with their times in it."""
    copy = root.parent / "copy"
    shutil.copytree(root, copy)
    write(copy / AGENTS / "deep" / "agent-e.jsonl")
    for folder, _, _ in os.walk(root):
        shutil.copystat(folder, copy / os.path.relpath(folder, root))
    with tarfile.open(root.parent / "x.tar", "w") as archive:
        archive.add(copy, ".")
    with tarfile.open(root.parent / "x.tar") as archive:
        archive.extractall(root, filter="fully_trusted")


def becomes_folder(path: Path) -> None:
    """A file is one no more."""
    path.unlink()
    path.mkdir()


CHANGES: dict[str, Change] = {
    "transcript": lambda root: write(root / "-p" / f"{THIRD}.jsonl"),
    "project": lambda root: write(root / "-new" / f"{SESSION}.jsonl"),
    "agent": lambda root: write(root / AGENTS / "agent-d.jsonl"),
    "deep agent": lambda root: write(root / AGENTS / "deep" / "agent-d.jsonl"),
    "deeper": lambda root: write(root / AGENTS / "deep" / "deeper" / "agent-d.jsonl"),
    "first agent of a session": lambda root: write(root / "-p" / OTHER / "subagents" / "agent-d.jsonl"),
    "first folder of a session": lambda root: write(root / "-p" / THIRD / "subagents" / "agent-d.jsonl"),
    "sidecar": lambda root: write(root / AGENTS / "agent-b.meta.json"),
    "sidecar in the old place": lambda root: write(root / "-p" / "agent-old.meta.json"),
    "sidecar gone": lambda root: (root / AGENTS / "agent-a.meta.json").unlink(),
    "transcript gone": lambda root: (root / "-p" / f"{OTHER}.jsonl").unlink(),
    "agents gone": lambda root: shutil.rmtree(root / AGENTS),
    "project gone": lambda root: shutil.rmtree(root / "-p"),
    "set aside": lambda root: (root / "-p" / f"{OTHER}.jsonl").rename(root / "-p" / f"{OTHER}.jsonl.orphaned-1"),
    "session renamed": lambda root: (root / "-p" / SESSION).rename(root / "-p" / THIRD),
    "a folder where a file was": lambda root: becomes_folder(root / "-p" / f"{OTHER}.jsonl"),
    "not to be read": lambda root: (root / "-p").chmod(0),
    **{made.__name__: made for made in (projects_exchanged, folder_replaced, with_old_times, rsync, tar)},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_changes_a_folder_is_seen(memory: Memory, change: Change) -> None:
    """However it came: made, moved, copied with old times, unpacked, replaced; and it is remembered from then on."""
    tick()
    change(memory.root)
    memory.walk()
    if (memory.root / "-p").exists():
        (memory.root / "-p").chmod(0o700)
        memory.walk()
    assert ["."] == memory.walk()


LINKS = {
    f"-p/{THIRD}.jsonl": "x.jsonl",
    "-linked": "",
    f"-p/{THIRD}": "",
    f"-p/{OTHER}/subagents": "",
    f"-p/{THIRD}/subagents": "",
    f"{AGENTS}/more": "",
    f"{AGENTS}/agent-b.meta.json": "agent-b.meta.json",
    "-p/loop": "../projects",
    f"-p/{THIRD}.": f"../projects/-q/{SESSION}",
}
"""Where links stand in the projects folder, and to what in another folder they lead."""


@pytest.mark.parametrize(("place", "to"), LINKS.items())
def test_what_lies_behind_a_link_is_seen(memory: Memory, tmp_path: Path, place: str, to: str) -> None:
    """The link is made, what it leads to comes, changes, goes, comes again; then the link is gone."""
    link, elsewhere, moved = memory.root / place, tmp_path / "elsewhere", tmp_path / "moved"
    tick()
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(elsewhere / to)
    names = (f"{SESSION}.jsonl", "x.jsonl", "agent-x.jsonl", "agent-b.meta.json", "subagents/agent-x.jsonl")
    changes: list[Callable[[], object]] = [
        lambda: None,
        *(partial(write, elsewhere / name, text) for text in ("", "more") for name in names),
        lambda: elsewhere.rename(moved),
        lambda: shutil.copytree(moved, elsewhere),
        lambda: shutil.rmtree(elsewhere),
        link.unlink,
    ]
    for change in changes:
        tick()
        change()
        memory.walk()
        memory.walk()
    assert ["."] == memory.walk()


def test_a_link_from_another_root_is_followed(tmp_path: Path) -> None:
    """Of two roots one links into the other: what comes there is seen from both."""
    first, second = Memory(tmp_path / "a"), Memory(tmp_path / "b")
    write(first.root / "-p" / f"{SESSION}.jsonl")
    second.root.mkdir()
    (second.root / "-linked").symlink_to(first.root / "-p")
    for name in ("x.jsonl", "y.jsonl"):
        for memory in (first, second, first, second):
            memory.walk()
        tick()
        write(first.root / "-p" / name)


def test_a_folder_that_changed_a_moment_ago_is_read_again(root: Path) -> None:
    """What comes to it within the same tick of a coarse clock would not show in its times."""
    memory = Memory(root)
    memory.walk(later_ns=SECOND)
    assert len(memory.walk(later_ns=SECOND)) > 1
    memory.walk(later_ns=3 * SECOND)
    assert ["."] == memory.walk(later_ns=3 * SECOND)


def test_a_clock_that_was_set_back(root: Path) -> None:
    """Folders from the future, and what was remembered there, are read again."""
    memory = Memory(root)
    memory.walk()
    assert len(memory.walk(later_ns=-3_600 * SECOND)) > 1
    assert len(memory.walk(later_ns=-3_600 * SECOND)) > 1


def test_nothing_is_believed_for_long(root: Path) -> None:
    """After an hour all is read again."""
    memory = Memory(root)
    memory.walk()
    assert ["."] == memory.walk(later_ns=3_590 * SECOND)
    assert len(memory.walk(later_ns=3_700 * SECOND)) > 1
    assert ["."] == memory.walk(later_ns=3_710 * SECOND)


@pytest.mark.parametrize(
    ("ctime_ns", "device", "expected"),
    [
        (100 * SECOND + 123_456_789, 7, True),
        (100 * SECOND, 7, False),  # whole seconds: HFS+, ext3, what comes over SFTP
        (100 * SECOND + 120_000_000, 7, False),  # hundredths: FAT
        (100 * SECOND + 123_456_789, 8, False),  # mounted below the root
        (198 * SECOND + 123_456_789, 7, False),
        (300 * SECOND + 123_456_789, 7, False),
    ],
)
def test_times_that_can_be_believed(ctime_ns: int, device: int, expected: bool) -> None:
    """Fine ones of the root's own file system, of some time ago."""
    assert expected == is_settled(ctime_ns, device, now_ns=200 * SECOND, root_device=7)


MOUNT = """
import subprocess, sys
from pathlib import Path
from tests.test_listing import Memory, tick
root, other = Path(sys.argv[1]), Path(sys.argv[2])
memory = Memory(root)
memory.walk()
for place in (root / sys.argv[3], root / "-p"):
    for args in (["mount", "--bind", other, place], ["umount", place],
                 ["mount", "-t", "tmpfs", "none", place], ["umount", place]):
        tick()
        subprocess.run(args, check=True)
        memory.walk()
        memory.walk()
        (place / "agent-y.jsonl").write_text("{}")
        memory.walk()
        (place / "agent-y.jsonl").unlink()
        memory.walk()
"""


@pytest.mark.skipif(
    shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode != 0,
    reason="no mounts of one's own here",
)
def test_what_is_mounted_over_a_folder_is_seen(memory: Memory, tmp_path: Path) -> None:
    """Another folder and another file system, put over a folder and taken away again."""
    other = tmp_path / "other"
    write(other / "agent-x.jsonl")
    command = ["unshare", "-rm", sys.executable, "-c", MOUNT, str(memory.root), str(other), AGENTS]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], check=False)
    assert (0, "") == (done.returncode, done.stderr)


NAMES = ("a", "agent-a", SESSION)
steps = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99)), max_size=12)


@examples(15)
@given(steps)
def test_any_changes_are_seen(changes: list[tuple[int, int]]) -> None:
    """After each of a row of changes anywhere in the tree: as a walk that remembers nothing."""
    with scratch() as home:
        memory = Memory(home / "projects")
        write(memory.root / "-p" / SESSION / "subagents" / "agent-a.jsonl")
        memory.walk()
        for kind, number in changes:
            tick()
            change_somewhere(memory.root, kind, random.Random(number))
            memory.walk()


def change_somewhere(root: Path, kind: int, chance: random.Random) -> None:
    """One change at a place drawn by chance."""
    folders = [root, *(path for path in sorted(root.rglob("*")) if path.is_dir() and not path.is_symlink())]
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    folder = chance.choice(folders)
    name = chance.choice((*NAMES, "subagents", "-q"))
    try:
        if kind < 3:
            write(folder / f"{name}{chance.choice(('.jsonl', '.meta.json', '.txt'))}", "{}\n" * chance.randrange(9))
        elif kind == 3:
            (folder / name).mkdir()
        elif kind == 4:
            chance.choice(files).unlink()
        elif kind == 5:
            shutil.rmtree(chance.choice(folders[1:]))
        elif kind == 6:
            folder.rename(chance.choice(folders) / name)
        elif kind == 7:
            os.utime(folder, (1, 1))
        elif kind == 8:
            (folder / f"{name}{chance.choice(('', '.jsonl'))}").symlink_to(chance.choice((*folders, *files)))
        else:
            chance.choice(files).write_text("x" * chance.randrange(9))
    except (OSError, IndexError):
        pass  # that cannot be done here


def test_runs_of_the_command_go_by_what_the_store_keeps(tmp_path: Path) -> None:
    """After nothing, an append, a new transcript and one that is gone: what they say of files, read and gone."""
    folder = ClaudeFolder(tmp_path)
    t = folder.main()
    t.prompt("hello")
    t.response("hi", context=1_000)
    path = t.write()
    copy = path.with_name(f"{OTHER}.jsonl")
    time.sleep(2.1)
    assert 0 == folder.crusts("index").code
    db = folder.home / ".claude-crusts" / "index.db"
    assert [(f"list:{path.parent}",)] == ask(db, "select name from store_facts where name like 'list:%'")
    changes: list[tuple[Callable[[], object], tuple[int, int, int]]] = [
        (lambda: None, (1, 0, 0)),
        (lambda: path.write_bytes(path.read_bytes() * 2), (1, 1, 0)),
        (lambda: shutil.copy(path, copy), (2, 1, 0)),
        (copy.unlink, (1, 0, 1)),
        (lambda: None, (1, 0, 0)),
    ]
    for change, expected in changes:
        change()
        said = folder.crusts("index", "--json").json()
        assert expected == (said["files"], said["changed"], said["gone"])


def test_of_many_transcripts_those_are_read_that_are_not_as_the_store_has_them(tmp_path: Path) -> None:
    """Some grow, one was not read to its end, one by another parser, one bears another time."""
    folder, paths = ClaudeFolder(tmp_path), []
    for number in range(150):
        t = folder.main(f"5e551001-0000-4000-8000-{number:012}")
        t.prompt("hello")
        paths.append(t.write())
    db = new_store(tmp_path)
    assert 150 == index(db, folder.config).changed
    assert 0 == index(db, folder.config).changed

    def in_store(sql: str, path: Path) -> None:
        with closing(open_store(db, write=True)) as store:
            store.execute(sql, (str(path),))

    changes: list[tuple[Callable[[], object], int]] = [
        (lambda: [append(paths[place]) for place in (3, 60, 140)], 3),
        (lambda: in_store("update transcripts set size = -1 where path = ?", paths[70]), 1),
        (lambda: in_store("update transcripts set parser = 0 where path = ?", paths[149]), 1),
        (lambda: os.utime(paths[64], (1, 1)), 1),
        (lambda: (append(paths[0]), in_store("update transcripts set size = -1 where path = ?", paths[149])), 2),
        (lambda: (append(paths[0]), in_store("update transcripts set size = -1 where path = ?", paths[1])), 2),
    ]
    for change, expected in changes:
        change()
        assert expected == index(db, folder.config).changed
        assert 0 == index(db, folder.config).changed
