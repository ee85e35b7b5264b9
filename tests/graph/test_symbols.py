"""Symbolic sizes: canonical forms, decisions, guards, and agreement with plain ints."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.graph import expressions, symbols
from rushlight.graph.symbols import DataDependentError, ShapeEnvironment


@pytest.fixture
def environment() -> ShapeEnvironment:
    return ShapeEnvironment()


def test_equal_sizes_share_a_symbol_and_small_ones_are_constants(environment):
    a = environment.size(5)
    assert environment.size(5) is a
    assert [environment.size(n) for n in (-1, 0, 1)] == [-1, 0, 1]
    assert environment.guards == []


def test_algebra_needs_no_guards(environment):
    a, b = environment.size(5), environment.size(7)
    assert a * b == b * a
    assert (a + b) * (a - b) == a**2 - b**2
    assert (a * b) // a == b
    assert (a * b + 2 * a) % a == 0
    assert not a == b
    assert a + 1 > 2
    assert a * b >= 4
    assert hash(a + b) == hash(b + a)
    assert environment.guards == []


def test_other_questions_record_a_guard_once(environment):
    a = environment.size(5)
    assert a == 5
    assert a == 5
    assert not a > 9
    assert environment.guards == [("eq", a, 5), ("le", a, 9)]


def test_extremes_without_guards(environment):
    a, b = environment.size(5), environment.size(7)
    assert symbols.maximum(a, 1) is a
    assert symbols.minimum(a, 0) == 0
    assert repr(symbols.maximum(b, a)) == "max(s0, s1)"
    assert environment.guards == []


def test_no_plain_int(environment):
    a = environment.size(5)
    for use in (int, float, range, lambda n: [0] * n, lambda n: (1, 2)[n]):
        with pytest.raises(TypeError):
            use(a)


def test_signs_of_passed_sizes_are_guarded(environment):
    a = environment.size(-4, ("int", 0))
    assert a < 0
    assert environment.guards == [("le", a, -2)]


def test_unbacked_sizes_cannot_be_compared(environment):
    n = environment.unbacked()
    assert n >= 0
    assert n + 1 != 0
    with pytest.raises(DataDependentError, match="depends on data"):
        bool(n > 3)


def test_division_by_zero(environment):
    a = environment.size(5)
    with pytest.raises(ZeroDivisionError):
        a // 0
    with pytest.raises(ZeroDivisionError):
        a % 0


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b", "c"]) | st.integers(-4, 4),
    lambda inner: st.tuples(
        st.sampled_from(["+", "-", "*", "//", "%", "max", "min"]), inner, inner
    ),
    max_leaves=8,
)


def compute(expression, values):
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        return values[expression]
    operation, left, right = expression
    x, y = compute(left, values), compute(right, values)
    if operation == "max":
        return symbols.maximum(x, y)
    if operation == "min":
        return symbols.minimum(x, y)
    return {
        "+": lambda: x + y,
        "-": lambda: x - y,
        "*": lambda: x * y,
        "//": lambda: x // y,
        "%": lambda: x % y,
    }[operation]()


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS, st.lists(st.integers(2, 40), min_size=3, max_size=3, unique=True))
def test_expressions_agree_with_ints(expression, numbers):
    plain = dict(zip("abc", numbers))
    environment = ShapeEnvironment()
    names = {environment.size(n): name for name, n in plain.items()}
    traced = {name: size for size, name in names.items()}
    try:
        expected = compute(expression, plain)
    except ZeroDivisionError:
        with pytest.raises(ZeroDivisionError):
            compute(expression, traced)
        return
    result = compute(expression, traced)
    by_atom = dict(zip(environment.symbols, plain.values()))
    assert symbols.hint_of(result) == expected
    assert expressions.evaluate(result, by_atom.__getitem__) == expected
    assert expressions.substitute(result, by_atom.__getitem__) == expected
    low, high = symbols.bounds_of(result)
    assert (low is None or low <= expected) and (high is None or expected <= high)
    operations = {
        "add": int.__add__,
        "mul": int.__mul__,
        "floordiv": int.__floordiv__,
        "mod": int.__mod__,
        "max": max,
        "min": min,
    }
    lowered = expressions.lower(
        result, by_atom.__getitem__, lambda n: n, lambda name, x, y: operations[name](x, y)
    )
    assert lowered == expected


@settings(max_examples=200, deadline=None)
@given(EXPRESSIONS, EXPRESSIONS, st.lists(st.integers(2, 40), min_size=3, max_size=3, unique=True))
def test_comparisons_agree_with_ints(left, right, numbers):
    plain = dict(zip("abc", numbers))
    environment = ShapeEnvironment()
    traced = {name: environment.size(n) for name, n in plain.items()}
    try:
        x, y = compute(left, plain), compute(right, plain)
    except ZeroDivisionError:
        return
    a, b = compute(left, traced), compute(right, traced)
    assert (a == b, a < b, a <= b) == (x == y, x < y, x <= y)
