"""What a module consists of: iterators over parameters, buffers and parts, and look-up by path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

from ..._core import Tensor
from ..parameter import Parameter

Members = Iterator[tuple[str, Any]]


class ModuleTree:
    """The part of `Module` that finds parameters, buffers and parts."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]

    # ------------------------------------------------------------ iterators

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """This module and all parts, each with its path.

        Args:
            memo: modules that are left out; those that are given are added.
            prefix: what paths begin with.
            remove_duplicate: whether a module that is a part in several places is given once.
        """
        if memo is None:
            memo = set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, part in self._modules.items():
            if part is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from part.named_modules(memo, path, remove_duplicate)

    def modules(self) -> Iterator[Any]:
        """This module and all parts, each once."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The direct parts with their names, each once."""
        seen = set()
        for name, part in self._modules.items():
            if part is not None and part not in seen:
                seen.add(part)
                yield name, part

    def children(self) -> Iterator[Any]:
        """The direct parts, each once."""
        for _, part in self.named_children():
            yield part

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Any],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Members:
        """What a function gives for this module and its parts, as names and tensors."""
        seen: set[int] = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield f"{path}.{name}" if path else name, member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their names.

        Args:
            prefix: what names begin with.
            recurse: whether those of the parts belong to them.
            remove_duplicate: whether a parameter that has several names is given once.
        """
        yield from self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once, with those of the parts if `recurse`."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their names; arguments as of `named_parameters`."""
        yield from self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once, with those of the parts if `recurse`."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def apply(self, fn: Callable[[Any], Any]) -> Self:
        """Call a function with each part, from the inside out, and with this module."""
        for part in self.children():
            part.apply(fn)
        fn(self)
        return self

    # ------------------------------------------------------------ by path

    def get_submodule(self, target: str) -> Any:
        """The part at a path such as ``"encoder.layers.3"``.

        Raises:
            AttributeError: if there is none.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, ModuleTree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put a module at a path.

        Args:
            target: the path; all but its last name must exist.
            module: the module.
            strict: whether there must be a module at the path already.

        Raises:
            ValueError: for an empty path, or if `module` is none.
            AttributeError: if the path does not exist, or there is something else at it.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, ModuleTree):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), ModuleTree):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path such as ``"encoder.weight"``.

        Raises:
            AttributeError: if there is none.
        """
        found = self._member_at(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{target.rpartition('.')[2]}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path such as ``"norm.running_mean"``.

        Raises:
            AttributeError: if there is none.
        """
        found = self._member_at(target)
        path, _, name = target.rpartition(".")
        if name not in self.get_submodule(path)._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def _member_at(self, target: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return getattr(module, name)
