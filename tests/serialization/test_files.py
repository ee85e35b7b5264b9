"""Files of `save`, in both directions with PyTorch, and damaged ones."""

from __future__ import annotations

import collections
import importlib
import io
import pickle
import struct
import zipfile

import numpy
import pytest

import rushlight
from rushlight.serialization import names
from rushlight.serialization.safe import full_name

torch = pytest.importorskip("torch")

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def through(save, load, obj, **options):
    """What one library loads of the other's file."""
    buffer = io.BytesIO()
    save(obj, buffer, **options)
    buffer.seek(0)
    return load(buffer)


def ours_there(obj, **options):
    return through(rushlight.save, lambda f: torch.load(f, weights_only=True), obj, **options)


def theirs_here(obj, **options):
    return through(torch.save, rushlight.load, obj, **options)


def ours_here(obj, **options):
    return through(rushlight.save, rushlight.load, obj, **options)


def layouts(module, dtype):
    base = module.arange(24).reshape(2, 3, 4).to(getattr(module, dtype))
    return [
        base,
        base.permute(2, 0, 1),
        base[:, 1:, ::2],
        base[0, 0, 0],
        base[:0],
        base.expand(2, 2, 3, 4),
    ]


def assert_equal(a, b):
    assert str(a.dtype) == str(b.dtype) and tuple(a.shape) == tuple(b.shape)
    assert tuple(a.stride()) == tuple(b.stride())
    assert a.storage_offset() == b.storage_offset()
    assert a.requires_grad == b.requires_grad
    assert a.untyped_storage().nbytes() == b.untyped_storage().nbytes()
    assert a.tolist() == b.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("zipped", [True, False])
def test_all_dtypes_and_layouts(dtype, zipped):
    if not zipped and dtype in ("uint16", "uint32", "uint64"):
        with pytest.raises(RuntimeError, match="legacy"):
            ours_here(
                rushlight.ones(1).to(getattr(rushlight, dtype)),
                _use_new_zipfile_serialization=False,
            )
        return
    ours, theirs = layouts(rushlight, dtype), layouts(torch, dtype)
    for way, given, expected in (
        (ours_there, ours, ours),
        (theirs_here, theirs, theirs),
        (ours_here, ours, ours),
    ):
        found = way(given, _use_new_zipfile_serialization=zipped)
        for a, b in zip(found, expected, strict=True):
            assert_equal(a, b)


def contents(module):
    x = module.arange(12.0).reshape(3, 4)
    p = module.nn.Parameter(x.clone())
    frozen = module.nn.Parameter(module.ones(2), requires_grad=False)
    marked = module.nn.Parameter(module.ones(2))
    marked.note = "a"
    named = module.zeros(2)
    named.note = [1, 2]
    return {
        "views": [x, x[1], x.t()],
        "parameter": p,
        "frozen": frozen,
        "marked": marked,
        "named": named,
        "leaf": module.ones(2, requires_grad=True),
        "ordered": collections.OrderedDict(a=1, b=(2.5, None, True)),
        "set": {1, 2},
        "complex": 1 + 2j,
        "bytes": b"ab\xff",
        "int": 2**70,
        "text": "ü",
        "dtype": module.float16,
        "size": x.shape,
        "device": module.device("cpu"),
        "counter": collections.Counter("aab"),
    }


def check_contents(found, module):
    assert found["views"][0].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    found["views"][0].fill_(7)
    assert found["views"][1].tolist() == [7] * 4 and found["views"][2].tolist() == [[7] * 3] * 4
    for name, wanted in (("parameter", True), ("frozen", False), ("marked", True)):
        assert isinstance(found[name], module.nn.Parameter)
        assert found[name].requires_grad == wanted
    assert found["marked"].note == "a" and found["named"].note == [1, 2]
    assert found["leaf"].requires_grad and found["leaf"].is_leaf
    assert type(found["ordered"]) is collections.OrderedDict
    assert found["ordered"] == {"a": 1, "b": (2.5, None, True)}
    assert found["set"] == {1, 2} and found["complex"] == 1 + 2j and found["bytes"] == b"ab\xff"
    assert found["int"] == 2**70 and found["text"] == "ü" and found["dtype"] is module.float16
    assert found["size"] == (3, 4) and isinstance(found["size"], module.Size)
    assert found["device"] == module.device("cpu") and found["counter"]["a"] == 2


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_contents(zipped, protocol):
    options = {"_use_new_zipfile_serialization": zipped, "pickle_protocol": protocol}
    check_contents(ours_here(contents(rushlight), **options), rushlight)
    check_contents(theirs_here(contents(torch), **options), rushlight)
    if protocol == 2:
        check_contents(ours_there(contents(rushlight), **options), torch)


