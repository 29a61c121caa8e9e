"""Writes models/<id>/split.json: the images not used to train any network, by data set and split."""

import argparse
import json
from pathlib import Path

from datasets import HEAD_PLANES, Record, fetal_planes, hc18, midsagittal, psfhs


def held_out(records: list[Record]) -> dict:
    split: dict = {}
    for record in records:
        if record.split != "train":
            split.setdefault(record.dataset, {}).setdefault(record.split, []).append(record.key)
    return split


def only_test(split: dict) -> dict:
    """Returns the split of a model trained on everything outside the test split (head_planes.py)."""
    return {dataset: {"test": own["test"]} for dataset, own in split.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=Path, default=Path(__file__).parents[1])
    options = parser.parse_args()
    heads, planes = hc18(options.data), fetal_planes(options.data)
    symphysis, sagittal = psfhs(options.data), midsagittal(options.data)
    splits = {
        "fetal-plane": held_out(planes + symphysis + sagittal + heads),
        "fetal-brain-plane": only_test(held_out([r for r in planes if r.plane in HEAD_PLANES])),
        "symphysis-head": held_out(symphysis),
        "fetal-midsagittal": held_out(sagittal),
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
