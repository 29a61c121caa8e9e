"""Judges the networks of train_brain_planes.py on the pregnancies that each has not seen.

Prints the share right and the negative log-likelihood over temperatures, for the choice of the one
in models/registry.yaml; each network alone, so that the product, which averages them, does better.
The test split is not touched.
"""

import argparse
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from datasets import HEAD_PLANES, fetal_planes
from export_onnx import HEAD_PLANE_PRIOR
from network import HeadPlaneNetwork, load_planes
from train_brain_planes import FOLDS, crops_of, in_fold, with_heads

TEMPERATURES = np.arange(0.5, 1.55, 0.1)


@torch.no_grad()
def out_of_fold(data: Path, geometry: Path, files: list[Path]) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits (n, planes) and true planes (n) of every labelled head outside the test split."""
    records = [r for r in fetal_planes(data) if r.plane in HEAD_PLANES and r.split != "test"]
    records = with_heads(records, geometry)
    logits, truths = [], []
    for fold, file in enumerate(files):
        network = HeadPlaneNetwork(len(HEAD_PLANES))
        load_planes(network, file, HEAD_PLANES)
        network.eval()
        for record in records:
            if in_fold(record, fold):
                logits.append(network(crops_of(record)).mean(0))
                truths.append(HEAD_PLANES.index(record.plane))
    return torch.stack(logits), torch.tensor(truths)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--geometry", type=Path, required=True, help="finds the heads")
    parser.add_argument("weights", type=Path, nargs=FOLDS, help="one file per fold, in order")
    options = parser.parse_args()
    torch.set_num_threads(1)
    cv2.setNumThreads(0)

    logits, truths = out_of_fold(options.data, options.geometry, options.weights)
    prior = torch.tensor([HEAD_PLANE_PRIOR[plane] * len(HEAD_PLANES) for plane in HEAD_PLANES])
    logits = logits + prior.log()
    right = logits.argmax(1) == truths
    shares = [f"{p} {right[truths == i].float().mean():.2f}" for i, p in enumerate(HEAD_PLANES)]
    print(f"{len(truths)} heads, {right.float().mean():.3f} right: {', '.join(shares)}")
    for temperature in TEMPERATURES:
        loss = F.cross_entropy(logits / float(temperature), truths)
        print(f"temperature {temperature:.1f}: negative log-likelihood {loss:.3f}")


if __name__ == "__main__":
    main()
