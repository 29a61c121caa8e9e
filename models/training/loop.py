"""The training loop shared by all models."""

import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import torch
from torch import nn

from network import Average

WARM_UP_STEPS = 100
# Weight of the previous value in the displayed loss, which is thus roughly a mean over the last
# fifty steps.
SHOWN_MEMORY = 0.98
LONGEST_GRADIENT = 2.0

# Saves the current weights and returns a line to show next to the loss.
Keep = Callable[[dict[str, torch.Tensor]], str]


class Defaults(NamedTuple):
    """Settings of a topic that are used if its recipe does not state them."""

    minutes: float
    rate: float
    batch: int


@dataclass
class Training:
    """One training, ready to run. `loss` samples a batch and returns its loss."""

    model: nn.Module
    loss: Callable[[], torch.Tensor]
    keep: Keep
    weight_decay: float
    keep_every: int = 250


def autocast() -> torch.autocast:
    """Calculates in bfloat16 if the processor supports it. Where bfloat16 is only emulated (AVX2),
    a step takes seven times as long as in single precision.
    """
    able = bool(torch.cpu.get_capabilities().get("avx512_bf16", False))
    return torch.autocast("cpu", torch.bfloat16, enabled=able)


def settle(seed: int) -> None:
    """Uses one core for everything, and sets the seed of PyTorch."""
    torch.set_num_threads(1)
    cv2.setNumThreads(0)
    torch.manual_seed(seed)


def run(training: Training, options: Namespace) -> None:
    """Trains for `options.steps`, or for `options.minutes` if there are no steps. It uses AdamW;
    the learning rate is warmed up and then falls as a half cosine. The moving average of the
    weights is saved every `training.keep_every` steps and at the end."""
    model = training.model
    average = Average(model)
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=options.rate, weight_decay=training.weight_decay
    )
    begin, step, shown = time.monotonic(), 0, 0.0

    def done_share() -> float:
        if options.steps:
            return step / options.steps
        return (time.monotonic() - begin) / (60 * options.minutes)

    while (done := done_share()) < 1:
        fall = 0.5 + 0.5 * np.cos(np.pi * done)
        for group in optimiser.param_groups:
            group["lr"] = max(options.rate * min(1, (step + 1) / WARM_UP_STEPS) * fall, 1e-6)
        loss = training.loss()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), LONGEST_GRADIENT)
        optimiser.step()
        average.update(model)
        step += 1
        last = loss.item()
        shown = last if step == 1 else SHOWN_MEMORY * shown + (1 - SHOWN_MEMORY) * last
        if step % training.keep_every == 0:
            said = training.keep(average.weights)
            print(f"step {step} done {done:.3f} loss {shown:.4f} {said}".rstrip(), flush=True)
    training.keep(average.weights)
    print(f"step {step} done 1.000 loss {shown:.4f}", flush=True)


def maps_training(
    model: nn.Module,
    batch: Callable[[], tuple[torch.Tensor, torch.Tensor, torch.Tensor]],
    loss_of: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor],
    out: Path,
) -> Training:
    """Prepares the training of a network that outputs one map per structure; its weights are saved
    in `out`.

    `batch` samples images, targets and weights; `loss_of` compares the logits with the targets,
    using these weights.
    """

    def loss() -> torch.Tensor:
        images, targets, weights = batch()
        with autocast():
            logits = model(images)
        return loss_of(logits, targets, weights)

    def keep(weights: dict[str, torch.Tensor]) -> str:
        torch.save(weights, out)
        return ""

    return Training(model, loss, keep, weight_decay=1e-3)
