"""Symbolic sizes as expressions: their values, their translation, and other symbols in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .polynomials import Atom, evaluate_polynomial
from .symbols import COMPUTE, SymbolicInt, floordiv, maximum, minimum, mod


def evaluate(size: Any, value: Callable[[Atom], int]) -> int:
    """The value of an expression, given the value of each symbol."""
    if not isinstance(size, SymbolicInt):
        return size

    def atom_value(atom: Atom) -> int:
        if atom.operation is None:
            return value(atom)
        a, b = atom.operands
        return COMPUTE[atom.operation](evaluate(a, value), evaluate(b, value))

    result = evaluate_polynomial(size.terms, atom_value)
    assert result is not None
    return result


def lower(
    size: Any,
    symbol: Callable[[Atom], Any],
    constant: Callable[[int], Any],
    emit: Callable[..., Any],
) -> Any:
    """Turn an expression into a program.

    ``symbol(atom)``, ``constant(number)`` and ``emit(operation, a, b)`` return slots; operation is
    one of add sub mul floordiv mod max min.
    """
    if not isinstance(size, SymbolicInt):
        return constant(size)

    def lower_atom(atom: Atom) -> Any:
        if atom.operation is None:
            return symbol(atom)
        operands = [lower(each, symbol, constant, emit) for each in atom.operands]
        return emit(atom.operation, *operands)

    total = None
    for monomial, coefficient in size.terms.items():
        factors = [lower_atom(atom) for atom, power in monomial for _ in range(power)]
        if coefficient != 1 or not factors:
            factors.append(constant(coefficient))
        product = factors[0]
        for factor in factors[1:]:
            product = emit("mul", product, factor)
        total = product if total is None else emit("add", total, product)
    return total


def substitute(size: Any, replacement: Callable[[Atom], Any]) -> Any:
    """The expression with each symbol replaced by an int or symbolic int (of any environment)."""
    if not isinstance(size, SymbolicInt):
        return size
    operations = {"floordiv": floordiv, "mod": mod, "max": maximum, "min": minimum}
    total: Any = 0
    for monomial, coefficient in size.terms.items():
        product: Any = coefficient
        for atom, power in monomial:
            if atom.operation is None:
                factor = replacement(atom)
            else:
                factor = operations[atom.operation](
                    *(substitute(each, replacement) for each in atom.operands)
                )
            for _ in range(power):
                product = product * factor
        total = total + product
    return total
