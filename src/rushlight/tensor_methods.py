"""Methods and properties of Tensor that are plain Python: NumPy, devices, Python's protocols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from . import _core, dtypes, formats
from ._core import Tensor
from .autograd.grad_mode import no_grad as _no_grad
from .creation import allclose, copied, empty_strided, equal, is_nonzero
from .device import device as Device
from .dtypes import dtype as DType
from .factories import finished, moved
from .ops import complex as complex_parts
from .promotion import scalar_type_name

# ---------------------------------------------------------------- NumPy


def to_numpy(self: Tensor, *, force: bool = False) -> Any:
    """The elements as a NumPy array that shares the tensor's memory.

    Args:
        force: also for tensors that require a gradient: ``detach()`` first.

    Raises:
        RuntimeError: if the tensor requires a gradient.
        TypeError: for dtypes that NumPy lacks (bfloat16) and tensors without data.
    """
    return _core.to_numpy(self.detach().cpu() if force else self)


def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """What ``numpy.asarray(tensor)`` calls."""
    array = _core.to_numpy(self)
    if dtype is not None and numpy.dtype(dtype) != array.dtype:
        if copy is False:
            raise ValueError(
                f"a tensor of {self.dtype} cannot become an array of {dtype} without a copy"
            )
        return array.astype(dtype)
    return array.copy() if copy else array


def __array_wrap__(
    self: Tensor, array: Any, context: Any = None, return_scalar: bool = False
) -> Tensor:
    """What NumPy's functions make of their results when they are given tensors."""
    return _core.from_numpy(numpy.asarray(array))


def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor that holds a copy of the data; dtype and device are by default this tensor's."""
    result = copied(data, self.dtype if dtype is None else dtype, "new_tensor")
    return finished(
        result, self.device if device is None else device, requires_grad, pin_memory, "new_tensor"
    )


def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    dtype: DType | None = None,
    layout: Any = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of these sizes and strides whose elements are not set; else as this tensor."""
    return empty_strided(
        size,
        stride,
        dtype=self.dtype if dtype is None else dtype,
        device=self.device if device is None else device,
        requires_grad=requires_grad,
        pin_memory=pin_memory,
    )


# ---------------------------------------------------------------- devices


def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """This tensor on the CPU: itself, if it is there."""
    return moved(self, Device("cpu"))


def cuda(
    self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None
) -> Tensor:
    """This tensor on a GPU; there is none in this build.

    Raises:
        AssertionError: always.
    """
    raise AssertionError("Rushlight was not built with CUDA; use device='cpu'")


def get_device(self: Tensor) -> int:
    """The number of the accelerator that holds the tensor; -1 for the CPU."""
    return -1


def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """A copy in memory from which an accelerator can read directly; there is none in this build.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError("pin_memory: Cannot access accelerator device when none is available.")


def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether the tensor is in memory from which an accelerator can read directly."""
    return False


def is_on(*names: str) -> property:
    """A property that tells whether a tensor is on a device of one of these types."""
    return property(
        lambda self: self.device.type in names,
        doc=f"Whether the tensor is on a device of type {names[0]}.",
    )


# ---------------------------------------------------------------- dtypes by name

_TYPE_NAMES = {dtype: f"torch.{scalar_type_name(dtype)}Tensor" for dtype in dtypes.ALL}
_TYPES_BY_NAME = {name: dtype for dtype, name in _TYPE_NAMES.items()}


def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Without an argument the type's name (``"torch.FloatTensor"``); else this tensor converted.

    Raises:
        ValueError: for a name that is no type's.
    """
    if dtype is None:
        return _TYPE_NAMES[self.dtype]
    target = _TYPES_BY_NAME.get(dtype) if isinstance(dtype, str) else dtype
    target = getattr(target, "dtype", target)  # of types such as LongTensor
    if not isinstance(target, DType):
        name = dtype.__name__ if isinstance(dtype, type) else dtype
        raise ValueError(f"invalid type: '{name}'")
    return self.to(target)


# ---------------------------------------------------------------- Python's protocols


def __contains__(self: Tensor, element: Any) -> bool:
    """Whether an element equals a number, or elements equal those of a tensor that broadcasts."""
    if isinstance(element, Tensor | int | float | complex):
        return bool((self == element).any())
    raise RuntimeError(
        f"`in` looks for a number or a tensor in a tensor, not for a {type(element).__name__}."
    )


def __reversed__(self: Tensor) -> Tensor:
    """The rows in reverse order."""
    return self.flip(0) if self.ndim else self


# ---------------------------------------------------------------- layouts


def _shape_of(other: Any, function: str) -> Any:
    if not isinstance(other, Tensor):
        raise TypeError(
            f"{function}(): argument 'other' must be Tensor, not {type(other).__name__}"
        )
    return other.shape


