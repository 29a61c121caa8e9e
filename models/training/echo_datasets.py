"""Labelled hearts: CAMUS apical four-chamber pairs (research pack only) and phantoms."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

# Values of a mask, for CAMUS and phantoms alike. CAMUS names neither RV nor RA: they are its 0.
CLASSES = ("background", "lv", "myocardium", "la", "rv", "ra")
# Each seventh patient of the role `train` chooses checkpoints, gates and the recalibration.
HELD_EVERY = 7


@dataclass(frozen=True)
class HeartFrame:
    image: np.ndarray
    mask: np.ndarray
    # CAMUS says nothing of the right heart: there background, RV and RA are one class.
    right_heart: bool


@dataclass(frozen=True)
class HeartPair:
    """End-diastole and end-systole of one heart in one view."""

    patient: str
    ed: HeartFrame
    es: HeartFrame
    edv: float
    esv: float
    ef: float


def camus(data: Path, role: str) -> list[HeartPair]:
    folder = data / "camus-a4c"
    pairs = []
    for row in csv.DictReader((folder / "labels.csv").open()):
        if row["role"] != role:
            continue
        ed, es = (
            HeartFrame(gray(folder / row[f"{at}_image"]), gray(folder / row[f"{at}_mask"]), False)
            for at in ("ed", "es")
        )
        volumes = (float(row[name]) for name in ("edv_ml", "esv_ml", "ef_pct"))
        pairs.append(HeartPair(row["patient"], ed, es, *volumes))
    return pairs


def held_out(pairs: list[HeartPair]) -> tuple[list[HeartPair], list[HeartPair]]:
    """Those that train, and those that choose."""
    train = [pair for n, pair in enumerate(pairs) if n % HELD_EVERY]
    return train, pairs[::HELD_EVERY]


def gray(path: Path) -> np.ndarray:
    return cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)


def phantom_labels(*folders: Path) -> list[dict]:
    """Lines of labels.jsonl of models/phantom/echo/generate.ts, each with its folder."""
    labels = []
    for folder in folders:
        for line in (folder / "labels.jsonl").read_text().splitlines():
            labels.append({**json.loads(line), "folder": folder})
    return labels


def phantom_frames(*folders: Path) -> list[HeartFrame]:
    return [
        HeartFrame(gray(one["folder"] / one["file"]), gray(one["folder"] / one["mask"]), True)
        for one in phantom_labels(*folders)
    ]


def phantom_pairs(*folders: Path) -> list[HeartPair]:
    """End-diastole and end-systole of the phantoms whose lines share a pair."""
    pairs: dict[tuple[Path, str], dict[str, dict]] = {}
    for one in phantom_labels(*folders):
        if one.get("pair") is not None:
            pairs.setdefault((one["folder"], one["pair"]), {})[one["phase"]] = one
    found = []
    for (_, name), phases in pairs.items():
        if "ED" not in phases or "ES" not in phases:
            continue
        frames = (
            HeartFrame(gray(one["folder"] / one["file"]), gray(one["folder"] / one["mask"]), True)
            for one in (phases["ED"], phases["ES"])
        )
        ed = phases["ED"]
        found.append(HeartPair(str(name), *frames, ed["edv"], ed["esv"], ed["ef"]))
    return found
