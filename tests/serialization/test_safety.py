"""Files that want more than weights are refused."""

from __future__ import annotations

import collections
import io
import os
import pickle
import zipfile

import pytest

import rushlight
from rushlight.serialization import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    get_unsafe_globals_in_checkpoint,
    safe_globals,
)


class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/this_must_not_exist",)


class Plain:
    def __init__(self, x):
        self.x = x


def file_of(pickled):
    """A file with this pickle."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("archive/data.pkl", pickled)
        file.writestr("archive/version", "3\n")
    buffer.seek(0)
    return buffer


def saved(obj):
    buffer = io.BytesIO()
    rushlight.save(obj, buffer)
    buffer.seek(0)
    return buffer


@pytest.mark.parametrize("protocol", range(6))
def test_calls_are_refused(protocol):
    for obj in (Evil(), [Evil()], {"a": Evil()}, os.getcwd, eval):
        with pytest.raises(pickle.UnpicklingError):
            rushlight.load(file_of(pickle.dumps(obj, protocol)))
        with pytest.raises(pickle.UnpicklingError):
            rushlight.load(io.BytesIO(pickle.dumps(obj, protocol)))
    assert not os.path.exists("/tmp/this_must_not_exist")


@pytest.mark.parametrize(
    "pickled",
    [
        b"cos\nsystem\n(S'true'\ntR.",
        b"(S'true'\nios\nsystem\n.",
        b"(cos\nsystem\nS'true'\no.",
        b"cbuiltins\neval\n(S'1'\ntR.",
        b"cbuiltins\ngetattr\n(cbuiltins\ndict\nS'__subclasses__'\ntR.",
        b"\x80\x04\x8c\x05torch\x8c\x0fTensor.__init__\x93.",
        b"\x80\x04\x8c\x05torch\x8c\x0b_core.empty\x93.",
        # the class itself, or a function, may not be changed
        b"\x80\x02ctorch\nTensor\n}X\x01\x00\x00\x00aK\x01sb.",
        b"\x80\x02ctorch._utils\n_rebuild_parameter\n}X\x01\x00\x00\x00aK\x01sb.",
        b"\x80\x02ctorch\nTensor\n)\x81.",
        # elements may not be added to just anything
        b"\x80\x02ctorch\nTensor\nK\x01a.",
        b"\x80\x02K\x01(K\x02e.",
        b"\x80\x02ctorch\nTensor\nX\x01\x00\x00\x00aK\x01s.",
        b"\x80\x02X\x01\x00\x00\x00a)R.",
        b"\x80\x02(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQ.",
        b"\x80\x02K\x01Q.",
        b"\x82\x01.",
        b"Pabc\n.",
        b"h\x05.",
        b"",
        b".",
        b"0.",
        b"\x80\x63.",
        b"cbuiltins\nbytearray\n(I10000000000\ntR.",
    ],
)
def test_hostile_pickles(pickled):
    with pytest.raises((pickle.UnpicklingError, RuntimeError, EOFError)):
        rushlight.load(file_of(pickled))
    assert not hasattr(rushlight.Tensor, "a")


def test_tensors_stay_within_their_storage():
    def tensor(*layout):
        head = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n("
        storage = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\n"
        storage += b"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQ"
        values = [pickle.dumps(value, 2)[2:-1] for value in layout]
        return head + storage + b"".join(values) + b"\x89NtR."

    for layout in (
        (0, (5,), (1,)),
        (3, (2,), (1,)),
        (-1, (1,), (1,)),
        (0, (2,), (-1,)),
        (0, (2**40, 2**40), (2**40, 1)),
        (2**62, (1,), (1,)),
        (0, (2,), (2**62,)),
        (0, (-1,), (1,)),
        (0, (1, 2), (1,)),
        (0, (1.5,), (1,)),
        (0, "a", (1,)),
    ):
        buffer = file_of(tensor(*layout))
        with zipfile.ZipFile(buffer, "a") as file:
            file.writestr("archive/data/0", b"\0" * 16)
        buffer.seek(0)
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            rushlight.load(buffer)


def test_users_allow_their_classes():
    buffer = saved(Plain(rushlight.ones(2)))
    name = f"{Plain.__module__}.Plain"
    assert get_unsafe_globals_in_checkpoint(buffer) == [name]
    buffer.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="add_safe_globals"):
        rushlight.load(buffer)
    buffer.seek(0)
    with safe_globals([Plain]):
        assert get_safe_globals() == [Plain]
        assert rushlight.load(buffer).x.tolist() == [1, 1]
    assert get_safe_globals() == []
    add_safe_globals([(Plain, name)])
    buffer.seek(0)
    assert get_unsafe_globals_in_checkpoint(buffer) == []
    buffer.seek(0)
    assert rushlight.load(buffer).x.tolist() == [1, 1]
    clear_safe_globals()
    buffer.seek(0)
    assert rushlight.load(buffer, weights_only=False).x.tolist() == [1, 1]


def test_unsafe_loading_runs_anything():
    counter = collections.defaultdict(list, a=[1])
    assert rushlight.load(saved(counter), weights_only=False) == counter
    with pytest.raises(RuntimeError, match="pickle_module"):
        rushlight.load(saved(1), weights_only=True, pickle_module=pickle)
    assert rushlight.load(saved([1]), pickle_module=pickle) == [1]
