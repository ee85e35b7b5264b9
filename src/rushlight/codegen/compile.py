"""From a nest and a variant to machine code: from the disk cache, else through LLVM."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import Any

from ..stages import active, show
from . import cache, widths
from .math.external import EXTERNAL, external_addresses
from .nest import Nest, Variant
from .schedule import cost
from .target import Target, host_target
from .widths import splittable

__all__ = [
    "EXTERNAL", "Code", "assembly", "compile", "cost", "external_addresses", "scratch_bytes",
    "splittable",
]  # fmt: skip


@dataclass(frozen=True)
class Code:
    """Machine code for any address that is a multiple of 64; ``entry``: the kernel's offset."""

    blob: bytes
    entry: int


def compile(nest: Nest, variant: Variant, target: Target | None = None) -> Code:
    """The code of one variant of a nest, for this machine unless told otherwise."""
    with _lock:
        return _compile(nest, variant, target or host_target())


def _compile(nest: Nest, variant: Variant, target: Target) -> Code:
    key = cache.key(nest, variant, target)
    found = cache.load(key)
    title = f"kernel {key.hex()[:12]}, {variant_text(variant)}"
    show("cache", f"{'miss' if found is None else 'hit'}: {title}", lambda: _nest_text(nest))
    if found is None or active("llvm"):
        text = _kernel_ir(nest, variant, target)
        show("llvm", title, lambda: text)
    show("asm", title, lambda: assembly(nest, variant, target))
    if found is None:
        found = _link(_emit(text, target))
        cache.store(key, *found)
    return Code(*found)


def variant_text(variant: Variant) -> str:
    """A variant in a few words."""
    axis = "parallel" if variant.vector == "P" else "reduced"
    split = f", {variant.split}" if variant.split else ""
    return f"vectors along the {axis} loop, operands {variant.classes}{split}"


def scratch_bytes(nest: Nest, variant: Variant, target: Target | None = None) -> int:
    """Bytes of scratch memory per reduced element that a variant's kernel needs."""
    return widths.scratch_bytes(nest, variant, target or host_target())


def assembly(nest: Nest, variant: Variant, target: Target | None = None) -> str:
    """The kernel as assembly text, for reading."""
    target = target or host_target()
    return _emit(_kernel_ir(nest, variant, target), target, assembly=True)


# The emitter is imported when a kernel is not in the cache, under the lock: a child that is forked
# during an import could not finish it.


def _kernel_ir(nest: Nest, variant: Variant, target: Target) -> str:
    with _lock:
        from . import loops
    return loops.kernel_ir(nest, variant, target)


def _link(file: bytes) -> tuple[bytes, int]:
    with _lock:
        from . import object
    return object.link(file)


def _nest_text(nest: Nest) -> str:
    from .show import nest_text

    return nest_text(nest)


# One thread at a time compiles, and none while the process forks: a child that inherits LLVM's
# lock, or that of a module being imported on the way (a codec, package metadata), in the hands of
# another thread would hang at its first kernel.
_lock = threading.RLock()
_machines: dict[Target, Any] = {}


def _emit(text: str, target: Target, assembly: bool = False) -> Any:
    """Compile a module's text to an object file (or assembly)."""
    with _lock:
        import llvmlite.binding as llvm

        machine = _machines.get(target)
        if machine is None:
            machine = _machines[target] = _make_machine(llvm, target)
        with llvm.parse_assembly(text) as module:  # released here: that takes LLVM's lock too
            return machine.emit_assembly(module) if assembly else machine.emit_object(module)


def _make_machine(llvm: Any, target: Target) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, reloc="pic", codemodel="small"
    )


def _release_in_child() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _lock.acquire(),
        after_in_parent=lambda: _lock.release(),
        after_in_child=_release_in_child,
    )
