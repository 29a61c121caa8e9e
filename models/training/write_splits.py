"""Writes models/<id>/split.json: the images no weight has seen, by data set and split."""

import argparse
import json
from pathlib import Path

from datasets import Record, fetal_planes, foreign_ultrasound, hc18


def held_out(records: list[Record]) -> dict:
    split: dict = {}
    for record in records:
        if record.split != "train":
            split.setdefault(record.dataset, {}).setdefault(record.split, []).append(record.key)
    return split


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=Path, default=Path(__file__).parents[1])
    options = parser.parse_args()
    heads, planes = hc18(options.data), fetal_planes(options.data)
    foreign = foreign_ultrasound(options.data)
    splits = {
        "fetal-plane": held_out(planes + foreign + heads),
        "fetal-head": held_out(heads + [r for r in planes if r.task == "head"]),
        "fetal-abdomen": held_out([r for r in planes if r.task == "abdomen"]),
        "fetal-femur": held_out([r for r in planes if r.task == "femur"]),
    }
    for model, split in splits.items():
        folder = options.models / model
        folder.mkdir(exist_ok=True)
        (folder / "split.json").write_text(json.dumps(split, indent=1) + "\n")


if __name__ == "__main__":
    main()
