"""Settings of all tests."""

import os

import pytest
from hypothesis import settings

# The same examples in every run: a change is judged by what it changes. HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("reproducible", derandomize=True)
settings.register_profile("explore")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "reproducible"))


@pytest.fixture
def factorisations(monkeypatch):
    """A list that grows by one entry, the number of unknowns, with every sparse factorisation that is tried."""
    from pliant.algebra.supernodal import SupernodalFactor

    done, original = [], SupernodalFactor.__init__

    def counted(self, matrix, *args, **options):
        done.append(matrix.n)
        original(self, matrix, *args, **options)

    monkeypatch.setattr(SupernodalFactor, "__init__", counted)
    return done
