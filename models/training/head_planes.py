"""Trains the classifier of the axial plane on a crop of the head (head_crop.py).

There are few labelled heads. First, five networks are trained, each with a different fifth of the
pregnancies held out: temperature and weights are chosen from the outputs of each network on its
held-out fifth. Then five more are trained on all pregnancies outside the test split, from other
seeds. Up to version 1.4.0, the product averaged the outputs of the last five; since 2.0.0 they are
teachers (head_distillation.py).
"""

import hashlib
from argparse import ArgumentParser, Namespace
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from augment import random_look
from datasets import HEAD_PLANES, Record, fetal_planes, phantoms
from ellipse import Ellipse
from head_crop import crop_matrix, find_head, warp_crop
from loop import Defaults, Keep, Training, autocast
from network import (
    GeometryNetwork,
    HeadPlaneNetwork,
    load_planes,
    save_planes,
    start_encoder,
)

FOLDS = 5
SMOOTHING = 0.06
MIXED_BATCHES = 0.5
MIXING = 0.4
# Share of views that are turned upside down. It is small because the near side of a head is
# normally at the top of the image, and the far side shows the ventricle. The front may be on the
# left or on the right; the plane does not depend on it.
TURNED_OVER = 0.12


def random_view(rng: np.random.Generator, head: Ellipse) -> np.ndarray:
    """Returns the 2x3 map from the image to a random view of its head."""
    flips = (rng.choice([-1, 1]), -1 if rng.random() < TURNED_OVER else 1)
    matrix = crop_matrix(
        head, rng.normal(0, 0.12), np.exp(rng.normal(0, 0.09)), rng.normal(0, 0.06, 2), flips
    )
    # Some images were stretched before publication, so the aspect ratio carries no information.
    stretch = np.exp(rng.normal(0, 0.08))
    matrix[1] = matrix[1] * stretch + [0, 0, (1 - stretch) * 95.5]
    return matrix


class Sampler:
    """Samples random views of heads, the three planes equally often."""

    def __init__(self, records: list[Record], phantom_share: float, seed: int):
        self.rng = np.random.default_rng(seed)
        self.phantom_share = phantom_share if any(r.dataset == "phantom" for r in records) else 0
        self.pools = {
            (plane, kind): [
                r for r in records if r.plane == plane and (r.dataset == "phantom") == kind
            ]
            for plane in HEAD_PLANES
            for kind in (False, True)
        }

    def view(self) -> tuple[np.ndarray, int]:
        rng = self.rng
        plane = int(rng.integers(len(HEAD_PLANES)))
        pool = self.pools[HEAD_PLANES[plane], bool(rng.random() < self.phantom_share)]
        record = pool[rng.integers(len(pool))]
        return random_look(rng, warp_crop(record.gray(), random_view(rng, record.ellipse))), plane

    def batch(self, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        images, planes = zip(*(self.view() for _ in range(size)))
        return torch.from_numpy(np.stack(images))[:, None], torch.tensor(planes)


def crops_of(record: Record) -> torch.Tensor:
    """Returns a head and its mirror image (front and back swapped): float32 (2, 1, 192, 224)."""
    views = [
        warp_crop(record.gray(), crop_matrix(record.ellipse, flips=(x, 1))) / 255 for x in (1, -1)
    ]
    return torch.from_numpy(np.stack(views))[:, None]


@torch.no_grad()
def validate(model: HeadPlaneNetwork, records: list[Record]) -> str:
    model.eval()
    hits: dict[str, list[bool]] = {plane: [] for plane in HEAD_PLANES}
    losses = []
    for record in records:
        log_p = F.log_softmax(model(crops_of(record)).mean(0), 0)
        truth = HEAD_PLANES.index(record.plane)
        losses.append(-float(log_p[truth]))
        hits[record.plane].append(int(log_p.argmax()) == truth)
    model.train()
    shares = ", ".join(f"{plane} {np.mean(own):.2f} of {len(own)}" for plane, own in hits.items())
    right = np.mean([hit for own in hits.values() for hit in own])
    return f"validation {right:.3f} loss {np.mean(losses):.3f}: {shares}"


def keeper(smooth: HeadPlaneNetwork, held: list[Record], out: Path) -> Keep:
    """Saves the weights so far and evaluates them on the held-out heads."""

    def keep(weights: dict[str, torch.Tensor]) -> str:
        save_planes(weights, HEAD_PLANES, out)
        smooth.load_state_dict(weights)
        return validate(smooth, held) if held else ""

    return keep


def with_heads(records: list[Record], geometry: Path) -> list[Record]:
    """Returns the records whose head the geometry network finds, with the ellipse that the product
    would use."""
    network = GeometryNetwork()
    network.load_state_dict(torch.load(geometry))
    network.eval()
    found = []
    for record in records:
        if record.dataset != "phantom":
            record.ellipse = find_head(network, record.gray())
        if record.ellipse is not None:
            found.append(record)
    return found


def in_fold(record: Record, fold: int | None) -> bool:
    """Returns True if the pregnancy of a record is held out in this fold, from a hash of the
    patient.
    """
    if fold is None:
        return False
    digest = hashlib.sha256(f"fold:{record.group}".encode()).hexdigest()
    return int(digest[:8], 16) % FOLDS == fold


DEFAULTS = Defaults(minutes=5, rate=1.2e-3, batch=24)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--phantom-share", type=float, default=0.08)
    parser.add_argument(
        "--fold", type=int, choices=range(FOLDS), help="fold held out; absent: none"
    )


def prepare(options: Namespace) -> Training:
    records = fetal_planes(options.data) + phantoms(*options.phantoms)
    records = [r for r in records if r.plane in HEAD_PLANES and r.split != "test"]
    records = with_heads(records, options.geometry)
    held = [r for r in records if r.dataset != "phantom" and in_fold(r, options.fold)]
    sampler = Sampler(
        [r for r in records if r.dataset == "phantom" or not in_fold(r, options.fold)],
        options.phantom_share,
        options.seed,
    )
    model = HeadPlaneNetwork(len(HEAD_PLANES))
    start_encoder(model, options.geometry)
    if options.resume:
        load_planes(model, options.resume, HEAD_PLANES)

    def loss() -> torch.Tensor:
        images, planes = sampler.batch(options.batch)
        share = sampler.rng.beta(MIXING, MIXING) if sampler.rng.random() < MIXED_BATCHES else 1.0
        other = torch.roll(torch.arange(len(images)), 1)
        with autocast():
            logits = model(float(share) * images + float(1 - share) * images[other])
        logits = logits.float()
        own = F.cross_entropy(logits, planes, label_smoothing=SMOOTHING)
        blended = F.cross_entropy(logits, planes[other], label_smoothing=SMOOTHING)
        return share * own + (1 - share) * blended

    keep = keeper(HeadPlaneNetwork(len(HEAD_PLANES)), held, options.out)
    return Training(model, loss, keep, weight_decay=5e-2)
