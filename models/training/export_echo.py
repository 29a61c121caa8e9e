"""Writes models/echo-*/model.onnx from trained weights, as export_onnx.py does for the fetus."""

import argparse
import math
from pathlib import Path

import torch
from torch import nn

import train_echo_views
from echo_datasets import CLASSES, STRUCTURES
from echo_network import SMALL, WIDE, EjectionNetwork, RegionNetwork, ViewNetwork
from export_onnx import export
from train_chambers import SIZE, SMALL_SIZE
from train_echo_views import VIEWS
from ventricle import CROP_SIZE


class Shares(nn.Module):
    """Probabilities of the first `known` classes of a pixel; what lies beyond is background.

    A network that saw CAMUS alone was never told of the right heart: its last classes mean nothing.
    """

    def __init__(self, network: RegionNetwork, known: int):
        super().__init__()
        self.network = network
        self.known = known

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shares = self.network(x).softmax(1)
        ground = 1 - shares[:, 1 : self.known].sum(1, keepdim=True)
        return torch.cat([ground, shares[:, 1 : self.known]], 1)


# How much rarer a view is met than the sampler shows it: five-chamber views are taken for the
# outflow tract alone, and the logits are shifted by the difference (Saerens 2002).
VIEW_PRIOR = {"A5C": 0.2, "PSAX-AP": 0.5}


def view_network(weights: Path) -> ViewNetwork:
    network = ViewNetwork(len(VIEWS))
    restored(network, weights)
    with torch.no_grad():
        for view, share in VIEW_PRIOR.items():
            network.head.bias[VIEWS.index(view)] += math.log(share)
    return network


def restored(network: nn.Module, weights: Path) -> nn.Module:
    network.load_state_dict(torch.load(weights))
    return network


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--chambers", type=Path, help="weights of train_chambers.py --small")
    parser.add_argument("--chambers-research", type=Path, help="weights of train_chambers.py --camus")
    parser.add_argument("--ejection-fraction-research", type=Path)
    parser.add_argument("--view", type=Path, help="weights of train_echo_views.py")
    parser.add_argument("--view-research", type=Path, help="weights of train_echo_views.py --camus")
    parser.add_argument("--parasternal", type=Path, help="weights of train_parasternal.py")
    parser.add_argument("--left-heart", action="store_true", help="no phantom taught the right heart")
    parser.add_argument("--models", type=Path, default=Path(__file__).parents[1])
    options = parser.parse_args()
    for weights, model, widths, size in (
        (options.chambers, "echo-chambers", SMALL, SMALL_SIZE),
        (options.chambers_research, "echo-chambers-research", WIDE, SIZE),
    ):
        if weights:
            network = restored(RegionNetwork(len(CLASSES), widths), weights)
            module = Shares(network, 4 if options.left_heart else len(CLASSES))
            export(module, options.models / model / "model.onnx", "shares", size)
    if options.ejection_fraction_research:
        network = restored(EjectionNetwork(), options.ejection_fraction_research)
        file = options.models / "echo-ejection-fraction-research" / "model.onnx"
        export(network, file, "fraction", (CROP_SIZE, 2 * CROP_SIZE))
    for weights, model in (
        (options.view, "echo-view"),
        (options.view_research, "echo-view-research"),
    ):
        if weights:
            network = view_network(weights)
            export(network, options.models / model / "model.onnx", "logits", train_echo_views.SIZE)
    if options.parasternal:
        network = restored(RegionNetwork(len(STRUCTURES), SMALL), options.parasternal)
        module = Shares(network, len(STRUCTURES))
        export(module, options.models / "echo-parasternal" / "model.onnx", "shares", SMALL_SIZE)


if __name__ == "__main__":
    main()
