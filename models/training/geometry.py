"""Trains head, abdomen and femur together in one network. Each image contributes only to its own
channels.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional as F

from augment import random_affine, random_look, warp
from datasets import Record, fetal_planes, hc18, phantoms
from letterbox import HEIGHT, WIDTH
from loop import Defaults, Training, maps_training
from network import GEOMETRY_CHANNELS, GeometryNetwork

# Share of each source in a batch; the small sets are shown often and strongly augmented.
SHARE = {"hc18": 0.46, "fetal-planes head": 0.08, "abdomen": 0.24, "femur": 0.22}
HEAD_SOURCES = ("hc18", "fetal-planes head")
FREE_ROTATION = {"head": 0.3, "abdomen": 0.3, "femur": 0.15}
# Size of a small head in mm; --small is the share of sampled heads that are replaced by a small
# one.
SMALL_MM = 110
# Lowest and highest share of the input that a structure fills in an enlarged view (--closer). The
# product enlarges an abdomen to 0.72 and 0.86 and a small head to 0.5 and 0.6
# (pipelines/obstetric/shared/outline.ts).
FILLS = (0.5, 0.95)
# Standard deviation of the centre of an enlarged view, as a share of its size, and the strength of
# its other changes.
OFF_CENTRE = 0.04
CLOSER_STRENGTH = 0.5
# Half width of the drawn shaft and standard deviation of the drawn ends, in network pixels.
SHAFT_RADIUS = 3.0
END_SPREAD = 2.5
# Weight of a channel for an image of another part, where it must be empty. It is small because a
# head may still be in view.
SILENCE_WEIGHT = 0.15


def draw_targets(record: Record, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns target (4, h, w) and weight (4,) of one view."""
    target = np.zeros((len(GEOMETRY_CHANNELS), HEIGHT, WIDTH), np.float32)
    weight = np.full(len(GEOMETRY_CHANNELS), SILENCE_WEIGHT, np.float32)
    if record.task == "femur":
        ends = record.ends @ matrix[:, :2].T + matrix[:, 2]
        target[2], target[3] = draw_femur(ends)
        weight[2:] = 1
    else:
        channel = 0 if record.task == "head" else 1
        target[channel] = record.ellipse.mapped(matrix).coverage(WIDTH, HEIGHT)
        weight[channel] = 1
    return target, weight


def extent_of(record: Record) -> tuple[np.ndarray, np.ndarray]:
    """Returns the centre and the width and height of the labelled structure, in pixels."""
    if record.task == "femur":
        return record.ends.mean(0), np.ptp(record.ends, axis=0)
    return record.ellipse.centre, 2 * np.sqrt(np.diag(record.ellipse.shape))


def enlarged(rng: np.random.Generator, record: Record) -> tuple[np.ndarray, np.ndarray]:
    """Returns a part of the image in which the structure fills a random share of the input (within
    `FILLS`), as in the further passes of the product, and the position of the part's first pixel.
    The part ends at the border of the image.
    """
    gray = record.gray()
    centre, size = extent_of(record)
    side = np.array([WIDTH, HEIGHT]) * max(size / (WIDTH, HEIGHT)) / rng.uniform(*FILLS)
    centre = centre + rng.normal(0, OFF_CENTRE, 2) * side
    (left, top), (right, bottom) = (
        np.clip(np.rint(centre + half * side), 0, gray.shape[::-1]).astype(int)
        for half in (-0.5, 0.5)
    )
    return gray[top:bottom, left:right], np.array([left, top])


