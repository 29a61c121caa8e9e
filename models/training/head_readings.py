"""Readings made by eye on real heads (head-readings.json), blind to the labels in their data sets.

The readers are AI agents working on this project, not clinicians: their readings are good enough to
teach a network where to look, but are no reference for its measurements.

Positions are pixels of the levelled crop (head_crop.py) of the given head. Structures missing from
an entry were not seen.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import cv2
import numpy as np

from datasets import Record
from ellipse import Ellipse, ellipse_from_axes
from head_crop import crop_matrix

FILE = Path(__file__).with_name("head-readings.json")


@dataclass
class Reading:
    """One entry of the file, and the head to which its positions refer."""

    entry: dict
    head: Ellipse

    @cached_property
    def to_image(self) -> np.ndarray:
        """Returns the 2x3 map from the levelled crop to the image."""
        return cv2.invertAffineTransform(crop_matrix(self.head))

    def ends(self, structure: str) -> np.ndarray | None:
        """Returns the two ends (2, 2) of `cerebellum`, `cisterna-magna` or `atrium`, in the crop."""
        found = self.entry.get(structure)
        if found is None:
            return None
        return np.array(found["ends"] if structure == "cerebellum" else found, float)

    def box(self, structure: str) -> np.ndarray | None:
        """Returns left, top, right, bottom of `thalami` or `choroid`, in the crop."""
        found = self.entry.get(structure)
        if found is None:
            return None
        corners = np.array(found, float).reshape(2, 2)
        return np.concatenate([corners.min(0), corners.max(0)])


def readings() -> dict[str, Reading]:
    """Returns the readings, keyed by data set and image as in `name_of`."""
    return {
        entry["image"]: Reading(entry, ellipse_from_axes(*entry["head"]))
        for entry in json.loads(FILE.read_text())
    }


def name_of(record: Record) -> str:
    return f"{record.dataset}/{record.key}"


def ellipse_between(ends: np.ndarray, half_width: float) -> Ellipse:
    """Returns the ellipse with one axis from end to end; the other axis is twice `half_width`."""
    along = ends[1] - ends[0]
    return ellipse_from_axes(
        *ends.mean(0), np.hypot(*along) / 2, half_width, np.arctan2(*along[::-1])
    )


def ellipse_in(box: np.ndarray, least: float = 0.0) -> Ellipse:
    """Returns the ellipse inscribed in a box (left, top, right, bottom); its half axes are at least
    `least`.
    """
    half = (box[2:] - box[:2]) / 2
    return ellipse_from_axes(*(box[:2] + half), *np.maximum(half, least), 0.0)
