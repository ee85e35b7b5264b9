"""Functions of linear algebra that PyTorch had once: each is an error that names its successor."""

from __future__ import annotations

from typing import Any

from ._core import Tensor

__all__ = ["eig", "lstsq", "matrix_rank", "solve", "symeig"]


def _removed(name: str, advice: str) -> RuntimeError:
    return RuntimeError(f"{name} has been removed: {advice}")


def eig(self: Tensor, eigenvectors: bool = False, *, e: Any = None, v: Any = None) -> Any:
    """Removed: use ``linalg.eig`` or ``linalg.eigvals``, whose results are complex."""
    raise _removed("eig", "use linalg.eig or linalg.eigvals, whose results are complex")


def symeig(
    input: Tensor, eigenvectors: bool = False, upper: bool = True, *, out: Any = None
) -> Any:
    """Removed: use ``linalg.eigh`` or ``linalg.eigvalsh``, which read the lower triangle."""
    raise _removed("symeig", "use linalg.eigh or linalg.eigvalsh, which read the lower triangle")


def lstsq(input: Tensor, A: Tensor, *, out: Any = None) -> Any:
    """Removed: use ``linalg.lstsq``, which takes A first."""
    raise _removed("lstsq", "use linalg.lstsq(A, input), which takes A first")


def solve(input: Tensor, A: Tensor, *, out: Any = None) -> Any:
    """Removed: use ``linalg.solve``, which takes A first and returns no factors."""
    raise _removed("solve", "use linalg.solve(A, input), which takes A first")


def matrix_rank(input: Tensor, tol: Any = None, symmetric: bool = False, *, out: Any = None) -> Any:
    """Removed: use ``linalg.matrix_rank``, where ``symmetric`` is called ``hermitian``."""
    raise _removed("matrix_rank", "use linalg.matrix_rank, where symmetric is called hermitian")


for _function in (eig, symeig, lstsq, solve):
    setattr(Tensor, _function.__name__, _function)
