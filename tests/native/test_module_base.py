"""`ModuleBase`: it is checked what Python gives it, and nothing leaks."""

from __future__ import annotations

import gc
import sys

import pytest

from rushlight import _core, nn, ones


def test_use_without_initialisation():
    bare = _core.ModuleBase()
    for use in (lambda: bare.x, lambda: bare(), lambda: bare.__getattr__("x")):
        with pytest.raises(AttributeError):
            use()
    early = nn.Module.__new__(nn.Module)
    with pytest.raises(AttributeError, match="super"):
        early(1)
    with pytest.raises(AttributeError):
        _ = early.weight


def test_wrong_arguments():
    for call in (
        lambda: _core.use_native_lookup(int),
        lambda: _core.use_native_lookup(3),
        lambda: _core.set_module_callbacks(3, None),
        lambda: _core.set_module_callbacks((3,), None),
        lambda: _core.ModuleBase.__getattr__(3, "x"),
    ):
        with pytest.raises(TypeError):
            call()


def test_strange_members():
    module = nn.Identity()
    module.__dict__["_buffers"] = 3
    with pytest.raises(AttributeError):
        _ = module.unknown
    module.__dict__["_forward_hooks"] = 3
    with pytest.raises((TypeError, AttributeError)):
        module(1)

    class Unhashable(str):
        __hash__ = None

    with pytest.raises(TypeError):
        nn.Identity().__getattr__(Unhashable("x"))


def test_endless_recursion():
    class Endless(nn.Module):
        def forward(self, x):
            return self(x)

    with pytest.raises(RecursionError):
        Endless()(1)


def test_forward_may_change_the_module():
    class Changing(nn.Module):
        def forward(self, x):
            type(self).forward = lambda self, x: -x
            self.__dict__.clear()
            return x

    module = Changing()
    assert module(1) == 1
    nn.Module.__init__(module)
    assert module(1) == -1


def test_nothing_leaks():
    linear, x = nn.Linear(2, 2), ones(1, 2)
    failing = nn.Module()

    def use():
        for _ in range(200):
            linear(x)
            _ = linear.weight
            for call in (lambda: failing(1), lambda: linear.unknown, lambda: linear(1, 2, 3)):
                try:
                    call()
                except Exception:
                    pass

    use()
    gc.collect()
    before = [sys.getrefcount(each) for each in (linear, linear.weight, x, failing, nn.Linear)]
    objects = len(gc.get_objects())
    use()
    gc.collect()
    after = [sys.getrefcount(each) for each in (linear, linear.weight, x, failing, nn.Linear)]
    assert before == after and len(gc.get_objects()) - objects < 50
