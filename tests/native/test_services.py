"""The services of the native core: allocator, thread pool, random number generator."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import rushlight
from rushlight import _core

MIB = 1 << 20
LOW_28 = (1 << 28) - 1


@pytest.fixture(autouse=True)
def restore_settings() -> Iterator[None]:
    threads = _core.get_num_threads()
    yield
    _core.set_memory_limit(None)
    _core.set_num_threads(threads)


def outputs(generator: _core.Generator, count: int, dtype: type = np.uint32) -> np.ndarray:
    result = np.empty(count, dtype)
    generator.fill(result)
    return result


# ---------------------------------------------------------------- allocator


def test_statistics_follow_a_tensor() -> None:
    before = _core.allocator_statistics()
    tensor = rushlight.empty(3 * MIB, dtype=rushlight.uint8)
    during = _core.allocator_statistics()
    assert during["in_use"] - before["in_use"] >= 3 * MIB
    assert during["peak"] >= during["in_use"]
    assert during["allocations"] > before["allocations"]
    del tensor
    after = _core.allocator_statistics()
    assert after["in_use"] <= during["in_use"] - 3 * MIB
    assert after["peak"] >= during["peak"]


@pytest.mark.parametrize("count", [0, 1, 17, 1000, 100_000, 5 * MIB])
def test_a_freed_block_is_used_again(count: int) -> None:
    if not caches():
        pytest.skip("built with a sanitizer, which turns caching off")
    rushlight.empty(count, dtype=rushlight.uint8)
    before = _core.allocator_statistics()
    for _ in range(20):
        rushlight.empty(count, dtype=rushlight.uint8)
    after = _core.allocator_statistics()
    assert after["hits"] - before["hits"] == after["allocations"] - before["allocations"]
    assert after["in_use"] == before["in_use"]


def caches() -> bool:
    before = _core.allocator_statistics()["cached"]
    rushlight.empty(7 * MIB, dtype=rushlight.uint8)
    return _core.allocator_statistics()["cached"] > before or before >= 7 * MIB


def test_empty_cache_gives_memory_back() -> None:
    rushlight.empty(8 * MIB, dtype=rushlight.uint8)
    _core.empty_cache()
    assert _core.allocator_statistics()["cached"] < MIB


def test_limit_is_an_error_not_a_crash() -> None:
    _core.empty_cache()
    statistics = _core.allocator_statistics()
    limit = statistics["in_use"] + statistics["cached"] + 16 * MIB
    _core.set_memory_limit(limit)
    assert _core.allocator_statistics()["limit"] == limit
    with pytest.raises((MemoryError, RuntimeError)):
        rushlight.empty(64 * MIB, dtype=rushlight.uint8)
    for megabytes in (8, 9, 10):  # what is cached makes room for what is asked for
        rushlight.empty(megabytes * MIB, dtype=rushlight.uint8)
    _core.set_memory_limit(None)
    assert _core.allocator_statistics()["limit"] is None
    rushlight.empty(64 * MIB, dtype=rushlight.uint8)


def test_impossible_sizes_are_errors() -> None:
    with pytest.raises((MemoryError, RuntimeError)):
        rushlight.empty(1 << 60, dtype=rushlight.uint8)


@pytest.mark.parametrize(("limit", "error"), [(-1, ValueError), ("x", TypeError), (1.5, TypeError)])
def test_limit_arguments(limit: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        _core.set_memory_limit(limit)


# ---------------------------------------------------------------- threads


def test_thread_count_is_kept() -> None:
    _core.set_num_threads(3)
    assert _core.get_num_threads() == 3


@pytest.mark.parametrize("count", [0, -1, "a", 1.5, True, 1 << 40])
def test_thread_count_arguments(count: object) -> None:
    with pytest.raises(RuntimeError, match="set_num_threads expects"):
        _core.set_num_threads(count)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"RUSHLIGHT_NUM_THREADS": "3", "OMP_NUM_THREADS": "5"}, 3),
        ({"OMP_NUM_THREADS": "5,2"}, 5),
        ({"RUSHLIGHT_NUM_THREADS": "many"}, len(os.sched_getaffinity(0))),
        ({}, len(os.sched_getaffinity(0))),
    ],
)
def test_default_thread_count(variables: dict[str, str], expected: int) -> None:
    unset = ("RUSHLIGHT_NUM_THREADS", "OMP_NUM_THREADS")
    environment = {k: v for k, v in os.environ.items() if k not in unset} | variables
    program = "from rushlight import _core; print(_core.get_num_threads())"
    result = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert int(result.stdout) == expected


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_do_not_depend_on_threads(threads: int) -> None:
    source = np.arange(1_000_003, dtype=np.float64)
    _core.set_num_threads(threads)
    tensor = rushlight.from_numpy(source)
    np.testing.assert_array_equal((tensor + tensor).numpy(), source + source)
    square = source[:-3].reshape(1000, 1000)
    transposed = rushlight.from_numpy(square).t().contiguous()
    np.testing.assert_array_equal(transposed.numpy(), square.T)


def in_child(function) -> int:
    """Run a function in a forked child; 0 if it returned."""
    child = os.fork()
    if child == 0:
        try:
            function()
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(
    "libtsan" in os.environ.get("LD_PRELOAD", ""), reason="a forked child cannot start threads"
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_children_can_work() -> None:
    def work() -> None:
        tensor = rushlight.ones(1000, 1000)
        assert float((tensor + tensor).sum()) == 2e6
        assert float((tensor * 3 - tensor / 2).exp().amin()) > 12  # code made in the child
        _core.empty_cache()

    _core.set_num_threads(2)
    work()
    assert in_child(work) == 0
    assert in_child(lambda: None if in_child(work) == 0 else os._exit(1)) == 0
    work()


# ---------------------------------------------------------------- generator


def test_first_numbers() -> None:
    generator = _core.Generator()
    assert (outputs(generator.manual_seed(0), 6) % 10).tolist() == [4, 9, 3, 0, 3, 9]
    first = outputs(generator.manual_seed(0), 1)[0]
    assert float(first & 0xFFFFFF) * 2.0**-24 == 0.49625658988952637


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**32 - 1])
def test_stream_is_the_classic_one(seed: int) -> None:
    words = [seed]
    for i in range(1, 624):
        words.append((1812433253 * (words[-1] ^ (words[-1] >> 30)) + i) & 0xFFFFFFFF)
    reference = np.random.MT19937()
    state = {"key": np.array(words, np.uint32), "pos": 624}
    reference.state = {"bit_generator": "MT19937", "state": state}
    expected = reference.random_raw(2000)
    generator = _core.Generator().manual_seed(seed)
    parts = [outputs(generator, n) for n in (1, 2, 620, 1, 0, 1376)]
    np.testing.assert_array_equal(np.concatenate(parts), expected)


def test_high_word_comes_first() -> None:
    generator = _core.Generator()
    words = outputs(generator.manual_seed(7), 20001).astype(np.uint64)
    generator.manual_seed(7)
    outputs(generator, 1)
    expected = (words[1::2] << np.uint64(32)) | words[2::2]
    np.testing.assert_array_equal(outputs(generator, 10000, np.uint64), expected)


def test_only_the_low_half_of_the_seed_counts() -> None:
    generator = _core.Generator()
    first = outputs(generator.manual_seed(5), 10)
    np.testing.assert_array_equal(outputs(generator.manual_seed(5 + (9 << 32)), 10), first)
    assert generator.initial_seed() == 5 + (9 << 32)


@pytest.mark.parametrize(
    ("seed", "stored"), [(-1, 2**64 - 1), (2**64 - 1, 2**64 - 1), (-(2**63), 2**63)]
)
def test_seed_range(seed: int, stored: int) -> None:
    assert _core.Generator().manual_seed(seed).initial_seed() == stored


@pytest.mark.parametrize(
    ("seed", "error"),
    [
        (2**64, ValueError),
        (-(2**63) - 1, ValueError),
        (1.5, RuntimeError),
        (True, RuntimeError),
        ("1", RuntimeError),
    ],
)
def test_seed_arguments(seed: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="manual_seed"):
        _core.Generator().manual_seed(seed)


def test_seed_draws_a_new_seed() -> None:
    generator = _core.Generator()
    assert generator.initial_seed() == 67280421310721
    seed = generator.seed()
    assert generator.initial_seed() == seed
    assert _core.Generator().seed() != seed


@pytest.mark.parametrize("drawn", [0, 1, 5, 623, 624, 625, 3000])
def test_state_is_restored(drawn: int) -> None:
    generator = _core.Generator().manual_seed(3)
    outputs(generator, drawn)
    generator.next_normal = 0.25
    state = generator.get_state()
    expected = outputs(generator, 1500)
    other = _core.Generator()
    other.set_state(state)
    assert other.get_state() == state
    assert other.next_normal == 0.25
    assert other.initial_seed() == 3
    np.testing.assert_array_equal(outputs(other, 1500), expected)


@pytest.mark.parametrize("state", [b"", b"x", bytes(5056), bytes(5057), b"\xff" * 5056])
def test_bad_states_are_errors(state: bytes) -> None:
    generator = _core.Generator().manual_seed(3)
    before = generator.get_state()
    with pytest.raises(RuntimeError, match="state"):
        generator.set_state(state)
    assert generator.get_state() == before


def test_seeding_forgets_the_pending_normal_number() -> None:
    generator = _core.Generator()
    assert generator.next_normal is None
    generator.next_normal = 1.5
    assert generator.next_normal == 1.5
    generator.manual_seed(1)
    assert generator.next_normal is None
    with pytest.raises(TypeError):
        generator.next_normal = "x"


@pytest.mark.parametrize("buffer", [bytearray(3), b"1234", np.empty((4, 4), np.uint32)[:, ::2], 5])
def test_bad_buffers_are_errors(buffer: object) -> None:
    with pytest.raises((ValueError, BufferError, TypeError)):
        _core.Generator().fill(buffer)


def test_device() -> None:
    _core.Generator(device="cpu")
    with pytest.raises(RuntimeError, match="device"):
        _core.Generator(device="cuda")


def test_states_and_numbers_equal_pytorch() -> None:
    torch = pytest.importorskip("torch")
    for seed in (0, -1, 2**40 + 3):
        theirs = torch.Generator().manual_seed(seed)
        ours = _core.Generator().manual_seed(seed)
        for count in (1, 623, 1000):
            assert bytes(theirs.get_state().numpy()) == ours.get_state()
            expected = torch.randint(0, LOW_28, (count,), generator=theirs).numpy()
            np.testing.assert_array_equal(outputs(ours, count) % LOW_28, expected)
        torch.randn(3, generator=theirs)
        ours.set_state(theirs.get_state().numpy())
        assert bytes(theirs.get_state().numpy()) == ours.get_state()
        assert ours.next_normal == torch.randn(1, generator=theirs, dtype=torch.float64).item()
