"""Reads recipes.yaml, and writes the part of README.md that is generated from it.

python models/training/recipes.py --write     after a change of recipes.yaml
python models/training/recipes.py --check     fails if README.md is out of date
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
BEGIN = "<!-- recipes: written by recipes.py --write -->"
END = "<!-- /recipes -->"
# Settings that refer to the weights of other recipes, or to sets of phantoms.
PARENTS = (
    "resume",
    "start",
    "encoder",
    "geometry",
    "plane-teachers",
    "structure-teachers",
)
PHANTOM_SETS = ("phantoms", "others", "held", "fetal-phantoms")


def read_recipes(file: Path = FOLDER / "recipes.yaml") -> dict[str, dict[str, Any]]:
    """Returns `phantoms`, `recipes` and `models` by name.

    Raises ValueError if a recipe refers to weights or phantoms that the file lacks, or to the
    weights of a later recipe.
    """
    read = yaml.safe_load(file.read_text())
    known: set[str] = set()
    for name, recipe in read["recipes"].items():
        # YAML 1.1 reads 7e-4 as text, because its floats need a decimal point.
        for key in ("rate", "share", "phantom-share"):
            if key in recipe:
                recipe[key] = float(recipe[key])
        if missing := [one for one in parents_of(recipe) if one not in known]:
            raise ValueError(
                f"{name} starts from {', '.join(missing)}, which no earlier recipe makes"
            )
        if missing := [one for one in phantoms_of(recipe) if one not in read["phantoms"]]:
            raise ValueError(f"{name} is shown {', '.join(missing)}, which is no set of phantoms")
        known.add(name)
    if missing := [
        one for used in read["models"].values() for one in listed(used) if one not in known
    ]:
        raise ValueError(f"no recipe makes {', '.join(missing)}")
    return read


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def parents_of(recipe: dict[str, Any]) -> list[str]:
    """Returns the recipes on whose weights this one depends."""
    return [one for key in (*PARENTS, "average") for one in listed(recipe.get(key, []))]


def phantoms_of(recipe: dict[str, Any]) -> list[str]:
    return [one for key in PHANTOM_SETS for one in listed(recipe.get(key, []))]


def settings_of(recipe: dict[str, Any]) -> str:
    """Returns the settings of a recipe without its parents and its phantoms."""
    apart = {"topic", "note", "average", *PARENTS, *PHANTOM_SETS}
    shown = [
        key
        if value is True
        else f"{key} {value:g}"
        if isinstance(value, float)
        else f"{key} {' and '.join(str(one) for one in listed(value))}"
        for key, value in recipe.items()
        if key not in apart
    ]
    return ", ".join(shown)


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def phantom_commands(phantoms: dict[str, str]) -> list[str]:
    commands = {name: made for name, made in phantoms.items() if made.startswith("models/")}
    others = {name: made for name, made in phantoms.items() if name not in commands}
    return [
        "```",
        *(f"node {made} --out $WORK/{name}" for name, made in commands.items()),
        "```",
        "",
        "Sets whose command was not kept:",
        "",
        *(f"- {name}: {made}." for name, made in others.items()),
    ]


def generated(read: dict[str, dict[str, Any]]) -> str:
    """Returns the commands that make phantoms, the table of recipes and the table of models."""
    recipes = [
        row(
            f"`{name}`",
            recipe.get("topic", "average"),
            ", ".join(dict.fromkeys(parents_of(recipe))),
            ", ".join(phantoms_of(recipe)),
            settings_of(recipe),
            recipe.get("note", ""),
        )
        for name, recipe in read["recipes"].items()
    ]
    return "\n".join(
        [
            "### Phantoms",
            "",
            *phantom_commands(read["phantoms"]),
            "",
            "### Recipes",
            "",
            "`python models/training/train.py RECIPE --work $WORK`, in this order.",
            "",
            row("recipe", "topic", "starts from", "phantoms", "settings", "what differed"),
            row(*["---"] * 6),
            *recipes,
            "",
            "### Models",
            "",
            "`python models/training/export.py MODEL --work $WORK`.",
            "",
            row("model", "weights"),
            row("---", "---"),
            *(
                row(f"`{model}`", ", ".join(f"`{one}`" for one in listed(weights)))
                for model, weights in read["models"].items()
            ),
        ]
    )


def with_generated(readme: str, text: str) -> str:
    """Returns a README with its generated part replaced."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true")
    action.add_argument("--check", action="store_true")
    options = parser.parse_args()
    file = FOLDER / "README.md"
    readme = file.read_text()
    fresh = with_generated(readme, generated(read_recipes()))
    if options.write:
        file.write_text(fresh)
    elif fresh != readme:
        sys.exit("models/training/README.md is stale: python models/training/recipes.py --write")


if __name__ == "__main__":
    main()
