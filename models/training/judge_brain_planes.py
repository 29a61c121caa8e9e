"""Judges the networks of the axial head planes on the pregnancies that each has not seen.

Every labelled head outside the test split is named by the networks of its own fold: those of
train_brain_planes.py, those of train_head_structures.py, and both with the weight that export_onnx.py
gives them. Prints the share right with its 95 % interval (pregnancies drawn again, 10,000 times) and the
negative log-likelihood over temperatures, for the choice of the one in models/registry.yaml.
The test split is not touched.
"""

import argparse
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
    low, high = np.quantile(hits[drawn].sum(1) / sizes[drawn].sum(1), (0.025, 0.975))
    return float(low), float(high)


def show(name: str, logits: torch.Tensor, records: list[Record]) -> None:
    truths = torch.tensor([HEAD_PLANES.index(record.plane) for record in records])
    right = logits.argmax(1) == truths
    shares = [f"{p} {right[truths == i].float().mean():.2f}" for i, p in enumerate(HEAD_PLANES)]
    low, high = interval(right.numpy(), np.array([record.group for record in records]))
    print(
        f"{name}: {int(right.sum())} of {len(truths)} right, {right.float().mean():.3f}"
        f" ({low:.3f} to {high:.3f}): {', '.join(shares)}"
    )
    losses = [F.cross_entropy(logits / float(t), truths) for t in TEMPERATURES]
    print("  negative log-likelihood at temperature", end="")
    print("".join(f" {t:.1f}: {loss:.3f}" for t, loss in zip(TEMPERATURES, losses)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    for kind in ("planes", "structures"):
        parser.add_argument(f"--{kind}", type=Path, nargs=FOLDS, required=True, help="by fold")
    options = parser.parse_args()
    torch.set_num_threads(1)
    cv2.setNumThreads(0)

    records = [
        r for r in fetal_planes(options.data) if r.plane in HEAD_PLANES and r.split != "test"
    ]
    records = with_heads(records, readings())
    planes = out_of_fold(records, options.planes, HeadPlaneNetwork)
    structures = out_of_fold(records, options.structures, HeadStructureNetwork)
    show("planes", planes, records)
    show("structures", structures, records)
    show("both", (1 - STRUCTURE_WEIGHT) * planes + STRUCTURE_WEIGHT * structures, records)


if __name__ == "__main__":
    main()
