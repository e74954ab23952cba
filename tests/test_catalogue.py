"""What is known of versions, tools and models."""

import pytest

from crusts_index.insight.window.catalogue import (
    CORE_TOOL_NAMES,
    configured_window,
    core_schema_tokens,
    core_tool_names,
    deferred_load_tokens,
    settings_window,
    variant_window,
)
from crusts_index.models import model_family, same_family
from crusts_index.windows import (
    compacts_when_refused,
    lift_window,
    parse_version,
    usual_buffer,
    usual_window,
    version_line,
)


def test_versions_compare_by_number() -> None:
    """2.1.9 is before 2.1.10; suffixes are passed over; an unknown version is before all."""
    versions = [None, "", "odd", "0.2.9", "1.0.43", "2.1.9", "v2.1.10", "2.1.150-beta.1", "2.1.214", "10.0"]
    parsed = [parse_version(version) for version in versions]
    assert parsed == sorted(parsed)
    assert parse_version("2.1.150-beta.1") == (2, 1, 150)


@pytest.mark.parametrize(
    ("version", "tokens"),
    [
        (None, 9_055),
        ("1.0.43", 9_055),
        ("2.1.149", 9_055),
        ("2.1.150", 15_000),
        ("2.1.159", 15_000),
        ("2.1.160", 17_500),
        ("2.1.213", 17_500),
        ("2.1.214", 20_500),
        ("2.1.1000", 20_500),
        ("3.0.0", 20_500),
    ],
)
def test_core_schema_tokens(version: str | None, tokens: int) -> None:
    """The cost of the core schemas goes by version band; a calibrated figure stands above it."""
    assert core_schema_tokens(version) == tokens
    assert core_schema_tokens(version, calibrated=12_345) == 12_345


def test_core_tools() -> None:
    """Twenty names in the newest versions, fewer in those that deferred some of them."""
    assert len(set(CORE_TOOL_NAMES)) == 20
    assert core_tool_names("2.1.304") == CORE_TOOL_NAMES
    assert {"TaskCreate", "ExitPlanMode"}.isdisjoint(core_tool_names("2.1.222"))
    assert "AskUserQuestion" in core_tool_names("2.1.149")
    assert "AskUserQuestion" not in core_tool_names("2.1.114")
    assert {"Task", "WebFetch"} <= set(core_tool_names("2.0.55"))
    assert "Glob" not in core_tool_names("2.1.304", deferred={"Glob"})
    assert (deferred_load_tokens("mcp__x__y"), deferred_load_tokens("WebFetch")) == (330, 1_000)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-opus-4-6[1m]", ("opus", (4, 6))),
        ("claude-opus-4-20250514", ("opus", (4,))),
        ("claude-3-5-sonnet-20241022", ("sonnet", (3, 5))),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", ("sonnet", (4, 5))),
        ("claude-haiku-4-5@20251001", ("haiku", (4, 5))),
        ("anthropic/claude-opus-4.6", ("opus", (4, 6))),
        ("claude-fable-5", ("fable", (5,))),
        ("fable-5", ("fable", (5,))),
        ("claude-novella-6-1-20270101", ("novella", (6, 1))),
        ("claude-2.1", ("", (2, 1))),
        ("opusplan[1m]", ("opus", ())),
        ("Sonnet", ("sonnet", ())),
        ("gpt-5", ("", ())),
        ("<synthetic>", ("", ())),
        ("", ("", ())),
        (None, ("", ())),
    ],
)
def test_model_family(model: str | None, family: tuple[str, tuple[int, ...]]) -> None:
    """Ids of every kind give the family and its numbers; dates and cloud suffixes are none of them."""
    assert model_family(model) == family


def test_same_family() -> None:
    """An alias fits any generation of its name; two generations of a name are two families."""
    assert same_family("claude-opus-4-8", "opus[1m]")
    assert same_family("claude-opus-4-8", "claude-opus-4-6[1m]")
    assert not same_family("claude-opus-4-8", "claude-opus-5")
    assert not same_family("claude-opus-4-8", "sonnet[1m]")
    assert not same_family(None, None)
    assert not same_family("gpt-5", "gpt-5")


