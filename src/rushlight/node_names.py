"""Names of the tape's nodes: what PyTorch calls those of the same calls, where one node of its own
does the work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .graph.trace import Traced
from .ops.record import Record

# Operators whose node has the name of what they do.
_RENAMED = {
    "chunk": "Split",
    "square": "Pow",
    "float_power": "Pow",
    "true_divide": "Div",
    "clip": "Clamp",
    "norm": "LinalgVectorNorm",
    "cross": "LinalgCross",
    "log_sigmoid": "LogSigmoid",
    "logsigmoid": "LogSigmoid",
    "prelu": "PreluKernel",
    "rrelu": "RreluWithNoise",
    "relu6": "Hardtanh",
    "selu": "Elu",
    "softsign": "Div",
    "softmin": "Softmax",
    "tanhshrink": "Sub",
    "layer_norm": "NativeLayerNorm",
    "group_norm": "NativeGroupNorm",
    "batch_norm": "NativeBatchNorm",
    "linear": "Addmm",
    "cross_entropy": "NllLoss",
    "fold": "Col2Im",
    "functional_unfold": "Im2Col",
    "affine_grid": "AffineGridGenerator",
    "max_pool2d": "MaxPool2DWithIndices",
    "max_pool3d": "MaxPool3DWithIndices",
    "adaptive_max_pool2d_with_indices": "AdaptiveMaxPool2D",
    "adaptive_max_pool3d_with_indices": "AdaptiveMaxPool3D",
    "index_tensors": "Index",
    "dropout": "Mul",
    "take_along_dim": "Gather",
    "tile": "Repeat",
    "msort": "Sort",
    "outer": "Mul",
    **dict.fromkeys(("diag_embed", "diagflat"), "DiagEmbed"),
    **dict.fromkeys(("fliplr", "flipud"), "Flip"),
    **dict.fromkeys(("hstack", "vstack", "dstack", "column_stack"), "Cat"),
    **dict.fromkeys(("combinations", "cartesian_prod"), "Stack"),
    **dict.fromkeys(("tensor_split", "hsplit", "vsplit", "dsplit"), "Slice"),
    **dict.fromkeys(("broadcast_to", "broadcast_tensors", "meshgrid"), "Expand"),
    **dict.fromkeys(("ravel", "unflatten", "reshape_as"), "View"),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), "Convolution"),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), "Convolution"),
    **dict.fromkeys(("to", "half", "bfloat16", "float", "double"), "ToCopy"),
    **dict.fromkeys(("cfloat", "cdouble", "chalf"), "ToCopy"),
}
# Products of two tensors of these ranks.
_PRODUCTS = {(2, 2): "Mm", (2, 1): "Mv", (1, 1): "Dot"}
# Of two nodes of one operator, the calls that have the second: those that give the parameter, that
# do not, that give a tensor there, or a number.
_SECOND = {
    "given": {
        "sum": "dim", "mean": "dim", "prod": "dim", "median": "dim", "nanmedian": "dim",
        "squeeze": "dim",
    },
    "absent": {"max": "dim", "min": "dim"},
    "tensor": {
        "pow": "exponent", "clamp_min": "min", "clamp_max": "max", "masked_fill": "value",
        "fmod": "other", "remainder": "other", "lerp": "weight",
    },
    "number": {"copysign": "other", "rsub": "other", "scatter": "src", "clamp": "min"},
}  # fmt: skip
_HOLDS = {
    "given": lambda argument: argument is not None,
    "absent": lambda argument: argument is None,
    "tensor": lambda argument: isinstance(argument, Traced) and not argument.weak,
    "number": lambda argument: not isinstance(argument, Traced) or argument.weak,
}


def node_name(name: str) -> str:
    """``layer_norm`` gives ``NativeLayerNormBackward0``."""
    return "CopyBackwards" if name == "copy_" else f"{_base(name)}Backward0"


def node_name_of_call(record: Record, name: str, arguments: Mapping[str, Any]) -> str:
    """The name of the node of a call of an operator under this name (in place with an underscore
    at its end).
    """
    plain = name.rstrip("_")
    first = node_name(name)
    if plain == "matmul":
        ranks = tuple(each.ndim for each in arguments.values())
        return f"{_PRODUCTS.get(ranks, 'UnsafeView')}Backward0"
    if plain == "sub" and _HOLDS["number"](arguments["input"]):
        return "RsubBackward1"
    if plain == record.name and plain not in _RENAMED:
        space = next(iter(record.names), plain).split(".")[0]
        alone = all("." in path for path in record.names) and not plain.startswith(space)
        if space in ("special", "linalg") and alone:
            first = f"{space.capitalize()}{first}"
    for condition, parameters in _SECOND.items():
        parameter = parameters.get(plain, "")
        if parameter in arguments and _HOLDS[condition](arguments[parameter]):
            return f"{first[:-1]}1"
    return first


def _base(name: str) -> str:
    """A letter behind a digit is a capital: ``Log1P``."""
    if name in _RENAMED:
        return _RENAMED[name]
    plain = name.strip("_").removeprefix("functional_")
    if plain in _RENAMED:
        return _RENAMED[plain]
    words = "".join(word[:1].upper() + word[1:] for word in plain.split("_"))
    return re.sub(r"\d[a-z]", lambda found: found.group().upper(), words)