def test_states_of_optimizers():
    for way, module, there in ((ours_there, rushlight, torch), (theirs_here, torch, rushlight)):
        w = module.ones(3, requires_grad=True)
        optimizer = module.optim.Adam([w], lr=0.1)
        (w * w).sum().backward()
        optimizer.step()
        state = way(optimizer.state_dict())
        other = there.ones(3, requires_grad=True)
        fresh = there.optim.Adam([other])
        fresh.load_state_dict(state)
        assert fresh.param_groups[0]["lr"] == 0.1
        assert fresh.state[other]["exp_avg"].tolist() == pytest.approx([0.2] * 3)


def test_modules():
    def make(module):
        module.manual_seed(3)
        return module.nn.Sequential(
            module.nn.Linear(3, 4), module.nn.ReLU(), module.nn.Linear(4, 2)
        )

    x = numpy.ones((2, 3), "float32")
    expected = make(torch)(torch.tensor(x)).tolist()
    net = make(rushlight)
    net.load_state_dict(theirs_here(make(torch).state_dict()))
    assert net(rushlight.tensor(x)).tolist() == [pytest.approx(row) for row in expected]
    assert ours_there(net.state_dict()).keys() == make(torch).state_dict().keys()
    whole = through(rushlight.save, lambda f: rushlight.load(f, weights_only=False), net)
    assert whole(rushlight.tensor(x)).tolist() == [pytest.approx(row) for row in expected]
    with pytest.raises(pickle.UnpicklingError, match="Sequential"):
        ours_here(net)
    with rushlight.serialization.safe_globals(
        [rushlight.nn.Sequential, rushlight.nn.Linear, rushlight.nn.ReLU]
    ):
        again = ours_here(net)
    assert again(rushlight.tensor(x)).tolist() == [pytest.approx(row) for row in expected]


PLACES = ["nn", "nn.parameter", "optim", "optim.lr_scheduler", "optim.swa_utils", "utils.data"]


@pytest.mark.parametrize("place", PLACES)
def test_classes_have_the_names_of_pytorch(place):
    here, there = (importlib.import_module(f"{each}.{place}") for each in ("rushlight", "torch"))
    for name, theirs in vars(there).items():
        ours = getattr(here, name, None)
        if not (isinstance(theirs, type) and isinstance(ours, type)) or name.startswith("_"):
            continue
        if not theirs.__module__.startswith("torch"):
            continue
        found = names.name_of(ours.__module__, ours.__qualname__)
        assert (found.module, found.name) == (theirs.__module__, theirs.__qualname__)
        assert names.resolve(found.module, found.name) is ours
        assert f"{found.module}.{found.name}" == full_name(ours)[0]


def test_paths(tmp_path):
    path = tmp_path / "my weights.pt"
    rushlight.save({"a": rushlight.ones(3)}, path)
    assert torch.load(path)["a"].tolist() == [1, 1, 1]
    assert rushlight.load(str(path))["a"].tolist() == [1, 1, 1]
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        assert {"my weights/data.pkl", "my weights/version", "my weights/byteorder"} <= set(
            file.namelist()
        )
    with pytest.raises(FileNotFoundError):
        rushlight.load(tmp_path / "none.pt")
    for bad in (tmp_path / "none" / "a.pt", tmp_path, ""):
        with pytest.raises(RuntimeError, match="folder"):
            rushlight.save(1, bad)
    with pytest.raises(AttributeError, match="write"):
        rushlight.save(1, 5)
    with pytest.raises(AttributeError, match="read"):
        rushlight.load(5)


def test_data_lie_at_multiples_of_64(tmp_path):
    path = tmp_path / "w.pt"
    rushlight.save([rushlight.ones(3), rushlight.zeros(100), rushlight.ones(7)], path)
    raw = path.read_bytes()
    with zipfile.ZipFile(path) as file:
        for info in file.infolist():
            names, extras = struct.unpack(
                "<HH", raw[info.header_offset + 26 : info.header_offset + 30]
            )
            assert (info.header_offset + 30 + names + extras) % 64 == 0


@pytest.mark.parametrize("writer", [torch, rushlight])
def test_mapped_files(tmp_path, writer):
    path = tmp_path / "w.pt"
    x = writer.arange(1000.0)
    writer.save({"x": x, "view": x[10:20], "empty": writer.zeros(0)}, path)
    found = rushlight.load(path, mmap=True)
    assert found["x"].tolist() == x.tolist() and found["empty"].shape == (0,)
    found["x"].fill_(3)  # only in memory
    assert found["view"].tolist() == [3] * 10
    assert rushlight.load(path)["x"].tolist() == x.tolist()
    assert torch.load(path, mmap=True)["view"].tolist() == x[10:20].tolist()
    with pytest.raises(ValueError, match="mmap"):
        rushlight.load(io.BytesIO(path.read_bytes()), mmap=True)
    writer.save(x, path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap"):
        rushlight.load(path, mmap=True)


def test_files_within_files():
    buffer = io.BytesIO()
    buffer.write(b"head")
    rushlight.save(rushlight.ones(2), buffer)
    buffer.seek(4)
    assert rushlight.load(buffer).tolist() == [1, 1]


def test_map_location():
    meta = theirs_here_with([torch.ones(2)], map_location="meta")
    assert meta[0].device.type == "meta" and meta[0].shape == (2,)
    for location in (
        "cpu",
        rushlight.device("cpu"),
        {"cpu": "cpu"},
        lambda s, name: s,
        lambda s, name: None,
    ):
        assert theirs_here_with(torch.ones(2), map_location=location).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="map_location"):
        theirs_here_with(torch.ones(2), map_location={"cpu": "cuda:0"})
    with pytest.raises(RuntimeError, match="restore data location"):
        theirs_here_with(torch.ones(2), map_location="nowhere")
    with pytest.raises(RuntimeError, match="map_location must give a storage"):
        theirs_here_with(torch.ones(2), map_location=lambda s, name: 3)


