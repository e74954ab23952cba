"""What a summary says of a thing that stood in the window: its path, its name, its words or its key terms (D19)."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import chain
from math import log

from crusts_index.insight.losses.survivors import file_references
from crusts_index.insight.session.mentions import base_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LEAST_SHARE = 0.4
"""Of the weight of a thing's key terms, so much must stand in a text that is said to speak of it."""
LEAST_TERMS = 3
MOST_TERMS = 60
_LONGEST = 4_000  # characters of a text that are searched for terms
_EXCERPT = 200
_LEAST_QUOTE, _QUOTE = 16, 60
_MOST_PATH, _MOST_LOOKS = 400, 400

_FOLDERS = re.compile(r"(?<![\w.@~+-])[\w.@~+-]*+/(?:[\w.@~+-]++/)*+")
"""What stands before the name in a path: it is that of many things."""
_KEYS = re.compile(r'"\w++"\s?:')
"""The keys of a JSON object."""
_TERMS = re.compile(
    r"(?<![\w.-])[\w-]++\.[A-Za-z0-9]{1,6}\b"  # a name with an extension
    r"|\b[A-Za-z]\w{3,}+(?=\()"  # an identifier before a parenthesis
    r"|\b[A-Za-z]++_\w+|\b[a-z]++[A-Z]\w+|\b[A-Za-z]\w*+(?:-\w++)+"  # a name of several words, a ticket
    r"|\b[A-Za-z]++\d++[A-Za-z]\w*+"  # a name with a number inside
    r"|[^\W\d_]{7,}+"  # a word of more than six letters
)
_RUNS = re.compile(r"[\w.-]{3,}+\(?")
"""What terms lie in: none goes beyond, and what stands around it is not asked for."""
_TICKET = re.compile(r"\b(?!UTF|SHA|ISO|RFC|AES)[A-Z]{2,10}-\d{1,6}\b")
_IDENTIFIER = re.compile(r"\b(?:[A-Za-z]++_\w+|[A-Za-z][a-z0-9]++[A-Z]\w+)")
_LEFT_OUT = re.compile(r"!\S++")
_LABEL = re.compile(r"(?<![\w.-])[A-Za-z]\w*+-[\w.-]*\d[\w.]*+(?![\w/-])")
_ADDRESS = re.compile(r"https?://[^\s\"'<>)]++")
_NUMBERED = re.compile(r"\b(?:pulls?|issues?|pr)(?:/| [a-z]{1,12} )(\d{1,6})\b")
_BEFORE = re.compile(r"^(?:cd\s[^&;\n]*(?:&&|;)\s*)?(?:[A-Z_]+=\S*\s+)*")
_PLAIN = re.compile(r"(?!-)[\w./:@#-]{1,60}+(?<![.,;:])")
_TELLING = re.compile(r"[a-z][A-Z]|\w[-_.]\w")
"""A name with one of these is no plain word, so that it tells a file without its extension (D13)."""
_LEAST_STEM = 7
_JOINTS = re.compile(r"[-_.]")
_PATH = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-./\\~@+[]():")


def key_terms(text: str) -> list[str]:
    """Names, identifiers and long words of a text, lower-case, each once, in their order."""
    return list(_all_terms(text))[:MOST_TERMS]


def _all_terms(text: str) -> dict[str, None]:
    text = _KEYS.sub(" ", _FOLDERS.sub(" ", text[:_LONGEST]))
    return dict.fromkeys(chain.from_iterable(map(_terms_of, _RUNS.findall(text))))


@lru_cache(maxsize=1 << 14)  # most words come again and again
def _terms_of(run: str) -> tuple[str, ...]:
    return tuple(match[0].lower() for match in _TERMS.finditer(run))


def names_in(call: str, answer: str, *, is_command: bool) -> list[str]:
    """What a tool was asked about, where that has a name: an address, a ticket, a pull request, the only file, the only
    label with a number; of a command what was run, of all else the only identifier.
    """
    found = [*_TICKET.findall(call), *_TICKET.findall(answer), *_ADDRESS.findall(call)]
    found += [f"#{number}" for number in _NUMBERED.findall(call)]
    files = file_references(_LEFT_OUT.sub(" ", call))
    for several in (files, _LABEL.findall(call), () if files or is_command else _IDENTIFIER.findall(call)):
        found += set(several) if len(set(several)) == 1 else ()
    return list(dict.fromkeys([*found, *(_run(call) if is_command else ())]))


def _stands(name: str, part: str, text: str) -> bool:
    """Whether a name stands in a text with no `part` of one before or behind it."""
    # To look whether it is there at all first takes a hundredth of the time, and mostly it is not.
    return name in text and re.search(rf"(?<!{part}){re.escape(name)}(?!{part})", text) is not None


