"""The view of an adult heart. Phantoms show the views; fetal images, fetal phantoms and pictures of
nothing are `other`. With `camus` (research pack) real apical four-chamber frames join."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from augment import random_look, warp
from datasets import fetal_planes, hc18, midsagittal, psfhs
from echo_augment import random_placement
from echo_datasets import camus, gray, held_out, phantom_labels
from echo_network import ViewNetwork
from letterbox import letterbox
from loop import Defaults, Training
from negatives import rubbish
from sector import sector_of

VIEWS = (
    "PLAX",
    "PSAX-AV",
    "PSAX-MV",
    "PSAX-PM",
    "PSAX-AP",
    "A4C",
    "A2C",
    "A3C",
    "A5C",
    "SUBCOSTAL-4C",
    "SUBCOSTAL-IVC",
    "SUPRASTERNAL",
    "other",
)
SIZE = (192, 192)
OTHER_SHARE = 0.2
# A mirrored display shows the same view.
MIRRORED = 0.2


def phantom_views(*folders: Path) -> dict[str, list[np.ndarray]]:
    """Images cut to their fan, by view."""
    images: dict[str, list[np.ndarray]] = {}
    for one in phantom_labels(*folders):
        image = gray(one["folder"] / one["file"])
        images.setdefault(one["view"], []).append(image[sector_of(image)])
    return images


def other_images(data: Path, fetal: list[Path], split: str) -> list[np.ndarray]:
    """Real fetal images of the split and fetal phantoms, cut to their fan."""
    records = fetal_planes(data) + psfhs(data) + midsagittal(data) + hc18(data)
    images = [r.gray() for r in records if r.split == split]
    files = [path for folder in fetal for path in sorted(folder.glob("*.png"))]
    images += [gray(path) for path in files if not path.name.endswith(".mask.png")]
    return [image[sector_of(image)] for image in images]


def view_of(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    matrix = random_placement(rng, image.shape[1], image.shape[0], SIZE)
    look = random_look(rng, warp(image, matrix, SIZE))
    return look[:, ::-1].copy() if rng.random() < MIRRORED else look


def nowhere(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    """A heart turned upside down or aside, or a small part of one: its texture names no view."""
    height, width = image.shape
    if rng.random() < 0.6:
        turned = np.rot90(image, rng.integers(1, 4))
        return np.ascontiguousarray(turned)
    h, w = int(height * rng.uniform(0.25, 0.45)), int(width * rng.uniform(0.25, 0.45))
    top, left = rng.integers(0, height - h), rng.integers(0, width - w)
    return np.ascontiguousarray(image[top : top + h, left : left + w])


def batch(
    views: dict[str, list[np.ndarray]],
    others: list[np.ndarray],
    count: int,
    rng: np.random.Generator,
):
    names = [name for name in VIEWS if name in views]
    images, labels = [], []
    for _ in range(count):
        if rng.random() < OTHER_SHARE:
            labels.append(VIEWS.index("other"))
            kind = rng.random()
            if kind < 0.25:
                name = "A4C" if rng.random() < 0.5 else names[rng.integers(len(names))]
                anything = views[name]
                part = nowhere(rng, anything[rng.integers(len(anything))])
                images.append(view_of(rng, part))
            elif kind < 0.5:
                nothing = cv2.resize(rubbish(rng), SIZE)
                images.append(random_look(rng, nothing))
            else:
                images.append(view_of(rng, others[rng.integers(len(others))]))
        else:
            name = names[rng.integers(len(names))]
            labels.append(VIEWS.index(name))
            images.append(view_of(rng, views[name][rng.integers(len(views[name]))]))
    return torch.from_numpy(np.stack(images))[:, None], torch.tensor(labels)


@torch.no_grad()
def shares_of(model: ViewNetwork, images: list[np.ndarray]) -> np.ndarray:
    """Softmax of each image (n, views)."""
    model.eval()
    views = torch.from_numpy(np.stack([letterbox(image, SIZE) for image in images]))[:, None]
    shares = torch.cat([model(part).softmax(1) for part in views.split(16)]).numpy()
    model.train()
    return shares


def recall(model: ViewNetwork, images: list[np.ndarray], view: str) -> str:
    found = shares_of(model, images).argmax(1)
    names, counts = np.unique([VIEWS[one] for one in found], return_counts=True)
    confused = ", ".join(f"{name} {count}" for name, count in zip(names, counts) if name != view)
    return f"{view} {np.mean(found == VIEWS.index(view)):.2f} ({confused})"


DEFAULTS = Defaults(minutes=15, rate=1.5e-3, batch=16)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--camus", action="store_true", help="research pack: CC BY-NC-SA images")
    parser.add_argument("--fetal-phantoms", type=Path, nargs="*", default=[])
    parser.add_argument("--held", type=Path, help="phantoms to choose by")


def prepare(options: Namespace) -> Training:
    rng = np.random.default_rng(options.seed)
    views = phantom_views(*options.phantoms)
    seen, held = held_out(camus(options.data, "train"))
    if options.camus:
        # As often as the phantoms: each frame is repeated as many times as that takes.
        real = [frame.image for pair in seen for frame in (pair.ed, pair.es)]
        views["A4C"] = views["A4C"] + real * (len(views["A4C"]) // len(real) + 1)
    others = other_images(options.data, options.fetal_phantoms, "train")
    judged = phantom_views(options.held) if options.held else {}
    judged["other"] = other_images(options.data, [], "validation")[::4]
    real_apical = [frame.image for pair in held for frame in (pair.ed, pair.es)]
    model, smooth = ViewNetwork(len(VIEWS)), ViewNetwork(len(VIEWS))
    if options.resume:
        model.load_state_dict(torch.load(options.resume))

    def loss_of_batch() -> torch.Tensor:
        images, labels = batch(views, others, options.batch, rng)
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(images)
        return F.cross_entropy(logits.float(), labels, label_smoothing=0.05)

    def keep(weights: dict[str, torch.Tensor]) -> str:
        torch.save(weights, options.out)
        smooth.load_state_dict(weights)
        found = [recall(smooth, images[:80], name) for name, images in judged.items()]
        return "; ".join([*found, f"CAMUS {recall(smooth, real_apical, 'A4C')}"])

    return Training(model, loss_of_batch, keep, weight_decay=1e-2, keep_every=300)
