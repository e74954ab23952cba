"""Which terms of a text would show that a summary speaks of it, and whether it holds a decision or a number."""

from __future__ import annotations

import re

MOST_TERMS = 20
_LONGEST = 4_000  # characters of a text that are searched for terms
_EXCERPT = 200

_FILES = re.compile(r"(?<![\w.-])[\w-]++\.[A-Za-z0-9]{1,6}\b", re.ASCII)
_CALLS = re.compile(r"\b([A-Za-z_]\w{3,})\(", re.ASCII)
_WORDS = re.compile(r"[^\W\d_]{7,}")
_DECISION = re.compile(
    r"\b(?:decid|decision|agreed?\b|instead of|rather than|must\b|never\b|always\b|don't|do not|won't|"
    r"prefer|we(?:'ll| will)? use\b|let's use\b|chose\b|chosen\b|turned out|root cause|because\b)",
    re.IGNORECASE,
)
_MEASUREMENT = re.compile(
    r"(?<![\d,.])[,.]*+\d[\d,.]*+\s?(?:%|ms\b|µs\b|s\b|sec\b|seconds\b|min\b|minutes\b|x\b|[KMGT]i?B\b|kB\b|bytes\b|tokens\b|req/s\b"
    r"|rows\b|USD\b|fps\b|errors?\b|failed\b|passed\b)"
)


def key_terms(text: str) -> list[str]:
    """Up to 20 terms, lower-case: first names with an extension, then identifiers before a parenthesis, then words
    of more than six letters.
    """
    text = text[:_LONGEST]
    found = [*_FILES.findall(text), *_CALLS.findall(text), *_WORDS.findall(text)]
    return list(dict.fromkeys(term.lower() for term in found))[:MOST_TERMS]


def weight_of(text: str) -> str | None:
    """`decision` or `measurement` for a text that holds one, which is worth more than chatter; else None."""
    text = text[:_LONGEST]
    if _DECISION.search(text):
        return "decision"
    return "measurement" if _MEASUREMENT.search(text) else None


class Summary:
    """What a compaction left in words. `text` None: there is no summary, or its text was not kept."""

    def __init__(self, text: str | None) -> None:
        self.text = text
        self._lower = (text or "").lower()
        self._known: dict[str, bool] = {}

    @property
    def excerpt(self) -> str | None:
        """Its first 200 characters."""
        return None if self.text is None else self.text[:_EXCERPT]

    def names(self, term: str) -> bool:
        """Whether a term occurs in it, in any case; it may be part of a longer word."""
        term = term.lower()
        known = self._known.get(term)
        if known is None:
            known = self._known[term] = bool(term) and term in self._lower
        return known

    def named_of(self, terms: list[str]) -> list[str]:
        """Those of the terms that occur in it."""
        return [term for term in terms if self.names(term)]
