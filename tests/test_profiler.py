"""``rushlight.profiler``: what is noted, how it is summed up and written."""

from __future__ import annotations

import gzip
import json
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

import rushlight
from rushlight import profiler
from rushlight.profiler import ProfilerAction, profile, record_function


def names(prof: Any) -> list[str]:
    return [event.name for event in prof.events()]


def test_operators_forward_and_backward() -> None:
    x = rushlight.ones(2, 3, requires_grad=True)
    with profile() as prof:
        (x * 2).exp().sum().backward()
    forward = [name for name in names(prof) if name in ("aten::mul", "aten::exp", "aten::sum")]
    assert forward == ["aten::mul", "aten::exp", "aten::sum"]
    nodes = [each for each in prof.events() if each.name.endswith("Backward0")]
    assert [node.name for node in nodes] == ["SumBackward0", "ExpBackward0", "MulBackward0"]
    assert nodes[1].cpu_children[0].name == "aten::exp_backward"
    assert nodes[1].cpu_children[0].cpu_parent is nodes[1]
    assert names(prof).count("AccumulateGrad") == 1


def test_nothing_is_noted_outside() -> None:
    x = rushlight.ones(3)
    with profile() as prof:
        pass
    x.exp()
    with record_function("outside"):
        x.exp()
    assert names(prof) == [] and str(prof.key_averages()) == ""


def test_ranges_nest() -> None:
    @record_function("outer")
    def f(depth: int) -> Any:
        with record_function(f"inner {depth}"):
            return f(depth - 1) if depth else rushlight.ones(3)

    with profile() as prof:
        f(1)
    assert names(prof) == ["outer", "inner 1", "outer", "inner 0", "aten::ones"]
    for outer, inner in zip(prof.events(), prof.events()[1:]):
        assert inner.cpu_parent is outer and outer.cpu_children == [inner]
        assert outer.start <= inner.start <= inner.end <= outer.end
        assert outer.self_cpu_time_total == pytest.approx(
            outer.cpu_time_total - inner.cpu_time_total
        )
    assert prof.events().self_cpu_time_total == pytest.approx(prof.events()[0].cpu_time_total)


def test_averages() -> None:
    a, b = rushlight.ones(2), rushlight.ones(2, 2)
    with profile(record_shapes=True) as prof:
        a + a
        a + a
        b + b
        rushlight.cat([a, a])
    (add,) = [each for each in prof.key_averages() if each.key == "aten::add"]
    events = [each for each in prof.events() if each.name == "aten::add"]
    assert add.count == 3 and add.cpu_time * 3 == pytest.approx(add.cpu_time_total)
    assert add.cpu_time_total == pytest.approx(sum(each.cpu_time_total for each in events))
    grouped = prof.key_averages(group_by_input_shape=True)
    assert [(each.input_shapes, each.count) for each in grouped if each.key == "aten::add"] == [
        ([[2], [2]], 2),
        ([[2, 2], [2, 2]], 1),
    ]
    (cat,) = [each for each in prof.events() if each.name == "aten::cat"]
    assert cat.input_shapes == [[[2], [2]]]


def test_table() -> None:
    with profile(record_shapes=True) as prof:
        for _ in range(3):
            rushlight.ones(3)
        rushlight.ones(3).exp()
    averages = prof.key_averages()
    text = averages.table(sort_by="count", row_limit=1, header="What ran")
    assert "What ran" in text and "# of Calls" in text and "Self CPU time total" in text
    assert "aten::ones" in text and "aten::exp" not in text
    assert "Input Shapes" in prof.key_averages(True).table()
    with pytest.raises(ValueError, match="sort_by"):
        averages.table(sort_by="nonsense")


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_chrome_trace(tmp_path: Path, name: str) -> None:
    with profile(record_shapes=True) as prof, record_function("all of it"):
        rushlight.ones(3).exp()
    prof.add_metadata("run", "7")
    prof.export_chrome_trace(str(tmp_path / name))
    opened = gzip.open if name.endswith(".gz") else open
    with opened(tmp_path / name, "rt") as file:
        trace = json.load(file)
    outer, *inner = trace["traceEvents"]
    assert trace["run"] == "7" and outer["cat"] == "user_annotation" and outer["ph"] == "X"
    assert [each["name"] for each in inner] == ["aten::ones", "aten::exp"]
    for each in inner:
        assert outer["ts"] <= each["ts"] <= each["ts"] + each["dur"] <= outer["ts"] + outer["dur"]
    assert inner[1]["args"]["Input Dims"] == [[3]]


def test_schedule_is_pytorchs() -> None:
    torch = pytest.importorskip("torch")
    for arguments in (
        {"wait": 1, "warmup": 1, "active": 2, "repeat": 2},
        {"wait": 0, "warmup": 1, "active": 1},
        {"wait": 2, "warmup": 1, "active": 3, "repeat": 1, "skip_first": 3},
        {"wait": 2, "warmup": 1, "active": 2, "skip_first": 1, "skip_first_wait": 1},
    ):
        ours, theirs = profiler.schedule(**arguments), torch.profiler.schedule(**arguments)
        assert [ours(i).name for i in range(20)] == [theirs(i).name for i in range(20)]


def test_steps() -> None:
    traces = []
    plan = profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(schedule=plan, on_trace_ready=lambda p: traces.append(names(p))) as prof:
        for _ in range(10):
            rushlight.ones(2)
            prof.step()
    assert traces == [
        [f"ProfilerStep#{i}", "aten::ones", f"ProfilerStep#{i + 1}", "aten::ones"] for i in (2, 6)
    ]
    assert plan(3) is ProfilerAction.RECORD_AND_SAVE


def test_other_threads_are_not_recorded() -> None:
    with profile() as prof:
        thread = threading.Thread(target=lambda: rushlight.ones(3).exp())
        thread.start()
        thread.join()
        rushlight.ones(3)
    assert names(prof) == ["aten::ones"]


def test_errors_end_ranges() -> None:
    with profile() as prof, pytest.raises(RuntimeError):
        rushlight.ones(2) + rushlight.ones(3)
    with profile() as prof, pytest.raises(ZeroDivisionError):
        with record_function("fails"):
            1 / 0  # noqa: B018
    assert names(prof) == ["fails"]


def test_misuse() -> None:
    with profile():
        with pytest.raises(RuntimeError, match="running already"):
            profile().__enter__()
    unused = profile()
    with pytest.raises(AssertionError):
        unused.events()
    with pytest.raises(TypeError, match="must be str"):
        record_function(3).__enter__()  # type: ignore[arg-type]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        profile(activities=[profiler.ProfilerActivity.CUDA], with_stack=True)
    assert len(caught) == 2
    token = record_function("begun under no profiler").__enter__()
    with profile() as prof:
        token.__exit__()
    assert names(prof) == []


def test_older_interface() -> None:
    with rushlight.autograd.profiler.profile() as prof:
        rushlight.ones(3)
    assert [each.name for each in prof.function_events] == ["aten::ones"]
    assert prof.total_average().count == 1 and "aten::ones" in prof.table()
    with pytest.raises(RuntimeError, match="reentrant"):
        prof.__enter__()
    with rushlight.autograd.profiler.profile(enabled=False) as nothing:
        rushlight.ones(3)
    with pytest.raises(RuntimeError, match="finish"):
        nothing.key_averages()
