"""Asks the genai-prices package which prices a model has: each speed or tier, period and size. Spec: D15.

The package is slow to import, so it is only where it is asked.
"""

import re

from crusts_index.errors import CrustsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from decimal import Decimal

    from genai_prices.types import ModelInfo, ModelPrice, PriceVariant, Provider

    Row = tuple[str | None, str | None, int, float, float, float, float, float, float | None, str]
    """speed, from_day, above_tokens, five prices by kind of token, web_search_usd, source: as the table has them."""

# What the package's data calls that on which a price may depend, where a call's usage has the same word for it.
_MODES = ("speed", "service_tier", "processing")
_STANDARD = ("default", "standard", "auto")
_LONGEST_NAME = 200
"""Characters of a model's name, beyond which it is none that a list could have."""
_VARIANT = re.compile(r"\[[^\[\]]*+\]$")
_REVISION = re.compile(r"-v[0-9]++(?::[0-9]++)?+$")
_CLOUD = re.compile(r"^.*[/.](?=claude)")


def source() -> str:
    """What the rows say they are from."""
    from importlib.metadata import version

    return f"genai-prices {version('genai-prices')}"


def bundled() -> "list[Provider]":
    """The list as it came with the package."""
    from genai_prices.data import providers

    return providers


def fetched() -> "list[Provider]":
    """The newest list, from the network. Raises CrustsError where it cannot be had."""
    from genai_prices import UpdatePrices

    try:
        snapshot = UpdatePrices().fetch()
    except Exception as error:  # whatever the package's HTTP client raises
        raise CrustsError(f"the price list cannot be fetched: {error}; the prices stay as they are") from error
    if snapshot is None:
        raise CrustsError("the price list cannot be fetched: nothing came; the prices stay as they are")
    return snapshot.providers


def rows_of(model: str, source: str, providers: "list[Provider]") -> "Iterator[Row]":
    """The prices of a model, each speed or tier, period and size; none if it is not listed."""
    from datetime import UTC, datetime

    listed = find(model, providers)
    if listed is None:
        return
    provider, info = listed
    days = _first_days(info)
    if days is None:
        return
    is_claude = "claude" in info.id.lower()
    modes, differing = _modes(info), set()
    for day in days:
        time = datetime(day.year, day.month, day.day, tzinfo=UTC) if day else datetime(1970, 1, 1, tzinfo=UTC)
        standard = info.get_prices(time)
        tag = f"{source} {provider}/{info.id}"
        yield from _tiers(standard, None, day, tag, is_claude=is_claude)
        for mode, context in modes.items():
            price = info.get_prices(time, context)
            if price != standard:
                differing.add(mode)
            if mode in differing:
                yield from _tiers(price, mode, day, f"{tag} {mode}", is_claude=is_claude)


def _tiers(
    prices: "ModelPrice", speed: str | None, day: "date | None", source: str, *, is_claude: bool
) -> "Iterator[Row]":
    from genai_prices.types import TieredPrices

    def at(key: str, tokens: int) -> "Decimal | None":
        price = getattr(prices, key, None)
        if not isinstance(price, TieredPrices):
            return price
        return next((tier.price for tier in reversed(price.tiers) if tokens >= tier.start), price.base)

    keys = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok", "output_mtok")
    tiered = [price for price in (getattr(prices, key, None) for key in keys) if isinstance(price, TieredPrices)]
    for start in sorted({0, *(tier.start for price in tiered for tier in price.tiers)}):
        fresh, read, write, write_1h, output = (at(key, start) for key in keys)
        if fresh is None or output is None:
            return
        derived = []
        if read is None:
            read = fresh / 10 if is_claude else fresh
            derived.append("cache read 0.1 x input" if is_claude else "cache read as input")
        if write is None:
            write = fresh * 5 / 4 if is_claude else fresh
            derived.append("5m cache write 1.25 x input" if is_claude else "cache write as input")
        if write_1h is None:
            write_1h = fresh * 2 if is_claude else write
            derived.append("1h cache write 2 x input" if is_claude else "1h cache write as 5m")
        search = at("web_searches_kcount", start)
        yield (
            speed,
            day.isoformat() if day else None,
            start,
            float(fresh),
            float(read),
            float(write),
            float(write_1h),
            float(output),
            None if search is None else float(search),
            f"{source}; derived: {', '.join(derived)}" if derived else source,
        )


def _first_days(info: "ModelInfo") -> "list[date | None] | None":
    """The days on which a price of the model begins, None for the beginning of time.

    None as a whole for a model without prices and for one whose price depends on the hour.
    """
    from genai_prices.types import ModelPrice, StartDateConstraint

    dated = [] if isinstance(info.prices, ModelPrice) else info.prices
    if not info.prices:
        return None
    constraints = [price.constraint for price in dated]
    constraints += [variant.constraint for variant in _variants(info) if _mode_of(variant)]
    days: set[date] = set()
    for constraint in constraints:
        if isinstance(constraint, StartDateConstraint):
            days.add(constraint.start_date)
        elif constraint is not None:
            return None
    return [None, *sorted(days)]


def _modes(info: "ModelInfo") -> "dict[str, dict[str, str]]":
    """The speeds and tiers with prices of their own, as a call's usage names them, and the package's words for them."""
    return {mode: dict(variant.when) for variant in _variants(info) if (mode := _mode_of(variant))}


def _variants(info: "ModelInfo") -> "list[PriceVariant]":
    """Prices under conditions, but for those that hold at some hours only."""
    from genai_prices.types import TimeOfDateConstraint

    variants = getattr(info, "price_variants", None) or ()
    return [variant for variant in variants if not isinstance(variant.constraint, TimeOfDateConstraint)]


def _mode_of(variant: "PriceVariant") -> str | None:
    """The speed or tier that a price is for: one condition, which a call's usage can name; else None."""
    ((key, mode), *more) = variant.when.items()
    return mode if not more and key in _MODES and mode not in _STANDARD else None


def find(model: str, providers: "list[Provider]") -> "tuple[str, ModelInfo] | None":
    """The provider's id and its entry for a model as logged.

    Anthropic's own list first; a Bedrock or Vertex name by that provider's list, else by the bare name in it;
    a model of others by the provider its name tells.
    """
    name = name_of(model)
    if name is None:
        return None
    by_id = {provider.id: provider for provider in providers}
    if "claude" in name:
        tries = [("anthropic", name)]
        tries += [("aws", name.rpartition("/")[2])] if "anthropic.claude" in name else []
        tries += [("google", name)] if "@" in name else []
        tries += [("anthropic", bare(name))]
    elif ":" in name:  # a tag of a local model
        return None
    else:
        tries = [(p.id, name) for p in providers if p.model_match is not None and p.model_match.is_match(name)][:1]
    for provider, ref in tries:
        if provider in by_id and (info := by_id[provider].find_model(ref)):
            return provider, info
    return None


def name_of(model: str) -> str | None:
    """The name as a list may have it: in lower case, without `[1m]`; None for what names no model."""
    name = model.strip().lower()
    if len(name) > _LONGEST_NAME:
        return None
    name = _VARIANT.sub("", name)
    return None if not name or name.startswith("<") else name


def bare(name: str) -> str:
    """A Claude model's name without what a cloud puts before and behind it."""
    return _REVISION.sub("", _CLOUD.sub("", name).partition("@")[0])
