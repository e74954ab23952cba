"""Files that a CLAUDE.md takes in by `@path`."""

import os

from crusts_index.claude.measure import MeasuredFile, read_measured

MAX_DEPTH = 5
MAX_IMPORTS = 100


def find_imports(path: str, text: str, home: str) -> list[tuple[str, MeasuredFile]]:
    """The files imported by `text`, the text of the file at `path`, and by those in turn, with their names.

    A name is as it is written. Each file comes once, so circles end; code and what is no text is passed over.
    """
    found: list[tuple[str, MeasuredFile]] = []
    seen = {os.path.realpath(path)}
    waiting = [(path, text, 1)]
    while waiting:
        importer, content, depth = waiting.pop(0)
        folder = os.path.dirname(os.path.realpath(importer))
        for name in _names(content):
            target = os.path.realpath(_resolve(name, folder, home))
            if target in seen:
                continue
            seen.add(target)
            file = read_measured(target)
            if file is None or file.unread:
                continue
            found.append((name, file))
            if len(found) >= MAX_IMPORTS:
                return found
            if depth < MAX_DEPTH:
                waiting.append((target, file.text, depth + 1))
    return found


def _names(text: str) -> list[str]:
    """The words after an `@` that stands at the begin of a word, outside code; at most a bounded number."""
    names: list[str] = []
    fence = ""
    for line in text.split("\n"):
        stripped = line.lstrip()
        if stripped.startswith(("```", "~~~")):
            if not fence:
                fence = stripped[:3]
            elif stripped.startswith(fence):
                fence = ""
            continue
        if fence or "@" not in line:
            continue
        words = "".join(line.split("`")[::2]).split()
        names += [word[1:].rstrip(".,;:!?)]\"'") for word in words if word.startswith("@")]
        if len(names) > 10 * MAX_IMPORTS:
            break
    return [name for name in dict.fromkeys(names) if name and "\0" not in name]


def _resolve(name: str, folder: str, home: str) -> str:
    if name.startswith("~/"):
        return os.path.join(home, name[2:])
    return os.path.join(folder, name)
