"""Settings of all tests."""

import os
import shutil

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


@pytest.fixture(scope="session")
def chromium():
    """A headless Chromium that reaches nothing but this machine."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no chromium on this machine (Debian: apt install chromium)")
    api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (pip install playwright)"
    )
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            args=[
                "--no-sandbox",
                "--use-angle=swiftshader",
                "--enable-unsafe-swiftshader",
                "--ignore-gpu-blocklist",
                "--disable-background-networking",
                "--disable-component-update",
                "--no-first-run",
            ],
        )
        yield browser
        browser.close()
