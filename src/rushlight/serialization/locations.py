"""Where storages go when they are loaded: locations in files and ``map_location``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..device import device as Device
from ..storage import TypedStorage, UntypedStorage

# (priority, tagger, deserializer), highest priority first.
_packages: list[tuple[int, Callable[[Any], str | None], Callable[[Any, str], Any]]] = []


def register_package(
    priority: int,
    tagger: Callable[[Any], str | None],
    deserializer: Callable[[Any, str], Any],
) -> None:
    """Teach saving and loading another kind of location.

    Args:
        priority: lower numbers are asked first.
        tagger: gives a storage's location, or None for those of others.
        deserializer: gives the storage for one loaded to the CPU and its location, or None.
    """
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda package: package[0])


def location_tag(storage: Any) -> str:
    """The name of the place where a storage is."""
    for _, tagger, _ in _packages:
        location = tagger(storage)
        if location:
            return location
    raise RuntimeError(
        f"no function of register_package tells the location of {type(storage).__name__}"
    )


def default_restore_location(storage: Any, location: str) -> Any:
    """The storage at a location, for one that was loaded to the CPU.

    Raises:
        RuntimeError: for a location that does not exist here.
    """
    for _, _, deserializer in _packages:
        result = deserializer(storage, location)
        if result is not None:
            return result
    raise RuntimeError(
        f"cannot restore data location of a {type(storage).__name__}: no function of "
        f"register_package knows {location}; use map_location='cpu'"
    )


def _on_accelerator(storage: Any, location: str) -> None:
    kind = location.partition(":")[0]
    if kind in ("cuda", "mps", "xpu", "hpu", "mtia", "privateuseone"):
        raise RuntimeError(
            f"Attempting to deserialize object on a {kind.upper()} device but "
            f"torch.{kind}.is_available() is False. Use torch.load with "
            "map_location=torch.device('cpu') to map the storages to the CPU."
        )


def _on_meta(storage: Any, location: str) -> Any:
    return UntypedStorage(storage.nbytes(), device="meta") if location == "meta" else None


def _tag(name: str) -> Callable[[Any], str | None]:
    return lambda storage: name if storage.device.type == name else None


register_package(10, _tag("cpu"), lambda storage, location: storage if location == "cpu" else None)
register_package(20, lambda storage: None, _on_accelerator)
register_package(22, _tag("meta"), _on_meta)


def restorer(map_location: Any) -> Callable[[UntypedStorage, str], UntypedStorage]:
    """What `load` does with each storage and its location."""
    if map_location is None:
        chosen: Callable[[Any, str], Any] = default_restore_location
    elif isinstance(map_location, dict):

        def chosen(storage: Any, location: str) -> Any:
            return default_restore_location(storage, map_location.get(location, location))

    elif isinstance(map_location, str | bytes):
        name = map_location.decode("ascii") if isinstance(map_location, bytes) else map_location

        def chosen(storage: Any, location: str) -> Any:
            return default_restore_location(storage, name)

    elif isinstance(map_location, Device):

        def chosen(storage: Any, location: str) -> Any:
            return default_restore_location(storage, str(map_location))

    else:

        def chosen(storage: Any, location: str) -> Any:
            result = map_location(storage, location)
            return default_restore_location(storage, location) if result is None else result

    def restore(storage: UntypedStorage, location: str) -> UntypedStorage:
        if isinstance(location, bytes):
            location = location.decode("ascii", "replace")
        result = chosen(storage, location)
        if isinstance(result, TypedStorage):
            result = result._untyped_storage
        if not isinstance(result, UntypedStorage) or result.nbytes() < storage.nbytes():
            raise RuntimeError(
                f"map_location must give a storage of {storage.nbytes()} bytes, not {result!r:.80}"
            )
        return result

    return restore
