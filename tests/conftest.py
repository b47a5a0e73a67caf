"""How hypothesis draws: seeded, without deadlines or a database, fewer where it is slow."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.helpers import IN_PYODIDE, IN_PYPY

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
_EXAMPLES = 12 if IN_PYODIDE else 40 if IN_PYPY else 80

settings.register_profile(
    "suite",
    max_examples=_EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=_SLOW,
)
# `pytest --hypothesis-profile=explore`: new examples each time, many of them.
settings.register_profile(
    "explore", max_examples=3000, deadline=None, database=None, suppress_health_check=_SLOW
)
settings.load_profile("suite")
