"""Makes the tests' own modules importable, and says how many examples are tried.

The default run leaves out what is marked ``slow``, and tries few examples of each property; ``-m ""`` runs everything
and tries many. A test multiplies ``settings.default.max_examples``.
"""

import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

# ART's mp_actors (0.5.18) patches asyncio for good when a test imports it: later tests' event
# loops would neither cancel tasks nor close generators. Train modules run in other processes.
with suppress(ImportError):
    import nest_asyncio

    nest_asyncio.apply = lambda loop=None: None

settings.register_profile("few", max_examples=15)
settings.register_profile("many", max_examples=60)

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "properties"))


@pytest.fixture(scope="session")
def mypy_cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One cache for all runs of mypy: reading ART and openai takes most of a minute."""
    return f"--cache-dir={tmp_path_factory.mktemp('mypy')}"


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("few" if "not slow" in config.option.markexpr else "many")
