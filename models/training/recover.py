"""Recovers weights from a delivered ONNX file if the file of the training no longer exists.

    git show 48bf43f:models/fetal-brain-plane/model.onnx > nine.onnx    # version 1.4.0
    python models/training/recover.py --nine nine.onnx --head models/fetal-head/model.onnx --work WORK

Writes all-81 to all-85 and structures-0 to structures-3 from the nine networks of fetal-brain-plane
1.4.0, and geometry-3 from fetal-head (its last layer has only the channel of the head, so all other
channels are set to 0).

    git worktree add ../before 5417c29b
    python models/training/recover.py --delivered ../before/models --work WORK

Writes geometry-7 from the fetal-femur 1.1.1 in this folder, geometry-8 from its fetal-abdomen 1.1.0
and planes-8 from its fetal-plane 1.1.0. An exported geometry network contains only some channels of
the last layer. The other channels come from the other exports, which descend from the same run.
"""

import argparse
import math
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from datasets import HEAD_PLANES, PLANES
from export import HEAD_PLANE_PRIOR, plane_shifts
from network import GEOMETRY_CHANNELS, save_planes

Weights = dict[str, torch.Tensor]


def weights_of(model: onnx.ModelProto) -> Weights:
    """Returns the weights by their names in PyTorch.

    The exporter keeps the names of convolutions but not those of a group normalisation, which
    becomes an instance normalisation followed by a Mul and an Add. The weights of a group
    normalisation are therefore found by following the graph from the convolution before it.
    """
    held = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    # half_precision.py stores a weight as binary16 under another name and adds a Cast.
    held |= {
        node.output[0]: held[node.input[0]].astype(np.float32)
        for node in model.graph.node
        if node.op_type == "Cast" and node.input[0] in held
    }
    followers: dict[str, list[onnx.NodeProto]] = {}
    for node in model.graph.node:
        for name in node.input:
            followers.setdefault(name, []).append(node)
    found = {
        name: torch.from_numpy(value.copy())
        for name, value in held.items()
        if name.endswith((".weight", ".bias"))
    }
    for node in model.graph.node:
        if node.op_type == "Conv" and node.input[1].endswith(".0.weight"):
            place = node.input[1].removesuffix("0.weight")
            scale_and_shift = normalisation_after(node.output[0], followers, held)
            for name, value in zip(("1.weight", "1.bias"), scale_and_shift):
                found[place + name] = torch.from_numpy(value.reshape(-1).copy())
    return found


def normalisation_after(
    output: str, followers: dict[str, list[onnx.NodeProto]], held: dict[str, np.ndarray]
) -> list[np.ndarray]:
    """Returns scale and shift of the group normalisation that follows a convolution."""
    chain = ("Reshape", "InstanceNormalization", "Mul", "Add")
    constants: list[np.ndarray] = []
    while len(constants) < 2:
        node = next((one for one in followers.get(output, []) if one.op_type in chain), None)
        if node is None:
            return []
        per_channel = [held[name] for name in node.input if name in held and held[name].ndim == 3]
        if node.op_type in ("Mul", "Add"):
            constants += per_channel
        output = node.output[0]
    return constants


def part(weights: Weights, prefix: str) -> Weights:
    return {k.removeprefix(prefix): v for k, v in weights.items() if k.startswith(prefix)}


def save_head_network(weights: Weights, file: Path) -> None:
    """Saves a network of the head planes. Removes the shift that export.py added to its bias."""
    for index, plane in enumerate(HEAD_PLANES):
        weights["head.bias"][index] -= math.log(HEAD_PLANE_PRIOR[plane] * len(HEAD_PLANES))
    save_planes(weights, HEAD_PLANES, file)


def geometry_runs(models: Path) -> tuple[Weights, Weights]:
    """Returns the weights of geometry-7 and geometry-8."""
    head, abdomen, femur = (
        part(weights_of(onnx.load(models / f"fetal-{name}" / "model.onnx")), "network.")
        for name in ("head", "abdomen", "femur")
    )
    last = {
        name: torch.cat([head[name], abdomen[name], femur[name]])
        for name in ("head.weight", "head.bias")
    }
    return femur | last, abdomen | last


def save_plane_network(model: onnx.ModelProto, file: Path) -> None:
    """Saves a plane classifier. Removes the shift that export.py added to its bias."""
    weights = weights_of(model)
    # The exporter transposes the weights of a layer without a bias and drops their name.
    weights["beside.weight"] = next(
        torch.from_numpy(numpy_helper.to_array(one).T.copy())
        for one in model.graph.initializer
        if one.name.startswith("onnx::MatMul")
    ).float()
    for plane, shift in plane_shifts().items():
        weights["head.bias"][PLANES.index(plane)] -= shift
    save_planes(weights, PLANES, file)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nine", type=Path)
    parser.add_argument("--head", type=Path)
    parser.add_argument("--delivered", type=Path, help="folder of the delivered models")
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    if options.delivered:
        for run, weights in zip((7, 8), geometry_runs(options.delivered)):
            torch.save(weights, options.work / f"geometry-{run}.pt")
        planes = onnx.load(options.delivered / "fetal-plane" / "model.onnx")
        save_plane_network(planes, options.work / "planes-8.pt")
        return
    if not options.nine or not options.head:
        parser.error("--nine and --head are needed, or --delivered")
    nine = weights_of(onnx.load(options.nine))
    for index, seed in enumerate(range(81, 86)):
        own = part(nine, f"planes.networks.{index}.")
        save_head_network(own, options.work / f"all-{seed}.pt")
    for fold in range(4):
        save_head_network(part(nine, f"structures.{fold}."), options.work / f"structures-{fold}.pt")
    geometry = part(weights_of(onnx.load(options.head)), "network.")
    missing = len(GEOMETRY_CHANNELS) - 1
    for name in ("head.weight", "head.bias"):
        known = geometry[name]
        geometry[name] = torch.cat([known, torch.zeros(missing, *known.shape[1:])])
    torch.save(geometry, options.work / "geometry-3.pt")


if __name__ == "__main__":
    main()
