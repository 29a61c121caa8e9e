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

from datasets import HEAD_PLANES, PLANES
from head_crop import CROP_HEIGHT, CROP_WIDTH
from letterbox import HEIGHT, WIDTH
from network import (
    GEOMETRY_CHANNELS,
    STRUCTURES,
    GeometryNetwork,
    HeadPlaneNetwork,
    HeadStructureNetwork,
    PlaneNetwork,
    load_planes,
)
from train_planes import SHARE
import train_uterine
from train_regions import REGIONS, SIZES
import train_structures

CHANNELS_OF = {
    "fetal-head": ("head",),
    "fetal-abdomen": ("abdomen",),
    "fetal-femur": ("femur-shaft", "femur-ends"),
}


class Channels(nn.Module):
    """The probabilities of some of the trained channels; `trained` names all of them."""

    def __init__(self, network: GeometryNetwork, names: tuple[str, ...], trained: tuple[str, ...]):
        super().__init__()
        self.network = network
        keep = [trained.index(name) for name in names]
        head = nn.Conv2d(network.head.in_channels, len(keep), 1)
        head.weight.data = network.head.weight.data[keep]
        head.bias.data = network.head.bias.data[keep]
        network.head = head

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.network(x))


# Answered beside the planes, in this order.
HEAD_STRUCTURES = ("csp", "thalami", "cerebellum")
# Of the networks that know structures, beside those that do not; chosen out of fold.
STRUCTURE_WEIGHT = 0.7

# How often the head planes occur in FETAL_PLANES_DB as given (252, 120, 106 images): the sampler
# shows them about equally often, and the bias gives the difference back (Saerens 2002).
HEAD_PLANE_PRIOR = {"transthalamic": 0.53, "transventricular": 0.25, "transcerebellar": 0.22}


def plane_network(weights: Path, classes: tuple[str, ...]) -> PlaneNetwork:
    """The classifier of those of its classes that are shown, the head planes as often as they are."""
    network = PlaneNetwork(len(classes))
    load_planes(network, weights, classes)
    shown = sum(SHARE[plane] for plane in HEAD_PLANES)
    with torch.no_grad():
        for plane in HEAD_PLANES:
            ratio = HEAD_PLANE_PRIOR[plane] / (SHARE[plane] / shown)
            network.head.bias[classes.index(plane)] += math.log(ratio)
    return network


class Mean(nn.Module):
    """The mean of the logits of several networks."""

    def __init__(self, networks: list[nn.Module]):
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([network(x) for network in self.networks]).mean(0)


def brain_plane_network(weights: list[Path], network: type[HeadPlaneNetwork]) -> list[nn.Module]:
    """Several networks, the planes as often as they are."""
    networks = [network(len(HEAD_PLANES)) for _ in weights]
    for one, file in zip(networks, weights):
        load_planes(one, file, HEAD_PLANES)
        with torch.no_grad():
            for index, plane in enumerate(HEAD_PLANES):
                one.head.bias[index] += math.log(HEAD_PLANE_PRIOR[plane] * len(HEAD_PLANES))
    return networks


class HeadLook(nn.Module):
    """Logits of the axial planes by both kinds of networks, then of the structures in view."""

    def __init__(self, planes: list[nn.Module], structures: list[nn.Module]):
        super().__init__()
        self.planes = Mean(planes)
        self.structures = nn.ModuleList(structures)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        looks = [network.look(x) for network in self.structures]
        logits = torch.stack([planes for planes, _ in looks]).mean(0)
        shown = [STRUCTURES.index(name) for name in HEAD_STRUCTURES]
        seen = torch.stack([maps[:, shown].amax((2, 3)) for _, maps in looks]).mean(0)
        both = (1 - STRUCTURE_WEIGHT) * self.planes(x) + STRUCTURE_WEIGHT * logits
        return torch.cat([both, seen], 1)


def geometry_network(weights: Path, channels: tuple[str, ...]) -> GeometryNetwork:
    network = GeometryNetwork(len(channels))
    network.load_state_dict(torch.load(weights))
    return network


