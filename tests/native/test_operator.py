"""Operators: keys, tables, planners and fallbacks, aliasing, the Python protocols of the type."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import weakref

import numpy as np
import pytest
from plan_support import Spec, add_kernel, f32, pointwise_plan, tensor

from rushlight import _core, dtypes

pytestmark = pytest.mark.usefixtures("one_thread")


class Recorder:
    """An operator whose planner records its calls and answers with a Direct of its number."""

    def __init__(self, *parameters, fallback=None):
        self.calls = []
        self.operator = _core.Operator("recorded", parameters, self.plan, fallback or self.fall)
        self.fallen = []

    def plan(self, operator, args, kwargs, aliases):
        assert operator is self.operator
        number = len(self.calls)
        self.calls.append((args, kwargs, aliases))
        return _core.Direct(lambda *args, **kwargs: number)

    def fall(self, operator, args, kwargs):
        self.fallen.append((args, kwargs))
        return "fallback"

    def __call__(self, *args, **kwargs):
        return self.operator(*args, **kwargs)

    def distinct(self, *calls):
        """How many plans these calls need; each is made twice to see that it is found again."""
        numbers = [self(*args) for args in calls]
        assert numbers == [self(*args) for args in calls]
        return len(set(numbers))


def ones(*shape, dtype=np.float32):
    return tensor(np.ones(shape, dtype))


# ---------------------------------------------------------------- keys


def test_numbers_are_keyed_by_kind():
    op = Recorder(("x", "T"))
    assert op.distinct((1,), (2,), (-5,), (2**40,)) == 1
    assert op.distinct((1,), (1.0,), (True,), (1j,)) == 4
    assert op.distinct((0.5,), (float("nan"),), (np.float64(3),)) == 1


def test_selectors_are_keyed_by_value_and_type():
    op = Recorder(("x", "S"))
    values = [
        1,
        2,
        True,
        False,
        None,
        1.0,
        0.0,
        -0.0,
        float("nan"),
        1j,
        "a",
        "b",
        f32,
        dtypes.int64,
        float,
        len,
    ]
    values += [(1, 2), [1, 2], (1,), (), ((1,), 2), (1, (2,)), frozenset({1}), -1, 2**62]
    assert op.distinct(*[(value,) for value in values]) == len(values)
    built = "".join(["a", "b"])
    assert op("ab") == op(built)
    assert op(frozenset({1, 2})) == op(frozenset({2, 1}))


def test_equal_selectors_of_different_types_differ():
    class Name(str):
        pass

    op = Recorder(("x", "S"))
    assert op.distinct(("a",), (Name("a"),)) == 2


def test_sizes_are_symbolic_above_one():
    op = Recorder(("x", "Z"))
    assert op.distinct((2,), (3,), (100,)) == 1
    assert op.distinct((0,), (1,), (-1,), (-2,), (5,), (True,), (None,), (1.0,)) == 8
    assert op.distinct(((2, 3),), ((4, 5),)) == 1
    assert op.distinct(((2, 3),), ((2, 2),), ((2, 1),), ((2, 3, 4),), ([2, 3],)) == 5
    statistics = op.operator.statistics()
    assert statistics["misses"] == len(op.calls) and statistics["structural_hits"] > 0


def test_tensors_are_keyed_by_structure():
    op = Recorder(("x", "T"), ("y", "T"))
    x = ones(2, 3)
    assert op.distinct((x, x), (ones(2, 3), ones(2, 3)), (ones(4, 5), ones(4, 5))) == 1
    different = [
        (x, ones(3, 2)),                         # equal sizes elsewhere
        (x, ones(2, 1)), (x, ones(1, 3)), (x, ones(2, 0)),
        (x, ones(2, 3, 1)), (x, ones(2, 3, dtype=np.float64)),
        (x, _core.empty_strided((2, 3), (1, 2), f32.code, 0)),
        (x, _core.empty((2, 3), f32.code, 1)),
        (x, 1), (x, None), (x, (x,)), (x, [x]),
    ]  # fmt: skip
    assert op.distinct((x, x), *different) == 1 + len(different)


def test_sizes_of_tensors_and_size_ints_share_symbols():
    op = Recorder(("x", "T"), ("n", "Z"))
    assert op.distinct((ones(4), 4), (ones(7), 7)) == 1
    assert op.distinct((ones(4), 4), (ones(4), 5)) == 2


def test_requires_grad_and_grad_mode_are_in_the_key():
    op = Recorder(("x", "T"))
    plain, leaf = ones(2), ones(2).requires_grad_()
    assert op.distinct((plain,), (leaf,)) == 2
    before = _core.set_grad_enabled(False)
    try:
        assert op(plain) == op(leaf)
        assert len(op.calls) == 3
    finally:
        _core.set_grad_enabled(before)


def test_mode_bits_and_default_dtype_are_in_the_key():
    op = Recorder(("x", "T"))
    first = op(1)
    bits = _core.get_mode_bits()
    try:
        _core.set_mode_bits(bits | 1 << 30)
        assert op(1) != first
    finally:
        _core.set_mode_bits(bits)
    try:
        _core.set_default_dtype(dtypes.float64)
        assert op(1) not in (first, first + 1)
    finally:
        _core.set_default_dtype(dtypes.float32)
    assert op(1) == first


def test_keywords():
    op = Recorder(("x", "T"), ("dim", "S"), ("keepdim", "S"))
    x = ones(2)
    assert op(x, dim=1) == op(x, dim=1)
    assert op(x, dim=1) != op(x, keepdim=1) != op(x, 1)
    assert op.calls[0] == ((x,), {"dim": 1}, ())
    assert op(x, **{"".join(["d", "im"]): 1}) == op(x, dim=1)


def test_variadic_parameters():
    op = Recorder(("x", "T"), ("sizes", "Z*"), ("last", "S"))
    x = ones(7)
    assert op(x, 2, 3) == op(x, 4, 5) != op(x, 2, 3, 4)
    assert op(x, 2, last=1) != op(x, 2, last=2)


def test_unbound_arguments_are_the_planners_business():
    def planner(operator, args, kwargs, aliases):
        raise TypeError(f"{args} {kwargs}")

    op = _core.Operator("strict", (("x", "T"),), planner, None)
    with pytest.raises(TypeError, match=r"\(1, 2\)"):
        op(1, 2)
    with pytest.raises(TypeError, match=r"'y': 3"):
        op(1, y=3)
    plan = Spec(0).plan()
    op = _core.Operator("lenient", (("x", "T"),), lambda *_: plan, None)
    with pytest.raises(TypeError, match="lenient: the arguments do not match"):
        op(1, 2)


def test_arguments_without_a_key_fall_back():
    class Tracer:
        pass

    class Subclass(_core.Tensor):
        pass

    op = Recorder(("x", "T"), ("d", "S"), ("n", "Z"))
    sub = _core.alias_as(Subclass, ones(2))
    odd = [
        (Tracer(),), ([ones(2), Tracer()],), (sub,), (2**64,), (1, {}), (1, 2**70), (1, ones(2)),
        (1, 1, 2**64), (1, 1, Tracer()), (1, 1, ones(1)), ({},), (1, [[]] * 2 + [{}]),
    ]  # fmt: skip
    for args in odd:
        assert op(*args) == "fallback", args
    assert [args for args, _ in op.fallen] == odd and not op.calls
    assert op(Tracer(), d=3) == "fallback"
    assert op.fallen[-1][1] == {"d": 3}


def test_deep_nesting_falls_back():
    value = 1
    for _ in range(100):
        value = [value]
    assert Recorder(("x", "T"))(value) == "fallback"


def test_errors_of_hashing_and_comparing_are_raised():
    class Bad:
        def __init__(self, message):
            self.message = message

        def __hash__(self):
            if self.message == "hash":
                raise LookupError("hash")
            return 1

        def __eq__(self, other):
            raise LookupError("equal")

    op = Recorder(("x", "S"))
    with pytest.raises(LookupError, match="hash"):
        op(Bad("hash"))
    op(Bad("first"))
    with pytest.raises(LookupError, match="equal"):
        op(Bad("second"))


def test_comparing_may_change_the_tables():
    class Clearing:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            op.operator.clear()
            return True

    op = Recorder(("x", "S"))
    for _ in range(5):
        op(Clearing())
    assert op.operator.statistics()["instances"] == 1


def test_a_list_that_shrinks_while_it_is_keyed():
    class Shrinking:
        def __hash__(self):
            values.clear()
            return 1

        def __eq__(self, other):
            return self is other

    op = Recorder(("x", "S"))
    values = [Shrinking(), 1, 2]
    assert op(values) == "fallback"


# ---------------------------------------------------------------- tables


def test_statistics_and_clear():
    kernel = add_kernel(1)
    plan = pointwise_plan(kernel, [(3,), (3,)], (3,))
    op = _core.Operator("add", (("x", "T"), ("y", "T")), lambda *_: plan, None)
    for _ in range(3):
        op(ones(3), ones(3))
    assert op.statistics() == {
        "hits": 2,
        "structural_hits": 0,
        "misses": 1,
        "instances": 1,
        "plans": 1,
    }
    assert op.plans() == [plan]
    op.clear()
    assert op.plans() == []
    op(ones(3), ones(3))
    assert op.statistics()["misses"] == 2


def test_tables_are_bounded():
    op = Recorder(("x", "S"))
    for value in range(6000):
        op(value)
    statistics = op.operator.statistics()
    assert statistics["instances"] <= 4096 and statistics["plans"] <= 1024
    assert op(5999) == 5999
    assert len(op.calls) == 6000


def test_errors_of_the_planner_are_not_cached():
    attempts = []

    def planner(operator, args, kwargs, aliases):
        attempts.append(args)
        raise ValueError("no plan")

    op = _core.Operator("failing", (("x", "T"),), planner, None)
    for _ in range(2):
        with pytest.raises(ValueError, match="no plan"):
            op(ones(2))
    assert len(attempts) == 2


def test_planner_must_return_a_plan():
    op = _core.Operator("odd", (("x", "T"),), lambda *_: 3, None)
    with pytest.raises(TypeError, match="neither a Plan nor a Direct"):
        op(ones(2))


def test_planner_may_not_swap_a_tensors_layout():
    def planner(operator, args, kwargs, aliases):
        _core.set_data(args[0], ones(5))
        return pointwise_plan(add_kernel(1, 1), [(2,)], (2,))

    op = _core.Operator("odd", (("x", "T"),), planner, None)
    with pytest.raises(RuntimeError, match="another layout while the call was being planned"):
        op(ones(2))


def test_planner_may_call_the_operator():
    def planner(operator, args, kwargs, aliases):
        if args[0].shape[0] > 2:
            operator(ones(2))
        return _core.Direct(lambda x: len(x))

    op = _core.Operator("nested", (("x", "T"),), planner, None)
    assert op(ones(2, 2, 2)) == 2


def test_scalar_guards_choose_the_plan():
    kernels = [add_kernel(1, 1) for _ in range(2)]
    guards = [("gt", 0, 0), ("le", 0, 0.0)]

    def planner(operator, args, kwargs, aliases):
        which = 0 if args[1] > 0 else 1
        spec = Spec(1)
        views = [spec.view(0), spec.view(spec.buffer(f32, (3,)))]
        spec.kernel(kernels[which], (3,), 1, [(view, (0,)) for view in views])
        return spec.plan(scalar_guards=[guards[which]])

    op = _core.Operator("guarded", (("x", "T"), ("n", "T")), planner, None)
    for number in (1, 2, -1, 3, 0, -2, 5, 0.5, -0.5, True, False):
        op(ones(3), number)
    assert [len(kernel.launches) for kernel in kernels] == [6, 5]
    assert op.statistics()["misses"] == 6
    with pytest.raises(RuntimeError, match="compares a complex number"):
        _core.Operator("g", (("x", "T"), ("n", "T")), lambda *_: op.plans()[0], None)(ones(3), 1j)


def test_nothing_keeps_tensors_alive():
    plan = pointwise_plan(add_kernel(1), [(3,), (3,)], (3,))
    op = _core.Operator("add", (("x", "T"), ("y", "T")), lambda *_: plan, None)
    x = ones(3)
    watched = weakref.ref(x)
    op(x, [x][0])
    op.clear()
    del x
    gc.collect()
    assert watched() is None


def test_references_balance():
    plan = pointwise_plan(add_kernel(1), [(3,), (3,)], (3,))
    op = _core.Operator("add", (("x", "T"), ("y", "T"), ("z", "S")), lambda *_: plan, None)
    x, key = ones(3), frozenset({"key"})
    op(x, x, key)
    before = [sys.getrefcount(value) for value in (x, key, plan, f32)]
    for _ in range(100):
        op(x, x, key)
        op(x, x, frozenset({"key"}))
    after = [sys.getrefcount(value) for value in (x, key, plan, f32)]
    assert [a - b for a, b in zip(after, before)] == [0] * 4


def test_cycles_through_an_operator_are_collected():
    gc.collect()
    plans = _core.plan_count()

    class Owner:
        pass

    owner = Owner()
    owner.plan = pointwise_plan(add_kernel(1), [(3,), (3,)], (3,))

    def planner(*_, owner=owner):
        return owner.plan

    owner.operator = _core.Operator("cyclic", (("x", "T"), ("y", "T")), planner, None)
    owner.operator.owner = owner
    owner.operator(ones(3), ones(3))
    watched = weakref.ref(owner.operator)
    del owner, planner
    gc.collect()
    assert watched() is None
    assert _core.plan_count() == plans


# ---------------------------------------------------------------- aliasing


def test_aliases_of_written_tensors():
    op = Recorder(("x", "T!"), ("y", "T"))
    base = ones(4, 4)
    flat = ones(8)
    assert op(base, ones(4, 4)) == 0
    assert op.calls[-1][2] == ()
    assert op(base, base) == 1
    assert op.calls[-1][2] == ((0, 1, 1),)
    assert op(base, base.as_subclass(_core.Tensor)) == 1
    assert op(flat[:4], flat[4:]) != op(flat[:4], flat[:4])
    assert op(flat[::2], flat[1::2]) == op(flat[1::2], flat[::2])
    assert op.calls[-1][2] == ((0, 1, 2),)


def test_partial_overlap_is_an_error():
    op = Recorder(("x", "T!"), ("y", "T"))
    x = ones(8)
    with pytest.raises(
        RuntimeError,
        match="recorded: unsupported operation: the written tensor shares some elements",
    ):
        op(x[:4], x[2:6])
    square = ones(3, 3)
    with pytest.raises(RuntimeError, match="single memory location. Please clone"):
        op(square, square.T)
    with pytest.raises(RuntimeError, match="several elements of the written tensor"):
        op(_core.empty_strided((3, 3), (0, 1), f32.code, 0), square)


def test_aliases_in_long_lists():
    op = Recorder(("xs", "T!"), ("ys", "T"))
    xs, ys = [ones(3) for _ in range(40)], [ones(3) for _ in range(40)]
    assert op(xs, ys) == 0 and op.calls[-1][2] == ()
    ys[7] = xs[30]
    xs[5] = xs[4]
    assert op(xs, ys) == 1
    assert op.calls[-1][2] == ((4, 5, 1), (30, 47, 1))


# ---------------------------------------------------------------- the type


def test_attributes():
    op = Recorder(("x", "T"), ("y", "T!"), ("rest", "Z*")).operator
    assert op.name == op.__name__ == op.__qualname__ == "recorded"
    assert repr(op) == "<operator recorded>"
    assert op.parameters == (("x", "T"), ("y", "T!"), ("rest", "Z*"))
    op.__doc__ = "Does it."
    op.record = 5
    assert (
        op.__doc__ == "Does it."
        and op.record == 5
        and op.__dict__ == {"__doc__": "Does it.", "record": 5}
    )
    assert callable(op) and weakref.ref(op)() is op


def test_operators_are_methods():
    op = Recorder(("self", "T"), ("y", "S"))

    class Holder:
        method = op.operator

    assert Holder.method is op.operator
    bound = Holder().method
    assert bound.__func__ is op.operator
    _core.Tensor.recorded_for_test = op.operator
    try:
        x = ones(2)
        assert x.recorded_for_test(3) == 0
        assert op.calls[0][0] == (x, 3)
    finally:
        del _core.Tensor.recorded_for_test


def test_operators_are_pickled_by_name():
    op = Recorder(("x", "T")).operator
    assert copy.deepcopy(op) is op
    op.__module__ = __name__
    globals()["recorded"] = op
    try:
        assert pickle.loads(pickle.dumps(op)) is op
    finally:
        del globals()["recorded"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("f", (("x", "Q"),), len, None), ValueError),
        (("f", (("x", "T*"), ("y", "T*")), len, None), ValueError),
        (("f", (("x", "S!"),), len, None), ValueError),
        (("f", (("x",),), len, None), TypeError),
        (("f", [("x", "T")], len, None), TypeError),
        (("f", ("x",), len, None), TypeError),
        (("f", (("x", "T"),), 3, None), TypeError),
        (("f", (("x", "T"),), len, 3), TypeError),
        (("f", (("x", "T"),), len, None, "no such function"), ValueError),
        ((3, (), len, None), TypeError),
    ],
)
def test_bad_operators(arguments, error):
    with pytest.raises(error):
        _core.Operator(*arguments)


def test_calls_without_a_fallback():
    op = _core.Operator("bare", (("x", "T"),), len, None)
    with pytest.raises(TypeError, match="bare: unsupported argument types"):
        op(object())
