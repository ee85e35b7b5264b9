"""L-BFGS."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .. import autograd
from .._core import Tensor
from ..ops.join import cat
from .line_search import Point, WolfeSearch
from .optimizer import Optimizer, check_options


class LBFGS(Optimizer):
    """L-BFGS, a quasi-Newton method (Nocedal and Wright 2006, algorithm 7.5).

    `step` needs a closure, which it calls several times. All parameters are in one group.

    Args:
        params: see `Optimizer`.
        lr: length of a step, in units of the quasi-Newton step.
        max_iter: the most iterations for each call of `step`.
        max_eval: the most evaluations for each call of `step`; None: ``max_iter * 5 // 4``.
        tolerance_grad: a gradient without a larger element ends the step.
        tolerance_change: a change of the loss or of all elements below it ends the step.
        history_size: how many steps the approximation of the Hessian remembers.
        line_search_fn: ``"strong_wolfe"``, or None for steps of fixed length.

    Raises:
        ValueError: for several groups, or a learning rate tensor of several elements.

    Example:
        >>> w = rushlight.ones(2, requires_grad=True)
        >>> optimizer = rushlight.optim.LBFGS([w])
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = ((w - 3) ** 2).sum()
        ...     loss.backward()
        ...     return loss
        >>> _ = optimizer.step(closure); w
        tensor([3., 3.], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_options(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    # ------------------------------------------------------------ all parameters as one vector

    @property
    def _params(self) -> list[Tensor]:
        return self.param_groups[0]["params"]

    def flat_gradient(self) -> Tensor:
        """All gradients in one vector; complex numbers are pairs in it."""
        parts = []
        for parameter in self._params:
            gradient = parameter.grad
            if gradient is None:
                gradient = parameter.detach().new_zeros(parameter.shape)
            parts.append(as_reals(gradient.detach()))
        return cat.operator(parts, 0)

    def move(self, length: float, direction: Tensor) -> None:
        """Add a step to the parameters."""
        offset = 0
        for parameter in self._params:
            count = parameter.numel() * (2 if parameter.is_complex() else 1)
            part = direction[offset : offset + count]
            if parameter.is_complex():
                part = part.view(parameter.dtype)  # type: ignore[arg-type]
            parameter.add_(part.view_as(parameter), alpha=length)
            offset += count

    def evaluate(self, closure: Callable[[], Any]) -> tuple[float, Tensor]:
        loss = float(closure())
        return loss, self.flat_gradient()

    # ------------------------------------------------------------ a step

    @autograd.no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:
        """Iterate until a tolerance or a limit is reached.

        Args:
            closure: computes the loss and its gradients again, and returns the loss.

        Returns:
            The loss before the step.
        """
        group = self.param_groups[0]
        closure = autograd.enable_grad()(closure)
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss, gradient = float(first_loss), self.flat_gradient()
        evaluations = 1
        state["func_evals"] += 1
        if is_small(gradient, group["tolerance_grad"]):
            return first_loss
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self.direction(state, gradient, group["history_size"])
            state["prev_flat_grad"], state["prev_loss"] = gradient, loss
            length = float(group["lr"])
            if state["n_iter"] == 1:
                length *= min(1.0, 1.0 / float(gradient.abs().sum()))
            state["d"], state["t"] = direction, length
            slope = float(gradient.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            if group["line_search_fn"] is not None:
                start = Point(0.0, loss, gradient, slope)
                found, count = self.search(closure, start, direction, length)
                loss, gradient, state["t"] = found.loss, found.gradient, found.step
            else:
                self.move(length, direction)
                count = 0
                if iteration < group["max_iter"]:
                    loss, gradient = self.evaluate(closure)
                    count = 1
            evaluations += count
            state["func_evals"] += count
            if (
                evaluations >= group["max_eval"]
                or is_small(gradient, group["tolerance_grad"])
                or is_small(direction * state["t"], group["tolerance_change"])
                or abs(loss - state["prev_loss"]) < group["tolerance_change"]
            ):
                break
        return first_loss

    def search(
        self, closure: Callable[[], Any], start: Point, direction: Tensor, length: float
    ) -> tuple[Point, int]:
        """Search along a direction and go to the point found; the number of evaluations."""
        group = self.param_groups[0]
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError(
                f"only 'strong_wolfe' is supported, but line_search_fn is "
                f"{group['line_search_fn']!r}"
            )
        origin = [parameter.detach().clone() for parameter in self._params]

        def go_back() -> None:
            for parameter, value in zip(self._params, origin):
                parameter.copy_(value)

        def evaluate(step: float) -> tuple[float, Tensor]:
            self.move(step, direction)
            result = self.evaluate(closure)
            go_back()
            return result

        search = WolfeSearch(evaluate, direction, start, group["tolerance_change"])
        found = search.run(length)
        self.move(found.step, direction)
        return found, search.evaluations

    @staticmethod
    def direction(state: dict[str, Any], gradient: Tensor, history_size: int) -> Tensor:
        """The quasi-Newton direction (Nocedal and Wright 2006, algorithm 7.4), after what the last
        step tells has been added to the history.
        """
        if state["n_iter"] == 1:
            state.update({"old_dirs": [], "old_stps": [], "ro": [], "al": [], "H_diag": 1.0})
            return -gradient
        changes, steps, weights = state["old_dirs"], state["old_stps"], state["ro"]
        change = gradient - state["prev_flat_grad"]
        step = state["d"] * state["t"]
        curvature = float(change.dot(step))
        if curvature > 1e-10:
            if len(changes) == history_size:
                for history in (changes, steps, weights):
                    del history[0]
            changes.append(change)
            steps.append(step)
            weights.append(1.0 / curvature)
            state["H_diag"] = curvature / float(change.dot(change))
        result = -gradient
        factors = state["al"] = [0.0] * len(changes)
        for i in reversed(range(len(changes))):
            factors[i] = float(steps[i].dot(result)) * float(weights[i])
            result.add_(changes[i], alpha=-factors[i])
        result.mul_(state["H_diag"])
        for i in range(len(changes)):
            back = float(changes[i].dot(result)) * float(weights[i])
            result.add_(steps[i], alpha=factors[i] - back)
        return result


def as_reals(x: Tensor) -> Tensor:
    """The elements as a vector of real numbers."""
    flat = x.reshape(-1)
    return flat.view(x.dtype.to_real()) if x.is_complex() else flat  # type: ignore[arg-type]


def is_small(x: Tensor, tolerance: float) -> bool:
    """Whether no element is larger than the tolerance."""
    return float(x.abs().max()) <= tolerance
