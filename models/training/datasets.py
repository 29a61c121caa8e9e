"""The labelled images, one record each, and their split. All images of a pregnancy are in the same
part of the split. Nothing is copied: records point into the data folder given by --data."""

import csv
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from ellipse import Ellipse, ellipse_from_axes, ellipse_from_diameters, ellipse_from_outline

PLANE_OF_LABEL = {
    "Fetal abdomen": "abdominal",
    "Fetal femur": "femur",
    "Fetal thorax": "thorax",
}
PLANE_OF_BRAIN_LABEL = {
    "Trans-thalamic": "transthalamic",
    "Trans-ventricular": "transventricular",
    "Trans-cerebellum": "transcerebellar",
    "Other": "other",
}
# Classes of the network's logits. Those after `other` exist only as phantoms (models/phantom).
PLANES = (
    "transthalamic",
    "transventricular",
    "transcerebellar",
    "abdominal",
    "femur",
    "thorax",
    "midsagittal",
    "transperineal",
    "other",
    "cervix",
    "early-pregnancy",
    "amniotic-fluid",
    "placenta",
    "four-chamber",
)
HEAD_PLANES = ("transthalamic", "transventricular", "transcerebellar")


@dataclass
class Record:
    """One image with the labels available in its data set: `ellipse`, `ends`, `boxes` (pixels),
    `mask` (all regions in one picture) and `masks` (one picture each). `group` is the pregnancy.
    """

    dataset: str
    image: Path
    key: str
    split: str
    group: str = ""
    plane: str | None = None
    task: str | None = None
    ellipse: Ellipse | None = None
    ends: np.ndarray | None = None
    mm_per_px: float | None = None
    reference_mm: float | None = None
    mask: Path | None = None
    masks: dict[str, Path] | None = None
    boxes: dict[str, tuple[float, ...]] | None = None
    # Outputs of the teachers in head_distillation.py for a head.
    answer: np.ndarray | None = None
    seen: np.ndarray | None = None
    pixels: np.ndarray | None = field(default=None, repr=False)

    def gray(self) -> np.ndarray:
        """Returns the image as uint8 luminance; it is read only once."""
        if self.pixels is None:
            self.pixels = cv2.imread(str(self.image), cv2.IMREAD_GRAYSCALE)
        return self.pixels


def split_of(dataset: str, group: str) -> str:
    """Returns test (20 %), validation (10 %) or train. The choice depends only on a hash of the
    pregnancy, so no list has to be kept.
    """
    bucket = int(hashlib.sha256(f"{dataset}:{group}".encode()).hexdigest()[:8], 16) % 100
    if bucket < 20:
        return "test"
    return "validation" if bucket < 30 else "train"


def read_rows(path: Path) -> list[dict]:
    with path.open() as handle:
        return list(csv.DictReader(handle))


def hc18(data: Path) -> list[Record]:
    """Returns the HC18 heads with the sonographer's ellipse (van den Heuvel 2018)."""
    records = []
    for row in read_rows(data / "hc18/labels.csv"):
        outline = cv2.imread(str(data / "hc18" / row["outline"]), cv2.IMREAD_GRAYSCALE)
        records.append(
            Record(
                dataset="hc18",
                image=data / "hc18" / row["image"],
                key=row["image"],
                split=split_of("hc18", row["group"]),
                task="head",
                ellipse=ellipse_from_outline(outline),
                mm_per_px=float(row["mm_per_px"]),
                reference_mm=float(row["hc_mm"]),
            )
        )
    return records


def fetal_planes(data: Path) -> list[Record]:
    """Returns the FETAL_PLANES_DB planes (Burgos-Artizzu 2020) with landmarks (revision 8406d1f)."""
    landmarks = {row["image"]: row for row in read_rows(data / "fetal-planes/landmarks.csv")}
    records = []
    for row in read_rows(data / "fetal-planes/labels.csv"):
        plane = PLANE_OF_LABEL.get(row["plane"]) or PLANE_OF_BRAIN_LABEL[row["brain_plane"]]
        record = Record(
            dataset="fetal-planes",
            image=data / "fetal-planes" / row["image"],
            key=row["image"],
            split=split_of("fetal-planes", row["patient"]),
            group=row["patient"],
            plane=plane,
        )
        marks = landmarks.get(row["image"])
        if marks and row["resized"] == "0" and is_placed(marks, row["machine"]):
            add_landmarks(record, marks)
        records.append(record)
    return records


