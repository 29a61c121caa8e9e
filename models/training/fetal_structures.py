"""Trains maps of the fetal heart in the chest, or of brain structures in a crop of the head.

Phantoms (models/phantom/views: four-chamber; cerebellum, lateral-ventricle) have exact labels. Real
images are added in three ways: other planes, which do not show the structure; `labels`, a list of
positions on real images; and `read-share`, the share of heads that were read by eye
(head_readings.py).
"""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from augment import random_affine, random_look, warp
from datasets import fetal_planes, hc18, phantoms
from ellipse import Ellipse, ellipse_from_axes
from head_crop import crop_matrix, find_head
from head_readings import Reading, name_of, readings
from head_targets import regions
from loop import Defaults, Training, maps_training
from network import GeometryNetwork, start_geometry

# Width and height of the network's input.
SIZE = (128, 96)
AREAS = {"heart": ("thorax", "heart"), "brain": ("cerebellum", "ventricle")}
POINTS = {
    "heart": ("spine", "crux", "apex"),
    "brain": ("cerebellum-ends", "vermis", "occiput", "atrium-ends"),
}
CHANNELS = {task: AREAS[task] + POINTS[task] for task in AREAS}
POINT_SPREAD = 1.8
REAL_NEGATIVES = 0.1
PHANTOM_NEGATIVES = 0.1
# Probability that an image is rotated by any angle, because a fetus may face in any direction.
FREE_ROTATION = 0.5


@dataclass
class Frame:
    """One image. `areas` are ellipses or masks of the image's size; `points` (n, 2) are in image
    pixels. The loss includes only the channels in `judged`. The target of such a channel is empty
    if it has neither an area nor points.
    """

    gray: np.ndarray
    judged: tuple[str, ...]
    areas: dict[str, Ellipse | np.ndarray] = field(default_factory=dict)
    points: dict[str, np.ndarray] = field(default_factory=dict)
    head: Ellipse | None = None


def shrunk(frame: Frame) -> Frame:
    """Scales a frame to twice the network's size, so that warped samples are close to an area
    average.
    """
    height, width = frame.gray.shape
    scale = min(2 * SIZE[0] / width, 2 * SIZE[1] / height)
    if scale >= 1:
        return frame
    size = (round(scale * width), round(scale * height))
    matrix = np.array([[scale, 0, (scale - 1) / 2], [0, scale, (scale - 1) / 2]])
    for name, area in frame.areas.items():
        frame.areas[name] = (
            area.mapped(matrix)
            if isinstance(area, Ellipse)
            else cv2.resize(area, size, interpolation=cv2.INTER_AREA)
        )
    frame.points = {n: at @ matrix[:, :2].T + matrix[:, 2] for n, at in frame.points.items()}
    frame.gray = cv2.resize(frame.gray, size, interpolation=cv2.INTER_AREA)
    return frame


def points_of(label: dict, name: str) -> np.ndarray:
    return np.array([[p["x"], p["y"]] for p in label["points"][name]])


def phantom_frame(folder: Path, label: dict, task: str) -> Frame:
    gray = cv2.imread(str(folder / label["file"]), cv2.IMREAD_GRAYSCALE)
    frame = Frame(gray, CHANNELS[task])
    masks = {
        name: cv2.imread(str(folder / file), cv2.IMREAD_GRAYSCALE)
        for name, file in label["masks"].items()
    }
    if task == "heart":
        frame.areas = {
            "heart": masks["heart"],
            "thorax": np.maximum(masks["heart"], masks["thorax"]),
        }
        crux, apex = points_of(label, "septum")
        spine = points_of(label, "spineToSternum")[:1]
        frame.points = {"spine": spine, "crux": crux[None], "apex": apex[None]}
        return shrunk(frame)
    axes = label["head"]["ellipse"]
    centre = axes["centre"]
    frame.head = ellipse_from_axes(centre["x"], centre["y"], axes["a"], axes["b"], axes["angle"])
    frame.areas = {name: masks[name] for name in AREAS[task] if name in masks}
    if "cerebellum" in label["points"]:
        vermis, occiput = points_of(label, "cisternaMagna")
        ends = points_of(label, "cerebellum")
        frame.points = {"cerebellum-ends": ends, "vermis": vermis[None], "occiput": occiput[None]}
    else:
        frame.points = {"atrium-ends": points_of(label, "atrium")}
    return frame


def labelled_frame(data: Path, label: dict) -> Frame:
    """Reads a real image from --labels. The loss ignores structures missing from its entry."""
    gray = cv2.imread(str(data / label["image"]), cv2.IMREAD_GRAYSCALE)
    areas = {name: ellipse_from_axes(*axes) for name, axes in label.get("areas", {}).items()}
    points = {name: np.array(at, float) for name, at in label.get("points", {}).items()}
    head = ellipse_from_axes(*label["head"]) if "head" in label else None
    frame = Frame(gray, (*areas, *points, *label.get("absent", ())), areas, points, head)
    return frame if head is not None else shrunk(frame)


