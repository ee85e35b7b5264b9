"""The operators: one file for each family, one record for each operator."""

from __future__ import annotations

import importlib

FAMILIES = (
    "conversion",
    "complex",
    "arithmetic",
    "powers",
    "rounding",
    "exponential",
    "trigonometric",
    "comparison",
    "bitwise",
    "selection",
    "shapes",
    "parts",
    "reductions",
    "extremes",
    "scans",
    "sorting",
    "uniques",
    "recurrences",
    "differences",
    "statistics",
    "special",
    "polynomials",
    "integer_functions",
    "join",
    "creation",
    "indexing",
    "gathering",
    "nonzero",
    "subscripts",
    "regions",
    "diagonals",
    "rearrange",
    "stacks",
    "linear_algebra",
    "products",
    "einsum",
    "normalization",
    "windows",
    "convolution_maps",
    "convolution",
    "norms",
    "unit_norm",
    "max_pooling",
    "average_pooling",
    "padding",
    "blocks",
    "interpolation",
    "grids",
    "channel_norms",
    "attention",
    "multihead",
    "embeddings",
    "activations",
    "gates",
    "losses",
    "random",
    "sampling",
    "dropout",
    "optimization",
)


def load() -> None:
    """Import every family, which fills the tables in ``ops/record.py``."""
    for family in FAMILIES:
        importlib.import_module(f"{__name__}.{family}")
