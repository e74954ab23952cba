"""settings.json is changed without losing anything of the user's, or not at all."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from crusts_index.claude.files import back_up, read_contents, write_atomically
from crusts_index.claude.settings import Settings, edit_settings, read_settings
from crusts_index.errors import CrustsError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the settings file is to be; its folder is not there yet."""
    return tmp_path / "config" / "settings.json"


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    """Where copies go; not there yet."""
    return tmp_path / "backups"


def put(path: Path, content: str | bytes) -> Path:
    """Make the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def add(settings: Settings) -> Settings:
    """A change."""
    return {**settings, "added": True}


REFUSED = {
    "comment": (b'{\n  // why\n  "a": 1\n}', "has comments"),
    "block comment": (b'{"a": 1} /* x */', "has comments"),
    "cut": (b'{"a": ', "line 1, column 7"),
    "trailing comma": (b'{"a": 1,}', "not valid JSON"),
    "slashes in a string": (b'{"a": "http://x" ', "not valid JSON"),
    "list": (b"[1]", "no JSON object"),
    "null": (b"null", "no JSON object"),
    "no number": (b'{"a": NaN}', "not valid JSON"),
    "utf-16": ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
    "deep": (b'{"a":' + b"[" * 100_000, "nested too deeply"),
    "binary": (b"\0\0\0", "not valid JSON"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_understood_is_left_alone(path: Path, backups: Path, case: str) -> None:
    """A file that cannot be understood is refused by name and reason, and keeps every byte."""
    content, reason = REFUSED[case]
    put(path, content)
    with pytest.raises(CrustsError, match=reason) as read:
        read_settings(str(path))
    with pytest.raises(CrustsError, match=reason):
        edit_settings(str(path), add, str(backups))
    assert str(path) in str(read.value)
    assert path.read_bytes() == content
    assert not backups.exists()


def test_absent_and_empty_files_are_empty_settings(path: Path, backups: Path) -> None:
    """No file, and a file with nothing in it, are settings without a key; a new file gets two spaces."""
    assert read_settings(str(path)) == {}
    edit = edit_settings(str(path), add, str(backups))
    assert (edit.changed, edit.created, edit.backup) == (True, True, None)
    assert path.read_bytes() == b'{\n  "added": true\n}\n'
    put(path, b"\xef\xbb\xbf \n")
    assert read_settings(str(path)) == {}
    assert edit_settings(str(path), add, str(backups)).created is False
    assert path.read_bytes() == b'\xef\xbb\xbf{\n  "added": true\n}\n'


STYLES = {
    "two spaces": '{\n  "z": 1,\n  "a": {\n    "n": null\n  }\n}\n',
    "four spaces": '{\n    "z": 1,\n    "a": {\n        "n": null\n    }\n}\n',
    "tabs": '{\n\t"z": 1,\n\t"a": {\n\t\t"n": null\n\t}\n}\n',
    "no last newline": '{\n  "z": 1,\n  "a": {\n    "n": null\n  }\n}',
    "BOM": '\ufeff{\n  "z": 1,\n  "a": {\n    "n": null\n  }\n}\n',
    "CRLF": '{\r\n  "z": 1,\r\n  "a": {\r\n    "n": null\r\n  }\r\n}\r\n',
    "one line": '{"z": 1, "a": {"n": null}}\n',
    "compact": '{"z":1,"a":{"n":null}}',
}


@pytest.mark.parametrize("style", STYLES)
def test_style_stays(path: Path, backups: Path, style: str) -> None:
    """Adding a key and removing it gives back the bytes: order, indent, line ends, BOM, last newline."""
    put(path, STYLES[style])
    edit_settings(str(path), add, str(backups))
    added = path.read_bytes()
    assert list(read_settings(str(path))) == ["z", "a", "added"]
    assert added.count(b"\n") == STYLES[style].count("\n") + (style not in ("one line", "compact"))
    edit_settings(str(path), lambda settings: {k: v for k, v in settings.items() if k != "added"}, str(backups))
    assert path.read_bytes() == STYLES[style].encode()


def test_text_survives(path: Path, backups: Path) -> None:
    """Non-ASCII text stays readable; half a surrogate pair, which UTF-8 cannot hold, stays an escape."""
    put(path, '{\n  "a": "caf\u00e9 \U0001f600"\n}\n')
    edit_settings(str(path), add, str(backups))
    assert "caf\u00e9 \U0001f600" in path.read_text(encoding="utf-8")
    put(path, '{\n  "a": "\\ud83d"\n}\n')
    edit_settings(str(path), add, str(backups))
    assert '"\\ud83d"' in path.read_text(encoding="utf-8")


def test_number_that_would_not_survive_is_refused(path: Path, backups: Path) -> None:
    """A number beyond what we can hold is not turned into another."""
    put(path, '{"a": 1e999}')
    with pytest.raises(CrustsError, match="number"):
        edit_settings(str(path), add, str(backups))
    assert path.read_text() == '{"a": 1e999}'


def test_no_change_writes_nothing(path: Path, backups: Path) -> None:
    """If nothing changes there is no write and no backup; true instead of 1 is a change."""
    put(path, '{ "a":1 }')
    before = path.stat()
    edit = edit_settings(str(path), lambda settings: settings, str(backups))
    assert (edit.changed, edit.backup) == (False, None)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert not backups.exists()
    assert edit_settings(str(path), lambda _: {"a": True}, str(backups)).changed
    with pytest.raises(CrustsError):  # and none for a file that is not there
        edit_settings(str(put(path, "[")), lambda settings: settings, str(backups))


def test_backup_comes_first(path: Path, backups: Path) -> None:
    """The old file is kept, readable by its owner only."""
    put(path, '{"a": 1}')
    edit = edit_settings(str(path), add, str(backups))
    assert edit.backup is not None
    assert Path(edit.backup).read_text() == '{"a": 1}'
    assert Path(edit.backup).stat().st_mode & 0o777 == 0o600
    assert backups.stat().st_mode & 0o777 == 0o700


def test_mode_stays_and_no_temporary_file_is_left(path: Path, backups: Path) -> None:
    """The new file has the old one's mode; nothing else is left in the folder."""
    put(path, "{}").chmod(0o640)
    edit_settings(str(path), add, str(backups))
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(path.parent) == ["settings.json"]


