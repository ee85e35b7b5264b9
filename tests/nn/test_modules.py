"""Every module class beside PyTorch's: text, initial state, results, gradients, buffers."""

from __future__ import annotations

import copy
import inspect
import warnings
from typing import Any, NamedTuple

import numpy
import pytest

import rushlight


class Case(NamedTuple):
    name: str
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = {}
    inputs: tuple[Any, ...] = ((3, 4),)  # shapes of normal numbers, or arrays


def ints(high: int, *shape: int) -> numpy.ndarray:
    return numpy.random.default_rng(1).integers(0, high, shape)


SIGNAL, IMAGE, VOLUME = (2, 4, 9), (2, 4, 6, 6), (1, 4, 4, 4, 4)
PAIR = ((3, 4), (3, 4))
SIGNS = numpy.array([1, -1, 1])
SIMPLE = [
    "CELU", "ELU", "GELU", "Hardsigmoid", "Hardswish", "Hardtanh", "Identity", "LeakyReLU",
    "LogSigmoid", "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softplus",
    "Softshrink", "Hardshrink", "Softsign", "Tanh", "Tanhshrink", "GLU",
]  # fmt: skip
CASES = [
    *(Case(name) for name in SIMPLE),
    *(Case(name, (1,)) for name in ("Softmax", "LogSoftmax", "Softmin")),
    Case("ELU", (0.5, True), inputs=(numpy.ones((2, 2), "float32"),)),
    Case("GELU", ("tanh",)),
    Case("Hardtanh", (-2.0, 0.5)),
    Case("PReLU", (4, 0.1)),
    Case("Softmax2d", inputs=(IMAGE,)),
    Case("Threshold", (0.1, -3.0)),
    Case("Linear", (4, 5)),
    Case("Linear", (4, 5, False)),
    Case("Bilinear", (4, 5, 3), inputs=((2, 4), (2, 5))),
    Case("Flatten", inputs=(IMAGE,)),
    Case("Unflatten", (1, (2, -1)), inputs=(IMAGE,)),
    Case("Dropout", (0.0,)),
    Case("Dropout", (0.3,)),
    Case("Dropout1d", (0.3,), inputs=(SIGNAL,)),
    Case("Dropout2d", (0.3,), inputs=(IMAGE,)),
    Case("Dropout3d", (0.3,), inputs=(VOLUME,)),
    Case("Conv1d", (4, 6, 3), inputs=(SIGNAL,)),
    Case("Conv2d", (4, 6, 3), {"stride": 2, "padding": 1, "groups": 2}, (IMAGE,)),
    Case("Conv2d", (4, 2, (3, 2)), {"padding": "same", "bias": False}, (IMAGE,)),
    Case("Conv2d", (4, 2, 3), {"padding": 1, "padding_mode": "circular"}, (IMAGE,)),
    Case("Conv3d", (4, 2, 2), {"dilation": 2}, (VOLUME,)),
    Case("ConvTranspose1d", (4, 6, 3), {"stride": 2, "output_padding": 1}, (SIGNAL,)),
    Case("ConvTranspose2d", (4, 6, 3), {"padding": 1, "groups": 2}, (IMAGE,)),
    Case("ConvTranspose3d", (4, 2, 2), {}, (VOLUME,)),
    *(Case(f"{kind}Pool{d}d", (2,), {}, (shape,))
      for kind in ("Max", "Avg") for d, shape in enumerate((SIGNAL, IMAGE, VOLUME), 1)),
    *(Case(f"Adaptive{kind}Pool{d}d", (3,), {}, (shape,))
      for kind in ("Max", "Avg") for d, shape in enumerate((SIGNAL, IMAGE, VOLUME), 1)),
    Case("MaxPool2d", (3, 2, 1), {"ceil_mode": True, "return_indices": True}, (IMAGE,)),
    Case("AvgPool2d", (3, 2, 1), {"count_include_pad": False, "divisor_override": 5}, (IMAGE,)),
    Case("LPPool2d", (2, 3), {"stride": 2}, (IMAGE,)),
    *(Case(f"{kind}Pad{d}d", (1,), {}, (shape,))
      for kind in ("Zero", "Reflection", "Replication", "Circular")
      for d, shape in enumerate((SIGNAL, IMAGE, VOLUME), 1)),
    Case("ConstantPad2d", ((1, 0, 2, 1), 3.5), {}, (IMAGE,)),
    Case("BatchNorm1d", (4,)),
    Case("BatchNorm1d", (4, 1e-3, None), {}, (SIGNAL,)),
    Case("BatchNorm2d", (4,), {"affine": False}, (IMAGE,)),
    Case("BatchNorm2d", (4,), {"bias": False, "track_running_stats": False}, (IMAGE,)),
    Case("BatchNorm3d", (4,), {}, (VOLUME,)),
    Case("InstanceNorm1d", (4,), {"affine": True, "track_running_stats": True}, (SIGNAL,)),
    Case("InstanceNorm2d", (4,), {}, ((4, 6, 6),)),
    Case("InstanceNorm3d", (4,), {"affine": True, "bias": False}, (VOLUME,)),
    Case("GroupNorm", (2, 4), {}, (IMAGE,)),
    Case("LayerNorm", (4,)),
    Case("LayerNorm", ([3, 4],), {"bias": False, "eps": 1e-3}),
    Case("RMSNorm", (4,)),
    Case("LocalResponseNorm", (3,), {}, (IMAGE,)),
    Case("CrossMapLRN2d", (3,), {}, (IMAGE,)),
    Case("Embedding", (10, 3), {"padding_idx": 2}, (ints(10, 2, 5),)),
    Case("Embedding", (10, 3), {"max_norm": 0.5}, (ints(10, 2, 5),)),
    Case("EmbeddingBag", (10, 3), {"mode": "sum"}, (ints(10, 2, 5),)),
    Case("EmbeddingBag", (10, 3), {}, (ints(10, 7), numpy.array([0, 3]))),
    Case("PixelShuffle", (2,), {}, (IMAGE,)),
    Case("PixelUnshuffle", (2,), {}, (IMAGE,)),
    Case("ChannelShuffle", (2,), {}, (IMAGE,)),
    Case("Upsample", (), {"scale_factor": 2}, (IMAGE,)),
    Case("Upsample", ((3, 5),), {"mode": "bilinear", "align_corners": True}, (IMAGE,)),
    Case("Fold", ((4, 5), (2, 2)), {}, ((2, 12, 12),)),
    Case("Unfold", ((2, 3),), {"padding": 1, "stride": 2}, (IMAGE,)),
    Case("CosineSimilarity", (), {}, PAIR),
    Case("PairwiseDistance", (3.0,), {"keepdim": True}, PAIR),
    Case("L1Loss", (), {}, PAIR),
    Case("MSELoss", (), {"reduction": "sum"}, PAIR),
    Case("SmoothL1Loss", (), {"beta": 0.5}, PAIR),
    Case("HuberLoss", (), {"delta": 0.5}, PAIR),
    Case("CrossEntropyLoss", (), {"label_smoothing": 0.1}, ((3, 4), ints(4, 3))),
    Case("NLLLoss", (), {"ignore_index": 1}, ((3, 4), ints(4, 3))),
    Case("BCEWithLogitsLoss", (), {}, ((3, 4), numpy.ones((3, 4), "float32"))),
    Case("KLDivLoss", (), {"reduction": "batchmean"}, ((3, 4), numpy.ones((3, 4), "float32"))),
    Case("PoissonNLLLoss", (), {}, PAIR),
    Case("GaussianNLLLoss", (), {}, (*PAIR, numpy.ones((3, 4), "float32"))),
    Case("HingeEmbeddingLoss", (), {}, ((3,), SIGNS)),
    Case("SoftMarginLoss", (), {}, ((3,), SIGNS)),
    Case("CosineEmbeddingLoss", (0.1,), {}, (*PAIR, SIGNS)),
    Case("MarginRankingLoss", (), {}, ((3,), (3,), SIGNS)),
    Case("MultiMarginLoss", (2,), {}, ((3, 4), ints(4, 3))),
    Case("MultiLabelMarginLoss", (), {}, ((3, 4), ints(4, 3, 4))),
    Case("MultiLabelSoftMarginLoss", (), {}, ((3, 4), numpy.ones((3, 4), "float32"))),
    Case("TripletMarginLoss", (), {"swap": True}, (*PAIR, (3, 4))),
    Case("TripletMarginWithDistanceLoss", (), {}, (*PAIR, (3, 4))),
    Case("LinearCrossEntropyLoss", (4, 5), {"out_features": (2,)}, ((3, 4), ints(5, 3, 2))),
    Case("AdaptiveLogSoftmaxWithLoss", (8, 20, [4, 10]), {}, ((6, 8), ints(20, 6))),
    Case("RNN", (4, 5), {}, ((3, 2, 4),)),
    Case("RNN", (4, 5, 2), {"nonlinearity": "relu", "bias": False}, ((3, 2, 4),)),
    Case("GRU", (4, 5, 2), {"bidirectional": True}, ((3, 2, 4), (4, 2, 5))),
    Case("GRU", (4, 5), {"batch_first": True}, ((3, 2, 4),)),
    Case("LSTM", (4, 5, 2), {"bidirectional": True, "batch_first": True}, ((3, 2, 4),)),
    Case("LSTM", (4, 5), {"proj_size": 3}, ((3, 4),)),
    Case("LSTM", (4, 5, 2), {"dropout": 0.5}, ((3, 2, 4),)),
    Case("RNNCell", (4, 5), {}, ((2, 4), (2, 5))),
    Case("GRUCell", (4, 5), {}, ((4,),)),
    Case("LSTMCell", (4, 5), {"bias": False}, ((2, 4),)),
    Case("MultiheadAttention", (4, 2), {}, ((3, 2, 4),) * 3),
    Case("MultiheadAttention", (4, 2), {"kdim": 3, "vdim": 5, "add_bias_kv": True,
                                        "batch_first": True}, ((2, 3, 4), (2, 6, 3), (2, 6, 5))),
    Case("TransformerEncoderLayer", (4, 2, 8, 0.0), {}, ((3, 2, 4),)),
    Case("TransformerDecoderLayer", (4, 2, 8, 0.0), {"norm_first": True, "batch_first": True,
                                                     "activation": "gelu"},
         ((3, 2, 4), (3, 5, 4))),
    Case("Transformer", (4, 2, 1, 2, 8, 0.0), {}, ((3, 2, 4), (5, 2, 4))),
]  # fmt: skip
IDS = [f"{i}-{case.name}" for i, case in enumerate(CASES)]


