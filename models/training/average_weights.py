"""Averages the weights of two runs of one network, the second of which started from the first. The
average preserves more of what the first run learned from patients (Wortsman 2022, "model
soups").
"""

from pathlib import Path

import torch


def between(
    first: dict[str, torch.Tensor], second: dict[str, torch.Tensor], share: float
) -> dict[str, torch.Tensor]:
    """Returns the weights at `share` (0 to 1) of the way from the first network to the second."""
    return {name: torch.lerp(own, second[name], share) for name, own in first.items()}


def average(first: Path, second: Path, share: float, out: Path) -> None:
    """Writes the weights at `share` (0 to 1) of the way from the first file to the second."""
    torch.save(between(torch.load(first), torch.load(second), share), out)
