"""Trains one network for the axial head planes on the outputs of several (Hinton 2015, "Distilling
the Knowledge").

The student is a HeadStructureNetwork that starts from one of its teachers. On a labelled head its
target lies between the label and the teachers' output; on a head without a plane label (HC18, and
brain images labelled `other`) it is the teachers' output alone. Structures that were read by eye
are taught as in head_structures.py, together with the teachers' certainty that each structure is in
view.

A fold's student must not learn that fold's labels from its teacher: its only teacher, from which it
also starts, is the structure network trained without that fold.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from augment import random_look
from datasets import HEAD_PLANES, Record, fetal_planes, hc18, phantoms
from head_crop import crop_matrix, warp_crop
from head_planes import (
    FOLDS,
    MIXED_BATCHES,
    MIXING,
    SMOOTHING,
    in_fold,
    keeper,
    random_view,
    with_heads,
)
from head_readings import Reading, name_of, readings
from head_structures import compose, structure_loss
from head_targets import draw_structures
from loop import Defaults, Training, autocast
from network import (
    ANSWERED,
    STRUCTURE_WEIGHT,
    STRUCTURES,
    HeadPlaneNetwork,
    HeadStructureNetwork,
    load_planes,
)

# Share of views that show a phantom.
PHANTOM_SHARE = 0.04
# Number of random views of a head over which the teachers' outputs are averaged, in addition to the
# levelled crop and its mirror image.
RANDOM_VIEWS = 4
# Weight of the loss on the probability that a structure is in view.
SEEN_WEIGHT = 0.15

DEFAULTS = Defaults(minutes=30, rate=6e-4, batch=32)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--start", type=Path, required=True, help="network that the student starts from"
    )
    parser.add_argument("--plane-teachers", type=Path, nargs="*", default=[])
    parser.add_argument("--structure-teachers", type=Path, nargs="+", required=True)
    parser.add_argument(
        "--structure-weight",
        type=float,
        default=STRUCTURE_WEIGHT,
        help="of these beside the plane teachers",
    )
    parser.add_argument(
        "--unnamed-share", type=float, default=0.35, help="of views of heads without a plane label"
    )
    parser.add_argument(
        "--trust", type=float, default=0.5, help="share of the teachers in a labelled head's target"
    )
    parser.add_argument(
        "--fold", type=int, choices=range(FOLDS), help="fold held out; absent: none"
    )


def load(file: Path, kind: type[HeadPlaneNetwork]) -> HeadPlaneNetwork:
    network = kind(len(HEAD_PLANES))
    load_planes(network, file, HEAD_PLANES)
    return network.eval()


@torch.no_grad()
def answer(records: list[Record], options: Namespace) -> None:
    """Sets each record's `answer` (probability of each plane) and `seen` (probability that each
    structure in ANSWERED is in view), from the teachers' mean output over the levelled crop, its
    mirror image and a few random views.
    """
    rng = np.random.default_rng(5)
    plane_teachers = [load(file, HeadPlaneNetwork) for file in options.plane_teachers]
    structure_teachers = [load(file, HeadStructureNetwork) for file in options.structure_teachers]
    answered = [STRUCTURES.index(name) for name in ANSWERED]
    for record in records:
        matrices = [crop_matrix(record.ellipse, flips=(side, 1)) for side in (1, -1)]
        matrices += [random_view(rng, record.ellipse) for _ in range(RANDOM_VIEWS)]
        views = np.stack([warp_crop(record.gray(), matrix) / 255 for matrix in matrices])
        images = torch.from_numpy(views)[:, None]
        looks = [teacher.look(images) for teacher in structure_teachers]
        logits = torch.stack([planes for planes, _ in looks]).mean((0, 1))
        if plane_teachers:
            others = torch.stack([teacher(images) for teacher in plane_teachers]).mean((0, 1))
            logits = torch.lerp(others, logits, options.structure_weight)
        seen = torch.stack([maps.amax((2, 3)) for _, maps in looks]).mean((0, 1))
        record.answer = logits.softmax(0).numpy()
        record.seen = torch.sigmoid(seen)[answered].numpy()


class Sampler:
    """Samples random views of labelled heads (the three planes equally often), of phantoms and of
    other heads.
    """

    def __init__(
        self,
        named: list[Record],
        unnamed: list[Record],
        simulated: list[Record],
        read: dict[str, Reading],
        options: Namespace,
    ):
        self.rng = np.random.default_rng(options.seed)
        self.unnamed_share = options.unnamed_share
        self.trust = options.trust
        self.unnamed = unnamed
        self.named = {plane: [r for r in named if r.plane == plane] for plane in HEAD_PLANES}
        self.simulated = {
            plane: [r for r in simulated if r.plane == plane] for plane in HEAD_PLANES
        }
        self.read = read

    def drawn(self) -> tuple[Record, np.ndarray]:
        """Samples a record and its target: the probabilities of the planes."""
        rng = self.rng
        kind = rng.random()
        if kind < self.unnamed_share:
            record = self.unnamed[rng.integers(len(self.unnamed))]
            return record, record.answer
        plane = int(rng.integers(len(HEAD_PLANES)))
        label = np.full(len(HEAD_PLANES), SMOOTHING / len(HEAD_PLANES), np.float32)
        label[plane] += 1 - SMOOTHING
        if kind < self.unnamed_share + PHANTOM_SHARE:
            pool = self.simulated[HEAD_PLANES[plane]]
            return pool[rng.integers(len(pool))], label
        pool = self.named[HEAD_PLANES[plane]]
        record = pool[rng.integers(len(pool))]
        return record, (1 - self.trust) * label + self.trust * record.answer

    def view(self) -> tuple[np.ndarray, ...]:
        """Samples an image with its plane probabilities, its structure maps, which of these maps
        count in the loss, the probability that each structure is in view, and whether that
        probability counts.
        """
        record, planes = self.drawn()
        real = record.dataset != "phantom"
        reading = self.read.get(name_of(record)) if real else None
        matrix = random_view(self.rng, record.ellipse)
        from_level = compose(matrix, reading.to_image) if reading else matrix
        maps, judged = draw_structures(reading, from_level)
        seen = record.seen if real else np.zeros(len(ANSWERED), np.float32)
        image = random_look(self.rng, warp_crop(record.gray(), matrix))
        return image, planes, maps, judged, seen, np.array([real], np.float32)

    def batch(self, size: int) -> list[torch.Tensor]:
        images, *rest = (np.stack(part) for part in zip(*(self.view() for _ in range(size))))
        return [torch.from_numpy(images)[:, None], *map(torch.from_numpy, rest)]


def heads_of(
    options: Namespace, read: dict[str, Reading]
) -> tuple[list[Record], list[Record], list[Record]]:
    """Returns the labelled heads for training, those of the held-out fold, and the heads without a
    plane label.

    The 131 labelled heads added to our copy of FETAL_PLANES_DB after the readings were made are
    left out: no network has seen them, so they judge teachers and student alike
    (judge_head_planes.py).
    """
    records = [r for r in fetal_planes(options.data) + hc18(options.data) if r.split != "test"]
    known = [r for r in records if name_of(r) in read]
    for record in known:
        record.ellipse = read[name_of(record)].head
    labelled = [r for r in known if r.plane in HEAD_PLANES]
    held = [r for r in labelled if in_fold(r, options.fold)]
    named = [r for r in labelled if not in_fold(r, options.fold)]
    others = with_heads([r for r in records if r.plane == "other"], options.geometry)
    return named, held, [r for r in known if r.dataset == "hc18"] + others


def prepare(options: Namespace) -> Training:
    read = readings()
    named, held, unnamed = heads_of(options, read)
    answer(named + unnamed, options)
    simulated = [r for r in phantoms(*options.phantoms) if r.plane in HEAD_PLANES]
    sampler = Sampler(named, unnamed, simulated, read, options)
    model = load(options.start, HeadStructureNetwork).train()
    answered = [STRUCTURES.index(name) for name in ANSWERED]

    def loss() -> torch.Tensor:
        images, planes, drawn, judged, seen, real = sampler.batch(options.batch)
        rng = sampler.rng
        share = float(rng.beta(MIXING, MIXING)) if rng.random() < MIXED_BATCHES else 1.0
        other = torch.roll(torch.arange(len(images)), 1)

        def mixed(x: torch.Tensor) -> torch.Tensor:
            return share * x + (1 - share) * x[other]

        with autocast():
            logits, maps = model.look(mixed(images))
        logits, maps = logits.float(), maps.float()
        named_loss = -(mixed(planes) * F.log_softmax(logits, 1)).sum(1).mean()
        if share < 1:
            return named_loss + structure_loss(maps, mixed(drawn), judged * judged[other])
        found = maps[:, answered].amax((2, 3))
        surely = F.binary_cross_entropy_with_logits(found, seen, reduction="none")
        return (
            named_loss
            + structure_loss(maps, drawn, judged)
            + SEEN_WEIGHT * (surely * real).sum(1).mean()
        )

    keep = keeper(HeadStructureNetwork(len(HEAD_PLANES)), held, options.out)
    return Training(model, loss, keep, weight_decay=5e-2)