def test_links_are_followed(path: Path, backups: Path, tmp_path: Path) -> None:
    """Through a link the real file is edited, and the link stays; a dangling one gets its file."""
    real = put(tmp_path / "dotfiles" / "claude.json", '{"a": 1}')
    path.parent.mkdir()
    path.symlink_to(real)
    edit = edit_settings(str(path), add, str(backups))
    assert edit.path == str(real)
    assert path.is_symlink()
    assert json.loads(real.read_text()) == {"a": 1, "added": True}
    real.unlink()
    assert edit_settings(str(path), add, str(backups)).created
    assert path.is_symlink()
    assert real.exists()


def test_what_is_no_file_is_refused(path: Path, backups: Path) -> None:
    """A folder, a pipe and a link to itself are refused at once."""
    path.mkdir(parents=True)
    with pytest.raises(CrustsError, match="directory"):
        edit_settings(str(path), add, str(backups))
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(CrustsError, match="regular file"):
        edit_settings(str(path), add, str(backups))
    path.unlink()
    path.symlink_to(path)
    with pytest.raises(CrustsError, match="cannot be read"):
        edit_settings(str(path), add, str(backups))


def test_read_only_file_is_refused(path: Path, backups: Path) -> None:
    """A file without write permission was meant to stay as it is, even where we could replace it."""
    put(path, '{"a": 1}').chmod(0o444)
    with pytest.raises(CrustsError, match="read-only"):
        edit_settings(str(path), add, str(backups))
    assert path.read_text() == '{"a": 1}'
    assert not backups.exists()


