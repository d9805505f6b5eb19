"""Finds the modules of the folder above."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
