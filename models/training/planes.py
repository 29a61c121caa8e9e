"""Trains the plane classifier; the encoder may start from that of a geometry network."""

from argparse import ArgumentParser, Namespace

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from augment import random_affine, random_look, warp
from datasets import HEAD_PLANES, PLANES, Record, fetal_planes, hc18, midsagittal, phantoms, psfhs
from letterbox import letterbox
from loop import Defaults, Training, autocast
from negatives import rubbish, shuffled, without_regions
from network import PlaneNetwork, load_planes, save_planes, start_encoder

# Share of each kind of image in a batch. `some head` is hc18: heads without a plane label.
SHARE = {
    "transthalamic": 0.12,
    "transventricular": 0.10,
    "transcerebellar": 0.10,
    "abdominal": 0.15,
    "femur": 0.11,
    "thorax": 0.16,
    "midsagittal": 0.05,
    "transperineal": 0.065,
    "some head": 0.06,
    "brain other": 0.02,
    "rubbish": 0.06,
    "fragment": 0.02,
    "shuffled": 0.02,
    "without regions": 0.012,
    "turned over": 0.01,
}
# Kinds of image made from an image of a plane in such a way that the plane is no longer shown.
NEGATIVES = ("fragment", "shuffled", "without regions", "turned over")
SMOOTHING = 0.03
# Share of batches whose images are blended in pairs (Zhang 2018), and the width of the blend.
MIXED_BATCHES = 0.35
MIXING = 0.3