def built(library: Any, case: Case) -> Any:
    library.manual_seed(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(library.nn, case.name)(*copy.deepcopy(case.arguments), **case.options)


def tensors(library: Any, case: Case) -> list[Any]:
    generator = numpy.random.default_rng(3)
    made = []
    for each in case.inputs:
        if isinstance(each, tuple):
            values = generator.standard_normal(each).astype("float32")
            made.append(library.from_numpy(values).requires_grad_())
        else:
            made.append(library.from_numpy(each.copy()))
    return made


def flat(result: Any) -> list[Any]:
    if isinstance(result, tuple | list):
        return [leaf for part in result for leaf in flat(part)]
    return [] if result is None else [result]


def near(ours: Any, theirs: Any, what: str) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape), what
    assert str(ours.dtype) == str(theirs.dtype), what
    numpy.testing.assert_allclose(
        ours.detach().numpy(), theirs.detach().numpy(), rtol=2e-5, atol=2e-6, err_msg=what
    )


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_construction(torch: Any, case: Case) -> None:
    ours, theirs = built(rushlight, case), built(torch, case)
    assert repr(ours) == repr(theirs)
    state, expected = ours.state_dict(keep_vars=True), theirs.state_dict(keep_vars=True)
    assert list(state) == list(expected)
    for name, tensor in state.items():
        assert tensor.requires_grad == expected[name].requires_grad, name
        # Uniform numbers are equal; normal ones up to the last bit of the logarithm.
        rtol = 1e-6 if case.name.startswith("Embedding") else 0
        numpy.testing.assert_allclose(
            tensor.detach().numpy(), expected[name].detach().numpy(), rtol, err_msg=name
        )
    assert set(getattr(ours, "__constants__", [])) == set(getattr(theirs, "__constants__", []))
    for name, value in vars(theirs).items():
        if name == "activation_relu_or_gelu":  # for a path that only PyTorch has
            continue
        if not name.startswith("_") and isinstance(value, bool | int | float | str | tuple | None):
            assert getattr(ours, name) == value, name
    given = inspect.signature(type(ours)).parameters
    wanted = inspect.signature(type(theirs)).parameters
    assert [name for name in wanted if name not in given] in ([], ["args", "kwargs"])


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_results_and_gradients(torch: Any, case: Case, training: bool) -> None:
    modules = [built(library, case).train(training) for library in (rushlight, torch)]
    results, inputs = [], []
    for library, module in zip((rushlight, torch), modules):
        library.manual_seed(9)
        inputs.append(tensors(library, case))
        try:
            results.append(flat(module(*inputs[-1])))
        except AttributeError as error:
            if "functional' has no attribute" in str(error):
                pytest.skip(str(error))
            raise
    assert len(results[0]) == len(results[1])
    for ours, theirs in zip(*results):
        near(ours, theirs, "result")
    for (name, ours), (_, theirs) in zip(modules[0].named_buffers(), modules[1].named_buffers()):
        near(ours, theirs, f"buffer {name}")
    if case.name == "CrossMapLRN2d":  # PyTorch's gradient is not that of its own result
        return
    for library, each in zip((rushlight, torch), results):
        generator = numpy.random.default_rng(7)
        losses = []
        for result in each:
            weights = generator.standard_normal(tuple(result.shape)).astype("float32")
            if result.requires_grad:
                losses.append((result * library.from_numpy(weights)).sum())
        if losses:
            sum(losses).backward()
    for ours, theirs in zip(*inputs):
        assert (ours.grad is None) == (theirs.grad is None)
        if ours.grad is not None:
            near(ours.grad, theirs.grad, "gradient of an input")
    for (name, ours), theirs in zip(modules[0].named_parameters(), modules[1].parameters()):
        assert (ours.grad is None) == (theirs.grad is None), name
        if ours.grad is not None:
            near(ours.grad, theirs.grad, f"gradient of {name}")


def test_no_class_is_missing(torch: Any) -> None:
    """All that PyTorch has."""
    names = {name for name, value in vars(torch.nn).items() if inspect.isclass(value)}
    assert {name for name in names if not hasattr(rushlight.nn, name)} == set()


def test_annotations_of_users_classes_are_no_fields() -> None:
    class Focal(rushlight.nn.CrossEntropyLoss):
        gamma: float

        def __init__(self, gamma: float) -> None:
            super().__init__(reduction="none")
            self.gamma = gamma

    loss = Focal(2.0)
    assert loss.gamma == 2.0 and loss.reduction == "none" and loss.weight is None
    with pytest.raises(TypeError):
        rushlight.nn.Softplus(1.0, unknown=2)
