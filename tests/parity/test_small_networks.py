"""Small networks of many kinds, a few steps each from one seed: losses are PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rushlight

torch = pytest.importorskip("torch")

STEPS = 3
NETWORKS: list[Callable[[Any], Iterator[float]]] = []


def network(function: Callable[[Any], Iterator[float]]) -> Callable[[Any], Iterator[float]]:
    NETWORKS.append(function)
    return function


def step(optimizer: Any, loss: Any) -> float:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@network
def variational_autoencoder(m: Any) -> Iterator[float]:
    nn, functional = m.nn, m.nn.functional
    encode, mean, spread = nn.Linear(20, 16), nn.Linear(16, 4), nn.Linear(16, 4)
    decode = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 20), nn.Sigmoid())
    parts = nn.ModuleList([encode, mean, spread, decode])
    optimizer = m.optim.Adam(parts.parameters(), 1e-2)
    x = m.rand(8, 20)
    for _ in range(STEPS):
        hidden = functional.relu(encode(x))
        mu, log_variance = mean(hidden), spread(hidden)
        z = mu + m.randn_like(mu) * m.exp(0.5 * log_variance)
        fit = functional.binary_cross_entropy(decode(z), x, reduction="sum")
        yield step(optimizer, fit - 0.5 * m.sum(1 + log_variance - mu.pow(2) - log_variance.exp()))


@network
def adversarial(m: Any) -> Iterator[float]:
    nn = m.nn
    generator = nn.Sequential(
        nn.ConvTranspose2d(8, 16, 4, bias=False), nn.BatchNorm2d(16), nn.ReLU(True),
        nn.ConvTranspose2d(16, 1, 4, 2, 1, bias=False), nn.Tanh(),
    )  # fmt: skip
    critic = nn.Sequential(
        nn.Conv2d(1, 8, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(8, 16, 3, padding=1), nn.InstanceNorm2d(16, affine=True), nn.Flatten(),
        nn.Linear(256, 1), nn.Sigmoid(),
    )  # fmt: skip
    criterion = nn.BCELoss()
    of_critic, of_generator = (
        m.optim.Adam(each.parameters(), 2e-4, betas=(0.5, 0.999)) for each in (critic, generator)
    )
    real = m.rand(4, 1, 8, 8) * 2 - 1
    for _ in range(STEPS):
        made = generator(m.randn(4, 8, 1, 1))
        right, wrong = m.full((4, 1), 1.0), m.full((4, 1), 0.0)
        yield step(
            of_critic, criterion(critic(real), right) + criterion(critic(made.detach()), wrong)
        )
        yield step(of_generator, criterion(critic(made), right))


@network
def critic_with_a_gradient_penalty(m: Any) -> Iterator[float]:
    critic = m.nn.Sequential(m.nn.Linear(4, 16), m.nn.LeakyReLU(0.2), m.nn.Linear(16, 1))
    optimizer = m.optim.Adam(critic.parameters(), 1e-3)
    for _ in range(STEPS):
        real, made, share = m.rand(8, 4), m.randn(8, 4), m.rand(8, 1)
        between = (share * real + (1 - share) * made).requires_grad_()
        scores = critic(between)
        slope = m.autograd.grad(scores, between, m.ones_like(scores), create_graph=True)[0]
        penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
        yield step(optimizer, critic(made).mean() - critic(real).mean() + 10 * penalty)


@network
def recurrent_language_model(m: Any) -> Iterator[float]:
    nn = m.nn
    embedding, dropout = nn.Embedding(30, 12), nn.Dropout(0.2)
    layers, decoder = nn.LSTM(12, 12, 2, dropout=0.2), nn.Linear(12, 30)
    decoder.weight = embedding.weight
    nn.init.uniform_(embedding.weight, -0.1, 0.1)
    parameters = [*layers.parameters(), *decoder.parameters()]
    state = (m.zeros(2, 3, 12), m.zeros(2, 3, 12))
    text = m.randint(0, 30, (7, 3))
    for _ in range(STEPS):
        for each in parameters:
            each.grad = None
        output, state = layers(
            dropout(embedding(text[:-1])), tuple(each.detach() for each in state)
        )
        scores = nn.functional.log_softmax(decoder(dropout(output)).view(-1, 30), 1)
        loss = nn.functional.nll_loss(scores, text[1:].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 0.25)
        with m.no_grad():
            for each in parameters:
                each.add_(each.grad, alpha=-2.0)
        yield loss.item()


@network
def translation_with_attention(m: Any) -> Iterator[float]:
    nn, functional = m.nn, m.nn.functional
    embedding = nn.Embedding(12, 8, padding_idx=0)
    encoder, cell = nn.GRU(8, 8, batch_first=True), nn.GRUCell(16, 8)
    match, output = nn.Linear(8, 8), nn.Linear(8, 12)
    parts = nn.ModuleList([embedding, encoder, cell, match, output])
    optimizer = m.optim.Adagrad(parts.parameters(), 0.05)
    words, lengths = m.randint(1, 12, (3, 5)), m.tensor([5, 3, 5])
    words[1, 3:] = 0
    for _ in range(STEPS):
        packed = nn.utils.rnn.pack_padded_sequence(
            embedding(words), lengths, batch_first=True, enforce_sorted=False
        )
        states, last = encoder(packed)
        states, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
        hidden, word, loss = last[0], m.full((3,), 1, dtype=m.int64), 0
        for t in range(5):
            scores = m.bmm(match(states), hidden.unsqueeze(2)).squeeze(2)
            share = scores.masked_fill(words == 0, -1e9).softmax(1)
            context = m.bmm(share.unsqueeze(1), states).squeeze(1)
            hidden = cell(m.cat([embedding(word), context], 1), hidden)
            logits = output(hidden)
            loss = loss + functional.cross_entropy(logits, words[:, t], ignore_index=0)
            word = logits.argmax(1) if t % 2 else words[:, t]
        yield step(optimizer, loss)


@network
def transformer_encoder(m: Any) -> Iterator[float]:
    nn = m.nn
    embedding, decoder = nn.Embedding(20, 16), nn.Linear(16, 20)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, 0.1), 2)
    place = m.arange(6.0).unsqueeze(1) * m.exp(m.arange(0, 16, 2).float() * (-math.log(1e4) / 16))
    codes = m.zeros(6, 16)
    codes[:, 0::2], codes[:, 1::2] = m.sin(place), m.cos(place)
    parameters = [*embedding.parameters(), *encoder.parameters(), *decoder.parameters()]
    optimizer = m.optim.SGD(parameters, lr=0.5)
    schedule = m.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.95)
    words, mask = m.randint(0, 20, (6, 4)), nn.Transformer.generate_square_subsequent_mask(6)
    for _ in range(STEPS):
        result = decoder(encoder(embedding(words) * 4 + codes[:, None], mask))
        yield step(optimizer, nn.CrossEntropyLoss()(result.view(-1, 20), words.view(-1)))
        schedule.step()


@network
def vision_transformer(m: Any) -> Iterator[float]:
    nn, functional = m.nn, m.nn.functional
    patches, norm, inner, outer = (
        nn.Conv2d(3, 16, 4, 4), nn.LayerNorm(16), nn.Linear(16, 48, bias=False), nn.Linear(16, 16)
    )  # fmt: skip
    head, first = nn.Linear(16, 5), nn.Parameter(m.zeros(1, 1, 16))
    place = nn.Parameter(m.randn(1, 5, 16) * 0.02)
    parameters = [
        first,
        place,
        *(each for part in (patches, norm, inner, outer, head) for each in part.parameters()),
    ]
    groups = [
        {"params": [each for each in parameters if each.ndim > 1], "weight_decay": 0.1},
        {"params": [each for each in parameters if each.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = m.optim.AdamW(groups, lr=1e-3)
    schedule = m.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=STEPS + 1)
    images, labels = m.rand(4, 3, 8, 8), m.randint(0, 5, (4,))
    for _ in range(STEPS):
        x = m.cat([first.expand(4, -1, -1), patches(images).flatten(2).transpose(1, 2)], 1) + place
        q, k, v = inner(norm(x)).reshape(4, 5, 3, 2, 8).permute(2, 0, 3, 1, 4).unbind(0)
        mixed = functional.scaled_dot_product_attention(q, k, v)
        x = x + outer(mixed.transpose(1, 2).reshape(4, 5, 16))
        yield step(optimizer, nn.CrossEntropyLoss(label_smoothing=0.1)(head(x[:, 0]), labels))
        schedule.step()


@network
def segmentation(m: Any) -> Iterator[float]:
    nn, functional = m.nn, m.nn.functional

    def block(inputs: int, outputs: int) -> Any:
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(2, outputs), nn.SiLU()
        )

    down, deep, up = block(1, 4), block(4, 8), nn.ConvTranspose2d(8, 4, 2, 2)
    joined, last = block(8, 4), nn.Conv2d(4, 2, 1)
    parts = nn.ModuleList([down, deep, up, joined, last])
    average = m.optim.swa_utils.AveragedModel(parts)
    optimizer = m.optim.AdamW(parts.parameters(), 1e-2)
    x = m.rand(2, 1, 8, 8)
    labels = (x[:, 0] > 0.5).long()
    for _ in range(STEPS):
        fine = down(x)
        logits = last(joined(m.cat([up(deep(functional.max_pool2d(fine, 2))), fine], 1)))
        share = logits.softmax(1)[:, 1]
        overlap = (2 * (share * labels).sum() + 1) / (share.sum() + labels.sum() + 1)
        weight = m.tensor([0.3, 0.7])
        yield step(optimizer, functional.cross_entropy(logits, labels, weight=weight) + 1 - overlap)
        average.update_parameters(parts)


@network
def style_transfer(m: Any) -> Iterator[float]:
    nn, functional = m.nn, m.nn.functional
    features = nn.Sequential(
        nn.ReflectionPad2d(1), nn.Conv2d(3, 6, 3), nn.InstanceNorm2d(6), nn.ReLU(),
        nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(6, 3, 3, padding=1),
    ).requires_grad_(False)  # fmt: skip
    image, target = m.rand(1, 3, 8, 8, requires_grad=True), m.rand(1, 3, 16, 16)

    def gram(x: Any) -> Any:
        flat = x.view(1, 3, -1)
        return flat @ flat.transpose(1, 2) / flat.numel()

    optimizer = m.optim.LBFGS([image], max_iter=4)

    def closure() -> Any:
        optimizer.zero_grad()
        rough = (image[..., 1:] - image[..., :-1]).abs().sum()
        loss = functional.mse_loss(gram(features(image)), gram(target)) + 1e-3 * rough
        loss.backward()
        return loss

    for _ in range(STEPS):
        yield optimizer.step(closure).item()


@network
def graph_convolution(m: Any) -> Iterator[float]:
    nn, functional = m.nn, m.nn.functional
    edges = (m.rand(10, 10) > 0.6).float()
    edges = ((edges + edges.t()) > 0).float() + m.eye(10)
    degree = edges.sum(1).pow(-0.5)
    edges = degree[:, None] * edges * degree[None]
    inner, outer = nn.Parameter(m.empty(5, 8)), nn.Parameter(m.empty(8, 3))
    nn.init.kaiming_uniform_(inner)
    nn.init.xavier_uniform_(outer)
    x, labels = m.rand(10, 5), m.randint(0, 3, (10,))
    optimizer = m.optim.RMSprop([inner, outer], 1e-2, weight_decay=5e-4)
    for _ in range(STEPS):
        logits = edges @ functional.elu(edges @ x @ inner) @ outer
        yield step(optimizer, functional.cross_entropy(logits, labels))


@network
def policy_gradient(m: Any) -> Iterator[float]:
    nn, functional = m.nn, m.nn.functional
    policy = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.6), nn.ReLU(), nn.Linear(16, 2))
    optimizer = m.optim.Adam(policy.parameters(), 1e-2)
    rewards = m.arange(5.0).flip(0)
    rewards = (rewards - rewards.mean()) / (rewards.std() + m.finfo(m.float32).eps)
    for _ in range(STEPS):
        chosen = []
        for _ in range(5):
            share = functional.softmax(policy(m.rand(1, 4)), dim=1)
            chosen.append(share.gather(1, m.multinomial(share, 1)).log().squeeze())
        yield step(optimizer, -(m.stack(chosen) * rewards).sum())


@network
def denoising_diffusion(m: Any) -> Iterator[float]:
    nn = m.nn
    kept = m.cumprod(1 - m.linspace(1e-4, 0.02, 10), 0)
    network = nn.Sequential(nn.Linear(3, 32), nn.Mish(), nn.Linear(32, 2))
    optimizer = m.optim.NAdam(network.parameters(), 1e-3)
    x = m.randn(16, 2)
    for _ in range(STEPS):
        time, noise = m.randint(0, 10, (16,)), m.randn_like(x)
        noisy = kept[time].sqrt()[:, None] * x + (1 - kept[time]).sqrt()[:, None] * noise
        found = network(m.cat([noisy, time[:, None] / 10], 1))
        yield step(optimizer, nn.functional.huber_loss(found, noise))


@network
def coupling_flow(m: Any) -> Iterator[float]:
    scale, shift = m.nn.Linear(2, 2), m.nn.Linear(2, 2)
    optimizer = m.optim.Adamax([*scale.parameters(), *shift.parameters()], 1e-2)
    x = m.randn(16, 4)
    for _ in range(STEPS):
        left, right = x.chunk(2, 1)
        log_scale = m.tanh(scale(left))
        z = m.cat([left, right * log_scale.exp() + shift(left)], 1)
        density = -0.5 * (z**2 + math.log(2 * math.pi)).sum(1) + log_scale.sum(1)
        yield step(optimizer, -density.mean())


@network
def twins(m: Any) -> Iterator[float]:
    nn = m.nn
    twin = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.PReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 8)
    )
    optimizer = m.optim.Adadelta(twin.parameters(), 1.0)
    anchor, like, unlike = (m.rand(4, 1, 8, 8) for _ in range(3))
    triplet, cosine = nn.TripletMarginLoss(), nn.CosineEmbeddingLoss()
    for _ in range(STEPS):
        apart = cosine(twin(anchor), twin(unlike), -m.ones(4))
        yield step(optimizer, triplet(twin(anchor), twin(like), twin(unlike)) + apart)


@network
def learning_to_learn(m: Any) -> Iterator[float]:
    weight = m.randn(3, 1, requires_grad=True)
    optimizer = m.optim.SGD([weight], 0.1, momentum=0.9)
    x = m.rand(6, 3)
    y = x.sum(1, keepdim=True)
    for _ in range(STEPS):
        loss = m.nn.functional.mse_loss(x @ weight, y)
        (slope,) = m.autograd.grad(loss, weight, create_graph=True)
        yield step(optimizer, m.nn.functional.mse_loss(x @ (weight - 0.1 * slope), y))


@pytest.mark.parametrize("train", NETWORKS, ids=lambda function: function.__name__)
def test_losses(train: Callable[[Any], Iterator[float]]) -> None:
    losses = []
    for m in (rushlight, torch):
        m.manual_seed(7)
        losses.append(list(train(m)))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
