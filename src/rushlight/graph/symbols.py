"""Symbolic sizes: integers that are known by name while a graph is traced.

A ``SymbolicInt`` is a polynomial in canonical form, so two expressions that are equal by algebra
are the same. Its variables are *atoms*: symbols, and operations that polynomials cannot express
(``//``, ``%``, ``max``, ``min``). Every atom knows the value it has in the call being traced, its
*hint*. A comparison that algebra cannot answer is answered by the hints, and the environment
records it as a guard: the graph is valid only for calls in which the guard holds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from .polynomials import (
    Atom,
    Polynomial,
    divide_term,
    evaluate_polynomial,
    monomial_key,
    multiply_monomials,
    polynomial_bounds,
    term_text,
)

_NEGATED = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": int.__eq__,
    "ne": int.__ne__,
    "lt": int.__lt__,
    "le": int.__le__,
    "gt": int.__gt__,
    "ge": int.__ge__,
}
COMPUTE: dict[str, Callable[[int, int], int]] = {
    "add": int.__add__,
    "sub": int.__sub__,
    "mul": int.__mul__,
    "floordiv": int.__floordiv__,
    "mod": int.__mod__,
    "max": max,
    "min": min,
}


class _Shown(threading.local):
    as_numbers = False


_shown = _Shown()


@contextmanager
def shown_as_numbers() -> Iterator[None]:
    """Sizes print as what they are in the call being traced: error messages are for users."""
    before, _shown.as_numbers = _shown.as_numbers, True
    try:
        yield
    finally:
        _shown.as_numbers = before


class DataDependentError(RuntimeError):
    """A question was asked of a size that is known only when the program runs."""


class SymbolicInt:
    """An integer expression over symbols.

    Behaves as an int except that ``int()`` of it is an error.
    """

    __slots__ = ("_bounds", "environment", "hint", "key", "terms")

    def __init__(self, environment: ShapeEnvironment, terms: Polynomial) -> None:
        self.environment = environment
        self.terms = dict(sorted(terms.items(), key=lambda term: monomial_key(term[0])))
        self.key = tuple((monomial_key(m), c) for m, c in self.terms.items())
        self.hint = evaluate_polynomial(self.terms, lambda atom: atom.hint)
        self._bounds: tuple[int | None, int | None] | None = None

    # ---- what it is not

    def __index__(self) -> NoReturn:
        raise TypeError(
            f"the size {self!r} is symbolic here: it stands for every size that the plan serves, "
            "so it cannot be used as "
            "a plain int; compute with the symbolic size itself"
        )

    __int__ = __float__ = __complex__ = __index__

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        if _shown.as_numbers and self.hint is not None:
            return str(self.hint)
        return " ".join(
            term_text(m, c, first=i == 0) for i, (m, c) in enumerate(self.terms.items())
        )

    def atom(self) -> Atom | None:
        """The symbol, if the expression is just one."""
        if len(self.terms) != 1:
            return None
        ((monomial, coefficient),) = self.terms.items()
        alone = coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1
        return monomial[0][0] if alone and monomial[0][0].operation is None else None

    # ---- arithmetic

    def __add__(self, other: Any) -> Any:
        right = _polynomial(other)
        if right is None:
            return self._as_number("__add__", other)
        result = dict(self.terms)
        for monomial, coefficient in right.items():
            result[monomial] = result.get(monomial, 0) + coefficient
        return self.environment.canonical(result)

    def __mul__(self, other: Any) -> Any:
        right = _polynomial(other)
        if right is None:
            return self._as_number("__mul__", other)
        result: Polynomial = {}
        for m, c in self.terms.items():
            for n, d in right.items():
                product = multiply_monomials(m, n)
                result[product] = result.get(product, 0) + c * d
        return self.environment.canonical(result)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> SymbolicInt:
        return self

    def __sub__(self, other: Any) -> Any:
        if _polynomial(other) is None:
            return self._as_number("__sub__", other)
        return self + other * -1

    def __rsub__(self, other: Any) -> Any:
        return self * -1 + other

    def __floordiv__(self, other: Any) -> Any:
        if _polynomial(other) is None:
            return self._as_number("__floordiv__", other)
        return floordiv(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return floordiv(other, self)

    def __mod__(self, other: Any) -> Any:
        if _polynomial(other) is None:
            return self._as_number("__mod__", other)
        return mod(self, other)

    def __rmod__(self, other: Any) -> Any:
        return mod(other, self)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __pow__(self, exponent: Any) -> Any:
        if not isinstance(exponent, int) or exponent < 0:
            return self._as_number("__pow__", exponent)
        result: Any = 1
        for _ in range(exponent):
            result = result * self
        return result

    def __rpow__(self, base: Any) -> Any:
        return self._as_number("__rpow__", base)

    def __truediv__(self, other: Any) -> Any:
        return self._as_number("__truediv__", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._as_number("__rtruediv__", other)

    def _as_number(self, method: str, other: Any) -> Any:
        """A result that is no integer polynomial: go on with a traced number."""
        if not isinstance(other, int | float | complex | SymbolicInt):
            return NotImplemented
        return getattr(self.environment.lift(self), method)(other)

    # ---- comparison

    def bounds(self) -> tuple[int | None, int | None]:
        """The least and the greatest value that the bounds of the atoms allow; None where there is
        no limit.
        """
        if self._bounds is None:
            self._bounds = polynomial_bounds(self.terms)
        return self._bounds

    def __eq__(self, other: object) -> bool:
        if _polynomial(other) is None:
            return NotImplemented
        return self.environment.compare("eq", self, other)

    def __ne__(self, other: object) -> bool:
        if _polynomial(other) is None:
            return NotImplemented
        return self.environment.compare("ne", self, other)

    def __lt__(self, other: Any) -> bool:
        return self._order("lt", other)

    def __le__(self, other: Any) -> bool:
        return self._order("le", other)

    def __gt__(self, other: Any) -> bool:
        return self._order("gt", other)

    def __ge__(self, other: Any) -> bool:
        return self._order("ge", other)

    def _order(self, operation: str, other: Any) -> bool:
        if _polynomial(other) is None:
            return NotImplemented
        return self.environment.compare(operation, self, other)


Dimension = int | SymbolicInt


class ShapeEnvironment:
    """The symbols of one trace and the guards recorded about them.

    guards: ``(operation, a, b)`` with operation in eq ne lt le gt ge; a and b are ints or
    ``SymbolicInt``. static: whether sizes stand for themselves: the trace serves one call's sizes.
    """

    def __init__(self, static: bool = False) -> None:
        self.static = static
        self.symbols: list[Atom] = []
        self.guards: list[tuple[str, Any, Any]] = []
        self._recorded: set[tuple] = set()
        self._by_hint: dict[int, SymbolicInt] = {}
        self.lift: Callable[[SymbolicInt], Any] = _cannot_lift

    def size(self, hint: int, origin: tuple | None = None) -> Any:
        """The size whose value in this call is ``hint``: -1, 0 and 1 stand for themselves, equal
        sizes share a symbol.
        """
        if self.static or -1 <= hint <= 1:
            return hint
        if hint not in self._by_hint:
            positive = hint >= 2
            symbol = self._new_symbol(
                hint, 2 if positive else None, None if positive else -2, origin
            )
            if origin is not None and origin[0] != "size":  # the sizes of tensors need no check
                self.guards.append(("ge", symbol, 2) if positive else ("le", symbol, -2))
            self._by_hint[hint] = symbol
        return self._by_hint[hint]

    def unbacked(self) -> SymbolicInt:
        """A size that a step yields when it runs: at least 0, otherwise unknown."""
        return self._new_symbol(None, 0, None, None)

    def _new_symbol(
        self, hint: int | None, low: int | None, high: int | None, origin: tuple | None
    ) -> SymbolicInt:
        atom = Atom(("", len(self.symbols)), hint, low, high, origin=origin)
        self.symbols.append(atom)
        return SymbolicInt(self, {((atom, 1),): 1})

    def canonical(self, terms: Polynomial) -> Any:
        """The polynomial, as a plain int if it is constant."""
        terms = {monomial: c for monomial, c in terms.items() if c}
        if not terms:
            return 0
        if len(terms) == 1 and () in terms:
            return terms[()]
        return SymbolicInt(self, terms)

    def compare(self, operation: str, a: Any, b: Any) -> bool:
        """Whether ``a operation b`` holds; recorded as a guard if only the hints tell."""
        difference = a - b
        if isinstance(difference, int):
            return _COMPARE[operation](difference, 0)
        decided = _decide(operation, difference)
        if decided is not None:
            return decided
        if difference.hint is None:
            raise DataDependentError(
                f"whether {a} {operation} {b} is known only when the program runs: the size comes "
                "from an operator whose "
                "result's size depends on data"
            )
        answer = _COMPARE[operation](difference.hint, 0)
        self._record(operation if answer else _NEGATED[operation], a, b, difference)
        return answer

    def _record(self, operation: str, a: Any, b: Any, difference: SymbolicInt) -> None:
        key = (operation, difference.key)
        if key not in self._recorded:
            self._recorded.add(key)
            self.guards.append((operation, a, b))

    def atom(
        self, operation: str, a: Any, b: Any, low: int | None, high: int | None
    ) -> SymbolicInt:
        """The expression ``a operation b`` as a variable of its own."""
        hints = hint_of(a), hint_of(b)
        hint = None if None in hints else COMPUTE[operation](*hints)  # type: ignore[arg-type]
        key = (operation, key_of(a), key_of(b))
        return SymbolicInt(self, {((Atom(key, hint, low, high, operation, (a, b)), 1),): 1})


def floordiv(a: Any, b: Any) -> Any:
    """``a // b`` of ints and symbolic ints."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if b == 0:
        raise ZeroDivisionError("division of a symbolic size by zero")
    exact = _divide_exactly(a, b)
    if exact is not None:
        return exact
    a_low, a_high = bounds_of(a)
    b_low, _ = bounds_of(b)
    positive = a_low is not None and a_low >= 0 and b_low is not None and b_low >= 1
    return _environment(a, b).atom(
        "floordiv", a, b, 0 if positive else None, a_high if positive else None
    )


