"""Stores the weights of a network in half precision (IEEE 754 binary16), which halves the file.
Each weight tensor becomes binary16 followed by a Cast to binary32. A runtime folds the Cast once
when it loads the file. It then calculates in single precision as before, so the speed does not
change."""

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from torch import nn

# Smaller tensors (biases, group normalisation) stay in single precision. They are only a hundredth
# of a file, and the scale of a normalisation affects a whole channel.
SMALLEST = 1024
SUFFIX = "_half"


@torch.no_grad()
def round_weights(module: nn.Module) -> None:
    """Rounds the weights of a module as `store_half` does, so that PyTorch computes the same output
    as the file.
    """
    for parameter in module.parameters():
        if parameter.numel() >= SMALLEST:
            parameter.copy_(parameter.half().float())


def ring_image(size: tuple[int, int]) -> np.ndarray:
    """Returns a bright ring on a ramp, float32 (1, 1, height, width), by a formula that
    session.test.ts repeats."""
    x, y = np.arange(size[0])[None, :], np.arange(size[1])[:, None]
    radius = np.hypot((x - 130) / 80, (y - 95) / 60)
    ring = np.exp(-(((radius - 1) / 0.06) ** 2))
    return (0.8 * ring + 0.2 * x / size[0])[None, None].astype(np.float32)


def write_answer(file: Path, values: list[float]) -> None:
    """Writes about 24 evenly spaced values to the file (reference-output.json)."""
    every = max(1, len(values) // 24)
    answer = {"every": every, "values": [round(value, 5) for value in values[::every]]}
    file.write_text(json.dumps(answer) + "\n")


def store_half(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns the network with every large weight tensor stored as binary16.

    Raises ValueError if a weight is too large for binary16 (beyond 65,504).
    """
    graph = model.graph
    casts = []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size < SMALLEST:
            continue
        if np.abs(values).max() > np.finfo(np.float16).max:
            raise ValueError(f"{tensor.name} does not fit in half precision")
        name = tensor.name
        tensor.CopyFrom(numpy_helper.from_array(values.astype(np.float16), name + SUFFIX))
        casts.append(helper.make_node("Cast", [name + SUFFIX], [name], to=TensorProto.FLOAT))
    for cast in reversed(casts):
        graph.node.insert(0, cast)
    onnx.checker.check_model(model)
    return model


def answer_of(model: onnx.ModelProto) -> list[float]:
    """Returns the network's output for the ring image, computed by onnx's own evaluator, which
    shares no code with onnxruntime.
    """
    shape = model.graph.input[0].type.tensor_type.shape.dim
    image = ring_image((shape[3].dim_value, shape[2].dim_value))
    (values,) = ReferenceEvaluator(model).run(None, {model.graph.input[0].name: image})
    return values.flatten().tolist()


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Stores delivered networks in half precision, and renews their reference output."
    )
    parser.add_argument("models", type=Path, nargs="+", help="model.onnx files, rewritten in place")
    for file in parser.parse_args().models:
        before = file.stat().st_size
        model = store_half(onnx.load(file))
        onnx.save(model, file)
        write_answer(file.parent / "reference-output.json", answer_of(model))
        print(f"{file}: {before:,} bytes, now {file.stat().st_size:,}")


if __name__ == "__main__":
    main()