class Sampler:
    def __init__(self, records: list[Record], phantom_share: float, seed: int):
        self.rng = np.random.default_rng(seed)
        self.real = [r for r in records if r.dataset != "phantom"]
        self.pools: dict[str, list[Record]] = {
            "rubbish": [],
            "fragment": self.real,
            "shuffled": records,
            "without regions": [r for r in self.real if r.mask],
            # Images rotated by 180 degrees, in which the probe is at the bottom of the picture.
            "turned over": [r for r in self.real if r.plane == "transperineal"],
        }
        for record in records:
            self.pools.setdefault(source_of(record), []).append(record)
        share = {k: v * (1 - phantom_share) for k, v in SHARE.items()}
        if "phantom" in self.pools:
            share["phantom"] = phantom_share
        self.phantom_planes = sorted({r.plane for r in self.pools.get("phantom", [])})
        self.names = list(share)
        self.weights = np.array(list(share.values())) / sum(share.values())

    def view(self) -> tuple[np.ndarray, np.ndarray]:
        """Samples an image and its possible classes (several for a head of unknown plane)."""
        rng = self.rng
        source = self.names[rng.choice(len(self.names), p=self.weights)]
        allowed = np.zeros(len(PLANES), np.float32)
        if source == "rubbish":
            allowed[PLANES.index("other")] = 1
            return random_look(rng, rubbish(rng)), allowed
        pool = self.pools[source]
        if source == "phantom":
            plane = self.phantom_planes[rng.integers(len(self.phantom_planes))]
            pool = [record for record in pool if record.plane == plane]
        record = pool[rng.integers(len(pool))]
        gray = record.gray()
        if source == "without regions":
            mask = cv2.imread(str(record.mask), cv2.IMREAD_GRAYSCALE)
            gray = without_regions(rng, gray, mask)
        height, width = gray.shape
        if source == "fragment":
            matrix = fragment_view(rng, width, height)
        else:
            upright = record.plane == "transperineal"
            free_rotation = 0 if upright else 0.08
            matrix = random_affine(rng, width, height, free_rotation, 0.8, upright=upright)
            stretch = np.exp(rng.normal(0, 0.1))
            # The aspect ratio of some brain images was changed before publication, so it carries no
            # information.
            matrix[0] = matrix[0] * stretch + [0, 0, (1 - stretch) * 127.5]
        if source == "turned over":
            matrix = np.array([[-1, 0, 255.0], [0, -1, 191.0]]) @ np.vstack([matrix, [0, 0, 1]])
        if source in NEGATIVES:
            names = ("other",)
        else:
            names = HEAD_PLANES if source == "some head" else (record.plane,)
        for name in names:
            allowed[PLANES.index(name)] = 1
        image = warp(gray, matrix)
        return random_look(rng, shuffled(rng, image) if source == "shuffled" else image), allowed

    def batch(self, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        images, allowed = zip(*(self.view() for _ in range(size)))
        return torch.from_numpy(np.stack(images))[:, None], torch.from_numpy(np.stack(allowed))


def fragment_view(rng: np.random.Generator, width: int, height: int) -> np.ndarray:
    """Zooms in four to eight times, to a part too small to show a plane."""
    base = random_affine(rng, width, height, 1.0)
    zoom = rng.uniform(4, 8)
    around = np.array([rng.uniform(0.2, 0.8) * width, rng.uniform(0.2, 0.8) * height])
    linear = base[:, :2] * zoom
    return np.concatenate([linear, (np.array([127.5, 95.5]) - linear @ around)[:, None]], 1)


def source_of(record: Record) -> str:
    if record.dataset == "hc18":
        return "some head"
    if record.dataset == "phantom":
        return "phantom"
    return "brain other" if record.plane == "other" else record.plane


def loss_of(logits: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """Returns for each image the negative log of the probability of its allowed classes, slightly
    smoothed.
    """
    log_p = F.log_softmax(logits, 1)
    chosen = torch.logsumexp(log_p.masked_fill(allowed == 0, -1e4), 1)
    return -((1 - SMOOTHING) * chosen + SMOOTHING * log_p.mean(1))


def step_loss(
    model: PlaneNetwork, images: torch.Tensor, allowed: torch.Tensor, rng: np.random.Generator
) -> torch.Tensor:
    """Returns the loss of a batch, whose images are sometimes blended in pairs."""
    share = float(rng.beta(MIXING, MIXING)) if rng.random() < MIXED_BATCHES else 1.0
    other = torch.roll(torch.arange(len(images)), 1)
    with autocast():
        logits = model(share * images + (1 - share) * images[other])
    logits = logits.float()
    blended = share * loss_of(logits, allowed) + (1 - share) * loss_of(logits, allowed[other])
    return blended.mean()


@torch.no_grad()
def validate(model: PlaneNetwork, records: list[Record]) -> str:
    """Returns the share of correctly identified images for each plane in the validation split,
    without the gate. The outputs for the image and its mirror image are averaged.
    """
    model.eval()
    right: dict[str, list[bool]] = {}
    for record in records:
        image = torch.from_numpy(letterbox(record.gray()))[None, None]
        logits = model(torch.cat([image, image.flip(3)])).mean(0)
        best = PLANES[int(logits.argmax())]
        right.setdefault(record.plane, []).append(best == record.plane)
        if record.plane in HEAD_PLANES:
            right.setdefault("any head", []).append(best in HEAD_PLANES)
    model.train()
    return ", ".join(f"{plane} {np.mean(hits):.2f}" for plane, hits in sorted(right.items()))


DEFAULTS = Defaults(minutes=30, rate=1.5e-3, batch=24)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--phantom-share", type=float, default=0.1)


def prepare(options: Namespace) -> Training:
    records = hc18(options.data) + fetal_planes(options.data)
    records += midsagittal(options.data) + psfhs(options.data) + phantoms(*options.phantoms)
    held = [r for r in records if r.split == "validation" and r.dataset != "hc18"]
    sampler = Sampler(
        [r for r in records if r.split == "train"], options.phantom_share, options.seed
    )
    model, smooth = PlaneNetwork(len(PLANES)), PlaneNetwork(len(PLANES))
    if options.encoder:
        start_encoder(model, options.encoder)
    if options.resume:
        load_planes(model, options.resume, PLANES)

    def loss() -> torch.Tensor:
        return step_loss(model, *sampler.batch(options.batch), sampler.rng)

    def keep(weights: dict[str, torch.Tensor]) -> str:
        save_planes(weights, PLANES, options.out)
        smooth.load_state_dict(weights)
        return validate(smooth, held)

    return Training(model, loss, keep, weight_decay=2e-2, keep_every=500)