def mod(a: Any, b: Any) -> Any:
    """``a % b`` of ints and symbolic ints."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if b == 0:
        raise ZeroDivisionError("modulo of a symbolic size by zero")
    if _divide_exactly(a, b) is not None:
        return 0
    b_low, b_high = bounds_of(b)
    positive = b_low is not None and b_low >= 1
    return _environment(a, b).atom(
        "mod",
        a,
        b,
        0 if positive else None,
        b_high - 1 if positive and b_high is not None else None,
    )


def maximum(a: Any, b: Any) -> Any:
    """``max(a, b)`` without a guard."""
    return _extreme("max", a, b)


def minimum(a: Any, b: Any) -> Any:
    """``min(a, b)`` without a guard."""
    return _extreme("min", a, b)


def _extreme(operation: str, a: Any, b: Any) -> Any:
    difference = a - b
    if isinstance(difference, int):
        less = difference < 0
    else:
        known = _decide("lt", difference)
        if known is None:
            a, b = sorted((a, b), key=lambda each: repr(key_of(each)))
            return _environment(a, b).atom(operation, a, b, *_extreme_bounds(operation, a, b))
        less = known
    return a if less == (operation == "min") else b


def _extreme_bounds(operation: str, a: Any, b: Any) -> tuple[int | None, int | None]:
    (a_low, a_high), (b_low, b_high) = bounds_of(a), bounds_of(b)
    if operation == "max":
        lows = [each for each in (a_low, b_low) if each is not None]
        high = None if a_high is None or b_high is None else max(a_high, b_high)
        return (max(lows) if lows else None), high
    highs = [each for each in (a_high, b_high) if each is not None]
    low = None if a_low is None or b_low is None else min(a_low, b_low)
    return low, (min(highs) if highs else None)


# ---------------------------------------------------------------- reading expressions


def hint_of(size: Any) -> int | None:
    """The value in the call being traced; None if only running the program tells."""
    return size.hint if isinstance(size, SymbolicInt) else size


def key_of(size: Any) -> Any:
    """A hashable, comparable identity of an int or symbolic int.

    Comparing keys never records a guard.
    """
    return size.key if isinstance(size, SymbolicInt) else ((((), size)),)


def bounds_of(size: Any) -> tuple[int | None, int | None]:
    return size.bounds() if isinstance(size, SymbolicInt) else (size, size)


def same(a: Any, b: Any) -> bool:
    """Whether two sizes are equal by algebra. Records no guard."""
    return a is b or key_of(a) == key_of(b)


def same_shape(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two shapes are equal by algebra. Records no guard."""
    return len(a) == len(b) and all(map(same, a, b))


