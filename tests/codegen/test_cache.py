"""The disk cache: what is stored comes back, anything damaged or unsafe does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_loops import reduction_nest, softmax_nest

from rushlight import dtypes
from rushlight.codegen import cache
from rushlight.codegen import compile as codegen
from rushlight.codegen.nest import Variant
from rushlight.codegen.target import AVX2, AVX512

NEST = reduction_nest("reduce_sum", dtypes.float32)
VARIANT = Variant("R", "CB", 1)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    path = tmp_path / "kernels"
    monkeypatch.setenv("RUSHLIGHT_CACHE_DIR", str(path))
    cache._checked.cache_clear()
    return path


def test_round_trip(folder):
    key = cache.key(NEST, VARIANT, AVX2)
    assert cache.load(key) is None
    cache.store(key, b"code", 2)
    assert cache.load(key) == (b"code", 2)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.suffix for path in folder.rglob("*") if path.is_file()] == [".kernel"]
    assert all(path.stat().st_mode & 0o777 == 0o700 for path in folder.iterdir())


def test_keys_differ_by_structure_variant_and_target():
    keys = {
        cache.key(NEST, VARIANT, AVX2),
        cache.key(NEST, VARIANT, AVX512),
        cache.key(NEST, Variant("R", "SB", 1), AVX2),
        cache.key(softmax_nest(), VARIANT, AVX2),
        cache.key(reduction_nest("reduce_sum", dtypes.float64), VARIANT, AVX2),
    }
    assert len(keys) == 5


def test_damaged_files_are_ignored_and_replaced(folder):
    code = codegen.compile(NEST, VARIANT)
    (path,) = folder.glob("*/*")
    good = path.read_bytes()
    damaged = [b"", good[:20], good[:-1], good + b"x", b"x" + good[1:], good[:-5] + b"wrong"]
    other = good[:8] + bytes(32) + good[40:]
    for content in [*damaged, other]:
        path.write_bytes(content)
        assert cache.load(cache.key(NEST, VARIANT, codegen.host_target())) is None
        assert codegen.compile(NEST, VARIANT) == code
        assert path.read_bytes() == good


def test_an_open_folder_is_not_used(folder):
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    with pytest.warns(UserWarning, match="0700"):
        cache.store(cache.key(NEST, VARIANT, AVX2), b"code", 0)
    assert not list(folder.iterdir())
    assert codegen.compile(NEST, VARIANT).blob


def test_a_file_in_place_of_the_folder_is_no_error(folder):
    folder.write_text("")
    with pytest.warns(UserWarning, match="cannot be made"):
        assert cache.load(cache.key(NEST, VARIANT, AVX2)) is None


def test_size_is_bounded(folder, monkeypatch):
    """What was used last stays; each part keeps its own bound."""
    block = 4096
    monkeypatch.setattr(cache, "SIZE_LIMIT", 10 * block * cache._PARTS)
    monkeypatch.setattr(cache, "_size_on_disk", lambda status: block)
    for part in (0, 7):
        for k in range(30):
            key = bytes([part, 0, k]).ljust(32, b"k")
            cache.store(key, bytes(1000), 0)
            os.utime(cache._place(folder, key), (k, k))
        assert len(list(cache._place(folder, key).parent.iterdir())) <= 10
        assert cache.load(key) is not None
        assert cache.load(bytes([part, 0, 0]).ljust(32, b"k")) is None


def test_small_kernels_count_as_the_blocks_they_fill(folder):
    key = bytes(32)
    cache.store(key, b"code", 0)
    ((_, size, path),) = cache._files(folder / "00")
    assert size >= max(os.stat(path).st_size, os.stat(path).st_blocks * 512)


_WARM = """
import sys
from rushlight import dtypes
from rushlight.codegen import compile as codegen
from rushlight.codegen.nest import Instruction, Nest, Operand, Variant
f = dtypes.float32
nest = Nest(1, 1, (Operand(f, "read", "PR"), Operand(f, "write", "P")), 0, 0,
            (Instruction("load", (0,), f), Instruction("reduce_sum", (0,), f)), ((1, 1),))
codegen.compile(nest, Variant("R", "CB", 1))
print("llvmlite" in sys.modules)
"""


def test_a_warm_start_does_not_load_llvm(folder):
    answers = []
    for _ in range(2):
        result = subprocess.run(
            [sys.executable, "-c", _WARM], capture_output=True, text=True, check=True
        )
        answers.append(result.stdout.strip())
    assert answers == ["True", "False"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_compiles_while_the_parent_does(folder, monkeypatch):
    import threading

    stop = threading.Event()
    target = codegen.host_target()

    def work() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            codegen._emit(codegen._kernel_ir(NEST, VARIANT, target), target)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                monkeypatch.setenv("RUSHLIGHT_CACHE_DIR", "")
                text = codegen._kernel_ir(NEST, VARIANT, target)
                code = codegen._link(codegen._emit(text, target))
                os._exit(0 if code[0] else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()
