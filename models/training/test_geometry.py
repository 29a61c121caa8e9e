"""Tests the geometry that the product also calculates in TypeScript. Both must agree with
geometry-vectors.json."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch

from ellipse import Ellipse, ellipse_from_axes
from head_border import ANSWERED, border_strip, frame_of, harmonics_of, moved, offsets_to
from head_crop import crop_matrix, warp_crop
from letterbox import letterbox, letterbox_matrix

VECTORS = json.loads(Path(__file__).with_name("geometry-vectors.json").read_text())


def pattern(width: int, height: int) -> np.ndarray:
    """Returns an image with detail at every scale, by a formula that the TypeScript test repeats."""
    x, y = np.arange(width)[None, :], np.arange(height)[:, None]
    return ((x * 7 + y * 13 + ((x * y) % 31) * 5) % 256).astype(np.uint8)


def waves(width: int, height: int) -> np.ndarray:
    """Returns a smooth image, by a formula that the TypeScript test repeats."""
    x, y = np.arange(width)[None, :], np.arange(height)[:, None]
    return np.floor(127.5 + 60 * np.sin(x / 9) + 60 * np.cos(y / 7)).astype(np.uint8)


@pytest.mark.parametrize("case", VECTORS["letterbox"], ids=lambda case: str(case["image"]))
def test_letterbox(case: dict) -> None:
    size = tuple(case["network"])
    matrix = letterbox_matrix(*case["image"], size)
    assert np.diag(matrix) == pytest.approx(case["scale"], abs=1e-7)
    assert matrix[:, 2] == pytest.approx(case["shift"], abs=1e-5)
    levels = letterbox(pattern(*case["image"]), size) * 255
    assert levels.sum() == pytest.approx(case["sum"], rel=case["sumWithin"])
    for column, row, level in case["levels"]:
        assert levels[row, column] == pytest.approx(level, abs=1.01)


@pytest.mark.parametrize("case", VECTORS["headCrop"], ids=lambda case: str(case["head"]))
def test_head_crop(case: dict) -> None:
    head = ellipse_from_axes(*case["head"])
    to_image = cv2.invertAffineTransform(crop_matrix(head))
    for place in case["places"]:
        found = to_image[:, :2] @ place["crop"] + to_image[:, 2]
        assert found == pytest.approx(place["image"], abs=1e-3)
    image = waves(*case["image"])
    for name, side in (("levels", 1), ("mirrored", -1)):
        crop = warp_crop(image, crop_matrix(head, flips=(side, 1)))
        for column, row, level in case[name]:
            assert crop[row, column] == pytest.approx(level, abs=2)


@pytest.mark.parametrize("case", VECTORS["ellipse"], ids=lambda case: str(case["ellipse"]))
def test_ellipse(case: dict) -> None:
    ellipse = ellipse_from_axes(*case["ellipse"])
    assert ellipse.circumference() == pytest.approx(case["circumference"], rel=1e-4)
    x, y = case["scale"]
    scaled = ellipse.mapped(np.array([[x, 0, 0], [0, y, 0]]))
    assert scaled.semi_axes() == pytest.approx(case["scaledAxes"], abs=1e-4)
    for point in case["points"]:
        found = ellipse.distance(*(np.array([value]) for value in point["at"]))
        assert found == pytest.approx(point["distance"], abs=1e-3)


@pytest.mark.parametrize("case", VECTORS["headBorder"], ids=lambda case: str(case["head"]))
def test_head_border(case: dict) -> None:
    head = ellipse_from_axes(*case["head"])
    frame = frame_of(head)
    strip = border_strip(waves(*case["image"]), head.centre, frame) * 255
    for column, row, level in case["levels"]:
        assert strip[row, column] == pytest.approx(level, abs=0.5)
    centre, linear = moved(head.centre, frame, np.array(case["harmonics"]))
    found = Ellipse(centre, linear @ linear.T)
    assert found.centre == pytest.approx(case["moved"]["centre"], abs=1e-3)
    assert found.semi_axes() == pytest.approx(case["moved"]["axes"], abs=1e-3)


def test_the_offsets_of_a_moved_head_give_back_what_moved_it() -> None:
    head = ellipse_from_axes(300, 240, 150, 110, 0.4)
    harmonics = np.array([0.004, -0.003, 0.002, 0.003, -0.002])
    frame = frame_of(head)
    centre, linear = moved(head.centre, frame, harmonics)
    offsets = offsets_to(Ellipse(centre, linear @ linear.T), head.centre, frame)
    answer = torch.zeros(1, 2, ANSWERED)
    answer[0, 0] = torch.from_numpy(offsets)
    assert harmonics_of(answer)[0].numpy() == pytest.approx(harmonics, abs=1e-4)