def theirs_here_with(obj, **options):
    return through(torch.save, lambda f: rushlight.load(f, **options), obj)


def test_meta_tensors_keep_their_layout():
    for way in (ours_here, ours_there):
        found = way(rushlight.empty(3, 4, device="meta").t())
        assert found.device.type == "meta" and tuple(found.stride()) == (1, 4)


def test_conjugates_are_resolved():
    x = torch.tensor([1 + 2j, 3 - 1j])
    assert theirs_here(x.conj()).tolist() == [1 - 2j, 3 + 1j]


def test_big_endian_files():
    buffer = io.BytesIO()
    torch.save([torch.arange(4.0), torch.tensor([1 + 2j])], buffer)
    swapped = io.BytesIO()
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(swapped, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("byteorder"):
                data = b"big"
            elif "/data/" in name:
                data = numpy.frombuffer(data, "<f4").byteswap().tobytes()
            new.writestr(name, data)
    swapped.seek(0)
    found = rushlight.load(swapped)
    assert found[0].tolist() == [0, 1, 2, 3] and found[1].tolist() == [1 + 2j]


def test_one_memory_of_two_dtypes_is_refused():
    x = rushlight.ones(4)
    with pytest.raises(RuntimeError, match="different types"):
        rushlight.save([x, x.view(rushlight.int32)], io.BytesIO())


def test_storages():
    x = rushlight.arange(4.0)
    found = ours_here([x, x.untyped_storage(), x[2:].storage()])
    assert found[1] == found[0].untyped_storage() and found[2].tolist() == [0, 1, 2, 3]
    there = ours_there([x, x.untyped_storage()])
    assert there[1].data_ptr() == there[0].data_ptr()


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "w.pt"
    rushlight.save(1, path)
    with pytest.raises((TypeError, pickle.PicklingError, AttributeError)):
        rushlight.save([lambda: 3], path)
    assert rushlight.load(path) == 1


# ---------------------------------------------------------------- damage


def damaged_versions(raw, seed):
    generator = numpy.random.default_rng(seed)
    for length in generator.integers(0, len(raw), 40):
        yield raw[:length]
    for _ in range(200):
        changed = bytearray(raw)
        for place in generator.integers(0, len(raw), generator.integers(1, 4)):
            changed[place] = generator.integers(0, 256)
        yield bytes(changed)


@pytest.mark.parametrize("zipped", [True, False])
def test_damaged_files_raise(zipped, tmp_path):
    buffer = io.BytesIO()
    obj = {
        "a": rushlight.arange(5.0),
        "b": [rushlight.nn.Parameter(rushlight.ones(2, 2))],
        "c": "x",
    }
    rushlight.save(obj, buffer, _use_new_zipfile_serialization=zipped)
    loaded = 0
    for number, raw in enumerate(damaged_versions(buffer.getvalue(), 3 + zipped)):
        path = tmp_path / f"{number}"
        path.write_bytes(raw)
        for options in ({}, {"mmap": True}):
            try:
                rushlight.load(path, **options)
                loaded += 1
            except (RuntimeError, EOFError, pickle.UnpicklingError, ValueError):
                pass
    assert loaded < 400


def test_truncated_and_empty_files():
    buffer = io.BytesIO()
    rushlight.save(rushlight.ones(100), buffer)
    with pytest.raises(RuntimeError, match="failed reading zip archive"):
        rushlight.load(io.BytesIO(buffer.getvalue()[:-100]))
    with pytest.raises(EOFError):
        rushlight.load(io.BytesIO())
    with pytest.raises(pickle.UnpicklingError):
        rushlight.load(io.BytesIO(b"hello, this is no file of ours"))
    with pytest.raises(pickle.UnpicklingError):
        rushlight.load(io.BytesIO(pickle.dumps(object)))
    with pytest.raises(RuntimeError, match="magic"):
        rushlight.load(io.BytesIO(pickle.dumps(3)))
