"""Trains one recipe from recipes.yaml and writes its weights to WORK/<recipe>.pt.

python models/training/train.py geometry-2 --work WORK

WORK contains the phantoms and the weights from which the recipe starts, each under its name. The
data sets are read from --data. `train.py --list` prints the recipes in the order in which they ran.
"""

import argparse
from pathlib import Path
from types import ModuleType
from typing import Any

import echo_chambers
import echo_ejection_fraction
import echo_parasternal
import echo_views
import fetal_structures
import geometry
import head_border
import head_distillation
import head_planes
import head_structures
import plane_head
import planes
import regions
import uterus
from average_weights import average
from loop import run, settle
from recipes import PARENTS, PHANTOM_SETS, read_recipes

# A topic has DEFAULTS, add_arguments(parser) and prepare(options), which returns a Training.
TOPICS: dict[str, ModuleType] = {
    "geometry": geometry,
    "head-border": head_border,
    "planes": planes,
    "plane-head": plane_head,
    "head-planes": head_planes,
    "head-structures": head_structures,
    "head-distillation": head_distillation,
    "regions": regions,
    "uterus": uterus,
    "fetal-structures": fetal_structures,
    "echo-chambers": echo_chambers,
    "echo-parasternal": echo_parasternal,
    "echo-ejection-fraction": echo_ejection_fraction,
    "echo-views": echo_views,
}


def topic_parser(topic: ModuleType) -> argparse.ArgumentParser:
    """Returns a parser of the arguments that a recipe of this topic may give."""
    minutes, rate, batch = topic.DEFAULTS
    parser = argparse.ArgumentParser(prog=topic.__name__, exit_on_error=False)
    parser.add_argument("--minutes", type=float, default=minutes)
    parser.add_argument("--steps", type=int, help="number of steps, however long they take")
    parser.add_argument("--rate", type=float, default=rate)
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--phantoms", type=Path, nargs="*", default=[])
    parser.add_argument("--resume", type=Path, help="weights of this topic to train on from")
    parser.add_argument("--encoder", type=Path, help="weights to start the encoder from")
    parser.add_argument("--geometry", type=Path, help="finds heads, and weights to start from")
    topic.add_arguments(parser)
    return parser


def command_line(recipe: dict[str, Any], work: Path) -> list[str]:
    """Returns the settings of a recipe as arguments. Names of weights and phantoms become paths in
    `work`.

    Raises FileNotFoundError if weights or phantoms are missing.
    """
    words: list[str] = []
    for name, value in recipe.items():
        if name in ("topic", "note"):
            continue
        words.append(f"--{name}")
        values = value if isinstance(value, list) else [value]
        if name in PARENTS:
            values = [existing(work / f"{one}.pt", "train it first") for one in values]
        elif name in PHANTOM_SETS:
            values = [existing(work / one, "generate them first") for one in values]
        elif name == "labels":
            values = [Path(__file__).with_name(value)]
        words += [str(one) for one in values if one is not True]
    return words


def existing(path: Path, otherwise: str) -> Path:
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: {otherwise}")
    return path


def main() -> None:
    recipes = read_recipes()["recipes"]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipe", nargs="?", choices=list(recipes), metavar="RECIPE")
    parser.add_argument("--work", type=Path, help="folder of weights and phantoms")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    if given.list or not given.recipe:
        print("\n".join(recipes))
        return
    if not given.work:
        parser.error("--work is needed")
    recipe = recipes[given.recipe]
    out = given.work / f"{given.recipe}.pt"
    if "average" in recipe:
        parents = [
            existing(given.work / f"{one}.pt", "train it first") for one in recipe["average"]
        ]
        average(*parents, recipe["share"], out)
        return
    topic = TOPICS[recipe["topic"]]
    options = topic_parser(topic).parse_args(command_line(recipe, given.work))
    options.data, options.out = given.data, out
    settle(options.seed)
    run(topic.prepare(options), options)


if __name__ == "__main__":
    main()