def read_frame(gray: np.ndarray, reading: Reading) -> Frame:
    """Makes a frame of a real head that was read by eye. The target of a structure that was not
    seen is empty. The loss ignores the ends of the atrium if the choroid plexus was seen but no
    atrium. It also ignores the ends of a cisterna, because their order is unknown."""
    seen = regions(reading)
    frame = Frame(gray, ("cerebellum", "ventricle", "cerebellum-ends"), head=reading.head)
    height, width = gray.shape
    for name in AREAS["brain"]:
        drawn = [e.mapped(reading.to_image).coverage(width, height) for e in seen.get(name, ())]
        if drawn:
            frame.areas[name] = (255 * np.max(drawn, axis=0)).astype(np.uint8)
    for name in ("cerebellum", "atrium"):
        if (ends := reading.ends(name)) is not None:
            frame.points[f"{name}-ends"] = ends @ reading.to_image[:, :2].T + reading.to_image[:, 2]
    if "atrium-ends" in frame.points or "ventricle" not in seen:
        frame.judged += ("atrium-ends",)
    if "cisterna-magna" not in seen:
        frame.judged += ("vermis", "occiput")
    return frame


def read_frames(data: Path) -> tuple[list[Frame], list[Frame], list[Frame]]:
    """Returns three lists of heads of the training split: those with a visible cerebellum, those
    with a visible atrium, and those with neither."""
    read = readings()
    records = [r for r in fetal_planes(data) + hc18(data) if r.split == "train"]
    frames = [read_frame(r.gray(), read[name_of(r)]) for r in records if name_of(r) in read]
    cerebella = [f for f in frames if "cerebellum-ends" in f.points]
    atria = [f for f in frames if "atrium-ends" in f.points]
    return cerebella, atria, [f for f in frames if not f.points]


# Channels whose structures are never visible on a real image of the plane.
ABSENT = {
    "transthalamic": CHANNELS["brain"][:1] + CHANNELS["brain"][2:5],
    "transventricular": CHANNELS["brain"][:1] + CHANNELS["brain"][2:5],
    "transcerebellar": ("ventricle", "atrium-ends"),
}


def negatives(data: Path, task: str, geometry: Path) -> list[Frame]:
    records = [r for r in fetal_planes(data) + hc18(data) if r.split == "train"]
    if task == "heart":
        shown = [r for r in records if r.plane != "thorax"]
        return [shrunk(Frame(r.gray(), CHANNELS[task])) for r in shown]
    network = GeometryNetwork()
    network.load_state_dict(torch.load(geometry))
    network.eval()
    frames = []
    for record in records:
        if record.plane not in ABSENT:
            continue
        head = find_head(network, record.gray())
        if head is not None:
            frames.append(Frame(record.gray(), ABSENT[record.plane], head=head))
    return frames


def view_of(frame: Frame, rng: np.random.Generator) -> np.ndarray:
    """Returns the 2x3 map from the image to the network's input."""
    if frame.head is None:
        height, width = frame.gray.shape
        matrix = random_affine(rng, width, height, FREE_ROTATION, 1.0, SIZE)
        if "heart" in frame.areas and rng.random() < 0.5:
            # Hearts are often imaged zoomed in until the chest no longer fits.
            zoom = rng.uniform(1, 2.2)
            middle = frame_centre(frame, matrix)
            matrix = np.concatenate(
                [zoom * matrix[:, :2], (zoom * matrix[:, 2] + middle - zoom * middle)[:, None]], 1
            )
        return matrix
    matrix = crop_matrix(
        frame.head,
        rng.normal(0, 0.1),
        np.exp(rng.normal(0, 0.08)),
        rng.normal(0, 0.05, 2),
        rng.choice([-1, 1], 2),
    )
    # The crop of head_crop.py has 224 x 192 pixels. It is scaled to the width of SIZE, and cut at
    # the top and bottom to its height.
    scale = SIZE[0] / 224
    matrix = scale * matrix
    matrix[:, 2] += (scale - 1) / 2
    matrix[1, 2] += (SIZE[1] - scale * 192) / 2
    return matrix


def frame_centre(frame: Frame, matrix: np.ndarray) -> np.ndarray:
    crux = frame.points["crux"][0] if "crux" in frame.points else frame.areas["heart"].centre
    return matrix[:, :2] @ crux + matrix[:, 2]


