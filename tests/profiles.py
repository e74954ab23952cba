"""What a property test draws: the same few examples in every run, many new ones with HYPOTHESIS_PROFILE=deep."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

IS_DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
DEEPER = 25


def examples(count: int) -> settings:
    """Settings for `count` examples, 25 times as many and drawn at random when deep.

    A plain run draws the same ones each time, so that it says the same of the same code. A slow machine is no failure.
    """
    slow = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture)
    return settings(
        max_examples=count * (DEEPER if IS_DEEP else 1),
        derandomize=not IS_DEEP,
        deadline=None,
        suppress_health_check=slow,
    )
