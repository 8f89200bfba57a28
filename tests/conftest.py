"""Settings of all tests."""

import os

from hypothesis import settings

# The same examples in every run: a change is judged by what it changes. HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("reproducible", derandomize=True)
settings.register_profile("explore")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "reproducible"))
