"""Trains maps of the uterus: fluid, placenta, bladder, cervix and its landmarks. It learns from
phantoms (models/phantom/views), because no real data set labels any of these. Real fetal images
show what the cervix and its landmarks do not look like.
"""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from augment import random_affine, random_look, warp
from datasets import fetal_planes, hc18
from loop import Defaults, Training, maps_training
from network import GeometryNetwork, start_geometry

AREAS = ("fluid", "placenta", "lacuna", "bladder", "funnel", "part")
POINTS = {
    "internal-os": "internalOs",
    "external-os": "externalOs",
    "placenta-edge": "placentaEdge",
}
# Width and height of the network's input. Half the size of the other networks' input is enough for
# large structures and takes a quarter of the time.
SIZE = (128, 96)
CHANNELS = (*AREAS, "canal", *POINTS)
# Frames are stored at twice the network's size, which is large enough for a warp to lose no detail
# and small enough to need little memory.
KEPT = (2 * SIZE[0], 2 * SIZE[1])
CANAL_RADIUS = 1.5
POINT_SPREAD = 1.8
FREE_ROTATION = 0.05
# Share of real images; the cervix is absent on them.
REAL_SHARE = 0.12
ABSENT_ON_REAL = ("funnel", "canal", *POINTS)


@dataclass
class Frame:
    """One image. `label` contains 1 + the index of the area at each pixel; `points` are in pixels
    of the stored size. A real image has neither.
    """

    gray: np.ndarray
    label: np.ndarray | None
    points: dict[str, np.ndarray]


def read_frames(folder: Path) -> list[Frame]:
    return [read_frame(folder, label) for label in json.loads((folder / "labels.json").read_text())]


def read_frame(folder: Path, label: dict) -> Frame:
    gray = cv2.imread(str(folder / label["file"]), cv2.IMREAD_GRAYSCALE)
    areas = np.zeros(KEPT[::-1], np.uint8)
    for name, file in label["masks"].items():
        if name in AREAS:
            mask = cv2.imread(str(folder / file), cv2.IMREAD_GRAYSCALE)
            areas[cv2.resize(mask, KEPT, interpolation=cv2.INTER_AREA) > 127] = 1 + AREAS.index(
                name
            )
    scale = np.array([KEPT[0] / label["columns"], KEPT[1] / label["rows"]])
    points = {
        name: (np.array([[p["x"], p["y"]] for p in ends]) + 0.5) * scale - 0.5
        for name, ends in label["points"].items()
    }
    return Frame(cv2.resize(gray, KEPT, interpolation=cv2.INTER_AREA), areas, points)


def read_real(data: Path) -> list[Frame]:
    records = [r for r in hc18(data) + fetal_planes(data) if r.split == "train"]
    return [Frame(record.gray(), None, {}) for record in records]


def grid() -> tuple[np.ndarray, np.ndarray]:
    width, height = SIZE
    return (
        np.arange(width, dtype=np.float32)[None, :],
        np.arange(height, dtype=np.float32)[:, None],
    )


def draw_targets(frame: Frame, matrix: np.ndarray) -> np.ndarray:
    """Returns the target (channels, h, w) of one view of a frame."""
    target = np.zeros((len(CHANNELS), SIZE[1], SIZE[0]), np.float32)
    if frame.label is None:
        return target
    moved_label = cv2.warpAffine(frame.label, matrix, SIZE, flags=cv2.INTER_NEAREST)
    for index in np.unique(moved_label):
        if index > 0:
            target[index - 1] = moved_label == index
    moved = {n: p @ matrix[:, :2].T + matrix[:, 2] for n, p in frame.points.items()}
    if "canal" in moved:
        target[len(AREAS)] = draw_line(moved["canal"])
    x, y = grid()
    for channel, name in enumerate(POINTS.values(), len(AREAS) + 1):
        for px, py in moved.get(name, ()):
            target[channel] = np.exp(-((x - px) ** 2 + (y - py) ** 2) / (2 * POINT_SPREAD**2))
    return target


def draw_line(points: np.ndarray) -> np.ndarray:
    x, y = grid()
    nearest = np.full((SIZE[1], SIZE[0]), np.inf, np.float32)
    for (x0, y0), (x1, y1) in zip(points[:-1:2], points[2::2]):
        length = max(np.hypot(x1 - x0, y1 - y0), 1e-3)
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        along = np.clip((x - x0) * ux + (y - y0) * uy, 0, length)
        nearest = np.minimum(nearest, np.hypot(x - x0 - along * ux, y - y0 - along * uy))
    return np.clip(CANAL_RADIUS + 0.5 - nearest, 0, 1)


def loss_of(logits: torch.Tensor, target: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Returns the cross-entropy of all channels plus half the soft Dice of the areas and the canal.
    `weight` (n, channels) contains the weight of each channel in each view.
    """
    count = len(AREAS) + 1
    emphasis = torch.ones_like(target)
    emphasis[:, 2] += 6 * target[:, 2]
    emphasis[:, 4] += 3 * target[:, 4]
    emphasis[:, count - 1] += 4 * target[:, count - 1]
    emphasis[:, count:] += 60 * target[:, count:]
    entropy = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    areas = torch.sigmoid(logits[:, :count])
    drawn = target[:, :count]
    overlap = (areas * drawn).sum((2, 3))
    dice = 1 - (2 * overlap + 20) / (areas.sum((2, 3)) + drawn.sum((2, 3)) + 20)
    dice = (dice * weight[:, :count]).sum(1).mean()
    return ((entropy * emphasis).mean((2, 3)) * weight).sum(1).mean() + 0.5 * dice


class Sampler:
    """Samples frames and makes random views of them."""

    def __init__(self, phantoms: list[Frame], real: list[Frame], seed: int):
        self.phantoms = phantoms
        self.real = real
        self.rng = np.random.default_rng(seed)

    def view(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        pool = self.real if self.real and self.rng.random() < REAL_SHARE else self.phantoms
        frame = pool[self.rng.integers(len(pool))]
        height, width = frame.gray.shape
        matrix = random_affine(self.rng, width, height, FREE_ROTATION, 0.8, SIZE)
        judged = [frame.label is not None or name in ABSENT_ON_REAL for name in CHANNELS]
        image = random_look(self.rng, warp(frame.gray, matrix, SIZE))
        return image, draw_targets(frame, matrix), np.array(judged, np.float32)

    def batch(self, size: int) -> list[torch.Tensor]:
        images, *rest = (np.stack(part) for part in zip(*(self.view() for _ in range(size))))
        return [torch.from_numpy(images)[:, None], *map(torch.from_numpy, rest)]


DEFAULTS = Defaults(minutes=25, rate=2e-3, batch=16)


def add_arguments(parser: ArgumentParser) -> None:
    """Adds no arguments, because this topic has only those shared by all trainings."""


def prepare(options: Namespace) -> Training:
    frames = [frame for folder in options.phantoms for frame in read_frames(folder)]
    sampler = Sampler(frames, read_real(options.data), options.seed)
    model = GeometryNetwork(len(CHANNELS))
    if options.geometry:
        start_geometry(model, options.geometry)
    if options.resume:
        model.load_state_dict(torch.load(options.resume))
    return maps_training(model, lambda: sampler.batch(options.batch), loss_of, options.out)