def _run(call: str) -> list[str]:
    """The program of a command line and what it was told to do, up to its first option: `nix fmt`, `npm run lint`."""
    words = []
    for word in _BEFORE.sub("", call)[:_QUOTE].split():
        if not _PLAIN.fullmatch(word):
            break
        words.append(word)
    return [" ".join(words)] if len(words) > 1 else []


class Rarity:
    """How much a term says: the more of the texts have it, the less."""

    def __init__(self, texts: Iterable[str]) -> None:
        known = [_all_terms(text) for text in texts]
        self._texts = len(known)
        self._counts = Counter(term for terms in known for term in terms)
        self._rare = log(1 + self._texts) / 2  # of what stands in few: in about the root of their number

    def of(self, term: str) -> float:
        """The weight of a term, above 0."""
        return log(1 + self._texts / max(1, self._counts[term]))

    def is_enough(self, found: Sequence[str], terms: Sequence[str]) -> bool:
        """Whether those of a thing's key terms that a text has are enough to say that it speaks of it."""
        if sum(self.of(term) >= self._rare for term in found) < LEAST_TERMS:
            return False
        return sum(map(self.of, found)) >= LEAST_SHARE * sum(map(self.of, terms))


class Summary:
    """What a compaction left in words. `text` None: there is no summary, or its text was not kept."""

    def __init__(self, text: str | None) -> None:
        self.text = text
        self._lower = (text or "").lower().replace("\\", "/")
        self._flat = " ".join(self._lower.split())
        self._named: dict[tuple[str, bool], str | None] = {}
        self._terms: dict[str, bool] = {}

    @property
    def excerpt(self) -> str | None:
        """Its first 200 characters."""
        return None if self.text is None else self.text[:_EXCERPT]

    def names(self, path: str, *, is_shared: bool = False) -> str | None:
        """How it names a file, in words; `is_shared`: others have the same name, so that alone does not tell."""
        key = path, is_shared
        if key not in self._named:
            self._named[key] = self._find(path, is_shared)
        return self._named[key]

    def quotes(self, words: str) -> bool:
        """Whether it has how a text begins, word for word, that is at least 16 characters."""
        start = " ".join(words[: 4 * _QUOTE].lower().replace("\\", "/").split())[:_QUOTE].rstrip()
        return len(start) >= _LEAST_QUOTE and start in self._flat

    def speaks(self, terms: Sequence[str], rarity: Rarity) -> str | None:
        """How it speaks of what has these key terms, in words; None where it does not."""
        found = [term for term in terms if self._has(term)]
        if not rarity.is_enough(found, terms):
            return None
        return f"by {len(found)} of {len(terms)} key terms: {', '.join(found[:8])}"

    def _has(self, term: str) -> bool:
        known = self._terms.get(term)
        if known is None:
            known = self._terms[term] = term in self._lower
        return known

    def _find(self, path: str, is_shared: bool) -> str | None:
        if " " in path:
            return f"by its name {path}" if _stands(path.lower(), r"[\w-]", self._flat) else None
        whole = path.replace("\\", "/")
        name = base_name(whole)
        stem = name.rpartition(".")[0]
        said = self._paths(whole.lower(), name.lower())
        if not said and len(stem) >= _LEAST_STEM and _TELLING.search(stem):
            return None if is_shared else self._find_stem(stem.lower())
        long = max(said, key=len, default="")
        if "/" in long:
            return f"by its path {long}"
        return f"by its name {long}" if long and not is_shared else None

    def _find_stem(self, stem: str) -> str | None:
        """How it names a file without its extension, or the class or module that has its name: OrderBook."""
        for said in dict.fromkeys((stem, _JOINTS.sub("", stem))):
            if _stands(said, r"[\w/-]", self._lower):
                return f"by its name {said}"
        return None

    def _paths(self, whole: str, name: str) -> list[str]:
        """The paths in it that end in a name and may be of the file."""
        found = []
        at = self._lower.find(name) if name else -1
        for _ in range(_MOST_LOOKS):
            if at < 0:
                break
            end = at + len(name)
            said = self._path_at(at, end)
            if said is not None and f"/{whole}".endswith(f"/{said}"):
                found.append(said)
            at = self._lower.find(name, end)
        return found

    def _path_at(self, at: int, end: int) -> str | None:
        """The path that a name ends, without what only says where it is told from; None if the name goes on."""
        after, beyond = self._lower[end : end + 1], self._lower[end + 1 : end + 2]
        if after.isalnum() or after in ("_", "-") or (after == "." and beyond.isalnum()):
            return None
        start = at
        while start and at - start < _MOST_PATH and self._lower[start - 1] in _PATH:
            start -= 1
        return self._lower[start:end].lstrip("([:.~/@")
