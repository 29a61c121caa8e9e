"""Writes models/<id>/model.onnx from trained weights, and PyTorch's output for one image.

    python models/training/export.py fetal-head echo-view --work WORK

recipes.yaml names the weights of each model. Weights are stored in half precision
(half_precision.py). A test compares this output (reference-output.json) with that of
onnxruntime-node.
"""

import argparse
import math
from collections.abc import Callable
from pathlib import Path

import onnx
import torch
from torch import nn

import echo_chambers
import echo_views
import fetal_structures
import head_border
import regions
import uterus
from datasets import HEAD_PLANES, PLANES
from echo_datasets import CLASSES
from echo_datasets import STRUCTURES as ECHO_STRUCTURES
from echo_network import SMALL, WIDE, EjectionNetwork, RegionNetwork, ViewNetwork
from half_precision import ring_image, round_weights, store_half, write_answer
from head_crop import CROP_HEIGHT, CROP_WIDTH
from letterbox import HEIGHT, WIDTH
from network import (
    ANSWERED,
    GEOMETRY_CHANNELS,
    STRUCTURES,
    GeometryNetwork,
    HeadPlaneNetwork,
    HeadStructureNetwork,
    PlaneNetwork,
    load_planes,
)
from planes import SHARE
from recipes import listed, read_recipes
from ventricle import CROP_SIZE

# Frequencies of the head planes in FETAL_PLANES_DB as first published (252, 120, 106 images). In
# training the planes are about equally frequent; the bias restores these frequencies (Saerens
# 2002).
HEAD_PLANE_PRIOR = {"transthalamic": 0.53, "transventricular": 0.25, "transcerebellar": 0.22}
# Frequency of a view in practice, divided by its frequency in training. Five-chamber views are
# recorded only for the outflow tract. The logarithm is added to the logits (Saerens 2002).
VIEW_PRIOR = {"A5C": 0.2, "PSAX-AP": 0.5}

Size = tuple[int, int]


class Channels(nn.Module):
    """Returns the probabilities of the channels in `names`. `trained` lists all channels of the
    trained network."""

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


class Shares(nn.Module):
    """Returns the probabilities of the first `known` classes of a pixel and treats the others as
    background. The last classes of a network trained on CAMUS alone are meaningless, because
    CAMUS does not label the right heart.
    """

    def __init__(self, network: RegionNetwork, known: int):
        super().__init__()
        self.network = network
        self.known = known

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shares = self.network(x).softmax(1)
        ground = 1 - shares[:, 1 : self.known].sum(1, keepdim=True)
        return torch.cat([ground, shares[:, 1 : self.known]], 1)


class HeadAnswer(nn.Module):
    """Returns the logits of the axial planes, followed by the probability that each of `ANSWERED`
    is in view. Two branches examine the head; only one of them locates the structures. The plane
    logits are the mean of both branches.
    """

    def __init__(self, planes: HeadPlaneNetwork, structures: HeadStructureNetwork):
        super().__init__()
        self.planes = planes
        self.structures = structures

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        planes, maps = self.structures.look(x)
        answered = [STRUCTURES.index(name) for name in ANSWERED]
        return torch.cat([(self.planes(x) + planes) / 2, maps[:, answered].amax((2, 3))], 1)


def restored(network: nn.Module, weights: Path) -> nn.Module:
    network.load_state_dict(torch.load(weights))
    return network


def channels(names: tuple[str, ...], trained: tuple[str, ...], size: Size = (WIDTH, HEIGHT)):
    """Exports some channels of a geometry network."""

    def made(weights: Path) -> tuple[nn.Module, str, Size]:
        network = restored(GeometryNetwork(len(trained)), weights)
        return Channels(network, names, trained), "maps", size

    return made


def plane_shifts() -> dict[str, float]:
    """Returns what is added to the bias of each head plane, so that the outputs reflect the
    frequencies in HEAD_PLANE_PRIOR."""
    shown = sum(SHARE[plane] for plane in HEAD_PLANES)
    return {
        plane: math.log(HEAD_PLANE_PRIOR[plane] / (SHARE[plane] / shown)) for plane in HEAD_PLANES
    }


def plane_network(weights: Path) -> tuple[nn.Module, str, Size]:
    """Loads the plane classifier and shifts its bias, so that its outputs reflect the frequencies
    of the head planes in HEAD_PLANE_PRIOR."""
    network = PlaneNetwork(len(PLANES))
    load_planes(network, weights, PLANES)
    with torch.no_grad():
        for plane, shift in plane_shifts().items():
            network.head.bias[PLANES.index(plane)] += shift
    return network, "logits", (WIDTH, HEIGHT)


