"""What random programs over autograd found: cases that differed from PyTorch's behaviour."""

from __future__ import annotations

import copy
import warnings

import pytest


def test_equal_empty_pieces_each_have_a_gradient(torch):
    x = torch.zeros(3, 2, requires_grad=True)
    pieces = (x * 1).split((0, 3, 0))
    assert all(piece.requires_grad for piece in pieces)
    pieces[2].sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0]] * 3


def test_leaf_that_needs_no_gradient_any_more_gets_none(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None


def test_node_that_saved_only_numbers_runs_again(torch):
    x = torch.ones(2, requires_grad=True)
    y = torch.stack([x, x]).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [4.0, 4.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_materialized_gradients_of_a_graph_need_gradients(torch, create_graph):
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    _, zeros = torch.autograd.grad(
        (x * x).sum(), [x, y], create_graph=create_graph, materialize_grads=True
    )
    assert zeros.tolist() == [0.0, 0.0]
    assert zeros.requires_grad == create_graph


def test_places_of_elements_of_a_tensor_that_needs_gradients(torch):
    x = torch.tensor([0.0, 2.0, 3.0], requires_grad=True)
    assert x.nonzero().tolist() == [[1], [2]]
    assert not torch.argwhere(x).requires_grad


def test_gradient_by_a_factor_that_was_overwritten_is_constant(torch):
    x = torch.ones(2, requires_grad=True)
    factor = torch.tensor([2.0, 3.0])
    factor.mul_(x)
    (gradient,) = torch.autograd.grad(factor.sum(), x, create_graph=True)
    assert gradient.tolist() == [2.0, 3.0]
    assert not gradient.requires_grad


def test_node_hooks_see_the_gradients_of_outputs_only(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.mul_(x)
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(len(outputs)))
    y.grad_fn.register_prehook(lambda outputs: seen.append(len(outputs)))
    y.sum().backward()
    assert seen == [1, 1]


def test_gradient_is_retained_by_the_only_root_of_a_limited_pass(torch):
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    z = x * 2
    z.retain_grad()
    z.backward(torch.ones(2), inputs=[y])
    assert z.grad.tolist() == [1.0, 1.0]
    assert x.grad is None


def test_hook_after_accumulation_runs_without_a_gradient(torch):
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return None

    x = torch.ones(2, requires_grad=True)
    seen = []
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad))
    Nothing.apply(x).sum().backward()
    assert seen == [None]


@pytest.mark.parametrize("required", [False, True])
def test_flag_of_a_view_whose_base_was_written_since(torch, required):
    base = torch.ones(3, requires_grad=True).sum()
    with torch.no_grad():
        view, other = base.reshape(-1), base.reshape(-1)
        base.sub_(base)
    view.requires_grad_(required)
    other.requires_grad = required
    assert view.requires_grad and other.requires_grad


def test_hooks_for_saved_tensors_see_what_is_written_as_it_was_before(torch):
    def pack(tensor):
        return tensor.detach().clone()

    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = x * 1
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        y.mul_(y)
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]


@pytest.mark.parametrize("size", [0, 2])
def test_hook_on_a_view_that_is_its_own_operand_in_a_write_runs(torch, size):
    x = torch.ones(size, 3, requires_grad=True)
    view = (x * 1)[:1]
    seen = []
    view.register_hook(lambda gradient: seen.append(tuple(gradient.shape)))
    view.add_(view)
    view.sum().backward()
    assert seen == [(min(size, 1), 3)]


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_empty_tensors_of_one_dim_that_are_joined_have_gradients(torch, shape):
    nothing = torch.zeros(0, requires_grad=True)
    joined = torch.cat([nothing, torch.ones(shape), nothing], -1)
    assert joined.shape == shape and joined.requires_grad
    joined.sum().backward()
    assert nothing.grad.shape == (0,)
    assert torch.cat([nothing, nothing]).requires_grad


@pytest.mark.parametrize("name", ["eq_", "ne_", "lt_", "ge_", "bernoulli_"])
def test_write_that_has_no_derivative_joins_the_histories(torch, name):
    x = torch.full((2, 3), 0.5, requires_grad=True)
    y = torch.ones(4, 2, 3)
    view = y[1]
    getattr(view, name)(x)
    assert y.requires_grad and not y.is_leaf and view.grad_fn is not None
    y.sum().backward()
    assert x.grad.tolist() == [[0.0] * 3] * 2


