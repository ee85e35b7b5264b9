"""The operators that programs are made of: one short entry each, those of the simple kinds from
the operator table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import arguments as a
import numpy
import torch
from calls import Call, Dtype, Ref
from drawing import Drawing
from memory import PRECISION, dtype_name, numbers
from program import ULPS, Program
from tolerance import (
    magnitudes,
    result_in_pytorch,
    slack_of_erf,
    slack_of_normalization,
    slack_of_sigmoid,
    slack_of_sinc,
    slack_of_softmax,
    slack_of_special,
    ulps_of_mixed,
    undefined,
)

from rushlight.ops.record import FUNCTIONS

Slack = Callable[[Program, Call], Any]


@dataclass(frozen=True)
class Operator:
    """arguments, keywords: strategies (``arguments.py``), keywords each with a percentage.

    forms: f function, m method, i in-place method, o ``out=``;
    slack: what rounding may add to units in the last place (``tolerance.py``).
    """

    name: str
    arguments: tuple[Any, ...]
    keywords: dict[str, tuple[int, Any]] = field(default_factory=dict)
    forms: str = "fm"
    slack: Slack | None = None
    ulps: float = ULPS

    def draw(self, drawing: Drawing) -> Call:
        args: list[Any] = []
        for strategy in self.arguments:
            args.append(strategy(drawing, args))
        kwargs: dict[str, Any] = {}
        for name, (chance, strategy) in self.keywords.items():
            if drawing.percent(chance) and (
                name != "keepdim" or "dim" in kwargs or drawing.mistake()
            ):
                kwargs[name] = strategy(drawing, args)
        form = drawing.choice(self.forms)
        if form == "o":
            kwargs["out"] = out(drawing, Call(self.name, args, kwargs))
        last = self.name.rpartition(".")[2]
        path = {"f": self.name, "o": self.name, "m": f".{last}", "i": f".{last}_", "x": self.name}[
            form
        ]
        return Call(path, args, kwargs)


def out(drawing: Drawing, call: Call) -> Ref:
    """A tensor for the result: one that fits, one to resize or convert into, or any."""
    expected = result_in_pytorch(drawing.program, call)
    if expected is None or drawing.percent(10):
        return drawing.tensor()
    kind = drawing.integer(0, 9)
    shape = (2, 5) if kind == 0 else expected.shape
    return drawing.leaf(shape, None if kind == 1 else dtype_name(expected))


def run(program: Program, drawing: Drawing, operator: Operator) -> None:
    """Draw a call of the operator and compare it, unless what it does is undefined in PyTorch."""
    call = operator.draw(drawing)
    if undefined(program, call):
        return
    slack = operator.slack(program, call) if operator.slack else 0.0
    program.step(call, slack, max(operator.ulps, ulps_of_mixed(program, call)))


# ---------------------------------------------------------------- from the operator table

# PyTorch gives lazily conjugated views, or draws random numbers, or returns uninitialised memory.
UNLIKE = {
    "conj",
    "conj_physical",
    "resolve_conj",
    "bernoulli",
    "rand_like",
    "randn_like",
    "empty_like",
}
UNLIKE |= {"tile", "adjoint"}
# Rounding grows with the condition of a matrix, which these programs do not look after.
UNLIKE |= {"det", "logdet", "slogdet", "geqrf", "inverse", "matrix_exp"}
# Those for which PyTorch's parser wants a tensor.
TENSORS_ONLY = {
    "maximum",
    "minimum",
    "nextafter",
    "logaddexp",
    "logaddexp2",
    "ldexp",
    "equal",
    "isclose",
    "allclose",
    "logical_and",
    "logical_or",
    "logical_xor",
}
SLACK: dict[str, Slack] = {
    "add": magnitudes,
    "sub": magnitudes,
    "rsub": magnitudes,
    "subtract": magnitudes,
    "logaddexp": magnitudes,
    "logaddexp2": magnitudes,
    "erf": slack_of_erf,
    "sigmoid": slack_of_sigmoid,
    "sinc": slack_of_sinc,
    "inner": magnitudes,
    "vdot": magnitudes,
    "trace": magnitudes,
    "cov": slack_of_normalization,
    "corrcoef": slack_of_normalization,
}
# Series and recurrences, which no two libraries sum in one way.
SLACK |= dict.fromkeys(("digamma", "igamma", "igammac", "lgamma", "i0", "erfinv"), slack_of_special)
# out= takes a pair; PyTorch writes through a view, which leaves the version as it was.
WITHOUT_OUT = {"frexp", "kron"}
EXTRA_KEYWORDS = {
    "div": {"rounding_mode": (50, a.one_of("floor", "trunc", None, "ceil"))},
    "round": {"decimals": (20, a.one_of(0, 1, 2))},
    "add": {"alpha": (25, a.number)},
    "sub": {"alpha": (25, a.number)},
    "rsub": {"alpha": (25, a.number)},
}


def _parameters(record: Any) -> list[str]:
    return [
        p.name
        for p in record.parameters
        if p.name in record.signature.parameters and _positional(record, p.name)
    ]


def _positional(record: Any, name: str) -> bool:
    return record.signature.parameters[name].kind.name == "POSITIONAL_OR_KEYWORD"


def simple_operators() -> list[Operator]:
    """The operators of the table that take one or two tensors and nothing else."""
    found = []
    for path, record in sorted(FUNCTIONS.items()):
        names = _parameters(record)
        if (
            path in UNLIKE
            or "." in path
            or not record.methods
            or record.views
            or not hasattr(torch, path)
        ):
            continue
        if names == ["input"]:
            strategies: tuple[Any, ...] = (a.tensor,)
        elif names in (["input", "other"], ["input", "exponent"]):
            strategies = (a.tensor, a.broadcastable if path in TENSORS_ONLY else a.operand)
        else:
            continue
        if path in PARTICULAR:
            continue
        methods = "mm" if hasattr(torch.Tensor, path) else ""
        inplace = "ii" if record.inplace and hasattr(torch.Tensor, f"{path}_") else ""
        forms = "ff" + methods + inplace + ("o" if record.out else "")
        if path in WITHOUT_OUT:
            forms = forms.replace("o", "")
        keywords, slack = EXTRA_KEYWORDS.get(path, {}), SLACK.get(path)
        found.append(Operator(path, strategies, keywords, forms, slack))
    return found


def dunders() -> list[Operator]:
    names = [
        "add",
        "radd",
        "iadd",
        "sub",
        "rsub",
        "mul",
        "rmul",
        "imul",
        "truediv",
        "rtruediv",
        "itruediv",
        "floordiv",
    ]
    names += [
        "rfloordiv",
        "mod",
        "rmod",
        "pow",
        "rpow",
        "and",
        "or",
        "xor",
        "iand",
        "eq",
        "lt",
        "ge",
        "lshift",
        "rshift",
    ]
    # PyTorch calls the reflected forms with numbers only.
    return [
        Operator(
            f".__{name}__",
            (a.tensor, a.number if name.startswith("r") and name != "rshift" else a.operand),
            forms="x",
        )
        for name in names
    ]


# ---------------------------------------------------------------- the others

DTYPE = {"dtype": (25, a.some_dtype)}
KEEPDIM = {"keepdim": (40, a.flag)}
REDUCTION = {"dim": (70, a.dims), **KEEPDIM}
ONE_DIM = {"dim": (60, a.dim)}

PARTICULAR_OPERATORS = [
    Operator("where", (a.tensor, a.operand, a.operand), forms="f"),
    Operator("masked_fill", (a.tensor, a.mask, a.number), forms="fmi"),
    Operator("clamp", (a.real, a.maybe_operand, a.maybe_operand), forms="fmio"),
    Operator("clamp_min", (a.real, a.operand), forms="fmi"),
    Operator("clamp_max", (a.real, a.operand), forms="fmi"),
    Operator(
        "lerp", (a.floating, a.same_dtype, a.one_of(0.25, 1, 0.75)), forms="fmi", slack=magnitudes
    ),
    Operator(
        "addcmul",
        (a.tensor, a.same_dtype, a.same_dtype),
        {"value": (40, a.number)},
        "fmi",
        magnitudes,
    ),
    Operator(
        "addcdiv",
        (a.floating, a.same_dtype, a.same_dtype),
        {"value": (40, a.number)},
        "fmi",
        magnitudes,
    ),
    # dtypes and copies
    Operator(".to", (a.tensor, a.some_dtype), {"copy": (20, a.flag)}, "x"),
    Operator(".type_as", (a.tensor, a.tensor), forms="x"),
    Operator(".contiguous", (a.tensor,), forms="x"),
    Operator("clone", (a.tensor,)),
    Operator("detach", (a.tensor,)),
    Operator(".copy_", (a.tensor, a.broadcastable), forms="x"),
    Operator(".fill_", (a.tensor, a.number), forms="x"),
    Operator(".zero_", (a.tensor,), forms="x"),
    # reductions
    Operator("sum", (a.tensor,), {**REDUCTION, **DTYPE}, "fmo", magnitudes),
    Operator("nansum", (a.real,), {**REDUCTION}, "fm", magnitudes),
    Operator("mean", (a.floating,), {**REDUCTION, **DTYPE}, "fmo", magnitudes),
    Operator("prod", (a.tensor,), {**ONE_DIM, **DTYPE}, "fm", magnitudes, 16),
    Operator("amax", (a.real,), REDUCTION, "fmo"),
    Operator("amin", (a.real,), REDUCTION, "fmo"),
    Operator("aminmax", (a.real,), {"dim": (60, a.dim), **KEEPDIM}, "fm"),
    Operator("max", (a.real,)),
    Operator("max", (a.real, a.dim)),
    Operator("min", (a.real, a.dim, a.flag)),
    Operator("max", (a.real, a.broadcastable)),
    Operator("argmax", (a.real,), {**ONE_DIM}, "fm"),
    Operator("argmin", (a.real,), {**ONE_DIM}, "fm"),
    Operator("any", (a.tensor,), REDUCTION, "fmo"),
    Operator("all", (a.tensor,), REDUCTION, "fmo"),
    Operator("count_nonzero", (a.tensor,), {"dim": (60, a.dims)}, "fm"),
    Operator("cumsum", (a.tensor, a.dim), DTYPE, "fmi", magnitudes),
    Operator("logsumexp", (a.floating, a.dim), KEEPDIM, "fm", slack_of_softmax),
    # matrix products
    Operator("matmul", (a.tensor, a.matrix_partner), forms="fm", slack=magnitudes),
    Operator("mm", (a.ranked(2, 2), a.matrix), forms="fmo", slack=magnitudes),
    Operator("mv", (a.ranked(2, 2), a.matrix_partner), forms="fm", slack=magnitudes),
    Operator("dot", (a.ranked(1, 1), a.like), forms="fm", slack=magnitudes),
    Operator("outer", (a.ranked(1, 1), a.ranked(1, 1)), forms="fm"),
    Operator("nn.functional.linear", (a.floating, a.weight, a.bias), forms="f", slack=magnitudes),
    # views
    Operator("reshape", (a.tensor, a.new_shape)),
    Operator(".view", (a.tensor, a.new_shape), forms="x"),
    Operator("transpose", (a.tensor, a.dim, a.dim)),
    Operator("permute", (a.tensor, a.order)),
    Operator("movedim", (a.tensor, a.dim, a.dim)),
    Operator("t", (a.tensor,)),
    Operator(".expand", (a.tensor, a.expanded), forms="x"),
    Operator("broadcast_to", (a.tensor, a.expanded)),
    Operator("squeeze", (a.tensor,), {"dim": (60, a.dims)}),
    Operator("unsqueeze", (a.tensor, a.new_dim)),
    Operator("flatten", (a.tensor,), {"start_dim": (50, a.dim), "end_dim": (50, a.dim)}),
    Operator("select", (a.tensor, a.dim, a.position)),
    Operator("narrow", (a.tensor, a.dim, a.position, a.one_of(1, 2, 0, 5))),
    Operator("unbind", (a.tensor,), {"dim": (50, a.dim)}),
    Operator("chunk", (a.tensor, a.one_of(2, 1, 3, 0)), {"dim": (50, a.dim)}),
    Operator("split", (a.tensor, a.one_of(2, 1, (1, 2), 0, (3,))), {"dim": (50, a.dim)}),
    Operator("flip", (a.tensor, a.dim_tuple)),
    Operator(".repeat", (a.tensor, a.repeats), forms="x"),
    Operator("[]", (a.tensor, a.subscript), forms="x"),
    Operator("[]", (a.tensor, a.subscript), forms="x"),
    Operator("[]=", (a.tensor, a.subscript, a.assigned), forms="x"),
    Operator("[]=", (a.tensor, a.subscript, a.assigned), forms="x"),
    Operator(".tolist", (a.small,), forms="x"),
    Operator(".item", (a.small,), forms="x"),
    # joining and indexing
    Operator("cat", (a.tensors(False), a.joined_dim), forms="ffo"),
    Operator("stack", (a.tensors(True), a.stacked_dim), forms="ffo"),
    Operator("gather", (a.ranked(1, 4), a.dim, a.index_like), forms="fmo"),
    Operator("scatter", (a.ranked(1, 4), a.dim, a.index_like, a.number), forms="fmi"),
    Operator("scatter", (a.ranked(1, 4), a.dim, a.index_like, a.source_like), forms="fm"),
    Operator(
        "scatter_add",
        (a.ranked(1, 4), a.dim, a.index_like, a.source_like),
        forms="fmi",
        slack=magnitudes,
    ),
    Operator("index_select", (a.tensor, a.dim, a.index_vector), forms="fmo"),
    Operator(
        "index_add", (a.tensor, a.dim, a.index_vector, a.source_rows), forms="fmi", slack=magnitudes
    ),
    Operator("index_fill", (a.tensor, a.dim, a.index_vector, a.number), forms="fmi"),
    Operator("index_put", (a.ranked(1, 4), a.index_tensors, a.put_values), forms="fmi"),
    Operator("nonzero", (a.tensor,), {"as_tuple": (30, a.flag)}),
    Operator("masked_select", (a.tensor, a.mask)),
    Operator("tril", (a.ranked(2, 4), a.one_of(0, 1, -1)), forms="fmi"),
    Operator("triu", (a.ranked(2, 4), a.one_of(0, 1, -1)), forms="fmi"),
    # creation
    Operator("zeros", (a.shape,), DTYPE, "f"),
    Operator("ones", (a.shape,), DTYPE, "f"),
    Operator("full", (a.shape, a.number), DTYPE, "f"),
    Operator(
        "arange",
        (a.one_of(0, 3, -2, 1.5), a.one_of(5, 0, 3, 4.5), a.one_of(1, 2, -1, 0.5, 0)),
        DTYPE,
        "f",
    ),
    Operator("arange", (a.one_of(5, 0, 3.5, 37),), DTYPE, "f"),
    Operator("linspace", (a.one_of(0, -1.5), a.one_of(5, 0.1), a.one_of(5, 1, 0)), forms="f"),
    Operator("eye", (a.one_of(3, 0, 1),), DTYPE, "f"),
    Operator("zeros_like", (a.tensor,), DTYPE, "f"),
    Operator("ones_like", (a.tensor,), DTYPE, "f"),
    Operator("full_like", (a.tensor, a.number), DTYPE, "f"),
    # neural networks
    Operator(
        "softmax", (a.floating, a.dim), {"dtype": (15, a.floating_dtype)}, "fm", slack_of_softmax
    ),
    Operator(
        "log_softmax",
        (a.floating, a.dim),
        {"dtype": (15, a.floating_dtype)},
        "fm",
        slack_of_softmax,
    ),
    Operator(
        "nn.functional.layer_norm",
        (a.floating, a.trailing_shape, a.affine, a.affine),
        {},
        "f",
        slack_of_normalization,
    ),
    Operator(
        "nn.functional.cross_entropy",
        (a.scores, a.classes),
        {
            "reduction": (40, a.one_of("sum", "none", "mean")),
            "label_smoothing": (20, a.one_of(0.1)),
        },
        "f",
        slack_of_softmax,
    ),
]
PARTICULAR = {each.name.removeprefix(".") for each in PARTICULAR_OPERATORS}
SIMPLE = simple_operators()
DUNDERS = dunders()
OPERATORS = [*PARTICULAR_OPERATORS, *SIMPLE, *DUNDERS]

__all__ = ["OPERATORS", "Operator", "run", "Dtype", "numbers", "numpy", "PRECISION"]
