"""Tests that recipes.yaml is complete, that all files it lists exist, and that README.md was
generated from its current version.
"""

from pathlib import Path

import onnx
import pytest
import yaml
from onnx import numpy_helper

from export import EXPORTS
from half_precision import SMALLEST
from recipes import FOLDER, generated, read_recipes, with_generated
from train import TOPICS, command_line, topic_parser

READ = read_recipes()
TRAINED = {name: one for name, one in READ["recipes"].items() if "average" not in one}


def test_readme_is_generated_from_the_recipes() -> None:
    readme = (FOLDER / "README.md").read_text()
    assert with_generated(readme, generated(READ)) == readme, "python recipes.py --write"


def test_every_model_of_the_registry_has_weights_and_an_export() -> None:
    registry = yaml.safe_load((FOLDER.parent / "registry.yaml").read_text())
    models = {model["id"] for model in registry["models"]}
    assert models == set(READ["models"]) == set(EXPORTS)


@pytest.mark.parametrize("name", TRAINED)
def test_a_recipe_gives_only_what_its_topic_takes(name: str, tmp_path: Path) -> None:
    recipe = TRAINED[name]
    for one in [*READ["recipes"], *READ["phantoms"]]:
        (tmp_path / one).touch()
        (tmp_path / f"{one}.pt").touch()
    options = topic_parser(TOPICS[recipe["topic"]]).parse_args(command_line(recipe, tmp_path))
    assert options.seed == recipe.get("seed", 1)


def test_a_recipe_whose_parent_is_missing_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"geometry-1\.pt is missing: train it first"):
        command_line(READ["recipes"]["geometry-2"], tmp_path)


@pytest.mark.parametrize("model", READ["models"])
def test_weights_are_stored_in_half_precision(model: str) -> None:
    stored = onnx.load(FOLDER.parent / model / "model.onnx")
    large = [t for t in stored.graph.initializer if numpy_helper.to_array(t).size >= SMALLEST]
    assert large
    assert all(t.data_type == onnx.TensorProto.FLOAT16 for t in large)
