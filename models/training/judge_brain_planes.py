"""Judges the networks of the axial head planes on the pregnancies that each has not seen.

Every labelled head outside the test split is named by the networks of its own fold: those of
train_brain_planes.py, those of train_head_structures.py, and both with the weight that export_onnx.py
gives them. Prints the share right with its 95 % interval (pregnancies drawn again, 10,000 times) and the
negative log-likelihood over temperatures, for the choice of the one in models/registry.yaml. --write keeps
the numbers of both for models/evaluate.ts. The test split is not touched.
"""

import argparse
import json
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from datasets import HEAD_PLANES, Record, fetal_planes
from export_onnx import STRUCTURE_WEIGHT, brain_plane_network
from head_readings import readings
from network import HeadPlaneNetwork, HeadStructureNetwork
from train_brain_planes import FOLDS, crops_of, in_fold
from train_head_structures import with_heads

TEMPERATURES = np.arange(0.5, 1.55, 0.1)
DRAWS = 10_000


@torch.no_grad()
def out_of_fold(
    records: list[Record], files: list[Path], kind: type[HeadPlaneNetwork]
) -> torch.Tensor:
    """Logits (n, planes) of every record by the network of its fold, the planes as often as they are."""
    networks = [network.eval() for network in brain_plane_network(files, kind)]
    return torch.stack(
        [
            network(crops_of(record)).mean(0)
            for record in records
            for fold, network in enumerate(networks)
            if in_fold(record, fold)
        ]
    )


def interval(right: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """95 % interval of the share right; the images of a pregnancy are drawn together."""
    rng = np.random.default_rng(1)
    own = {group: right[groups == group] for group in np.unique(groups)}
    hits, sizes = np.array([(hit.sum(), len(hit)) for hit in own.values()]).T
    drawn = rng.integers(len(own), size=(DRAWS, len(own)))
    shares = hits[drawn].sum(1) / sizes[drawn].sum(1)
    low, high = np.quantile(shares, (0.025, 0.975)).round(4).tolist()
    return low, high


def judge(name: str, logits: torch.Tensor, records: list[Record]) -> dict:
    """Prints how well the logits name the planes; the numbers for models/evaluate.ts."""
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    for kind in ("planes", "structures"):
        parser.add_argument(f"--{kind}", type=Path, nargs=FOLDS, required=True, help="by fold")
    parser.add_argument("--write", type=Path, help="cross-validation.json of the model")
    options = parser.parse_args()
    torch.set_num_threads(1)
    cv2.setNumThreads(0)

    records = [
        r for r in fetal_planes(options.data) if r.plane in HEAD_PLANES and r.split != "test"
    ]
    records = with_heads(records, readings())
    planes = out_of_fold(records, options.planes, HeadPlaneNetwork)
    structures = out_of_fold(records, options.structures, HeadStructureNetwork)
    judge("planes", planes, records)
    judge("structures", structures, records)
    both = (1 - STRUCTURE_WEIGHT) * planes + STRUCTURE_WEIGHT * structures
    judged = judge("both", both, records)
    if options.write:
        options.write.write_text(json.dumps(judged, indent=2) + "\n")


if __name__ == "__main__":
    main()