def draw_targets(frame: Frame, task: str, matrix: np.ndarray) -> np.ndarray:
    """Returns the target (channels, h, w) of one view of a frame."""
    width, height = SIZE
    target = np.zeros((len(CHANNELS[task]), height, width), np.float32)
    x = np.arange(width, dtype=np.float32)[None, :]
    y = np.arange(height, dtype=np.float32)[:, None]
    for channel, name in enumerate(CHANNELS[task]):
        area = frame.areas.get(name)
        if isinstance(area, Ellipse):
            target[channel] = area.mapped(matrix).coverage(width, height)
        elif area is not None:
            target[channel] = warp(area, matrix, SIZE) / 255
        for point in frame.points.get(name, ()):
            px, py = matrix[:, :2] @ point + matrix[:, 2]
            blob = np.exp(-((x - px) ** 2 + (y - py) ** 2) / (2 * POINT_SPREAD**2))
            target[channel] = np.maximum(target[channel], blob)
    return target


def loss_of(logits: torch.Tensor, target: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Returns the cross-entropy plus half the soft Dice loss of the areas. `weight` (n, channels)
    is 0 for the channels that are ignored in a view."""
    areas = 2
    emphasis = torch.ones_like(target)
    emphasis[:, areas:] += 60 * target[:, areas:]
    entropy = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    drawn, seen = target[:, :areas], torch.sigmoid(logits[:, :areas])
    overlap = (seen * drawn).sum((2, 3))
    dice = 1 - (2 * overlap + 20) / (seen.sum((2, 3)) + drawn.sum((2, 3)) + 20)
    dice = (dice * weight[:, :areas]).sum(1).mean()
    return ((entropy * emphasis).mean((2, 3)) * weight).sum(1).mean() + 0.5 * dice


class Sampler:
    """Samples frames and makes random views of them."""

    def __init__(self, task: str, pools: list[tuple[list[Frame], float]], seed: int):
        self.task = task
        self.pools = [frames for frames, share in pools if frames and share > 0]
        shares = np.array([share for frames, share in pools if frames and share > 0])
        self.shares = shares / shares.sum()
        self.rng = np.random.default_rng(seed)

    def view(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        pool = self.pools[self.rng.choice(len(self.pools), p=self.shares)]
        frame = pool[self.rng.integers(len(pool))]
        matrix = view_of(frame, self.rng)
        image = random_look(self.rng, warp(frame.gray, matrix, SIZE))
        judged = [name in frame.judged for name in CHANNELS[self.task]]
        return image, draw_targets(frame, self.task, matrix), np.array(judged, np.float32)

    def batch(self, size: int) -> list[torch.Tensor]:
        images, *rest = (np.stack(part) for part in zip(*(self.view() for _ in range(size))))
        return [torch.from_numpy(images)[:, None], *map(torch.from_numpy, rest)]


DEFAULTS = Defaults(minutes=12, rate=2e-3, batch=16)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--task", choices=list(CHANNELS), required=True)
    parser.add_argument(
        "--others",
        type=Path,
        nargs="*",
        default=[],
        help="phantoms that show none of the structures",
    )
    parser.add_argument("--labels", type=Path, help="positions on real images")
    parser.add_argument("--label-share", type=float, default=0.3)
    parser.add_argument("--read-share", type=float, default=0, help="of heads read by eye (brain)")


def prepare(options: Namespace) -> Training:
    if options.read_share and options.task != "brain":
        raise ValueError("only heads were read by eye")
    sampler = Sampler(options.task, pools_of(options), options.seed)
    model = GeometryNetwork(len(CHANNELS[options.task]))
    start_geometry(model, options.geometry)
    if options.resume:
        model.load_state_dict(torch.load(options.resume))
    return maps_training(model, lambda: sampler.batch(options.batch), loss_of, options.out)


def pools_of(options: Namespace) -> list[tuple[list[Frame], float]]:
    """Returns the frames of each kind, with the share of the training views made from them."""
    shown = [
        phantom_frame(folder, label, options.task)
        for folder in options.phantoms
        for label in json.loads((folder / "labels.json").read_text())
    ]
    read = read_frames(options.data) if options.read_share else ()
    # Images of planes without the structures are used only if no heads were read by eye, because
    # such heads are more informative.
    real = [] if read else negatives(options.data, options.task, options.geometry)
    labels = json.loads(options.labels.read_text()) if options.labels else []
    labelled = [labelled_frame(options.data, label) for label in labels]
    others = [shrunk(Frame(r.gray(), CHANNELS[options.task])) for r in phantoms(*options.others)]
    share = options.label_share if labelled else 0
    other_share = PHANTOM_NEGATIVES if others else 0
    real_share = REAL_NEGATIVES if real else 0
    return [
        (shown, 1 - real_share - share - other_share - options.read_share),
        (real, real_share),
        *((frames, options.read_share / len(read)) for frames in read),
        (labelled, share),
        (others, other_share),
    ]
