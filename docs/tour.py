"""A tour of Rushlight: one operator, softmax, from its definition to machine code and back.

Run it: ``python docs/tour.py``. Each stop prints what is there to see. The files that are named lie
in ``src/rushlight`` (Python) and ``native`` (C++).
"""

from __future__ import annotations

import inspect

import rushlight
from rushlight import _core, dtypes
from rushlight.codegen import compile as kernels
from rushlight.codegen import loops
from rushlight.codegen.legalize import Legalizer
from rushlight.codegen.lower import Lowering, Request
from rushlight.codegen.nest import Variant
from rushlight.codegen.show import fusion_text, plan_text
from rushlight.codegen.target import host_target
from rushlight.devices import host, reference
from rushlight.graph import print as graph_print
from rushlight.graph.trace import GraphContext
from rushlight.ops.record import FUNCTIONS
from rushlight.plan import kernel
from rushlight.transform import reverse


def stop(title: str, text: str = "", limit: int = 40) -> None:
    """Print a stop of the tour."""
    lines = text.rstrip().splitlines()
    if len(lines) > limit:
        lines = [*lines[:limit], f"... {len(lines) - limit} more lines"]
    print(f"\n=== {title} ===\n", *lines, sep="\n")


# --------------------------------------------------------------------------- 1. The record
#
# An operator is defined in one place, its *record* (ops/record.py), in the file of its family:
# softmax in ops/normalization.py. It is a *composite*: Python over other operators, exp among
# them. exp is a *primitive* (ops/exponential.py): a scalar instruction, its derivative, a NumPy
# reference. From the records follow the function, the method, the in-place and out= forms,
# gradients, batching, stubs, documentation and tests.

softmax = FUNCTIONS["softmax"]
exp = FUNCTIONS["exp"]

stop("1. The record of softmax, a composite", inspect.getsource(softmax.function))
print(f"\nfunctions {softmax.names}, methods {softmax.methods}, out= {softmax.out}")
print(f"and exp is a primitive of kind {type(exp.kind).__name__}; its record:\n")
print(inspect.getsource(exp.function))

# A parameter's *mode* says what the core does with an argument: T is a tensor or a number known
# only at run time, S a selector by whose value plans differ, Z a size.

print("modes:", {parameter.name: parameter.mode for parameter in softmax.parameters})


# --------------------------------------------------------------------------- 2. The trace
#
# The first call with a new structure is *traced* (graph/trace.py): the record's body runs once with
# `Traced` values in the place of tensors, and each primitive appends a node to a graph. Sizes are
# *symbols*, so the graph holds for every number of rows and columns. A comparison of symbols in a
# body records a *guard*, which the core checks before it uses the plan again (graph/symbols.py).

context = GraphContext()
rows = context.environment.size(3, ("size", 0, 0))  # dim 0 of input 0; 3 in this call
columns = context.environment.size(4, ("size", 0, 1))
with context.active():
    result = softmax.trace(context.input(dtypes.float32, (rows, columns)), 1)
graph = context.finish([result])

# Everything implicit is explicit in a graph: conversions, broadcasts (expand), kept dims. It prints
# as Python (graph/print.py), and the text runs on the *reference device*, which is plain NumPy
# (devices/reference.py). What the reference device gives is what kernels must give.

text = graph_print.text(graph)
stop("2. The graph of softmax(x, 1)", text)

x = rushlight.tensor([[0.0, 1.0, 2.0, 3.0], [5.0, 5.0, 5.0, 5.0], [-1.0, 0.0, 0.0, 1.0]])
array = host.to_array(x)
(by_graph,) = reference.run(graph, [array])
(by_text,) = reference.run_text(text, [array])
assert by_graph is not None and (by_graph.data == by_text.data).all()
print("\non the reference device:", by_graph.data[0])


# --------------------------------------------------------------------------- 3. The derivative
#
# If an input needs a gradient, the graph is differentiated (transform/reverse.py): from the last
# node to the first, each adds its gradient's nodes to another graph. softmax states its own
# derivative, which needs only the output; without it the rule would be derived from the body.
# `saved_values` tells what the backward pass keeps of the forward pass.

(graph_input,) = graph.inputs
saved = reverse.saved_values(graph, [graph_input])
stop("3. The derivative")
print("kept for the backward pass:", [kind for kind, _ in saved.entries])

backward = GraphContext()
shape = [backward.environment.size(n, ("size", 0, dim)) for dim, n in enumerate((3, 4))]
kept, gradient = (backward.input(dtypes.float32, shape, name) for name in ("out", "g"))
(output,) = graph.outputs
assert output is not None
sizes = dict(zip(graph.environment.symbols, shape))
(dx,) = reverse.backward(
    graph, backward, {output: kept}, sizes.__getitem__, {output: gradient}, [graph_input]
)
print(graph_print.text(backward.finish([dx])))

# The backward graph is of the same kind, so it is planned, fused and differentiated like any other:
# second derivatives need no further mechanism.


# --------------------------------------------------------------------------- 4. Legalization
#
# codegen/legalize.py rewrites what neither loops nor libraries can do directly: integer matrix
# products, padding, reshapes of views. All of softmax has a lowering, so nothing changes here.

