"""What a user can see of the inside: ``explain``, ``RUSHLIGHT_DEBUG`` and ``debug.plans``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import rushlight
from rushlight import inspection, stages
from rushlight.debug import explain, plans
from rushlight.devices import reference
from rushlight.graph import print as graph_print
from rushlight.graph.expressions import evaluate


def softmax_loss(x: rushlight.Tensor) -> None:
    (rushlight.softmax(x, 1) * x).sum().backward()


def test_explain_shows_graph_and_nest_with_the_users_line() -> None:
    text = explain(rushlight.softmax, rushlight.ones(3, 4), 1)
    assert "# graph: softmax, as traced" in text
    assert "exp_(" in text and "# float32[s0, s1]" in text
    assert text.count("# nest:") == 1 and text.count("# phase") == 3
    line = next(line for line in text.splitlines() if "exp_(" in line)
    assert Path(line.rpartition("  ")[2].partition(":")[0]).name == Path(__file__).name


def test_explain_plans_anew_each_time() -> None:
    x = rushlight.ones(3, 4)
    rushlight.softmax(x, 1)
    first, second = explain(rushlight.softmax, x, 1), explain(rushlight.softmax, x, 1)
    assert first.count("# fusion") == second.count("# fusion") == 1


def test_explain_shows_the_backward_pass() -> None:
    x = rushlight.ones(3, 4).requires_grad_()
    softmax_loss(x)
    text = explain(softmax_loss, x)
    assert "# graph: softmax_backward, as traced" in text
    assert "# fusion: softmax_backward" in text


@pytest.mark.parametrize(
    "stage, expected",
    [("plans", "steps:"), ("llvm", "define i64 @kernel"), ("asm", "kernel:"), ("cache", "kernel ")],
)
def test_stages(stage: str, expected: str) -> None:
    text = explain(rushlight.exp, rushlight.ones(5), stages=stage)
    assert text.startswith(f"# {stage}: ") and expected in text
    assert all(f"# {other}: " not in text for other in stages.STAGES if other != stage)


def test_explain_refuses_unknown_stages() -> None:
    with pytest.raises(ValueError, match="no stage"):
        explain(rushlight.exp, rushlight.ones(5), stages="ast")


def test_explain_leaves_modes_and_results_alone() -> None:
    with rushlight.no_grad():
        explain(rushlight.exp, rushlight.ones(5).requires_grad_())
        assert not rushlight.is_grad_enabled()
    with pytest.raises(RuntimeError):
        explain(rushlight.matmul, rushlight.ones(2, 3), rushlight.ones(2, 3))
    assert not stages.collecting()


def test_indirect_loads_scalars_and_library_calls_print() -> None:
    def program() -> None:
        x = rushlight.ones(4, 5)
        y = rushlight.gather(x * 0.5, 1, rushlight.zeros(4, 2, dtype=rushlight.int64))
        (y @ y.mT).cumsum(0)

    text = explain(program, stages="fusion")
    assert "indirect" in text and "a1" in text
    assert "matmul(" in text and "step of its own" in text


def test_windows_print() -> None:
    text = explain(rushlight.max_pool2d, rushlight.ones(3, 2, 6, 6), 2, stages="fusion")
    assert ".window(3, " in text and "[p0, p1, p2, r0, p4]" in text


def test_views_are_said_to_compute_nothing() -> None:
    x = rushlight.ones(3, 4).requires_grad_()
    text = explain(lambda: x.sum().backward(), stages="fusion")
    assert "nothing to compute: the results are views" in text


def test_every_shown_graph_runs_on_the_reference_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Traced, legalized and backward graphs: the text gives what the graph gives."""
    graphs = []
    monkeypatch.setattr(inspection, "graph_text", lambda graph: graphs.append(graph) or "")

    def program(x: rushlight.Tensor) -> None:
        softmax_loss(x)
        rushlight.matmul(x.detach().int(), x.detach().int().T)

    explain(program, rushlight.ones(3, 4).requires_grad_(), stages="graph")
    names = {node.name for graph in graphs for node in graph.nodes}
    assert len(graphs) >= 6 and {"matmul", "mul", "exp", "expand"} <= names
    random = numpy.random.default_rng(0)
    for graph in graphs:
        symbols = graph.environment.symbols
        inputs = [
            reference.stored(
                random.integers(-3, 3, [evaluate(n, lambda atom: atom.hint) for n in value.shape]),
                value.dtype,
            )
            for value in graph.inputs
        ]
        ints = {a.origin[1]: a.hint for a in symbols if a.origin and a.origin[0] == "int"}
        text = graph_print.text(graph)
        header = text.splitlines()[0]
        sizes = {repr(a): a.hint for a in symbols if f"{a!r}," in header or f"{a!r})" in header}
        expected = reference.run(graph, inputs, ints)
        for ours, theirs in zip(reference.run_text(text, inputs, sizes), expected, strict=True):
            numpy.testing.assert_array_equal(ours.data, theirs.data)  # type: ignore[union-attr]


def test_plans_counts_operators() -> None:
    x = rushlight.ones(7, 3)
    before = {each.name: each for each in plans()}.get("expm1")
    for _ in range(3):
        rushlight.expm1(x)
    after = {each.name: each for each in plans()}["expm1"]
    assert after.plans >= 1 and after.misses >= 1
    assert after.hits - (before.hits if before else 0) >= 2


def test_backward_operators_are_counted() -> None:
    x = rushlight.ones(3, 4).requires_grad_()
    softmax_loss(x)
    assert any(each.name == "softmax_backward" and each.misses for each in plans())


def run(code: str, debug: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RUSHLIGHT_DEBUG": debug}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


def test_the_environment_variable_prints_to_stderr() -> None:
    code = "import rushlight; rushlight.exp(rushlight.ones(3)); print('done')"
    result = run(code, "graph|fusion")
    assert result.stdout == "done\n"
    assert "# graph: exp, as traced" in result.stderr and "# fusion: exp" in result.stderr
    assert "# plans:" not in result.stderr
    assert run(code, "").stderr == ""
    assert "no stage typo" in run(code, "typo").stderr


def test_calls_without_a_plan_are_said_to_have_none() -> None:
    text = explain(rushlight.nonzero, rushlight.tensor([0, 1, 2]), stages="plans")
    assert text.startswith("# plans: nonzero: no plan, runs operator by operator")