def draw_femur(ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x = np.arange(WIDTH, dtype=np.float32)[None, :]
    y = np.arange(HEIGHT, dtype=np.float32)[:, None]
    (x0, y0), (x1, y1) = ends
    length = max(np.hypot(x1 - x0, y1 - y0), 1e-3)
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    along = np.clip((x - x0) * ux + (y - y0) * uy, 0, length)
    away = np.hypot(x - x0 - along * ux, y - y0 - along * uy)
    shaft = np.clip(SHAFT_RADIUS + 0.5 - away, 0, 1)
    heat = np.zeros((HEIGHT, WIDTH), np.float32)
    for ex, ey in ends:
        heat = np.maximum(heat, np.exp(-((x - ex) ** 2 + (y - ey) ** 2) / (2 * END_SPREAD**2)))
    return shaft, heat


def loss_of(logits: torch.Tensor, target: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Returns the cross-entropy of all channels, weighted by `weight` (n, channels), plus the soft
    Dice of the area channels for which the image is labelled (weight 1)."""
    emphasis = torch.ones_like(target)
    emphasis[:, 2] += 4 * target[:, 2]
    emphasis[:, 3] += 60 * target[:, 3]
    entropy = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    per_channel = (entropy * emphasis).mean((2, 3))
    areas = torch.sigmoid(logits[:, :3])
    overlap = (areas * target[:, :3]).sum((2, 3))
    dice = 1 - (2 * overlap + 20) / (areas.sum((2, 3)) + target[:, :3].sum((2, 3)) + 20)
    judged = (weight[:, :3] == 1).float()
    return (per_channel * weight).sum(1).mean() + (dice * judged).sum(1).mean()


class Sampler:
    """Samples records by source and makes random views of them."""

    def __init__(
        self,
        records: list[Record],
        phantom_share: float,
        seed: int,
        focus: Sequence[str] = (),
        small: float = 0,
        closer: float = 0,
    ):
        self.rng = np.random.default_rng(seed)
        if focus:
            records = [r for r in records if r.dataset != "phantom" or r.task in focus]
        self.small = small
        self.closer = closer
        self.small_heads = [r for r in records if r.dataset == "hc18" and r.reference_mm < SMALL_MM]
        pools: dict[str, list[Record]] = {}
        for record in records:
            pools.setdefault(source_of(record), []).append(record)
        self.pools = pools
        share = {k: v * (1 - phantom_share) for k, v in SHARE.items()}
        for name in share:
            if name in focus or ("head" in focus and name in HEAD_SOURCES):
                share[name] *= 3
        if "phantom" in pools:
            share["phantom"] = phantom_share
        self.names = [k for k in share if pools.get(k)]
        weights = np.array([share[k] for k in self.names])
        self.weights = weights / weights.sum()

    def view(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = self.rng
        pool = self.pools[self.names[rng.choice(len(self.names), p=self.weights)]]
        record = pool[rng.integers(len(pool))]
        if self.small and record.task == "head" and rng.random() < self.small:
            record = self.small_heads[rng.integers(len(self.small_heads))]
        gray, corner, strength = record.gray(), np.zeros(2), 1.0
        if self.closer and rng.random() < self.closer:
            gray, corner = enlarged(rng, record)
            strength = CLOSER_STRENGTH
        height, width = gray.shape
        matrix = random_affine(rng, width, height, FREE_ROTATION[record.task], strength)
        image = random_look(rng, warp(gray, matrix))
        matrix[:, 2] -= matrix[:, :2] @ corner
        return image, *draw_targets(record, matrix)

    def batch(self, size: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        images, targets, weights = zip(*(self.view() for _ in range(size)))
        return (
            torch.from_numpy(np.stack(images))[:, None],
            torch.from_numpy(np.stack(targets)),
            torch.from_numpy(np.stack(weights)),
        )


def source_of(record: Record) -> str:
    if record.dataset == "fetal-planes":
        return "fetal-planes head" if record.task == "head" else record.task
    return record.dataset


DEFAULTS = Defaults(minutes=30, rate=2e-3, batch=16)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--phantom-share", type=float, default=0.2)
    parser.add_argument(
        "--focus", choices=list(FREE_ROTATION), nargs="*", default=[], help="shown more"
    )
    parser.add_argument("--closer", type=float, default=0, help="share of enlarged views")
    parser.add_argument("--small", type=float, default=0, help="share of small heads")


def prepare(options: Namespace) -> Training:
    records = hc18(options.data) + fetal_planes(options.data) + phantoms(*options.phantoms)
    records = [r for r in records if r.task and r.split == "train"]
    sampler = Sampler(
        records, options.phantom_share, options.seed, options.focus, options.small, options.closer
    )
    model = GeometryNetwork()
    if options.resume:
        model.load_state_dict(torch.load(options.resume))
    return maps_training(model, lambda: sampler.batch(options.batch), loss_of, options.out)
