"""Prices of the usual models, Claude's, as the price list has them: known without its import, which costs as much as
reading 15 MB of transcripts.

`known_prices.json` is made of the list's own data and holds for one version of it; where another is installed, nothing
is known. What is known is what the list would say; whatever would need more of it than Anthropic's rules and the names
of Bedrock's models that are written out is left to it.
"""

import json
import os
import re
import sys

from crusts_index.store.price_list import bare, name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from crusts_index.store.price_list import Row

FILE = os.path.join(os.path.dirname(__file__), "known_prices.json")
_PACKAGE = "genai_prices"
_DATED = re.compile("[0-9]{8}")
_FITS: "dict[str, Callable[[str, str], object]]" = {
    "equals": lambda text, name: name == text,
    "starts_with": lambda text, name: name.startswith(text),
    "contains": lambda text, name: text in name,
    "regex": re.search,
}
"""Whether a name fits a rule, by the rule's kind."""


class KnownPrices:
    """The prices of one version of the list."""

    def __init__(self, data: "dict[str, Any]") -> None:
        self.source: str = data["source"]
        """That version, in the words of a price's source."""
        self._rules: dict[str, list[list[str]]] = data["anthropic"]
        self._names = {name: entry for entry, names in data["aws"].items() for name in names}
        self._prices: dict[str, list[list[Any]]] = data["prices"]

    def rows(self, model: str) -> "list[Row]":
        """What the list says of a model as logged; nothing where the list itself is to be asked."""
        entry = self._entry(model)
        return [(*row[:-1], f"{self.source} {entry}{row[-1]}") for row in self._prices.get(entry or "", ())]

    def _entry(self, model: str) -> str | None:
        """The provider and its entry, by the same tries in the same order as `price_list.find`."""
        name = name_of(model)
        if name is None or "claude" not in name:
            return None
        if found := self._by_rule(name):
            return found
        if "anthropic.claude" in name:
            return self._names.get(name.rpartition("/")[2])
        if "@" in name or _DATED.search(name):  # the list tries Google's, or other spellings of a date
            return None
        return self._by_rule(bare(name))

    def _by_rule(self, name: str) -> str | None:
        for entry, rules in self._rules.items():
            if any(_FITS[kind](text, name) for kind, text in rules):
                return entry
        return None


def load() -> KnownPrices | None:
    """What is known; None where the list that is installed is of another version."""
    with open(FILE, encoding="utf-8") as file:
        known = KnownPrices(json.load(file))
    return known if _is_installed(known.source.rpartition(" ")[2]) else None


def _is_installed(version: str) -> bool:
    """Whether the list would be imported in that version. By the folder beside it: asking for it costs an import."""
    for folder in sys.path:
        if os.path.isdir(os.path.join(folder, _PACKAGE)):
            return os.path.isdir(os.path.join(folder, f"{_PACKAGE}-{version}.dist-info"))
    return False
