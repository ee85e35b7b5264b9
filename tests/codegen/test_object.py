"""Objects become blobs without references to anything outside."""

from __future__ import annotations

import pytest
from harness import Program
from test_loops import gather_nest, layer_norm_nest, softmax_nest

from rushlight import dtypes
from rushlight.codegen import compile as codegen
from rushlight.codegen import loops, object
from rushlight.codegen.nest import Nest, Variant
from rushlight.codegen.target import AVX2, AVX512, NEON


def function_nest(name: str, dtype) -> Nest:
    p = Program(1, 0)
    p.write(p.emit(name, p.read(dtype, "P"), dtype=dtype), "P")
    return p.nest()


NESTS = [
    (softmax_nest(), Variant("R", "CCB", 1)),
    (softmax_nest(), Variant("P", "SSC", 1)),
    (layer_norm_nest(), Variant("R", "CCCCBB", 1)),
    (gather_nest(True), Variant("P", "BBCC", 0)),
    *(
        (function_nest(name, dtype), Variant("P", "CC", 0))
        for name in ("exp", "sin", "tan", "erf", "log1p", "round", "sqrt")
        for dtype in (dtypes.float32, dtypes.float64, dtypes.float16)
    ),
    (function_nest("exp", dtypes.complex64), Variant("P", "CS", 0)),
    (function_nest("abs", dtypes.int8), Variant("P", "SS", 0)),
]


@pytest.mark.parametrize("target", [AVX512, AVX2, NEON], ids=lambda t: t.cpu)
@pytest.mark.parametrize("case", range(len(NESTS)))
def test_every_target_links(case, target):
    nest, variant = NESTS[case]
    code = codegen.compile(nest, variant, target)
    assert 0 <= code.entry < len(code.blob)


def emit(body: str, target=AVX2) -> bytes:
    return codegen._emit(f'target triple = "{target.triple}"\n{body}', target)


@pytest.mark.parametrize("target", [AVX2, NEON], ids=lambda t: t.cpu)
def test_external_references_are_refused(target):
    image = emit("declare double @sin(double)\ndefine double @kernel(double %x) {\n"
                 "%y = call double @sin(double %x)\nret double %y\n}", target)  # fmt: skip
    with pytest.raises(object.ObjectError, match="sin"):
        object.link(image)


def test_a_missing_entry_and_foreign_files_are_refused():
    image = emit("define void @other() {\nret void\n}")
    with pytest.raises(object.ObjectError, match="kernel"):
        object.link(image)
    with pytest.raises(object.ObjectError, match="ELF"):
        object.link(b"MZ" + bytes(100))


def test_aarch64_constants_are_addressed_directly():
    """ADRP depends on the page a blob is loaded at: none may be left."""
    for nest, variant in NESTS:
        blob = codegen.compile(nest, variant, NEON).blob
        text = object.link(codegen._emit(loops.kernel_ir(nest, variant, NEON), NEON))[0]
        assert text == blob
        words = [int.from_bytes(blob[k : k + 4], "little") for k in range(0, len(blob) - 3, 4)]
        end = next(k for k, word in enumerate(words) if word == 0xD65F03C0)  # the first RET
        assert not any(word & 0x9F000000 == 0x90000000 for word in words[:end])