def test_window_in_the_id() -> None:
    """[1m] in any case, and a last -1m; other sizes as they are written."""
    assert variant_window("claude-sonnet-4-5-20250929[1m]") == 1_000_000
    assert variant_window("SONNET[1M]") == 1_000_000
    assert variant_window("claude-sonnet-4-1m") == 1_000_000
    assert variant_window("opus[500k]") == 500_000
    for model in (None, "", "opus", "opus[m]", "opus[x]", "opus[]", "opus[0k]", "opus[\u0661m]"):
        assert variant_window(model) is None


def test_window_in_the_settings() -> None:
    """A settings model counts if it names a window and is of the session model's family."""
    assert settings_window("claude-opus-4-8", ["sonnet[1m]", "opus", "opus[1m]"]) == 1_000_000
    assert settings_window("claude-haiku-4-5", ["sonnet[1m]", "opus[1m]"]) is None
    assert settings_window(None, ["opus[1m]"]) is None


def test_usual_windows() -> None:
    """Generation 4.7 and later and names that are not known have 1,000,000, all models before 200,000 (D10)."""
    for model in (
        *("claude-fable-5", "mythos-5", "claude-opus-5-5-20261001", "claude-haiku-5", "claude-opus-10"),
        *("claude-opus-4-7", "claude-opus-4-8", "opus", "gpt-5", "claude-next-9", "unknown", None),
    ):
        assert 1_000_000 == usual_window(model), model
    for model in (
        *("claude-opus-4-6", "claude-sonnet-4-5-20250929", "claude-opus-4-20250514", "claude-3-5-sonnet-20241022"),
        *("claude-haiku-4-5", "claude-2.1"),
    ):
        assert 200_000 == usual_window(model), model


def test_usual_buffers() -> None:
    """45,000 up to 2.1.20, 33,000 after; the versions that compact alike are one line (D10)."""
    versions = ("1.0.43", "2.0.55", "2.1.20", "2.1.21", "2.1.332", None)
    buffers = [usual_buffer("claude-opus-4-8", version) for version in versions]
    assert [45_000, 45_000, 45_000, 33_000, 33_000, 33_000] == buffers
    assert ["1.0", "2.0", "2.1 early", "2.1", "2.1", ""] == [version_line(version) for version in versions]


def test_which_models_wait_to_be_refused() -> None:
    """Those of generation 4.5, from 2.1.200 on (D10)."""
    assert compacts_when_refused("claude-opus-4-5-20251101", "2.1.200")
    assert compacts_when_refused("claude-haiku-4-5", "2.1.332")
    assert not compacts_when_refused("claude-opus-4-5-20251101", "2.1.52")
    assert not compacts_when_refused("claude-sonnet-4-6", "2.1.332")
    assert not compacts_when_refused("claude-haiku-5-5", "2.1.332")
    assert 0 == usual_buffer("claude-haiku-4-5", "2.1.332")


def test_windows_by_configuration() -> None:
    """The first pattern that fits decides: a part of the id, or the whole with *; nonsense is passed over."""
    windows: dict[str, object] = {
        "opus-4-8": 500_000,
        "claude-sonnet-*-2025*": 300_000,
        "haiku": "big",
        "ha": -1,
    }
    assert configured_window("claude-opus-4-8", windows) == 500_000
    assert configured_window("claude-sonnet-4-20250514", windows) == 300_000
    assert configured_window("claude-sonnet-4-20260514", windows) is None
    assert configured_window("claude-haiku-4-5", windows) is None
    assert configured_window(None, {"": 5}) is None
    assert configured_window("claude-x[1m]", {"x[1m]": 7}) == 7
    assert configured_window("aba", {"ab*ba": 7}) is None


def test_larger_call_lifts_the_window() -> None:
    """A call that would not fit proves the next known size."""
    assert lift_window(200_000, 200_000) == 200_000
    assert lift_window(200_000, 200_001) == 1_000_000
    assert lift_window(500_000, 600_000) == 1_000_000
    assert lift_window(1_000_000, 1_200_000) == 1_000_000
    assert lift_window(2_000_000, 2_500_000) == 2_000_000
