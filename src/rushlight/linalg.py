"""Linear algebra: solving systems of equations, decompositions and functions of matrices.

The functions are operators, which are added when the package is imported.
"""

from __future__ import annotations

from .ops.results import LinAlgError

__all__ = ["LinAlgError"]
