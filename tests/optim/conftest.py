"""Makes ``optim_support`` importable from the tests of this folder."""

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
