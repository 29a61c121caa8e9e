"""Trains the last layers of the plane classifier with images that show no plane. The encoder is
frozen: its output is calculated once per image, and only the layers after it learn. This takes a
few minutes on one core, so many more kinds of such images can be used.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn

from augment import random_affine, random_look, warp
from datasets import HEAD_PLANES, PLANES, Record, fetal_planes, hc18, midsagittal, phantoms, psfhs
from letterbox import letterbox
from loop import Defaults, Training
from negatives import deformed, rubbish, shuffled, without_regions
from network import PlaneNetwork, load_planes, save_planes
from planes import MIXED_BATCHES, MIXING, fragment_view, loss_of, source_of

# Share of each kind of image in a batch.
SHARE = {
    "some head": 0.10,
    "transthalamic": 0.10,
    "transventricular": 0.05,
    "transcerebellar": 0.05,
    "abdominal": 0.13,
    "femur": 0.17,
    "thorax": 0.12,
    "midsagittal": 0.04,
    "transperineal": 0.04,
    "phantom": 0.08,
    # Images without a plane: a fetus whose measured structure was smoothed away, or whose image was
    # bent, cut to a fragment or shuffled; an adult heart.
    "erased": 0.08,
    "deformed": 0.05,
    "rubbish": 0.03,
    "fragment": 0.02,
    "shuffled": 0.01,
    "adult heart": 0.02,
}
VIEWS = 3
RUBBISH = 260
# Maximum number of images shown from these large sets.
MOST_TRANSPERINEAL, MOST_MIDSAGITTAL = 260, 330
# Clips of an adult heart (G. Kenefati, MIT licence); the other two in the set are for evaluation.
# The header rows are cut off, and every third frame is used.
HEART_CLIPS = ("Apical4chVolunteer.mov", "SA_MitralVolunteer.mov")
HEADER_ROWS = 40
# Relative learning rate of existing layers; new layers learn faster.
SLOWER = 0.2

Shown = tuple[np.ndarray, tuple[str, ...], str]


def view(rng: np.random.Generator, gray: np.ndarray, upright: bool = False) -> np.ndarray:
    height, width = gray.shape
    matrix = random_affine(rng, width, height, 0 if upright else 0.08, 0.8, upright=upright)
    return random_look(rng, warp(gray, matrix))


def erased(rng: np.random.Generator, record: Record) -> np.ndarray:
    """Smooths away the head, abdomen or femur."""
    gray = record.gray()
    region = np.zeros(gray.shape, np.uint8)
    if record.ellipse is not None:
        inside = record.ellipse.mapped(np.eye(3)[:2]).coverage(gray.shape[1], gray.shape[0])
        region = cv2.dilate((inside > 0.5).astype(np.uint8), np.ones((15, 15), np.uint8))
    else:
        cv2.line(region, *[tuple(map(int, end)) for end in record.ends], 1, 28)
    return without_regions(rng, gray, region)


def of_plane(rng: np.random.Generator, record: Record):
    """Yields views of an image labelled with its plane, and sometimes one altered so that it shows
    no plane.
    """
    names = HEAD_PLANES if record.dataset == "hc18" else (record.plane,)
    source = source_of(record)
    gray = record.gray()
    yield letterbox(gray), names, source
    for _ in range(1 if record.dataset == "hc18" else VIEWS):
        yield view(rng, gray), names, source
    chance = rng.random()
    if record.task and chance < 0.5:
        yield random_look(rng, letterbox(erased(rng, record)) * 255), ("other",), "erased"
    elif chance < 0.62:
        yield view(rng, deformed(rng, gray)), ("other",), "deformed"
    elif chance < 0.72:
        matrix = fragment_view(rng, gray.shape[1], gray.shape[0])
        yield random_look(rng, warp(gray, matrix)), ("other",), "fragment"
    elif chance < 0.78:
        matrix = random_affine(rng, gray.shape[1], gray.shape[0], 0.08, 0.8)
        yield random_look(rng, shuffled(rng, warp(gray, matrix))), ("other",), "shuffled"


def of_other_sets(rng: np.random.Generator, records: list[Record]):
    for record in records:
        upright = record.plane == "transperineal"
        yield letterbox(record.gray()), (record.plane,), record.plane
        yield view(rng, record.gray(), upright), (record.plane,), record.plane
        if record.mask and rng.random() < 0.4:
            mask = cv2.imread(str(record.mask), cv2.IMREAD_GRAYSCALE)
            image = letterbox(without_regions(rng, record.gray(), mask))
            yield random_look(rng, image * 255), ("other",), "erased"


def fan(gray: np.ndarray) -> np.ndarray:
    """Returns the largest lit part of a screen."""
    square = np.ones((9, 9), np.uint8)
    lit = cv2.dilate(cv2.morphologyEx((gray > 12).astype(np.uint8), cv2.MORPH_OPEN, square), square)
    _, _, parts, _ = cv2.connectedComponentsWithStats(lit)
    x, y, width, height = parts[1 + np.argmax(parts[1:, 4]), :4]
    return gray[y : y + height, x : x + width]


def of_hearts(rng: np.random.Generator, folder: Path):
    for clip in HEART_CLIPS:
        video = cv2.VideoCapture(str(folder / clip))
        number = 0
        while (read := video.read())[0]:
            number += 1
            if number % 3 == 0:
                gray = cv2.cvtColor(read[1], cv2.COLOR_BGR2GRAY)[HEADER_ROWS:]
                for image in (fan(gray), gray):
                    yield view(rng, image), ("other",), "adult heart"


def shown(rng: np.random.Generator, data: Path, folders: list[Path]):
    """Yields all images that are shown, one after the other."""
    for record in hc18(data) + fetal_planes(data):
        if record.split == "train" and record.plane != "other":
            yield from of_plane(rng, record)
            record.pixels = None
    for records, most in ((psfhs(data), MOST_TRANSPERINEAL), (midsagittal(data), MOST_MIDSAGITTAL)):
        rng.shuffle(records)
        yield from of_other_sets(rng, [r for r in records[:most] if r.split == "train"])
    for _ in range(RUBBISH):
        yield random_look(rng, rubbish(rng)), ("other",), "rubbish"
    for record in phantoms(*folders):
        yield view(rng, record.gray(), record.plane == "transperineal"), (record.plane,), "phantom"
    yield from of_hearts(rng, data / "echo-clips")


@torch.no_grad()
def features(model: PlaneNetwork, images: list[np.ndarray]) -> torch.Tensor:
    return model.pooled(torch.from_numpy(np.stack(images))[:, None])


class LastLayers(nn.Module):
    """The layers of a PlaneNetwork that are trained here, under the same names."""

    def __init__(self, model: PlaneNetwork):
        super().__init__()
        self.head, self.hidden, self.beside = model.head, model.hidden, model.beside


DEFAULTS = Defaults(minutes=5, rate=1e-3, batch=128)


def add_arguments(parser: ArgumentParser) -> None:
    del parser


def prepare(options: Namespace) -> Training:
    rng = np.random.default_rng(options.seed)
    model = PlaneNetwork(len(PLANES))
    load_planes(model, options.resume, PLANES)
    model.eval()
    rows: list[torch.Tensor] = []
    allowed: list[np.ndarray] = []
    sources: list[str] = []
    waiting: list[np.ndarray] = []
    for image, names, source in shown(rng, options.data, options.phantoms):
        waiting.append(image.astype(np.float32))
        allowed.append(np.isin(PLANES, names).astype(np.float32))
        sources.append(source)
        if len(waiting) == 16:
            rows.append(features(model, waiting))
            waiting = []
    if waiting:
        rows.append(features(model, waiting))
    known, targets = torch.cat(rows), torch.from_numpy(np.stack(allowed))
    names, index, counts = np.unique(sources, return_inverse=True, return_counts=True)
    weights = torch.tensor((np.array([SHARE[n] for n in names]) / counts)[index])
    # The features differ in scale, so a branch that is still untrained is initialised to let each
    # contribute equally.
    if not model.beside.weight.any():
        with torch.no_grad():
            spread = known.std(0) + 1e-6
            model.hidden.weight.copy_(
                torch.randn_like(model.hidden.weight) / len(spread) ** 0.5 / spread
            )
            model.hidden.bias.copy_(-(model.hidden.weight @ known.mean(0)))
    layers = LastLayers(model)
    for layer in (model.head,):
        for parameter in layer.parameters():
            parameter.register_hook(lambda gradient: SLOWER * gradient)
    model.dropout.train()

    def loss() -> torch.Tensor:
        chosen = torch.multinomial(weights, options.batch, replacement=True)
        images, wanted = known[chosen], targets[chosen]
        share = float(rng.beta(MIXING, MIXING)) if rng.random() < MIXED_BATCHES else 1.0
        logits = model.answer(share * images + (1 - share) * images.roll(1, 0))
        mixed = share * loss_of(logits, wanted) + (1 - share) * loss_of(logits, wanted.roll(1, 0))
        return mixed.mean()

    def keep(last: dict[str, torch.Tensor]) -> str:
        save_planes({**model.state_dict(), **last}, PLANES, options.out)
        return ""

    return Training(layers, loss, keep, weight_decay=2e-2, keep_every=500)
