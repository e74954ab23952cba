"""What of a user's text are the person's own words, and what Claude Code wrapped around them (D8, D22).

A wrapper is a tag like `<system-reminder>` with all up to its end, where it begins a text or a line, stands behind
another one, or ends a line; a tag that a sentence names is none. Every step is linear in the text.
"""

from __future__ import annotations

from collections import namedtuple

from crusts_index.transcript.categories import CONVERSATION, STATE, SYSTEM

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import NamedTuple

    class Wrapper(NamedTuple):
        """What a wrapper is: the origin of a record that is nothing else, and the category of what is in it."""

        origin: str
        category: str

    class Said(NamedTuple):
        """A text's own words, and its first wrapper, None where it has none."""

        words: str
        wrapper: Wrapper | None

    Tag = tuple[int, int, str, bool]  # where it begins and ends, its name, whether it is an end tag
else:  # on the quick path, where typing is dear to import
    Wrapper = namedtuple("Wrapper", "origin category")
    Said = namedtuple("Said", "words wrapper")

COMMAND, NOTIFICATION, TEAMMATE = "command", "notification", "teammate"

# By origin and category, the tags of wrappers.
_KINDS = {
    Wrapper(COMMAND, CONVERSATION): "command-name command-message command-args command-contents"
    " local-command-stdout local-command-stderr",
    Wrapper("bash", CONVERSATION): "bash-input bash-stdout bash-stderr",
    Wrapper(NOTIFICATION, STATE): "task-notification",
    Wrapper(TEAMMATE, STATE): "teammate-message",
    Wrapper("caveat", SYSTEM): "local-command-caveat",
    Wrapper("reminder", SYSTEM): "system-reminder",
    Wrapper("hook", SYSTEM): "session-start-hook user-prompt-submit-hook",
    Wrapper("ide", SYSTEM): "ide_opened_file ide_selection ide_diagnostics",
}
_TAGS = {tag: kind for kind, tags in _KINDS.items() for tag in tags.split()}
# Wrappers without a tag: how they begin, in lower case; how they end, None = with the text; what they are.
_OPENINGS: tuple[tuple[str, str | None, Wrapper], ...] = (
    ("[request interrupted", "]", Wrapper("interruption", CONVERSATION)),
    ("caveat: the messages below", None, Wrapper("caveat", SYSTEM)),
    ("another claude session sent a message:", None, Wrapper(TEAMMATE, STATE)),
)
_LONGEST_OPENING = max(len(opening[0]) for opening in _OPENINGS)
_INITIALS = "<[cCaA"
_BLANKS = " \t\r"
_MOST_BLANKS = 80

_tag: re.Pattern[str] | None = None


def split(text: str) -> Said:
    """The person's own words in a text, and its first wrapper. A text that is wrapped whole has no words."""
    if "<" not in text and text.lstrip()[:1] not in _INITIALS:
        return Said(text.strip(), None)
    kind: Wrapper | None = None
    words: list[str] = []
    for piece, following in _cut_tags(text):
        left, opening, is_over = _cut_opening(piece.strip())
        kind = kind or opening
        if left:
            words.append(left)
        if is_over:
            break
        kind = kind or following
    return Said("\n".join(words), kind)


def is_command(text: str) -> bool:
    """Whether a text logs a slash command; what one printed is none."""
    return "<" in text and any(name in ("command-name", "command-message") for _, _, name, _ in _find_tags(text))


def command_of(text: str) -> str | None:
    """The slash command that a text logs, with its arguments; None for any other text."""
    if "<" not in text:
        return None
    tags = _find_tags(text)
    name = _inside(text, tags, "command-name").strip().lstrip("/")
    return f"/{name} {_inside(text, tags, 'command-args').strip()}".strip() if name else None


def _cut_tags(text: str) -> list[tuple[str, Wrapper | None]]:
    """The pieces outside tags, each with what the wrapper behind it is."""
    tags = _find_tags(text)
    ends = _ends_of(tags)
    pieces: list[tuple[str, Wrapper | None]] = []
    begin = at = 0  # of the piece in hand, and how far it was looked over
    is_blank = True  # nothing but blanks since the line began, or the wrapper before it ended
    for place, (start, end, name, is_end) in enumerate(tags):
        if start < at:
            continue
        _, line_end, line = text[at:start].rpartition("\n")
        is_blank = (is_blank or bool(line_end)) and not line.strip()
        at = end
        over = ends.get(place)
        if not is_end and (is_blank or (over is not None and _ends_line(text, over))):
            pieces.append((text[begin:start], _TAGS[name]))
            # Behind a notification Claude Code adds a sentence of its own.
            begin = at = len(text) if over is None or _TAGS[name].origin == NOTIFICATION else over
            is_blank = True
        else:
            is_blank = False
    pieces.append((text[begin:], None))
    return pieces


def _find_tags(text: str) -> list[Tag]:
    """The tags of wrappers in a text, in its order."""
    global _tag
    if _tag is None:
        import re  # dear on the quick paths, which meet few of these

        _tag = re.compile(r"<(?:/([a-z_-]{3,24})\s*>|([a-z_-]{3,24})(?=[\s/>]))", re.IGNORECASE | re.ASCII)
    found = ((match, (match[1] or match[2]).lower()) for match in _tag.finditer(text))
    return [(match.start(), match.end(), name, match[1] is not None) for match, name in found if name in _TAGS]


def _ends_of(tags: list[Tag]) -> dict[int, int | None]:
    """Where each tag's text is over, by its place: at the end tag that is its own, else at the next; None = never."""
    ends: dict[int, int | None] = {}
    is_open: dict[str, list[int]] = {}
    for place, (_, end, name, is_end) in enumerate(tags):
        if not is_end:
            is_open.setdefault(name, []).append(place)
        elif is_open.get(name):
            ends[is_open[name].pop()] = end
    following: dict[str, int] = {}
    for place in range(len(tags) - 1, -1, -1):
        _, end, name, is_end = tags[place]
        if is_end:
            following[name] = end
        else:
            ends.setdefault(place, following.get(name))
    return ends


def _ends_line(text: str, place: int) -> bool:
    return text[place : place + _MOST_BLANKS].lstrip(_BLANKS)[:1] in ("", "\n")


def _cut_opening(piece: str) -> tuple[str, Wrapper | None, bool]:
    """A piece without a wrapper that has no tag, what that is, and whether all behind the piece belongs to it too."""
    head = piece[:_LONGEST_OPENING].lower()
    for opening, end, kind in _OPENINGS:
        if head.startswith(opening):
            if end is not None:
                return piece.partition(end)[2].strip(), kind, False
            return "", kind, kind.origin == TEAMMATE and len(piece) > len(opening)
    return piece, None, False


def _inside(text: str, tags: list[Tag], name: str) -> str:
    """What stands in the first tag of that name; nothing where there is none, or it has no end."""
    begin = None
    for start, end, found, is_end in tags:
        if found == name and not is_end and begin is None:
            begin = text.find(">", end) + 1
        elif found == name and is_end and begin is not None:
            return text[begin:start]
    return ""
