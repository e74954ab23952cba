"""Text from outside made safe for a terminal, and the one way to stderr. All that leaves the program passes here.

Quick commands import this, so `re` comes only when something unsafe is met: it costs half an interpreter start.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# Whole escape sequences first (CSI, then strings such as OSC up to their end, then two-character ones), so that
# nothing of their insides is left. A string's insides hold none of the openers: each character is met once.
_SEQUENCES = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
_LINE_ENDS = "\r\n|[\r\v\f\x85\u2028\u2029]"
# What controls, reorders or hides what stands around it, and what is no character. The joiners U+200C and U+200D
# stay: scripts and emoji are written with them.
_CONTROLS = (
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff"
    "\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
_patterns: "list[Any]" = []


class Safe(str):
    """Text that may reach a terminal as it stands: cleaned, with nothing but our own colours added.

    What is made of it by f-strings, slices or joins is common text again, and is cleaned again.
    """

    __slots__ = ()


def lines(text: str) -> Safe:
    """Text of several lines without control, escape and bidi characters; line ends, as \\n, and tabs stay."""
    if isinstance(text, Safe):
        return text
    if text.isprintable():
        return Safe(text)
    if not _patterns:
        import re

        _patterns.extend(map(re.compile, (_SEQUENCES, _LINE_ENDS, _CONTROLS, "[\ud800-\udfff]")))
    sequences, line_ends, controls, surrogates = _patterns
    text = line_ends.sub("\n", sequences.sub("", text))
    return Safe(surrogates.sub("\ufffd", controls.sub("", text)))


def line(text: str) -> Safe:
    """The same on one line, a space for each line end and tab: it cannot break a table or pass for a line of ours."""
    if isinstance(text, Safe):
        return text
    return Safe(lines(text).replace("\n", " ").replace("\t", " "))


def join(parts: "Iterable[str]") -> Safe:
    """One line of several parts; of those that are Safe nothing is taken."""
    return Safe("".join(map(line, parts)))


def escaped(json: str) -> Safe:
    """A JSON text with an escape for each character that cannot be printed; indentation stays."""
    odd = {char for char in set(json) if not char.isprintable() and char != "\n"}
    return Safe(json.translate({ord(char): _escape(char) for char in odd}) if odd else json)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def note(message: str) -> None:
    """One line for the user on stderr; nothing that a program should read."""
    tell(Safe("crusts: " + " ".join(line(message).split())))


def tell(*said: str, end: str = "\n") -> None:
    """Lines on stderr, where there is one."""
    if sys.stderr is not None:
        sys.stderr.write("".join(line(one) + end for one in said))
