"""A line search for the strong Wolfe conditions (Nocedal and Wright 2006, algorithms 3.5, 3.6)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._core import Tensor

SUFFICIENT_DECREASE = 1e-4  # c1 and c2 there
CURVATURE = 0.9
MOST_EVALUATIONS = 25


@dataclass
class Point:
    """A step along the direction: the loss there, its gradient and its slope."""

    step: float
    loss: float
    gradient: Tensor
    slope: float


def minimum_of_cubic(a: Point, b: Point, low: float, high: float) -> float:
    """Where the cubic through two points with these slopes has its minimum, within bounds
    (Nocedal and Wright 2006, equation 3.59).
    """
    if a.step > b.step:
        a, b = b, a
    width = b.step - a.step
    if width == 0:
        return (low + high) / 2
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.step - b.step)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    denominator = b.slope - a.slope + 2 * d2
    if denominator == 0:
        return (low + high) / 2
    return min(max(b.step - width * ((b.slope + d2 - d1) / denominator), low), high)


class WolfeSearch:
    """Finds a step with sufficient decrease and a flat enough slope.

    Args:
        evaluate: gives loss and gradient after a step of this length.
        direction: where to go.
        start: the point of step zero.
        tolerance: a bracket in which no element changes by so much is not divided further.
    """

    def __init__(
        self,
        evaluate: Callable[[float], tuple[float, Tensor]],
        direction: Tensor,
        start: Point,
        tolerance: float,
    ) -> None:
        self.function = evaluate
        self.direction = direction
        self.start = start
        self.tolerance = tolerance
        self.evaluations = 0
        self.rounds = 0

    def run(self, step: float) -> Point:
        """The point found, beginning with this step."""
        ends, found = self.bracket(step)
        return found if found is not None else self.zoom(*ends)

    def at(self, step: float) -> Point:
        self.evaluations += 1
        loss, gradient = self.function(step)
        return Point(step, loss, gradient, float(gradient.dot(self.direction)))

    def decreases_too_little(self, point: Point) -> bool:
        start = self.start
        return point.loss > start.loss + SUFFICIENT_DECREASE * point.step * start.slope

    def is_flat(self, point: Point) -> bool:
        return abs(point.slope) <= -CURVATURE * self.start.slope

    def bracket(self, step: float) -> tuple[tuple[Point, Point], Point | None]:
        """Two points with an acceptable one between them, or an acceptable point."""
        previous, point = self.start, self.at(step)
        while self.rounds < MOST_EVALUATIONS:
            if self.decreases_too_little(point) or (
                self.rounds > 1 and point.loss >= previous.loss
            ):
                return (previous, point), None
            if self.is_flat(point):
                return (previous, point), point
            if point.slope >= 0:
                return (previous, point), None
            least = point.step + 0.01 * (point.step - previous.step)
            next_step = minimum_of_cubic(previous, point, least, point.step * 10)
            previous, point = point, self.at(next_step)
            self.rounds += 1
        return (self.start, point), None

    def zoom(self, a: Point, b: Point) -> Point:
        """Divide a bracket until a point in it is acceptable; the best point."""
        low, high = (a, b) if a.loss <= b.loss else (b, a)
        largest_change: Any = float(self.direction.abs().max())
        slow = False
        while self.rounds < MOST_EVALUATIONS:
            if abs(high.step - low.step) * largest_change < self.tolerance:
                break
            step, slow = self.inside(low, high, slow)
            point = self.at(step)
            self.rounds += 1
            if self.decreases_too_little(point) or point.loss >= low.loss:
                low, high = (low, point) if low.loss <= point.loss else (point, low)
                continue
            if self.is_flat(point):
                return point
            if point.slope * (high.step - low.step) >= 0:
                high = low
            low = point
        return low

    @staticmethod
    def inside(low: Point, high: Point, slow: bool) -> tuple[float, bool]:
        """The next step within a bracket, and whether it lies close to an end: the second such step
        in a row is moved inwards.
        """
        least, most = sorted((low.step, high.step))
        step = minimum_of_cubic(low, high, least, most)
        margin = 0.1 * (most - least)
        if min(most - step, step - least) >= margin:
            return step, False
        if slow or step >= most or step <= least:
            return (
                most - margin if abs(step - most) < abs(step - least) else least + margin
            ), False
        return step, True