def test_hooks_go_on_after_detaching_in_place(torch):
    x, seen = torch.ones(2, requires_grad=True), []
    y = x * 1
    y.register_hook(lambda gradient: seen.append("computed"))
    y.retain_grad()
    y.detach_()
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        y.register_hook(print)
    assert y.retains_grad
    y.requires_grad_()
    y.register_hook(lambda gradient: seen.append("leaf"))
    (y * 2).sum().backward()
    assert seen == ["computed", "leaf"]
    assert y.grad.tolist() == [2.0, 2.0]


def test_function_that_writes_its_argument_drops_its_gradient(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    x = torch.ones(2, requires_grad=True)
    y = x * 1
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    assert y.grad.tolist() == [1.0, 1.0]
    assert Double.apply(y) is y and y.grad is None
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3.0, 3.0] and x.grad.tolist() == [7.0, 7.0]


def scaled(x):
    return x * 0.5


def divided(x):
    return x.div(2)


def shifted(x):
    return x + 0.5


@pytest.mark.parametrize("function", [scaled, divided])
def test_factor_that_is_a_number_is_freed_like_a_tensor(torch, function):
    x = torch.ones(2, requires_grad=True)
    y = function(x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    y = shifted(x).sum()
    y.backward()
    y.backward()


def test_nodes_without_a_gradient_notice_what_was_freed_and_written(torch):
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return None

    x = torch.ones(2, requires_grad=True)
    y = Nothing.apply(x.cos())
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        (y * 1).sum().backward()
    middle = x * 1
    y = Nothing.apply(middle.cos())
    middle.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_gradients_of_a_function_are_checked_where_nobody_wants_them(torch):
    class Narrow(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x + 1

        @staticmethod
        def backward(ctx, gradient):
            return gradient.sum()

    y = Narrow.apply(torch.ones(2, 3, requires_grad=True))
    with pytest.raises(RuntimeError, match="invalid gradient"):
        y.backward(torch.ones(2, 3), inputs=[y])


def test_flag_of_a_view_whose_history_cannot_be_told_stays(torch):
    base = torch.ones(2, 3, requires_grad=True) * 1
    view = base.unbind(-1)[0]
    base.cos_()
    for change in (
        lambda: view.requires_grad_(False),
        lambda: setattr(view, "requires_grad", True),
        lambda: setattr(view, "requires_grad", False),
    ):
        with pytest.raises(RuntimeError, match="only change requires_grad flags of leaf"):
            change()


def test_inputs_that_no_gradient_reaches_keep_the_graph(torch):
    x = torch.tensor([0.5, -0.5], requires_grad=True)
    a = x.tanh()
    b = x.maximum(a)
    b.abs_()
    (gradient,) = torch.autograd.grad(b.sum(), a, create_graph=True)
    torch.autograd.grad(gradient.sum(), [b, gradient], allow_unused=True)
    (gradient + b).sum().backward()
    assert x.grad is not None


def test_index_put_takes_another_dtype_only_for_one_number_at_a_mask(torch):
    x, double = torch.zeros(3), torch.float64
    x[x >= 0] = torch.ones(1, dtype=double)
    x.index_put_((x > 0,), torch.tensor(2.0, dtype=double))
    assert x.tolist() == [2.0, 2.0, 2.0]
    x[0] = torch.tensor(5, dtype=torch.int64)
    assert x.tolist() == [5.0, 2.0, 2.0]
    pair = torch.ones(2, dtype=double)
    for index in ([0, 1], torch.tensor([0, 1]), x < 3, ([0, 1],)):
        with pytest.raises(RuntimeError, match="dtypes match"):
            x[index] = pair
    assert x.tolist() == [5.0, 2.0, 2.0]


def test_view_that_reads_beyond_its_base_gives_the_base_its_part(torch):
    x = torch.arange(4.0).requires_grad_()
    element = x[1]
    view = element.as_strided((2,), (1,), 1)
    assert view.tolist() == [1.0, 2.0]
    (first,) = torch.autograd.grad((view * view).sum(), x, create_graph=True)
    assert first.tolist() == [0.0, 2.0, 0.0, 0.0]
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == [0.0, 2.0, 0.0, 0.0]


@pytest.mark.parametrize("again", [False, True])
def test_saved_tensor_that_was_detached_in_place_is_an_error(torch, again):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = y.sin()
    y.detach_()
    if again:
        y.requires_grad_()
    with pytest.raises(RuntimeError, match="detached in-place"):
        z.sum().backward()


def test_view_of_a_base_that_was_detached_in_place_keeps_a_history(torch):
    x = torch.ones(2, 3, requires_grad=True)
    view = x[None]
    x.detach_()
    with torch.no_grad():
        view.mul_(2)
    assert view.grad_fn is not None and not view.is_leaf
    view.sum().backward()
    assert x.grad is None


def test_leaf_that_got_a_history_after_its_use_is_an_error(torch):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    x.requires_grad_(False)
    x.add_(y)
    with pytest.raises(RuntimeError, match="moved into the graph interior"):
        y.sum().backward()


def test_copies_of_tensors_are_no_views(torch):
    for tensor in (torch.ones(3), torch.ones(4)[1:], torch.ones(3, requires_grad=True)):
        copied = copy.deepcopy(tensor)
        assert not copied._is_view() and copied.is_leaf
        assert copied.requires_grad == tensor.requires_grad
    with torch.inference_mode():
        tensor = torch.ones(2)
    assert not copy.deepcopy(tensor).is_inference()
    with pytest.raises(RuntimeError, match="inference tensor outside"):
        tensor.resize_(4)


@pytest.mark.parametrize("change", ["unsqueeze_", "t_"])
def test_retained_gradients_have_the_layout_in_which_they_were_asked_for(torch, change):
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    getattr(y, change)(*[0] * (change == "unsqueeze_"))
    y.backward(torch.ones_like(y))
    assert y.grad.tolist() == [[2.0] * 3] * 2


def test_node_whose_operand_has_no_history_runs_again(torch):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        view = x.view(3)
    y = torch.ones(3) @ view
    assert y.requires_grad
    y.backward()
    y.backward()


def test_function_gets_a_saved_tensor_that_was_detached_in_place(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            assert not x.requires_grad
            return gradient * 2

    x = torch.ones(3, requires_grad=True)
    y = x * 1
    z = Double.apply(y)
    y.detach_()
    z.sum().backward()
    assert x.grad.tolist() == [2.0] * 3


def test_gradient_depends_only_on_what_it_is_computed_from(torch):
    x, y = (torch.ones(3, requires_grad=True).exp() for _ in range(2))
    product = x * y
    (by_x,) = torch.autograd.grad(product.sum(), [x], create_graph=True)
    assert by_x is not None and by_x.requires_grad
    ran = []
    x.register_hook(ran.append)
    y.register_hook(lambda gradient: None)
    by_x.sum().backward()  # y's history, not x's
    assert not ran


def test_only_wanted_gradients_are_computed(torch):
    x, y = (torch.ones(3, requires_grad=True) * 1 for _ in range(2))
    product = x * y
    given = []
    product.grad_fn.register_hook(lambda gradients, _: given.append(gradients))
    product.sum().backward(inputs=[y], retain_graph=True)
    base = torch.ones(4, requires_grad=True) * 1
    base[1:] = product
    written = base * 1
    written.sum().backward(inputs=[x], retain_graph=True)
    written.sum().backward(inputs=[y, base])
    assert [[each is not None for each in gradients] for gradients in given] == [
        [False, True],
        [True, False],
        [False, True],
    ]
    assert x.grad.tolist() == [1.0] * 3 and y.grad.tolist() == [2.0] * 3


def test_refused_write_of_a_function_drops_the_former_gradient(torch):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    part = torch.ones(2, 3, requires_grad=True).unbind(-1)[2]
    part.retain_grad()
    part.sum().backward()
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        Doubled.apply(part)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert part.grad is None
    leaf = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Doubled.apply(leaf)


def test_value_saved_before_a_write_belongs_to_the_former_history(torch):
    x = torch.ones(3, requires_grad=True)
    y = x.sin()
    y.square_()
    (first,) = torch.autograd.grad(y.sum(), [x], create_graph=True)
    first.sum().backward()  # frees the graph of sin(), but not square_()
    y.backward(torch.ones(3), inputs=[y])
    assert y.grad.tolist() == [1.0] * 3


def test_asking_for_grad_does_not_renew_the_history_of_a_view(torch):
    base = torch.zeros(3)
    view = base.view(3)
    base[0] = torch.ones((), requires_grad=True)
    assert view.grad is None
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        view.mul_(2)
    assert not view.is_leaf
    view.mul_(2)


def test_flag_of_a_view_is_set_as_its_history_was(torch):
    base = torch.zeros(3)
    view = base.view(3)
    base[0] = torch.ones((), requires_grad=True)
    view.requires_grad_(False)
    assert not view.is_leaf
    with pytest.raises(RuntimeError, match="leaf"):
        view.requires_grad_(False)


def test_hooks_for_saved_tensors_keep_whether_a_view_without_history_needs_a_gradient(torch):
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        view = x.transpose(0, -1)
    assert view.requires_grad and view.grad_fn is None
    found = []

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            found.append(x.requires_grad)
            return 2 * x * gradient

    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = Square.apply(view)
    y.sum().backward()
    assert found == [True]


def test_values_inside_of_an_operator_run_no_hooks(torch):
    x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    y = x.var(unbiased=False)
    ran = []
    y.register_hook(ran.append)
    y.grad_fn.register_hook(lambda inputs, outputs: ran.append(inputs))
    (first,) = torch.autograd.grad(y, [x], create_graph=True, retain_graph=True)
    assert len(ran) == 2
    (first * torch.tensor([1.0, 0.0, 2.0])).sum().backward()  # through the mean
    assert len(ran) == 2
    y.backward()  # which the pass above did not free
    assert len(ran) == 4


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradient_of_a_leaf_has_the_leafs_layout(torch, create_graph):
    rows, columns, gaps = torch.ones(3, 2), torch.ones(2, 3).t(), torch.ones(6, 2)[::2]
    for leaf, stride in ((rows, (2, 1)), (columns, (1, 3)), (gaps, (2, 1))):
        leaf.requires_grad_()
        weights = torch.arange(6.0).reshape(2, 3)
        (leaf.t().square() * weights).sum().backward(create_graph=create_graph)
        assert leaf.grad.stride() == stride
        assert leaf.grad.requires_grad == create_graph
        assert leaf.grad.tolist() == (2 * weights.t()).tolist()


@pytest.mark.parametrize("index", ["...", ":", "0:3", "()", "mask", "numbers"])
def test_write_to_all_of_a_tensor_is_no_write_to_a_view(torch, index):
    x = torch.ones(3, requires_grad=True) * 1
    indices = {
        "...": ...,
        ":": slice(None),
        "0:3": slice(0, 3),
        "()": (),
        "mask": torch.tensor([True] * 3),
        "numbers": torch.tensor([0, 1, 2]),
    }
    x[indices[index]] = torch.full((3,), 2.0, requires_grad=True)
    assert type(x.grad_fn).__name__ != "CopySlices"
    x.sum().backward()
    stale = torch.zeros(3)
    view = stale.view(3)
    stale[0] = torch.ones((), requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        view[indices[index]] = torch.ones(3, requires_grad=True)


@pytest.mark.parametrize("shape, stride", [((2, 6), (0, 1)), ((5, 2), (1, 1)), ((3, 4), (1, 2))])
def test_elements_in_one_place_share_the_gradient_of_a_strided_view(torch, shape, stride):
    x = torch.arange(10.0, requires_grad=True) * 1
    x.retain_grad()
    base = x.as_strided(shape, stride)
    base.retain_grad()
    view = base.as_strided((2, 2), (1, 2), 1)
    view.backward(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), create_graph=True)
    places = torch.zeros(10)
    for i in range(2):
        for j in range(2):
            places[1 + i + 2 * j] += (i * 2 + j) + 1.0
    assert x.grad.tolist() == places.tolist()
    times = torch.zeros(10)
    index = [[i * stride[0] + j * stride[1] for j in range(shape[1])] for i in range(shape[0])]
    for row in index:
        for place in row:
            times[place] += 1
    expected = (places / times)[torch.tensor(index)]
    assert base.grad.tolist() == expected.tolist()
