"""Polynomials with integer coefficients over atoms: what symbolic sizes are made of.

A monomial is a tuple of ``(atom, power)`` in the order of the atoms; the empty one stands for the
constant term.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Monomial = tuple["tuple[Atom, int]", ...]
Polynomial = dict[Monomial, int]  # monomial -> coefficient


class Atom:
    """A variable of the polynomials: a symbol (``operation`` is None), or an operation on two
    expressions.

    key identifies it and orders it; low and high are bounds (None: unbounded); hint is None for a
    size that only running the program tells. origin says where a symbol's value comes from, e.g.
    ``("size", input, dim)``.
    """

    __slots__ = ("high", "hint", "key", "low", "operands", "operation", "origin")

    def __init__(
        self,
        key: tuple,
        hint: int | None,
        low: int | None,
        high: int | None = None,
        operation: str | None = None,
        operands: tuple[Any, Any] = (0, 0),
        origin: tuple | None = None,
    ) -> None:
        self.key = key
        self.hint = hint
        self.low = low
        self.high = high
        self.operation = operation
        self.operands = operands
        self.origin = origin

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        if self.operation is None:
            return f"s{self.key[1]}"
        a, b = self.operands
        if self.operation in ("max", "min"):
            return f"{self.operation}({a}, {b})"
        sign = "//" if self.operation == "floordiv" else "%"
        return f"({_in_parentheses(a)} {sign} {_in_parentheses(b)})"


def monomial_key(monomial: Monomial) -> tuple:
    return tuple(
        (repr(atom.key) if atom.operation else f"!{atom.key[1]:06d}", power)
        for atom, power in monomial
    )


def multiply_monomials(m: Monomial, n: Monomial) -> Monomial:
    powers = dict(m)
    for atom, power in n:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: monomial_key((item,))))


def divide_term(m: Monomial, c: int, n: Monomial, d: int) -> tuple[Monomial, int] | None:
    powers = dict(m)
    for atom, power in n:
        left = powers.get(atom, 0) - power
        if left < 0:
            return None
        powers[atom] = left
    if c % d:
        return None
    return tuple(item for item in powers.items() if item[1]), c // d


def evaluate_polynomial(terms: Polynomial, value: Callable[[Atom], int | None]) -> int | None:
    total = 0
    for monomial, coefficient in terms.items():
        for atom, power in monomial:
            known = value(atom)
            if known is None:
                return None
            coefficient *= known**power
        total += coefficient
    return total


def polynomial_bounds(terms: Polynomial) -> tuple[int | None, int | None]:
    low: int | None = 0
    high: int | None = 0
    for monomial, coefficient in terms.items():
        term_low, term_high = _monomial_bounds(monomial)
        if coefficient < 0:
            term_low, term_high = term_high, term_low
        low = None if low is None or term_low is None else low + coefficient * term_low
        high = None if high is None or term_high is None else high + coefficient * term_high
    return low, high


def _monomial_bounds(monomial: Monomial) -> tuple[int | None, int | None]:
    if len(monomial) == 1 and monomial[0][1] == 1:
        return monomial[0][0].low, monomial[0][0].high
    low: int = 1
    high: int | None = 1
    for atom, power in monomial:
        if atom.low is None or atom.low < 0:
            return None, None
        low *= atom.low**power
        high = None if high is None or atom.high is None else high * atom.high**power
    return low, high


def term_text(monomial: Monomial, coefficient: int, first: bool) -> str:
    factors = [f"{atom!r}" if power == 1 else f"{atom!r}**{power}" for atom, power in monomial]
    magnitude = abs(coefficient)
    if magnitude != 1 or not factors:
        factors.insert(0, str(magnitude))
    sign = "-" if coefficient < 0 else "" if first else "+"
    return f"{sign}{'*'.join(factors)}" if first else f"{sign} {'*'.join(factors)}"


def _in_parentheses(size: Any) -> str:
    simple = isinstance(size, int) or (
        len(size.terms) == 1
        and list(size.terms.values()) == [1]
        and len(next(iter(size.terms))) == 1
    )
    return repr(size) if simple else f"({size!r})"
