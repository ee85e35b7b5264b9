"""Sequences of different lengths: padded, packed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import rushlight

from ..._core import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """A batch of sequences without padding, in the order of time.

    Args:
        data: [sum of the lengths, ...]: first the first elements of all sequences, then the second
            ones, and so on; the longest sequence comes first.
        batch_sizes: how many sequences reach each time.
        sorted_indices: the number of each sequence in the original batch.
        unsorted_indices: the place of each sequence of the original batch.
    """

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            raise TypeError("PackedSequence(): batch_sizes is missing")
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes must be on the CPU; make a PackedSequence by pack_sequence or "
                "pack_padded_sequence, not by hand"
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _with_data(self, data: Tensor) -> PackedSequence:
        return self if data is self.data else type(self)(data, *self[1:])

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The sequences on another device or of another dtype; arguments as of `Tensor.to`."""
        return self._with_data(self.data.to(*args, **kwargs))

    def cpu(self) -> PackedSequence:
        """The sequences on the CPU."""
        return self._with_data(self.data.cpu())

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The sequences on a GPU."""
        return self._with_data(self.data.cuda(*args, **kwargs))

    def pin_memory(self) -> PackedSequence:
        """The sequences in memory from which an accelerator can read directly."""
        return self._with_data(self.data.pin_memory())

    def is_pinned(self) -> bool:
        """Whether they are."""
        return self.data.is_pinned()

    @property
    def is_cuda(self) -> bool:
        """Whether the sequences are on a GPU."""
        return self.data.is_cuda

    def double(self) -> PackedSequence:
        """The sequences as float64."""
        return self.to(dtype=rushlight.float64)

    def float(self) -> PackedSequence:
        """The sequences as float32."""
        return self.to(dtype=rushlight.float32)

    def half(self) -> PackedSequence:
        """The sequences as float16."""
        return self.to(dtype=rushlight.float16)

    def long(self) -> PackedSequence:
        """The sequences as int64."""
        return self.to(dtype=rushlight.int64)

    def int(self) -> PackedSequence:
        """The sequences as int32."""
        return self.to(dtype=rushlight.int32)

    def short(self) -> PackedSequence:
        """The sequences as int16."""
        return self.to(dtype=rushlight.int16)

    def char(self) -> PackedSequence:
        """The sequences as int8."""
        return self.to(dtype=rushlight.int8)

    def byte(self) -> PackedSequence:
        """The sequences as uint8."""
        return self.to(dtype=rushlight.uint8)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Where each number stands in a permutation."""
    if permutation is None:
        return None
    places = rushlight.arange(permutation.numel(), device=permutation.device)
    return rushlight.empty_like(permutation).scatter_(0, permutation, places)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack a padded batch.

    Args:
        input: [time, N, ...], or [N, time, ...] if batch_first.
        lengths: the lengths of the N sequences, as a tensor or a list.
        batch_first: see there.
        enforce_sorted: whether the lengths must decrease; else sequences are sorted.

    Raises:
        RuntimeError: for lengths that are not positive, greater than the padded length, not
            decreasing, or of another number than sequences.
    """
    given = [int(n) for n in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)]
    padded = input.transpose(0, 1) if batch_first else input
    if len(given) != padded.size(1):
        raise RuntimeError(
            f"lengths must have an entry for each of the {padded.size(1)} sequences of the "
            f"batch, not {len(given)}"
        )
    if padded.numel() == 0 and 0 in padded.shape[:2]:
        raise RuntimeError("Cannot pack empty tensors.")
    if min(given) <= 0:
        raise RuntimeError(f"lengths must all be greater than 0, but one is {min(given)}")
    if max(given) > padded.size(0):
        raise RuntimeError(
            f"pack_padded_sequence(): a length of {max(given)} is greater than the padded length "
            f"{padded.size(0)}"
        )
    order = None
    decreasing = sorted(range(len(given)), key=lambda i: -given[i])
    if enforce_sorted:
        if any(a < b for a, b in zip(given, given[1:])):
            raise RuntimeError(
                "lengths must be sorted in decreasing order; pass enforce_sorted=False to "
                "have the sequences sorted"
            )
    else:
        order = rushlight.tensor(decreasing, dtype=rushlight.int64, device=input.device)
        padded = padded.index_select(1, order)
        given = [given[i] for i in decreasing]
    sizes = _batch_sizes(given)
    data = rushlight.cat([padded[time, :size] for time, size in enumerate(sizes)], 0)
    return PackedSequence(data, rushlight.tensor(sizes, dtype=rushlight.int64), order)


def _batch_sizes(lengths: list[int]) -> list[int]:
    """How many sequences of decreasing lengths reach each time."""
    sizes, count = [], len(lengths)
    for time in range(lengths[0]):
        while lengths[count - 1] <= time:
            count -= 1
        sizes.append(count)
    return sizes


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The padded batch of packed sequences, and their lengths.

    Args:
        sequence: the sequences.
        batch_first: whether the result is [N, time, ...]; else [time, N, ...].
        padding_value: what to pad with.
        total_length: the length to pad to, by default that of the longest sequence.

    Raises:
        ValueError: if the total length is too small.
    """
    sizes = sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None and total_length < longest:
        raise ValueError(
            f"total_length={total_length} is less than the length of the longest sequence, "
            f"{longest}"
        )
    count = sizes[0]
    rows = []
    for row, size in zip(sequence.data.split(sizes, 0), sizes):
        if size < count:
            fill = row.new_full((count - size, *row.shape[1:]), padding_value)
            row = rushlight.cat([row, fill], 0)
        rows.append(row)
    data = sequence.data
    rows += [data.new_full((count, *data.shape[1:]), padding_value)] * (
        (total_length or longest) - longest
    )
    padded = rushlight.stack(rows, 1 if batch_first else 0)
    given = [sum(size > i for size in sizes) for i in range(count)]
    lengths = rushlight.tensor(given, dtype=rushlight.int64)
    order = sequence.unsorted_indices
    if order is not None:
        return padded.index_select(0 if batch_first else 1, order), lengths[order.cpu()]
    return padded, lengths


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """A padded batch of sequences.

    Args:
        sequences: tensors [time, ...] that differ in length only.
        batch_first: whether the result is [N, time, ...]; else [time, N, ...].
        padding_value: what to pad with.
        padding_side: ``"right"`` or ``"left"``.

    Raises:
        RuntimeError: if there are no sequences.
        ValueError: for another side.
    """
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: sequences must be an iterable of tensors, not "
            f"{type(sequences).__name__}"
        )
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise ValueError(
            f"pad_sequence: padding_side must be 'left' or 'right', not {padding_side!r}"
        )
    longest = max(sequence.size(0) for sequence in sequences)
    padded = []
    for sequence in sequences:
        missing = longest - sequence.size(0)
        if missing:
            fill = sequence.new_full((missing, *sequence.shape[1:]), padding_value)
            pair = [fill, sequence] if padding_side == "left" else [sequence, fill]
            sequence = rushlight.cat(pair, 0)
        padded.append(sequence)
    return rushlight.stack(padded, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences of a padded batch, of given lengths."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(length)] for row, length in zip(rows, lengths)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences [time, ...]; see `pack_padded_sequence`."""
    lengths = [sequence.size(0) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
