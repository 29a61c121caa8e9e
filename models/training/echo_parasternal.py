"""Trains the structures of parasternal and subcostal views on phantoms, because there are no masks
of real images."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from echo_augment import sample
from echo_chambers import SMALL_SIZE, coverage
from echo_datasets import STRUCTURES, HeartFrame, phantom_frames
from echo_network import SMALL, RegionNetwork
from letterbox import letterbox
from loop import Defaults, Training, autocast


def loss_of(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Returns the cross-entropy plus the soft Dice of each structure that occurs in the batch."""
    log_shares = F.log_softmax(logits, 1)
    entropy = -(target * log_shares).sum(1).mean()
    shares = log_shares[:, 1:].exp()
    truth = target[:, 1:]
    overlap = (truth * shares).sum((0, 2, 3))
    size = truth.sum((0, 2, 3))
    dice = 1 - (2 * overlap + 10) / (size + shares.sum((0, 2, 3)) + 10)
    return entropy + (dice * (size > 0)).sum() / (size > 0).sum().clamp(min=1)


def batch(frames: list[HeartFrame], count: int, rng: np.random.Generator):
    views = []
    for _ in range(count):
        frame = frames[rng.integers(len(frames))]
        image, mask = sample(rng, frame.image, frame.mask, SMALL_SIZE)
        views.append((image, coverage(mask, len(STRUCTURES))))
    images, targets = zip(*views)
    return torch.from_numpy(np.stack(images))[:, None], torch.from_numpy(np.stack(targets)).float()


@torch.no_grad()
def dice_of(model: RegionNetwork, frames: list[HeartFrame]) -> str:
    """Returns the mean Dice of each structure over the frames that have it, on the network's grid."""
    scores: dict[str, list[float]] = {}
    for frame in frames:
        logits = model(torch.from_numpy(letterbox(frame.image, SMALL_SIZE))[None, None])
        found = logits.argmax(1)[0].numpy()
        named = [(frame.mask == value).astype(np.uint8) * 255 for value in range(len(STRUCTURES))]
        labels = [letterbox(one, SMALL_SIZE) > 0.5 for one in named]
        for value, name in enumerate(STRUCTURES[1:], 1):
            one, truth = found == value, labels[value]
            if truth.sum() > 60:
                dice = 2 * (one & truth).sum() / (one.sum() + truth.sum())
                scores.setdefault(name, []).append(float(dice))
    return ", ".join(f"{name} {np.mean(own):.3f}" for name, own in scores.items())


DEFAULTS = Defaults(minutes=15, rate=2e-3, batch=12)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--held", type=Path, required=True, help="phantoms to choose by")


def prepare(options: Namespace) -> Training:
    rng = np.random.default_rng(options.seed)
    frames = phantom_frames(*options.phantoms, known=len(STRUCTURES))
    held = phantom_frames(options.held, known=len(STRUCTURES))
    model, smooth = (RegionNetwork(len(STRUCTURES), SMALL) for _ in range(2))
    if options.resume:
        model.load_state_dict(torch.load(options.resume))

    def loss_of_batch() -> torch.Tensor:
        images, targets = batch(frames, options.batch, rng)
        with autocast():
            logits = model.coarse(images)
        return loss_of(logits, targets)

    def keep(weights: dict[str, torch.Tensor]) -> str:
        torch.save(weights, options.out)
        smooth.load_state_dict(weights)
        return dice_of(smooth, held[:100])

    return Training(model, loss_of_batch, keep, weight_decay=5e-3, keep_every=300)
