"""Labelled hearts: CAMUS apical four-chamber pairs (research pack only) and phantoms."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from sector import sector_of

# Values of a mask, the same for CAMUS and phantoms. CAMUS does not label RV and RA; their pixels
# are 0.
CLASSES = ("background", "lv", "myocardium", "la", "rv", "ra")
# Mask values in parasternal and subcostal phantom views.
STRUCTURES = (*CLASSES, "aorta", "pulmonary-artery", "effusion")
# Every seventh patient with the role `train` is used to choose checkpoints, gates and the
# recalibration.
HELD_EVERY = 7


@dataclass(frozen=True)
class HeartFrame:
    image: np.ndarray
    mask: np.ndarray
    # False for CAMUS, which does not label the right heart, so that background, RV and RA are one
    # class.
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
    """Returns the pairs for training and those for choosing checkpoints."""
    train = [pair for n, pair in enumerate(pairs) if n % HELD_EVERY]
    return train, pairs[::HELD_EVERY]


def gray(path: Path) -> np.ndarray:
    return cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)


def phantom_labels(*folders: Path) -> list[dict]:
    """Returns the label lines written by models/phantom/echo/generate.ts, each with its folder."""
    return [
        {**json.loads(line), "folder": folder}
        for folder in folders
        for file in sorted(folder.glob("labels*.jsonl"))
        for line in file.read_text().splitlines()
    ]


def phantom_frame(label: dict, known: int = len(CLASSES)) -> HeartFrame:
    """Reads the image and the mask of one label. Mask values of `known` and above become
    background; by default these are the aorta and the structures after it in `STRUCTURES`."""
    mask = gray(label["folder"] / label["mask"])
    mask[mask >= known] = 0
    return HeartFrame(gray(label["folder"] / label["file"]), mask, True)


def within_sector(frames: list[HeartFrame]) -> list[HeartFrame]:
    """Crops the frames of a clip to the fan found in the pixel-wise maximum of all frames."""
    fan = sector_of(np.maximum.reduce([frame.image for frame in frames]))
    return [HeartFrame(one.image[fan], one.mask[fan], one.right_heart) for one in frames]


def phantom_frames(*folders: Path, known: int = len(CLASSES)) -> list[HeartFrame]:
    """Returns every phantom cropped to its fan, as the product passes it to the network."""
    return [within_sector([phantom_frame(one, known)])[0] for one in phantom_labels(*folders)]


def phantom_pairs(*folders: Path) -> list[HeartPair]:
    """Returns both phases of each phantom that shows cavity and wall; volumes are in-plane."""
    pairs: dict[str, dict[str, dict]] = {}
    for one in phantom_labels(*folders):
        pairs.setdefault(f"{one['view']} {one['pair']}", {})[one["phase"]] = one
    found = []
    for name, phases in pairs.items():
        ed, es = phases.get("ED"), phases.get("ES")
        if not ed or not es or "planeVolumeMl" not in ed or "planeVolumeMl" not in es:
            continue
        frames = within_sector([phantom_frame(ed), phantom_frame(es)])
        if not all(np.isin((1, 2), frame.mask).all() for frame in frames):
            continue
        edv, esv = ed["planeVolumeMl"], es["planeVolumeMl"]
        found.append(HeartPair(name, *frames, edv, esv, 100 * (1 - esv / edv)))
    return found