def test_huge_file_is_refused(path: Path, backups: Path) -> None:
    """More than 8 MB are no settings."""
    put(path, '{"a": "' + "x" * (8 * 1024 * 1024) + '"}')
    with pytest.raises(CrustsError, match="8 MB"):
        edit_settings(str(path), add, str(backups))


def test_change_by_another_is_not_lost(path: Path, backups: Path) -> None:
    """If someone else writes meanwhile, ours is put on top of theirs; if they never stop, we give up."""
    put(path, '{"a": 1}')
    calls = []

    def once(settings: Settings) -> Settings:
        if not calls:
            put(path, '{"a": 1, "theirs": 2}')
        calls.append(settings)
        return add(settings)

    assert edit_settings(str(path), once, str(backups)).changed
    assert read_settings(str(path)) == {"a": 1, "theirs": 2, "added": True}

    put(path, '{"a": 1}')

    def always(settings: Settings) -> Settings:
        calls.append(settings)
        put(path, json.dumps({"theirs": len(calls)}))
        return add(settings)

    with pytest.raises(CrustsError, match="keeps writing"):
        edit_settings(str(path), always, str(backups))
    assert read_settings(str(path)) == {"theirs": len(calls)}


def test_file_made_by_another_is_not_lost(path: Path, backups: Path) -> None:
    """The same for a file that was not there when we looked."""

    def change(settings: Settings) -> Settings:
        if not path.exists():
            put(path, '{"theirs": 2}')
        return add(settings)

    edit_settings(str(path), change, str(backups))
    assert read_settings(str(path)) == {"theirs": 2, "added": True}


def test_readers_see_whole_files_only(path: Path, backups: Path) -> None:
    """While the file is replaced again and again, whoever reads it finds valid JSON."""
    put(path, '{"n": 0}')
    stop, broken = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            try:
                json.loads(path.read_bytes())
            except ValueError as error:
                broken.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for n in range(30):
        edit_settings(str(path), lambda _, n=n: {"n": n, "pad": "x" * 10_000}, str(backups))  # type: ignore[misc]
    stop.set()
    reader.join()
    assert broken == []


def test_ten_backups_a_file(tmp_path: Path, backups: Path) -> None:
    """The newest ten copies stay, of each file by its full path: equal names do not push each other out."""
    one, two = put(tmp_path / "one" / "CLAUDE.md", ""), put(tmp_path / "two" / "CLAUDE.md", "two")
    back_up(str(two), str(backups))
    for n in range(14):
        one.write_text(str(n))
        back_up(str(one), str(backups))
    kept = [copy.read_text() for copy in sorted(backups.iterdir(), key=lambda copy: copy.name.split(".")[3:])]
    assert ["two", *(str(n) for n in range(4, 14))] == kept
    assert all(copy.name.startswith("CLAUDE.md.") and copy.name.endswith("Z.bak") for copy in backups.iterdir())
    assert back_up(str(tmp_path / "none"), str(backups)) is None


def test_write_atomically_makes_what_is_missing(tmp_path: Path) -> None:
    """A file and its folders are made; a folder that cannot be made is one clear error."""
    write_atomically(str(tmp_path / "a" / "b.md"), "caf\u00e9")
    assert (tmp_path / "a" / "b.md").read_bytes() == "caf\u00e9".encode()
    with pytest.raises(CrustsError, match="cannot be"):
        write_atomically(str(tmp_path / "a" / "b.md" / "c"), "x")
    assert read_contents(str(tmp_path / "none")) is None


def test_change_cannot_touch_what_was_read(path: Path, backups: Path) -> None:
    """A change that works in place is still seen as one."""
    put(path, '{"a": {"b": 1}}')

    def change(settings: dict[str, Any]) -> dict[str, Any]:
        settings["a"]["b"] = 2
        return settings

    assert edit_settings(str(path), change, str(backups)).changed
    assert read_settings(str(path)) == {"a": {"b": 2}}
