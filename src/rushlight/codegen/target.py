"""The machine that kernels are compiled for, found without loading LLVM."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Target:
    """An LLVM target and the facts that the loop emitter needs.

    vector_bytes: width of a vector register. masks: whether masked loads and stores cost no more
    than plain ones, so that one loop body serves full and partial vectors. scalef: whether one
    instruction scales by powers of two.
    """

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    masks: bool
    scalef: bool = False

    @property
    def architecture(self) -> str:
        return self.triple.partition("-")[0]


AVX512 = Target("x86_64-unknown-linux-gnu", "x86-64-v4", "", 64, True, True)
AVX2 = Target("x86_64-unknown-linux-gnu", "x86-64-v3", "", 32, False)
# Register x18 belongs to the system on macOS and Windows; ELF is only our container for the code.
NEON = Target("aarch64-unknown-linux-gnu", "generic", "+neon,+reserve-x18", 16, False)

# What the psABI levels x86-64-v3 and x86-64-v4 add, as /proc/cpuinfo spells it.
_LEVEL_3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
_LEVEL_4 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


@lru_cache(maxsize=1)
def host_target() -> Target:
    """The best target that this machine runs; RuntimeError if there is none."""
    machine = os.uname().machine.lower()
    if machine in ("aarch64", "arm64"):
        return NEON
    if machine in ("x86_64", "amd64"):
        flags = _cpu_flags()
        if flags >= _LEVEL_3:
            return AVX512 if flags >= _LEVEL_4 else AVX2
        missing = ", ".join(sorted(_LEVEL_3 - flags))
        raise RuntimeError(f"Rushlight needs a CPU with AVX2 and FMA; this one lacks: {missing}")
    raise RuntimeError(f"Rushlight has no code generator for {machine!r} CPUs (x86-64 or AArch64)")


def _cpu_flags() -> set[str]:
    """The CPU features that the operating system has enabled."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("flags"):
                    return set(line.partition(":")[2].split())
    except OSError as error:
        raise RuntimeError("Rushlight cannot read the CPU's features from /proc/cpuinfo") from error
    return set()


def describe() -> list[tuple[str, str]]:
    """What ``rushlight doctor`` says about the processor."""
    target = host_target()
    lanes = target.vector_bytes // 4
    return [
        ("architecture", target.architecture),
        ("kernels for", target.cpu),
        ("vectors", f"{8 * target.vector_bytes} bits, {lanes} float32 lanes"),
    ]