# ---------------------------------------------------------------- algebra


def _polynomial(value: Any) -> Polynomial | None:
    if isinstance(value, SymbolicInt):
        return value.terms
    return {(): int(value)} if isinstance(value, int) else None


def _divide_exactly(a: Any, b: Any) -> Any:
    """a / b if b is one term that divides each of a's, or a is a multiple of b; else None."""
    divisor = _polynomial(b)
    dividend = _polynomial(a)
    assert divisor is not None and dividend is not None
    environment = _environment(a, b)
    if len(divisor) > 1:
        (m, c), (n, d) = next(iter(dividend.items()), ((), 0)), next(iter(divisor.items()))
        quotient = divide_term(m, c, n, d)
        if quotient is None:
            return None
        factor = environment.canonical({quotient[0]: quotient[1]})
        return factor if same(factor * b, a) else None
    ((n, d),) = divisor.items()
    result: Polynomial = {}
    for m, c in dividend.items():
        quotient = divide_term(m, c, n, d)
        if quotient is None:
            return None
        result[quotient[0]] = quotient[1]
    return environment.canonical(result)


def _decide(operation: str, difference: SymbolicInt) -> bool | None:
    """Whether ``difference operation 0`` holds for all values of the symbols, if one can tell."""
    low, high = difference.bounds()
    positive, negative = low is not None and low > 0, high is not None and high < 0
    if operation in ("eq", "ne"):
        if positive or negative or _is_difference_of_symbols(difference):
            return operation == "ne"
        return None
    if operation in ("le", "gt"):
        if positive or (high is not None and high <= 0):
            return positive == (operation == "gt")
        return None
    if negative or (low is not None and low >= 0):
        return negative == (operation == "lt")
    return None


def _is_difference_of_symbols(difference: SymbolicInt) -> bool:
    """Different symbols have different values (unless one is unbacked)."""
    if len(difference.terms) != 2 or sorted(difference.terms.values()) != [-1, 1]:
        return False
    monomials = list(difference.terms)
    return all(
        len(m) == 1 and m[0][1] == 1 and m[0][0].operation is None and m[0][0].hint is not None
        for m in monomials
    )


def _environment(a: Any, b: Any) -> ShapeEnvironment:
    return a.environment if isinstance(a, SymbolicInt) else b.environment


def _cannot_lift(size: SymbolicInt) -> NoReturn:
    raise TypeError(f"the symbolic size {size!r} can become a number only while a graph is traced")
