"""The old place of `rushlight.func.functional_call`."""

from __future__ import annotations

from ...func.functional_call import functional_call

__all__ = ["functional_call"]