def is_placed(marks: dict, machine: str) -> bool:
    """Returns True if landmarks are where the image shows the structure. This is unknown for rows
    that were added later (an empty `inside`). By eye, their landmarks are correct, except on
    some heads imaged by the Aloka machine, where they are half the size of the head.
    """
    if marks["inside"] == "":
        return not (marks["part"] == "Head" and machine == "Aloka")
    return marks["inside"] == "1"


def add_landmarks(record: Record, marks: dict) -> None:
    def points(name: str) -> np.ndarray:
        return np.array([[float(marks[f"{name}_{i}_{axis}"]) for axis in "xy"] for i in (1, 2)])

    record.mm_per_px = float(marks["mm_per_px"])
    record.task = marks["part"].lower()
    if record.task == "femur":
        record.ends = points("fl")
        record.reference_mm = float(marks["fl_mm"])
        return
    across, along = ("tad", "apad") if record.task == "abdomen" else ("bpd", "ofd")
    record.ellipse = ellipse_from_diameters(points(across), points(along))
    record.reference_mm = float(marks["ac_mm" if record.task == "abdomen" else "hc_mm"])


def psfhs(data: Path) -> list[Record]:
    """Returns transperineal frames with masks of symphysis (1) and fetal head (2) (Chen 2024)."""
    records = []
    for image in sorted((data / "psfhs/images").iterdir()):
        number = int("".join(c for c in image.stem if c.isdigit()))
        # Neighbouring numbers are neighbouring video frames, so whole blocks are assigned to a
        # split.
        split = split_of("psfhs", str(number // 50))
        record = Record("psfhs", image, image.name, split, plane="transperineal")
        record.mask = data / "psfhs/masks" / image.with_suffix(".png").name
        records.append(record)
    return records


def midsagittal(data: Path) -> list[Record]:
    """Returns first-trimester mid-sagittal images with boxes (left, top, right, bottom) of
    structures (Cui and Dong 2022)."""
    boxes: dict[str, dict[str, tuple[float, ...]]] = {}
    for row in read_rows(data / "nt-midsagittal/boxes.csv"):
        sides = tuple(float(row[side]) for side in ("x_min", "y_min", "x_max", "y_max"))
        boxes.setdefault(Path(row["image"]).name, {})[row["structure"]] = sides
    records = []
    for image in sorted((data / "nt-midsagittal/images").iterdir()):
        split = split_of("nt-midsagittal", image.stem)
        record = Record("nt-midsagittal", image, image.name, split, plane="midsagittal")
        record.boxes = boxes.get(image.name)
        records.append(record)
    return records


def phantoms(*folders: Path) -> list[Record]:
    """Returns the frames of models/phantom/generate.ts with their exact labels."""
    return [
        phantom_record(folder, label)
        for folder in folders
        for label in json.loads((folder / "labels.json").read_text())
    ]


# Class of each simulator view that has a different name from its class.
CLASS_OF_VIEW = {
    "placenta-edge": "cervix",
    "crl-sagittal": "midsagittal",
    "fluid-sweep": "amniotic-fluid",
}


def phantom_record(folder: Path, label: dict) -> Record:
    plane = CLASS_OF_VIEW.get(label["plane"], label["plane"])
    record = Record("phantom", folder / label["file"], label["file"], "train", plane=plane)
    record.mm_per_px = label["mmPerPixel"]
    if plane not in PLANES:
        raise ValueError(f"{label['file']}: no class for the view {plane}")
    if label["plane"] == "transperineal":
        stem = folder / Path(label["file"]).stem
        record.masks = {
            name: stem.with_name(f"{stem.name}-{name}.mask.png") for name in ("symphysis", "head")
        }
    if plane == "midsagittal":
        record.boxes = {
            name: (ends[0]["x"], ends[0]["y"], ends[1]["x"], ends[1]["y"])
            for name, ends in label["points"].items()
            if name not in ("nuchal", "crl")
        }
    if "femur" in label:
        record.task = "femur"
        record.ends = np.array([[end["x"], end["y"]] for end in label["femur"]["ends"]])
        record.reference_mm = label["femur"]["flMm"]
        return record
    record.task = next((part for part in ("head", "abdomen") if part in label), None)
    if record.task is None:
        return record
    truth = label[record.task]
    drawn = truth["ellipse"]
    centre = drawn["centre"]
    record.ellipse = ellipse_from_axes(
        centre["x"], centre["y"], drawn["a"], drawn["b"], drawn["angle"]
    )
    record.reference_mm = truth["circumferenceMm"]
    return record
