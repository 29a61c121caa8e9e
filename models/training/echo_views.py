"""Trains the view classifier of the adult heart. Phantoms show the views; fetal images, fetal
phantoms and pictures that show nothing are `other`. `clips` adds four clips of a volunteer
(echo-clips, MIT); `camus` adds real apical four-chamber frames (research pack). The right heart is
removed from some of the real four-chamber frames, which then serve as two-chamber views. Otherwise
the network would learn that the texture of a real heart means A4C.
"""

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from augment import random_look, warp
from datasets import fetal_planes, hc18, midsagittal, psfhs
from echo_augment import random_placement
from echo_datasets import HeartPair, camus, gray, held_out, phantom_labels, within_sector
from echo_looks import long_axis, real_screen, without_right_heart
from echo_network import ViewNetwork
from letterbox import letterbox
from loop import Defaults, Training, autocast
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
# Share of mirrored images. A mirrored display shows the same view.
MIRRORED = 0.2


# Clips of the volunteer with their views. The four-chamber clip also has the ends of its long axis
# in the fan.
CLIPS = {
    "Apical4chVolunteer.mov": "A4C",
    "SA_MitralVolunteer.mov": "PSAX-MV",
    "SA_PapilaryVolunteer.mov": "PSAX-PM",
    "SA_ApexVolunteer.mov": "PSAX-AP",
}
CLIP_AXIS = (np.array([195.0, 30.0]), np.array([270.0, 262.0]))
# Height of the title above the picture, in rows.
TITLE_ROWS = 48
# Share of real images in views for which there are any.
REAL_SHARE = 0.5
# The four-chamber view is the most common in practice and is shown four times as often as any
# other.
FURTHER_FOUR_CHAMBER = 3


@dataclass(frozen=True)
class RealViews:
    """Real images of each view, cropped to their fan; `axes` are the long axes of four-chamber
    images."""

    images: dict[str, list[np.ndarray]]
    axes: list[tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]]

    def draw(self, rng: np.random.Generator, view: str) -> np.ndarray | None:
        """Returns a real image of the view, or None if there is none."""
        if view == "A2C" and self.axes:
            image, axis = self.axes[rng.integers(len(self.axes))]
            return without_right_heart(rng, image, *axis)
        own = self.images.get(view)
        return own[rng.integers(len(own))] if own else None


def volunteer(data: Path) -> RealViews:
    """Returns the frames of echo-clips with the title blacked out."""
    found = RealViews({}, [])
    for name, view in CLIPS.items():
        clip = cv2.VideoCapture(str(data / "echo-clips" / name))
        frames = []
        while (read := clip.read())[0]:
            frame = cv2.cvtColor(read[1], cv2.COLOR_BGR2GRAY)
            frame[:TITLE_ROWS] = 0
            frames.append(frame)
        fan = sector_of(np.maximum.reduce(frames))
        found.images[view] = [frame[fan] for frame in frames]
    found.axes.extend((image, CLIP_AXIS) for image in found.images["A4C"][::6])
    return found


def add_camus(real: RealViews, pairs: list[HeartPair]) -> None:
    for pair in pairs:
        for frame in within_sector([pair.ed]) + within_sector([pair.es]):
            real.images.setdefault("A4C", []).append(frame.image)
            axis = long_axis(frame.mask)
            if axis:
                real.axes.append((frame.image, axis))


def phantom_views(*folders: Path) -> dict[str, list[np.ndarray]]:
    """Returns the images cropped to their fan, by view."""
    images: dict[str, list[np.ndarray]] = {}
    for one in phantom_labels(*folders):
        image = gray(one["folder"] / one["file"])
        images.setdefault(one["view"], []).append(image[sector_of(image)])
    return images


def other_images(data: Path, fetal: list[Path], split: str) -> list[np.ndarray]:
    """Returns real fetal images of the split and fetal phantoms, cropped to their fan."""
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
    """Rotates a heart upside down or sideways, or crops it to a small part, because the texture of
    a heart alone must not indicate a view.
    """
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
    real: RealViews,
    count: int,
    rng: np.random.Generator,
):
    names = [name for name in VIEWS if name in views] + ["A4C"] * FURTHER_FOUR_CHAMBER
    images, labels = [], []
    for _ in range(count):
        if rng.random() < OTHER_SHARE:
            labels.append(VIEWS.index("other"))
            kind = rng.random()
            if kind < 0.25:
                name = "A4C" if rng.random() < 0.5 else names[rng.integers(len(names))]
                anything = views[name]
                heart = real.draw(rng, name) if rng.random() < REAL_SHARE else None
                if heart is None:
                    heart = anything[rng.integers(len(anything))]
                images.append(view_of(rng, real_screen(rng, nowhere(rng, heart), others)))
            elif kind < 0.5:
                nothing = cv2.resize(rubbish(rng), SIZE)
                images.append(random_look(rng, nothing))
            else:
                other = others[rng.integers(len(others))]
                images.append(view_of(rng, real_screen(rng, other, others)))
        else:
            name = names[rng.integers(len(names))]
            labels.append(VIEWS.index(name))
            heart = real.draw(rng, name) if rng.random() < REAL_SHARE else None
            if heart is None:
                heart = views[name][rng.integers(len(views[name]))]
            images.append(view_of(rng, real_screen(rng, heart, others)))
    return torch.from_numpy(np.stack(images))[:, None], torch.tensor(labels)


@torch.no_grad()
def shares_of(model: ViewNetwork, images: list[np.ndarray]) -> np.ndarray:
    """Returns the softmax for each image (n, views)."""
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
    parser.add_argument("--clips", action="store_true", help="the volunteer of echo-clips")
    parser.add_argument("--fetal-phantoms", type=Path, nargs="*", default=[])
    parser.add_argument("--held", type=Path, help="phantoms to choose by")


def prepare(options: Namespace) -> Training:
    rng = np.random.default_rng(options.seed)
    views = phantom_views(*options.phantoms)
    seen, held = held_out(camus(options.data, "train"))
    real = volunteer(options.data) if options.clips else RealViews({}, [])
    if options.camus:
        # CAMUS has far more frames than the volunteer's four-chamber clip, so that clip is then
        # rarely shown.
        add_camus(real, seen)
    others = other_images(options.data, options.fetal_phantoms, "train")
    judged = phantom_views(options.held) if options.held else {}
    judged["other"] = other_images(options.data, [], "validation")[::4]
    real_apical = [frame.image for pair in held for frame in (pair.ed, pair.es)]
    model, smooth = ViewNetwork(len(VIEWS)), ViewNetwork(len(VIEWS))
    if options.resume:
        model.load_state_dict(torch.load(options.resume))

    def loss_of_batch() -> torch.Tensor:
        images, labels = batch(views, others, real, options.batch, rng)
        with autocast():
            logits = model(images)
        return F.cross_entropy(logits.float(), labels, label_smoothing=0.05)

    def keep(weights: dict[str, torch.Tensor]) -> str:
        torch.save(weights, options.out)
        smooth.load_state_dict(weights)
        found = [recall(smooth, images[:80], name) for name, images in judged.items()]
        return "; ".join([*found, f"CAMUS {recall(smooth, real_apical, 'A4C')}"])

    return Training(model, loss_of_batch, keep, weight_decay=1e-2, keep_every=300)
