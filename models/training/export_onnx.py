"""Writes models/<id>/model.onnx from trained weights, and what PyTorch answers to one image.

The answer (reference-output.json) is for the test that onnxruntime-node computes the same.
"""

import argparse
import json
import math
from pathlib import Path

import onnx
import torch
from torch import nn

from datasets import HEAD_PLANES, TRAINED_PLANES
from letterbox import HEIGHT, WIDTH
from network import GEOMETRY_CHANNELS, GeometryNetwork, PlaneNetwork
from train_planes import SHARE

CHANNELS_OF = {
    "fetal-head": ("head",),
    "fetal-abdomen": ("abdomen",),
    "fetal-femur": ("femur-shaft", "femur-ends"),
}


class Channels(nn.Module):
    """The probabilities of some of the trained channels."""

    def __init__(self, network: GeometryNetwork, names: tuple[str, ...]):
        super().__init__()
        self.network = network
        keep = [GEOMETRY_CHANNELS.index(name) for name in names]
        head = nn.Conv2d(network.head.in_channels, len(keep), 1)
        head.weight.data = network.head.weight.data[keep]
        head.bias.data = network.head.bias.data[keep]
        network.head = head

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.network(x))


# How often the head planes occur in FETAL_PLANES_DB as given (252, 120, 106 images): the sampler
# shows them about equally often, and the bias gives the difference back (Saerens 2002).
HEAD_PLANE_PRIOR = {"transthalamic": 0.53, "transventricular": 0.25, "transcerebellar": 0.22}


def with_prior(network: PlaneNetwork) -> PlaneNetwork:
    shown = sum(SHARE[plane] for plane in HEAD_PLANES)
    with torch.no_grad():
        for plane in HEAD_PLANES:
            ratio = HEAD_PLANE_PRIOR[plane] / (SHARE[plane] / shown)
            network.head.bias[TRAINED_PLANES.index(plane)] += math.log(ratio)
    return network


def export(module: nn.Module, file: Path, output: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        module.eval(),
        (torch.zeros(2, 1, HEIGHT, WIDTH),),
        str(file),
        dynamo=False,
        opset_version=17,
        input_names=["image"],
        output_names=[output],
        dynamic_axes={"image": {0: "n"}, output: {0: "n"}},
    )
    onnx.checker.check_model(str(file))
    with torch.no_grad():
        values = module(synthetic_image()).flatten()
    every = max(1, len(values) // 24)
    answer = {"every": every, "values": [round(float(v), 5) for v in values[::every]]}
    (file.parent / "reference-output.json").write_text(json.dumps(answer) + "\n")


def synthetic_image() -> torch.Tensor:
    """A bright ring on a ramp: made by a formula, so that the test can make it too."""
    x = torch.arange(WIDTH)[None, :].double()
    y = torch.arange(HEIGHT)[:, None].double()
    radius = torch.hypot((x - 130) / 80, (y - 95) / 60)
    ring = torch.exp(-(((radius - 1) / 0.06) ** 2))
    return (0.8 * ring + 0.2 * x / WIDTH)[None, None].float()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--geometry", type=Path, help="weights of train_geometry.py")
    parser.add_argument("--planes", type=Path, help="weights of train_planes.py")
    parser.add_argument("--only", nargs="*", default=list(CHANNELS_OF))
    parser.add_argument("--models", type=Path, default=Path(__file__).parents[1])
    options = parser.parse_args()
    if options.geometry:
        for model, names in CHANNELS_OF.items():
            if model not in options.only:
                continue
            network = GeometryNetwork()
            network.load_state_dict(torch.load(options.geometry))
            export(Channels(network, names), options.models / model / "model.onnx", "maps")
    if options.planes:
        network = PlaneNetwork(len(TRAINED_PLANES))
        network.load_state_dict(torch.load(options.planes))
        export(with_prior(network), options.models / "fetal-plane" / "model.onnx", "logits")


if __name__ == "__main__":
    main()