def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return self.shape == _shape_of(other, "is_same_size")


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors are the same part of the same memory, seen in the same way."""
    return (
        _core.same_storage(self, tensor)
        and self.storage_offset() == tensor.storage_offset()
        and self.shape == tensor.shape
        and self.stride() == tensor.stride()
    )


def part(name: str) -> property:
    """The property that is a view of the real or imaginary parts; assigning writes them."""
    operator = getattr(complex_parts, name)

    def get(self: Tensor) -> Tensor:
        return operator(self)

    def put(self: Tensor, value: Any) -> None:
        view = get(self)
        view.copy_(value) if isinstance(value, Tensor) else view.fill_(value)

    parts = {"real": "real parts; of a real tensor, itself", "imag": "imaginary parts"}
    return property(get, put, doc=f"A view of the {parts[name]}.")


def hermitian(name: str, matrices: str) -> property:
    """The property that transposes and conjugates the last two dims."""

    def get(self: Tensor) -> Tensor:
        if self.ndim < 2 or (name == "H" and self.ndim != 2):
            raise RuntimeError(
                f"tensor.{name} is only supported on {matrices}. Got {self.ndim}-D tensor."
            )
        swapped = self.mT
        return swapped.conj() if self.dtype.is_complex else swapped

    return property(get, doc="The conjugate transpose of the last two dims.")


def not_yet(value: bool, doc: str) -> property:
    """A property with one value for all tensors of this build."""
    return property(lambda self: value, doc=doc)


# ---------------------------------------------------------------- elements in place


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Set the main diagonal to a number.

    Args:
        fill_value: the number.
        wrap: whether the diagonal of a tall matrix begins anew after each block of
            ``columns + 1`` rows.

    Raises:
        RuntimeError: for tensors of less than two dims, or of more that are not equally long.
    """
    if self.ndim < 2:
        raise RuntimeError(f"fill_diagonal_: dimensions must larger than 1, not {self.ndim}")
    if self.ndim == 2:
        rows, columns = self.shape
        for start in range(0, rows, columns + 1) if wrap else (0,):
            self[start : start + columns].diagonal().fill_(fill_value)
        return self
    if len(set(self.shape)) > 1:
        raise RuntimeError(
            "fill_diagonal_: all dimensions of input must be of equal length, but the shape is "
            f"{tuple(self.shape)}"
        )
    diagonal: Any = (self.shape[0],), (sum(self.stride()),), self.storage_offset()
    self.as_strided(*diagonal).fill_(fill_value)
    return self


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by what a function gives for it, one after the other; slow.

    Raises:
        TypeError: for tensors without data.
    """
    if self.is_meta:
        raise TypeError("apply_ is only implemented on CPU tensors")
    numbers = [callable(number) for number in self.detach().flatten().tolist()]
    with _no_grad():
        self.copy_(_core.tensor_from_data(numbers, self.dtype.code).view(self.shape))
    return self


# ---------------------------------------------------------------- questions


def dim_order(self: Tensor, *, ambiguity_check: bool = False) -> tuple[int, ...]:
    """The dims in the order in which they lie in memory, from outermost to innermost.

    Args:
        ambiguity_check: whether several such orders are an error.

    Raises:
        RuntimeError: in that case.
    """
    strides = self.stride()
    if ambiguity_check and (len(set(strides)) < self.ndim or 1 in self.shape or 0 in self.shape):
        raise RuntimeError(
            "dim_order: The tensor does not have unique dim order; its sizes are "
            f"{tuple(self.shape)} and its strides {strides}"
        )
    return tuple(sorted(range(self.ndim), key=lambda dim: -strides[dim]))


def is_false(doc: str) -> Callable[[Tensor], bool]:
    """A method that is False for all tensors of this build."""

    def method(self: Tensor) -> bool:
        return False

    method.__doc__ = doc
    return method


def to_dense(self: Tensor, dtype: DType | None = None, *, masked_grad: bool = True) -> Tensor:
    """This tensor with a strided layout, which it has."""
    return self if dtype is None else self.to(dtype)


ATTACHED: dict[str, Any] = {
    "fill_diagonal_": fill_diagonal_,
    "apply_": apply_,
    "dim_order": dim_order,
    "is_conj": is_false("Whether the tensor is marked as conjugated: conjugates are computed."),
    "is_neg": is_false("Whether the tensor is marked as negated: negatives are computed."),
    "is_distributed": is_false("Whether the tensor is spread over processes."),
    "is_shared": is_false("Whether other processes can reach the tensor's memory."),
    "is_nested": not_yet(False, "Whether the tensor is a list of tensors."),
    "is_sparse_csr": not_yet(False, "Whether the layout is sparse, by rows."),
    "to_dense": to_dense,
    "__array__": __array__,
    "__array_wrap__": __array_wrap__,
    "__contains__": __contains__,
    "__reversed__": __reversed__,
    "numpy": to_numpy,
    "new_tensor": new_tensor,
    "new_empty_strided": new_empty_strided,
    "cpu": cpu,
    "cuda": cuda,
    "get_device": get_device,
    "pin_memory": pin_memory,
    "is_pinned": is_pinned,
    "type": type_,
    "is_same_size": is_same_size,
    "is_set_to": is_set_to,
    "is_nonzero": is_nonzero,
    "equal": equal,
    "allclose": allclose,
    "is_cpu": is_on("cpu"),
    "is_meta": is_on("meta"),
    "is_cuda": is_on("cuda"),
    "is_sparse": not_yet(False, "Whether the layout is sparse."),
    "is_quantized": not_yet(False, "Whether the elements are quantized."),
    "layout": property(lambda self: formats.strided, doc="How elements are found."),
    "real": part("real"),
    "imag": part("imag"),
    "H": hermitian("H", "matrices (2-D tensors)"),
    "mH": hermitian("mH", "matrices or batches of matrices"),
}
for _name, _attribute in ATTACHED.items():
    setattr(Tensor, _name, _attribute)
