"""The kernel cache as programs meet it: warm starts, concurrent writers, damaged content."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from robustness_support import finish_program, run_program, start_program

# A few training steps of a perceptron with dropout on made-up images; prints the losses.
_TRAIN = """
import sys
import rushlight as torch
from rushlight import nn

torch.manual_seed(3)
network = nn.Sequential(
    nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 64), nn.ReLU(),
    nn.Dropout(0.2), nn.Linear(64, 10),
)
optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
images, labels = torch.rand(96, 64), torch.randint(0, 10, (96,))
for start in (0, 32, 64, 0):
    rows = slice(start, start + 32)
    loss = nn.functional.cross_entropy(network(images[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.6f}")
print("llvmlite" in sys.modules)
"""

# One kernel, its right results, and whether LLVM was needed.
_SIGMOID = """
import math, sys
import rushlight as rl

x = rl.arange(-8, 9) / 2
for found, value in zip(rl.sigmoid(x).tolist(), x.tolist()):
    assert abs(found - 1 / (1 + math.exp(-value))) < 1e-6, (value, found)
print("llvmlite" in sys.modules)
"""


def losses_and_llvm(output: str) -> tuple[list[str], bool]:
    *losses, llvm = output.split()
    assert len(losses) == 4
    return losses, llvm == "True"


def kernels(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.kernel"))


def litter(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*/*") if path.suffix != ".kernel"]


def test_a_warm_start_trains_without_llvm(cache_folder):
    cold, needed = losses_and_llvm(run_program(_TRAIN, cache=cache_folder))
    assert needed
    assert not litter(cache_folder)
    warm, needed = losses_and_llvm(run_program(_TRAIN, cache=cache_folder))
    assert not needed
    assert warm == cold


def test_two_processes_fill_one_cache(cache_folder):
    processes = [start_program(_TRAIN, cache=cache_folder) for _ in range(3)]
    results = [losses_and_llvm(finish_program(process))[0] for process in processes]
    assert results[0] == results[1] == results[2]
    assert not litter(cache_folder)
    warm, needed = losses_and_llvm(run_program(_TRAIN, cache=cache_folder))
    assert (warm, needed) == (results[0], False)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def cut_header(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:10])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def alter(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x40
    path.write_bytes(bytes(content))


def move_entry(path: Path) -> None:
    """Another entry point: the last field of the header."""
    content = bytearray(path.read_bytes())
    content[72] ^= 1
    path.write_bytes(bytes(content))


def open_to_others(path: Path) -> None:
    path.chmod(0o666)


def give_away(path: Path) -> None:
    os.chown(path, 12345, 12345)


def make_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link_elsewhere(path: Path) -> None:
    """A link to a sound file: who may write that file is not told by this folder."""
    other = path.parents[2] / path.name
    path.rename(other)
    path.symlink_to(other)


def make_pipe(path: Path) -> None:
    """Opening it would wait forever for a writer."""
    path.unlink()
    os.mkfifo(path)


DAMAGES = (
    truncate,
    cut_header,
    empty,
    alter,
    move_entry,
    open_to_others,
    give_away,
    make_directory,
    link_elsewhere,
    make_pipe,
)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda function: function.__name__)
def test_bad_files_are_rebuilt(cache_folder, damage: Callable[[Path], None]):
    if damage is give_away and os.getuid() != 0:
        pytest.skip("only root can give files away")
    assert run_program(_SIGMOID, cache=cache_folder).split() == ["True"]
    sound = {path: path.read_bytes() for path in kernels(cache_folder)}
    assert sound
    for path in sound:
        damage(path)
    assert run_program(_SIGMOID, cache=cache_folder, timeout=60).split() == ["True"]
    if damage is make_directory:  # cannot be replaced: compiled each time, and no litter is left
        assert sorted(cache_folder.glob("*/*")) == sorted(sound)
        return
    assert run_program(_SIGMOID, cache=cache_folder).split() == ["False"]
    for path, content in sound.items():
        status = path.lstat()
        assert (
            stat.S_ISREG(status.st_mode)
            and not status.st_mode & 0o022
            and status.st_uid == os.getuid()
        )
        assert path.read_bytes() == content


def test_a_kernel_under_another_name_is_not_used(cache_folder):
    run_program(_SIGMOID, cache=cache_folder)
    program = _SIGMOID.replace("rl.sigmoid(x)", "rl.neg(x)").replace(
        "1 / (1 + math.exp(-value))", "-value"
    )
    folder = cache_folder.parent / "other"
    folder.mkdir(mode=0o700)
    run_program(program, cache=folder)
    names = [{p.relative_to(root) for p in kernels(root)} for root in (folder, cache_folder)]
    (mine,) = names[0] - names[1]
    for path in kernels(cache_folder):
        (cache_folder / mine).parent.mkdir(mode=0o700, exist_ok=True)
        (cache_folder / mine).write_bytes(path.read_bytes())
    assert run_program(program, cache=cache_folder).split() == ["True"]


@pytest.mark.parametrize(
    "problem", ["open", "foreign", "link", "file", "missing parent", "read-only"]
)
def test_bad_folders_are_not_used(tmp_path, problem):
    folder = tmp_path / "kernels"
    if problem == "file":
        folder.write_text("")
    elif problem == "missing parent":
        folder = Path("/proc/self/nothing/kernels")
    elif problem == "link":
        (tmp_path / "real").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "real")
    else:
        folder.mkdir(mode=0o700)
        if problem == "open":
            folder.chmod(0o777)
        elif problem == "foreign":
            if os.getuid() != 0:
                pytest.skip("only root can give folders away")
            os.chown(folder, 12345, 12345)
        else:
            folder.chmod(0o500)
    process = start_program(_SIGMOID, cache=folder)
    assert finish_program(process).split() == ["True"]
    if problem == "link":
        assert not list((tmp_path / "real").iterdir())
    elif problem in ("open", "foreign"):
        assert not list(folder.iterdir())


def test_the_cache_may_vanish_while_in_use(cache_folder):
    program = """
    import shutil, sys, os
    import rushlight as rl
    x = rl.ones(3)
    assert rl.sigmoid(x).shape == (3,)
    shutil.rmtree(os.environ["RUSHLIGHT_CACHE_DIR"])
    assert rl.tanh(x).shape == (3,)
    """
    run_program(program, cache=cache_folder)


def test_the_first_steps_of_training(cache_folder):
    losses, _ = losses_and_llvm(run_program(_TRAIN, cache=cache_folder))
    assert all(0 < float(loss) < 5 for loss in losses)
