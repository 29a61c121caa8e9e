"""Trains a map for each region: symphysis and fetal head, or the structures of a mid-sagittal
fetus."""

from argparse import ArgumentParser, Namespace

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from augment import erased_marks, random_affine, random_look, smear, warp
from datasets import Record, midsagittal, phantoms, psfhs
from ellipse import ellipse_from_axes
from letterbox import letterbox, letterbox_matrix
from loop import Defaults, Training, autocast
from network import GeometryNetwork, start_geometry

REGIONS = {
    "symphysis-head": ("symphysis", "head"),
    "fetal-midsagittal": (
        "thalami",
        "midbrain",
        "palate",
        "IT",
        "CM",
        "NT",
        "nasal bone",
        "nasal tip",
        "nasal skin",
    ),
}
# Width and height of the network's input.
SIZES = {"symphysis-head": (224, 224), "fetal-midsagittal": (256, 192)}
DATA_SETS = {"symphysis-head": psfhs, "fetal-midsagittal": midsagittal}
# Rotations are small, because a box must still enclose its structure closely.
TURNING = {"symphysis-head": (0.05, 1.0), "fetal-midsagittal": (0.0, 0.5)}
# Weight of a structure without a box. It is reduced, because the structure may be hidden or its
# label may be missing.
SILENCE_WEIGHT = 0.3


def targets_of(task: str, record: Record, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns target (regions, h, w) and weight (regions,) of one view."""
    width, height = SIZES[task]
    names = REGIONS[task]
    if record.masks:
        pictures = [cv2.imread(str(record.masks[n]), cv2.IMREAD_GRAYSCALE) for n in names]
        maps = [warp((one > 0).astype(np.uint8) * 255, matrix, SIZES[task]) for one in pictures]
        return np.stack(maps) / 255, np.ones(len(names), np.float32)
    if task == "symphysis-head":
        mask = cv2.imread(str(record.mask), cv2.IMREAD_GRAYSCALE)
        maps = [
            warp((mask == value).astype(np.uint8) * 255, matrix, SIZES[task]) for value in (1, 2)
        ]
        return np.stack(maps) / 255, np.ones(len(names), np.float32)
    target = np.zeros((len(names), height, width), np.float32)
    weight = np.full(len(names), SILENCE_WEIGHT, np.float32)
    for channel, name in enumerate(names):
        if name in record.boxes:
            # The ellipse touches the four sides of the box. The box remains its extent even after a
            # small rotation.
            left, top, right, bottom = record.boxes[name]
            ellipse = ellipse_from_axes(
                (left + right) / 2, (top + bottom) / 2, (right - left) / 2, (bottom - top) / 2, 0
            )
            target[channel] = ellipse.mapped(matrix).coverage(width, height)
            weight[channel] = 1
    return target, weight


def source_of(task: str, record: Record, rng: np.random.Generator) -> np.ndarray:
    """Returns the image. In mid-sagittal images, traces of erased calipers are hidden."""
    gray = record.gray()
    if task == "fetal-midsagittal":
        if "NT" in record.boxes and rng.random() < 0.35:
            gray = smear(rng, gray, record.boxes["NT"])
        if rng.random() < 0.6:
            gray = erased_marks(rng, gray)
    return gray


def batch(
    task: str,
    real: list[Record],
    simulated: list[Record],
    phantom_share: float,
    size: int,
    rng: np.random.Generator,
):
    views = []
    for _ in range(size):
        records = simulated if simulated and rng.random() < phantom_share else real
        record = records[rng.integers(len(records))]
        gray = source_of(task, record, rng)
        free, strength = TURNING[task]
        matrix = random_affine(rng, gray.shape[1], gray.shape[0], free, strength, SIZES[task])
        image = random_look(rng, warp(gray, matrix, SIZES[task]))
        views.append((image, *targets_of(task, record, matrix)))
    images, targets, weights = (torch.from_numpy(np.stack(part)) for part in zip(*views))
    return images[:, None], targets.float(), weights


def loss_of(logits: torch.Tensor, target: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Returns the cross-entropy, with more weight on small regions, plus the soft Dice of the
    regions that are present."""
    area = target.mean((2, 3), keepdim=True).clamp(min=1e-3)
    emphasis = 1 + target * (0.05 / area).clamp(max=20)
    entropy = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    found = torch.sigmoid(logits)
    overlap = (found * target).sum((2, 3))
    dice = 1 - (2 * overlap + 5) / (found.sum((2, 3)) + target.sum((2, 3)) + 5)
    judged = (weight == 1).float()
    entropy = (entropy * emphasis).mean((2, 3)) * weight
    return entropy.mean(1).mean() * 2 + (dice * judged).sum() / judged.sum().clamp(min=1)


@torch.no_grad()
def validate(task: str, model: GeometryNetwork, records: list[Record]) -> str:
    """Returns the mean Dice of each region over the images that have it. The maps of the image and
    its mirror image are averaged."""
    model.eval()
    scores: dict[str, list[float]] = {}
    for record in records:
        gray = record.gray()
        image = torch.from_numpy(letterbox(gray, SIZES[task]))[None, None]
        straight, mirrored = torch.sigmoid(model(torch.cat([image, image.flip(3)])))
        found = ((straight + mirrored.flip(2)) / 2).numpy() >= 0.5
        matrix = letterbox_matrix(gray.shape[1], gray.shape[0], SIZES[task])
        target, weight = targets_of(task, record, matrix)
        for name, one, truth, judged in zip(REGIONS[task], found, target >= 0.5, weight):
            if judged == 1 and truth.any():
                dice = 2 * (one & truth).sum() / (one.sum() + truth.sum())
                scores.setdefault(name, []).append(float(dice))
    model.train()
    return ", ".join(f"{name} {np.mean(own):.3f}" for name, own in scores.items())


DEFAULTS = Defaults(minutes=15, rate=1.5e-3, batch=12)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--task", choices=list(REGIONS), required=True)
    parser.add_argument("--phantom-share", type=float, default=0.2)


def prepare(options: Namespace) -> Training:
    rng = np.random.default_rng(options.seed)
    names = REGIONS[options.task]
    records = DATA_SETS[options.task](options.data)
    held = [r for r in records if r.split == "validation"]
    train_records = [r for r in records if r.split == "train"]
    simulated = [r for r in phantoms(*options.phantoms) if r.masks or r.boxes]
    simulated = [r for r in simulated if bool(r.masks) == (options.task == "symphysis-head")]
    model, smooth = GeometryNetwork(len(names)), GeometryNetwork(len(names))
    if options.encoder:
        start_geometry(model, options.encoder)
    if options.resume:
        model.load_state_dict(torch.load(options.resume))

    def loss() -> torch.Tensor:
        images, targets, weights = batch(
            options.task, train_records, simulated, options.phantom_share, options.batch, rng
        )
        with autocast():
            logits = model(images)
        return loss_of(logits.float(), targets, weights)

    def keep(weights: dict[str, torch.Tensor]) -> str:
        torch.save(weights, options.out)
        smooth.load_state_dict(weights)
        return f"Dice {validate(options.task, smooth, held)}"

    return Training(model, loss, keep, weight_decay=2e-3)
