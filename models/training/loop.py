"""The loop that every training shares: a number of minutes of one core, or of steps."""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn

from network import Average

WARM_UP_STEPS = 100
# Share of the shown loss that is old: it is a mean over the last fifty steps or so.
SHOWN_MEMORY = 0.98
LONGEST_GRADIENT = 2.0

# The weights so far, kept in the file of the run; what it returns is shown beside the loss.
Keep = Callable[[dict[str, torch.Tensor]], str]


def arguments(about: str | None, minutes: float, rate: float, batch: int) -> argparse.ArgumentParser:
    """A parser with the arguments that every training takes, the given values their defaults."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=minutes)
    parser.add_argument("--steps", type=int, help="so many, however long they take")
    parser.add_argument("--rate", type=float, default=rate)
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--seed", type=int, default=1)
    return parser


def settle(options: argparse.Namespace) -> None:
    """One core for everything, and the seed for what PyTorch draws."""
    torch.set_num_threads(1)
    cv2.setNumThreads(0)
    torch.manual_seed(options.seed)


def train(
    model: nn.Module,
    loss_of_batch: Callable[[], torch.Tensor],
    keep: Keep,
    options: argparse.Namespace,
    weight_decay: float,
    keep_every: int = 250,
) -> None:
    """Trains for `options.steps`, else `options.minutes`: AdamW, the rate warmed up, then falling as a half cosine.

    `loss_of_batch` draws a batch and gives its loss. What is kept is the moving average of the
    weights, every `keep_every` steps and at the end.
    """
    average = Average(model)
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=weight_decay)
    begin, step, shown = time.monotonic(), 0, 0.0

    def done_share() -> float:
        if options.steps:
            return step / options.steps
        return (time.monotonic() - begin) / (60 * options.minutes)

    while (done := done_share()) < 1:
        fall = 0.5 + 0.5 * np.cos(np.pi * done)
        for group in optimiser.param_groups:
            group["lr"] = max(options.rate * min(1, (step + 1) / WARM_UP_STEPS) * fall, 1e-6)
        loss = loss_of_batch()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), LONGEST_GRADIENT)
        optimiser.step()
        average.update(model)
        step += 1
        last = loss.item()
        shown = last if step == 1 else SHOWN_MEMORY * shown + (1 - SHOWN_MEMORY) * last
        if step % keep_every == 0:
            said = keep(average.weights)
            print(f"step {step} done {done:.3f} loss {shown:.4f} {said}".rstrip(), flush=True)
    keep(average.weights)
    print(f"step {step} done 1.000 loss {shown:.4f}", flush=True)


def train_maps(
    model: nn.Module,
    batch: Callable[[], tuple[torch.Tensor, torch.Tensor, torch.Tensor]],
    loss_of: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor],
    options: argparse.Namespace,
) -> None:
    """Trains a network that draws a map per structure, and keeps its weights in `options.out`.

    `batch` draws images, targets and weights; `loss_of` compares logits with the last two.
    """

    def loss() -> torch.Tensor:
        images, targets, weights = batch()
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(images)
        return loss_of(logits, targets, weights)

    def keep(weights: dict[str, torch.Tensor]) -> str:
        torch.save(weights, options.out)
        return ""

    train(model, loss, keep, options, weight_decay=1e-3)
