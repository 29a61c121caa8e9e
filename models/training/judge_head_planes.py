"""Evaluates the networks for the axial head planes on pregnancies not used to train them.

- Out of fold: every labelled head that was read by eye, outside the test split and in a fold that
has a student, is classified by the student of its fold and by that student's only teacher. Its
label was used to train neither.
- Later heads: the labelled heads added to our data after the nine networks of version 1.4.0 were
trained. Nothing was trained on them; those in the test split are evaluated separately, because the
branch without structures was chosen on the others.

Prints the share of correct planes with its 95 % interval (10,000 bootstrap samples of pregnancies)
and the negative log-likelihood over temperatures, to choose the one in models/registry.yaml.
--write stores the numbers for models/evaluate.ts. The 92 heads of the test split are not used.
"""

import argparse
import json
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from datasets import HEAD_PLANES, Record, fetal_planes
from export import head_network
from head_planes import crops_of, in_fold, with_heads
from head_readings import name_of, readings
from network import STRUCTURE_WEIGHT, HeadPlaneNetwork, HeadStructureNetwork

TEMPERATURES = np.arange(0.5, 1.55, 0.1)
DRAWS = 10_000


@torch.no_grad()
def logits_of(records: list[Record], networks: list[HeadPlaneNetwork]) -> torch.Tensor:
    """Returns the mean logits (n, planes) of the networks over the head and its mirror image."""
    answers = [torch.stack([one(crops_of(r)).mean(0) for one in networks]).mean(0) for r in records]
    return torch.stack(answers)


def interval(right: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """Returns the 95 % interval of the share of correct planes. Images of one pregnancy are
    resampled together.
    """
    rng = np.random.default_rng(1)
    own = {group: right[groups == group] for group in np.unique(groups)}
    hits, sizes = np.array([(hit.sum(), len(hit)) for hit in own.values()]).T
    drawn = rng.integers(len(own), size=(DRAWS, len(own)))
    shares = hits[drawn].sum(1) / sizes[drawn].sum(1)
    low, high = np.quantile(shares, (0.025, 0.975)).round(4).tolist()
    return low, high


def judge(name: str, logits: torch.Tensor, records: list[Record]) -> dict:
    """Prints how well the logits identify the planes, and returns the numbers for
    models/evaluate.ts.
    """
    truths = torch.tensor([HEAD_PLANES.index(record.plane) for record in records])
    right = (logits.argmax(1) == truths).numpy()
    found = {plane: round(right[truths == i].mean(), 4) for i, plane in enumerate(HEAD_PLANES)}
    groups = np.array([record.group for record in records])
    judged = {
        "heads": len(records),
        "pregnancies": len(np.unique(groups)),
        "right": int(right.sum()),
        "accuracy": round(right.mean(), 4),
        "interval95": dict(zip(("low", "high"), interval(right, groups))),
        "found": found,
    }
    losses = [F.cross_entropy(logits / float(t), truths) for t in TEMPERATURES]
    shown = "".join(f" {t:.1f}: {loss:.3f}" for t, loss in zip(TEMPERATURES, losses))
    print(f"{name}: {json.dumps(judged)}")
    print(f"  negative log-likelihood at temperature{shown}")
    return judged


def out_of_fold(records: list[Record], files: list[Path]) -> tuple[torch.Tensor, list[Record]]:
    """Returns the logits of the heads of all folds, computed with the network of each fold in
    `files`, and the heads in the same order.
    """
    logits, judged = [], []
    for fold, file in enumerate(files):
        held = [r for r in records if in_fold(r, fold)]
        logits.append(logits_of(held, [head_network(file, HeadStructureNetwork)]))
        judged += held
    return torch.cat(logits), judged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--work", type=Path, required=True, help="folder of the weights")
    parser.add_argument("--folds", type=int, default=4, help="folds that have a student")
    parser.add_argument("--write", type=Path, help="cross-validation.json of the model")
    options = parser.parse_args()
    torch.set_num_threads(1)
    cv2.setNumThreads(0)

    read = readings()
    records = [r for r in fetal_planes(options.data) if r.plane in HEAD_PLANES]
    later = with_heads(
        [r for r in records if name_of(r) not in read], options.work / "geometry-3.pt"
    )
    known = [r for r in records if name_of(r) in read and r.split != "test"]
    for record in known:
        record.ellipse = read[name_of(record)].head

    def files(name: str, numbers: range) -> list[Path]:
        return [options.work / f"{name}-{number}.pt" for number in numbers]

    structures = files("structures", range(options.folds))
    students = files("student-fold", range(options.folds))
    planes = [head_network(one, HeadPlaneNetwork) for one in files("all", range(81, 86))]
    drawing = [head_network(one, HeadStructureNetwork) for one in structures]
    student = head_network(options.work / "student.pt", HeadStructureNetwork)

    def both(name: str, chosen: list[Record]) -> dict:
        nine = (1 - STRUCTURE_WEIGHT) * logits_of(chosen, planes)
        nine += STRUCTURE_WEIGHT * logits_of(chosen, drawing)
        two = (logits_of(chosen, planes[-1:]) + logits_of(chosen, [student])) / 2
        return {
            "delivered": judge(f"{name}, delivered", two, chosen),
            "nineNetworks": judge(f"{name}, nine networks", nine, chosen),
        }

    judged = {
        "outOfFold": {
            "students": judge("out of fold, students", *out_of_fold(known, students)),
            "teachers": judge("out of fold, their teachers", *out_of_fold(known, structures)),
        },
        "later": both("later heads", later),
        "laterTest": both("later heads of the test split", [r for r in later if r.split == "test"]),
    }
    if options.write:
        options.write.write_text(json.dumps(judged, indent=2) + "\n")


if __name__ == "__main__":
    main()
