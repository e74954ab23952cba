"""What a model's id says: its family and its generation."""

Generation = tuple[int, ...]

_FAMILIES = ("opus", "sonnet", "haiku", "fable", "mythos", "instant")
_SHORTEST_DATE = 6


def model_family(model: str | None) -> tuple[str, Generation]:
    """A Claude model's family name and its numbers: `claude-opus-4-6[1m]` is ("opus", (4, 6)).

    Knows ids of other providers' clouds, old ids with the number first, and the aliases in settings
    (`sonnet`), which have no number. ("", ()) for a model that is none of Claude's.
    """
    words = _words(model)
    if "claude" in words:
        words = words[words.index("claude") + 1 :]
    elif not words or not words[0].startswith(_FAMILIES):
        return "", ()
    name, numbers = "", []
    for word in words:
        if word.isascii() and word.isdigit():
            if len(word) >= _SHORTEST_DATE:
                break
            numbers.append(int(word))
        elif name:
            break
        elif word.isalpha():
            name = next((family for family in _FAMILIES if word.startswith(family)), word)
    return name, tuple(numbers)


def same_family(model: str | None, other: str | None) -> bool:
    """Whether two ids are of one family: the same name and, where both say it, the same generation."""
    name, numbers = model_family(model)
    other_name, other_numbers = model_family(other)
    if not name or name != other_name:
        return False
    return not numbers or not other_numbers or numbers[0] == other_numbers[0]


def _words(model: str | None) -> list[str]:
    text = (model or "").strip().lower()
    for end in ("[", "@", ":"):
        text = text.partition(end)[0]
    for separator in ("/", ".", "_"):
        text = text.replace(separator, "-")
    return [word for word in text.split("-") if word]
