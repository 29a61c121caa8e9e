"""Trains the classifier of the axial plane together with maps of the structures that define the
plane.

There are few labelled heads, and a plane is defined by its structures. The network therefore also
learns to find the structures, on the labelled heads and on those of HC18. The structures were
located by eye (head_readings.py).

Each network is trained without a different fifth of the pregnancies. The temperature and the weight
of each network are chosen from its outputs on its held-out fifth. Up to version 1.4.0, four of the
networks were part of the model; since 2.0.0 they are teachers (head_distillation.py).
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from augment import random_look
from datasets import HEAD_PLANES, Record, fetal_planes, hc18, phantoms
from head_crop import warp_crop
from head_planes import (
    FOLDS,
    MIXED_BATCHES,
    MIXING,
    SMOOTHING,
    in_fold,
    keeper,
    random_view,
)
from head_readings import Reading, name_of, readings
from head_targets import draw_structures
from loop import Defaults, Training
from network import STRUCTURES, HeadStructureNetwork, load_planes

# Share of the views that show a head of HC18. The structures of these heads were located by eye,
# but their planes are not labelled.
UNNAMED_SHARE = 0.3
# Weight of a structure's pixels relative to the background. It is higher because a structure covers
# little of a head.
EMPHASIS = {
    "csp": 6,
    "thalami": 3,
    "cerebellum": 4,
    "cisterna-magna": 6,
    "ventricle": 4,
    "front": 1,
}


class Sampler:
    """Samples random views of labelled heads (the three planes equally often) and of heads without
    a label.
    """

    def __init__(
        self,
        records: list[Record],
        unnamed: list[Record],
        read: dict[str, Reading],
        phantom_share: float,
        seed: int,
    ):
        self.rng = np.random.default_rng(seed)
        self.unnamed = unnamed
        self.read = read
        self.phantom_share = phantom_share if any(r.dataset == "phantom" for r in records) else 0
        self.pools = {
            (plane, kind): [
                r for r in records if r.plane == plane and (r.dataset == "phantom") == kind
            ]
            for plane in HEAD_PLANES
            for kind in (False, True)
        }

    def view(self) -> tuple[np.ndarray, ...]:
        """Returns a random view with its targets: the share of each plane (all 0 without a label),
        the structure maps, and for each map whether it counts in the loss.
        """
        rng = self.rng
        planes = np.zeros(len(HEAD_PLANES), np.float32)
        if rng.random() < UNNAMED_SHARE:
            pool = self.unnamed
        else:
            plane = int(rng.integers(len(HEAD_PLANES)))
            pool = self.pools[HEAD_PLANES[plane], bool(rng.random() < self.phantom_share)]
            planes[plane] = 1
        record = pool[rng.integers(len(pool))]
        matrix = random_view(rng, record.ellipse)
        reading = self.read.get(name_of(record))
        from_level = compose(matrix, reading.to_image) if reading else matrix
        structures, judged = draw_structures(reading, from_level)
        return random_look(rng, warp_crop(record.gray(), matrix)), planes, structures, judged

    def batch(self, size: int) -> list[torch.Tensor]:
        images, *rest = (np.stack(part) for part in zip(*(self.view() for _ in range(size))))
        return [torch.from_numpy(images)[:, None], *map(torch.from_numpy, rest)]


def compose(last: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Returns the 2x3 affine matrix that applies `first`, then `last`."""
    linear, shift = last[:, :2] @ first[:, :2], last[:, :2] @ first[:, 2] + last[:, 2]
    return np.concatenate([linear, shift[:, None]], 1)


def with_heads(records: list[Record], read: dict[str, Reading]) -> list[Record]:
    """Returns the phantoms, and the real heads whose structures were located by eye. Each of these
    heads gets the ellipse to which the positions in its reading refer.
    """
    known = [r for r in records if r.dataset == "phantom" or name_of(r) in read]
    for record in known:
        if record.dataset != "phantom":
            record.ellipse = read[name_of(record)].head
    return known


def structure_loss(maps: torch.Tensor, drawn: torch.Tensor, judged: torch.Tensor) -> torch.Tensor:
    """Returns the cross-entropy of the maps (n, structures, rows, columns), with a larger weight on
    small structures. `judged` (n, structures) is 0 if it is not known whether the structure is
    present."""
    emphasis = torch.tensor([EMPHASIS[name] for name in STRUCTURES])[None, :, None, None]
    missed = F.binary_cross_entropy_with_logits(maps, drawn, reduction="none")
    missed = (missed * (1 + (emphasis - 1) * drawn)).mean((2, 3))
    return (missed * judged).sum(1).mean()


def start_from(model: HeadStructureNetwork, geometry: Path) -> None:
    """Loads the encoder and the deep half of the decoder from a geometry network, which was trained
    on real screens.
    """
    own = model.state_dict()
    for name, value in torch.load(geometry).items():
        own_name = name.replace("narrow.", "lift.") if name.startswith("narrow.") else name
        if own_name.startswith(("encoder.", "lift.", "decoder.")) and own_name in own:
            own[own_name] = value
    model.load_state_dict(own)


DEFAULTS = Defaults(minutes=30, rate=1.2e-3, batch=32)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--phantom-share", type=float, default=0.08)
    parser.add_argument(
        "--fold", type=int, choices=range(FOLDS), help="fold held out; absent: none"
    )


def prepare(options: Namespace) -> Training:
    read = readings()
    records = fetal_planes(options.data) + phantoms(*options.phantoms)
    records = [r for r in records if r.plane in HEAD_PLANES and r.split != "test"]
    records = with_heads(records, read)
    held = [r for r in records if r.dataset != "phantom" and in_fold(r, options.fold)]
    sampler = Sampler(
        [r for r in records if r.dataset == "phantom" or not in_fold(r, options.fold)],
        with_heads([r for r in hc18(options.data) if r.split != "test"], read),
        read,
        options.phantom_share,
        options.seed,
    )
    model = HeadStructureNetwork(len(HEAD_PLANES))
    start_from(model, options.geometry)
    if options.resume:
        load_planes(model, options.resume, HEAD_PLANES)

    def loss() -> torch.Tensor:
        images, planes, structures, judged = sampler.batch(options.batch)
        share = (
            float(sampler.rng.beta(MIXING, MIXING)) if sampler.rng.random() < MIXED_BATCHES else 1.0
        )
        other = torch.roll(torch.arange(len(images)), 1)

        def mixed(x: torch.Tensor) -> torch.Tensor:
            return share * x + (1 - share) * x[other]

        logits, seen = model.look(mixed(images))
        target = mixed(planes)
        target = (1 - SMOOTHING) * target + SMOOTHING * target.mean(1, keepdim=True)
        named = -(target * F.log_softmax(logits, 1)).sum() / (len(images) * (1 - UNNAMED_SHARE))
        both_judged = judged * judged[other] if share < 1 else judged
        return named + structure_loss(seen, mixed(structures), both_judged)

    keep = keeper(HeadStructureNetwork(len(HEAD_PLANES)), held, options.out)
    return Training(model, loss, keep, weight_decay=5e-2)