def head_network(weights: Path, kind: type[HeadPlaneNetwork]) -> HeadPlaneNetwork:
    """Loads a network and shifts its bias, so that its outputs reflect the frequencies of the head
    planes in HEAD_PLANE_PRIOR."""
    network = kind(len(HEAD_PLANES))
    load_planes(network, weights, HEAD_PLANES)
    with torch.no_grad():
        for index, plane in enumerate(HEAD_PLANES):
            network.head.bias[index] += math.log(HEAD_PLANE_PRIOR[plane] * len(HEAD_PLANES))
    return network.eval()


def head_plane_network(planes: Path, structures: Path) -> tuple[nn.Module, str, Size]:
    branches = (
        head_network(planes, HeadPlaneNetwork),
        head_network(structures, HeadStructureNetwork),
    )
    return HeadAnswer(*branches), "logits", (CROP_WIDTH, CROP_HEIGHT)


def heart_regions(classes: tuple[str, ...], known: int, widths: tuple[int, ...], size: Size):
    """Exports the regions of a heart. Only the first `known` regions are meaningful."""

    def made(weights: Path) -> tuple[nn.Module, str, Size]:
        return Shares(restored(RegionNetwork(len(classes), widths), weights), known), "shares", size

    return made


def ejection_network(weights: Path) -> tuple[nn.Module, str, Size]:
    return restored(EjectionNetwork(), weights), "fraction", (CROP_SIZE, 2 * CROP_SIZE)


def view_network(weights: Path) -> tuple[nn.Module, str, Size]:
    network = restored(ViewNetwork(len(echo_views.VIEWS)), weights)
    with torch.no_grad():
        for view, share in VIEW_PRIOR.items():
            network.head.bias[echo_views.VIEWS.index(view)] += math.log(share)
    return network, "logits", echo_views.SIZE


def border_network(weights: Path) -> tuple[nn.Module, str, Size]:
    size = (head_border.ANGLES, head_border.RADII)
    return restored(head_border.BorderNetwork(), weights), "offsets", size


HEART, BRAIN = (fetal_structures.CHANNELS[task] for task in ("heart", "brain"))
LEFT_HEART = 4

# For each model, a function from its weights to the module, the name of its output and the size of
# its input.
EXPORTS: dict[str, Callable[..., tuple[nn.Module, str, Size]]] = {
    "fetal-plane": plane_network,
    "fetal-brain-plane": head_plane_network,
    "fetal-head": channels(("head",), GEOMETRY_CHANNELS),
    "fetal-head-border": border_network,
    "fetal-abdomen": channels(("abdomen",), GEOMETRY_CHANNELS),
    "fetal-femur": channels(("femur-shaft", "femur-ends"), GEOMETRY_CHANNELS),
    **{
        task: channels(names, names, regions.SIZES[task]) for task, names in regions.REGIONS.items()
    },
    "uterine-structures": channels(uterus.CHANNELS, uterus.CHANNELS, uterus.SIZE),
    "fetal-heart-structures": channels(HEART, HEART, fetal_structures.SIZE),
    "fetal-brain-structures": channels(BRAIN, BRAIN, fetal_structures.SIZE),
    "echo-chambers": heart_regions(CLASSES, len(CLASSES), SMALL, echo_chambers.SMALL_SIZE),
    "echo-chambers-research": heart_regions(CLASSES, LEFT_HEART, WIDE, echo_chambers.SIZE),
    "echo-parasternal": heart_regions(
        ECHO_STRUCTURES, len(ECHO_STRUCTURES), SMALL, echo_chambers.SMALL_SIZE
    ),
    "echo-ejection-fraction-research": ejection_network,
    "echo-view": view_network,
    "echo-view-research": view_network,
}


def export(module: nn.Module, file: Path, output: str, size: Size) -> None:
    """Writes the network with its weights in half precision, and its output for the ring image."""
    module.eval()
    round_weights(module)
    file.parent.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        module,
        (torch.zeros(2, 1, size[1], size[0]),),
        str(file),
        dynamo=False,
        opset_version=17,
        input_names=["image"],
        output_names=[output],
        dynamic_axes={"image": {0: "n"}, output: {0: "n"}},
    )
    onnx.save(store_half(onnx.load(file)), file)
    with torch.no_grad():
        values = module(torch.from_numpy(ring_image(size))).flatten().tolist()
    write_answer(file.parent / "reference-output.json", values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", choices=list(EXPORTS))
    parser.add_argument("--work", type=Path, required=True, help="folder of the trained weights")
    parser.add_argument("--models-folder", type=Path, default=Path(__file__).parents[1])
    options = parser.parse_args()
    delivered = read_recipes()["models"]
    for model in options.models:
        weights = [options.work / f"{name}.pt" for name in listed(delivered[model])]
        module, output, size = EXPORTS[model](*weights)
        export(module, options.models_folder / model / "model.onnx", output, size)


if __name__ == "__main__":
    main()
