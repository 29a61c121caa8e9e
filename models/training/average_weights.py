"""Averages the weights of two runs of one network, the second begun from the first.

What lies between them keeps more of what the first knew of patients (Wortsman 2022, "model soups").
"""

import argparse
from pathlib import Path

import torch


def between(
    first: dict[str, torch.Tensor], second: dict[str, torch.Tensor], share: float
) -> dict[str, torch.Tensor]:
    """Each weight at `share` of the way from the first to the second."""
    return {name: torch.lerp(own, second[name], share) for name, own in first.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--share", type=float, required=True, help="of the second, 0 to 1")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    weights = between(torch.load(options.first), torch.load(options.second), options.share)
    torch.save(weights, options.out)


if __name__ == "__main__":
    main()