def export(module: nn.Module, file: Path, output: str, size: tuple[int, int] = (WIDTH, HEIGHT)) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        module.eval(),
        (torch.zeros(2, 1, size[1], size[0]),),
        str(file),
        dynamo=False,
        opset_version=17,
        input_names=["image"],
        output_names=[output],
        dynamic_axes={"image": {0: "n"}, output: {0: "n"}},
    )
    onnx.checker.check_model(str(file))
    with torch.no_grad():
        values = module(synthetic_image(size)).flatten()
    every = max(1, len(values) // 24)
    answer = {"every": every, "values": [round(float(v), 5) for v in values[::every]]}
    (file.parent / "reference-output.json").write_text(json.dumps(answer) + "\n")


def synthetic_image(size: tuple[int, int]) -> torch.Tensor:
    """A bright ring on a ramp: made by a formula, so that the test can make it too."""
    x = torch.arange(size[0])[None, :].double()
    y = torch.arange(size[1])[:, None].double()
    radius = torch.hypot((x - 130) / 80, (y - 95) / 60)
    ring = torch.exp(-(((radius - 1) / 0.06) ** 2))
    return (0.8 * ring + 0.2 * x / size[0])[None, None].float()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--geometry", type=Path, help="weights of train_geometry.py")
    parser.add_argument("--only", nargs="*", default=list(CHANNELS_OF))
    parser.add_argument("--planes", type=Path, help="weights of train_planes.py")
    parser.add_argument("--classes", nargs="*", default=list(PLANES), help="those that were shown")
    parser.add_argument(
        "--brain-planes", type=Path, nargs="*", help="weights of train_brain_planes.py"
    )
    parser.add_argument(
        "--head-structures", type=Path, nargs="*", help="weights of train_head_structures.py"
    )
    for task in REGIONS:
        parser.add_argument(f"--{task}", type=Path, help="weights of train_regions.py")
    parser.add_argument("--uterine-structures", type=Path, help="weights of train_uterine.py")
    for task in train_structures.CHANNELS:
        parser.add_argument(f"--fetal-{task}-structures", type=Path, help="train_structures.py")
    parser.add_argument("--models", type=Path, default=Path(__file__).parents[1])
    options = parser.parse_args()
    if options.geometry:
        for model, names in CHANNELS_OF.items():
            if model not in options.only:
                continue
            network = geometry_network(options.geometry, GEOMETRY_CHANNELS)
            module = Channels(network, names, GEOMETRY_CHANNELS)
            export(module, options.models / model / "model.onnx", "maps")
    if options.planes:
        network = plane_network(options.planes, tuple(options.classes))
        export(network, options.models / "fetal-plane" / "model.onnx", "logits")
    if options.brain_planes:
        network = HeadLook(
            brain_plane_network(options.brain_planes, HeadPlaneNetwork),
            brain_plane_network(options.head_structures, HeadStructureNetwork),
        )
        file = options.models / "fetal-brain-plane" / "model.onnx"
        export(network, file, "logits", (CROP_WIDTH, CROP_HEIGHT))
    if options.uterine_structures:
        names = train_uterine.CHANNELS
        module = Channels(geometry_network(options.uterine_structures, names), names, names)
        file = options.models / "uterine-structures" / "model.onnx"
        export(module, file, "maps", train_uterine.SIZE)
    for task, names in train_structures.CHANNELS.items():
        weights = getattr(options, f"fetal_{task}_structures")
        if weights:
            module = Channels(geometry_network(weights, names), names, names)
            file = options.models / f"fetal-{task}-structures" / "model.onnx"
            export(module, file, "maps", train_structures.SIZE)
    for task, names in REGIONS.items():
        weights = getattr(options, task.replace("-", "_"))
        if weights:
            module = Channels(geometry_network(weights, names), names, names)
            export(module, options.models / task / "model.onnx", "maps", SIZES[task])


if __name__ == "__main__":
    main()
