"""Makes the tests' own modules importable: the scripted engine, the fixture agents, the comparison."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "properties"))