legalizer = Legalizer(graph, contiguous={graph_input}, may_alias=False)
legalized = legalizer.run()
stop("4. Legalization")
print("nodes before:", [node.name for node in graph.nodes])
print("nodes after: ", [node.name for node in legalized.nodes])


# --------------------------------------------------------------------------- 5. Fusion
#
# codegen/fuse.py decides which values are stored in memory and builds *loop nests* for them
# (codegen/builder.py). The maximum, the sum and the quotient go over the same rows, so all of
# softmax becomes one nest of three phases. codegen/lower.py turns the result into the fields of a
# plan: buffers, views, steps, and the little *shape program* that computes sizes from those of
# the inputs.

lowering = Lowering(Request(legalized), kernel, host.function)
fields = lowering.spec()
stop("5. One loop nest", fusion_text(lowering.steps, graph_print.value_names(legalized)))


# --------------------------------------------------------------------------- 6. LLVM IR
#
# A nest becomes a kernel when a layout first needs it. The *variant* says how the loops lie:
# vectors along the reduced loop ("R") or the parallel one ("P"), and each operand's stride there
# (C: contiguous). codegen/loops.py writes the LLVM IR as text; codegen/scalars.py has one
# function for each scalar instruction, codegen/math the polynomials behind exp and its like.

(step,) = lowering.steps
assert step.nest is not None
variant = Variant(vector="R", classes="CC", loops=1)
stop("6. LLVM IR", loops.kernel_ir(step.nest, variant, host_target()), limit=24)


# --------------------------------------------------------------------------- 7. Machine code
#
# LLVM compiles the text, codegen/object.py lays the code out so that it runs anywhere, and
# codegen/cache.py keeps it on disk: the next process loads it without LLVM.

code = kernels.compile(step.nest, variant)
assembly = kernels.assembly(step.nest, variant)
vectors = sorted({word for word in assembly.split() if word.startswith(("vmul", "vadd", "fmul"))})
stop("7. Machine code")
print(f"{len(code.blob)} bytes, entry at {code.entry}; among its instructions: {vectors[:6]}")


# --------------------------------------------------------------------------- 8. The plan
#
# All that was the work of plan.py, which the core calls for each new structure of a call. What it
# hands back is a *plan* (native/plan.h): what to allocate, what to launch, what to return and what
# the tape keeps. The tour makes one by hand.

fields |= {"result": "single", "scalar_guards": [], "tape": None}
fields = lowering.finish(fields)
stop("8. The plan", plan_text(fields))

plan = _core.Plan(**fields)
planned = []


def planner(operator: object, args: tuple, kwargs: dict, aliases: tuple) -> object:
    """Called only if the core has no plan that fits."""
    planned.append(tuple(args[0].shape))
    return plan


def fallback(operator: object, args: tuple, kwargs: dict) -> object:
    """Called for arguments that have no key, such as tracers."""
    raise TypeError("the tour's operator takes a tensor")


by_hand = _core.Operator("softmax_by_hand", (("input", "T"),), planner, fallback)


# --------------------------------------------------------------------------- 9. Replay
#
# A call is looked up by its exact layout first: a hit *replays* an instance and runs no Python
# (native/replay.cpp). Another layout of a known structure finds the plan, whose shape program gives
# the new sizes. Only another structure, here another number of dims, asks the planner.

for rows_now in (3, 3, 2, 7):
    y = by_hand(rushlight.rand(rows_now, 4))
    assert rushlight.allclose(y.sum(1), rushlight.ones(rows_now))
assert rushlight.allclose(by_hand(x), rushlight.softmax(x, 1))
stop("9. Replay")
print("the planner was asked for the shapes", planned)
print("counts:", by_hand.statistics())


# --------------------------------------------------------------------------- 10. The tape
#
# The real softmax has a plan with a *tape* entry: after its kernels the core attaches a node with
# the saved values to the result. backward() walks the nodes (native/engine.cpp) and calls each
# one's backward operator, which is planned at its first call, as softmax was.

x.requires_grad_()
y = rushlight.softmax(x, 1)
stop("10. The tape")
print("the result's node:", y.grad_fn)
(first,) = rushlight.autograd.grad((y * y).sum(), x, create_graph=True)
(second,) = rushlight.autograd.grad((first * first).sum(), x)
print("first derivative: ", first[0].tolist())
print("second derivative:", second[0].tolist())


# --------------------------------------------------------------------------- Where to go from here
#
# `rushlight.explain(f, *args)` shows stops 2 to 8 for any call, RUSHLIGHT_DEBUG=graph|fusion|llvm
# for a whole program, and RUSHLIGHT_CHECK=1 compares every plan with the reference device and
# names the first node that differs. `rushlight.debug.plans()` counts plans. Read on in
# ops/exponential.py, ops/kinds.py, graph/, codegen/, native/ and docs/design.md; CONTRIBUTING.md
# adds an operator.

stop("explain", rushlight.explain(rushlight.softmax, x, 1, stages="fusion"))
for each in rushlight.debug.plans()[:5]:
    print(each)
