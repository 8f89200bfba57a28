"""Settings of all tests."""

import os

import numpy  # noqa: F401  so that its BLAS is there to be set
import pytest
import scipy.linalg  # noqa: F401
from hypothesis import settings
from threadpoolctl import threadpool_limits

# BLAS rounds differently with other numbers of threads, and iterations close to a change of contacts then take another
# path; two workers with two threads each would also only get in each other's way.
threadpool_limits(1, user_api="blas")

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
