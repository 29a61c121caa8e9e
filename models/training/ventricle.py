"""The left ventricle in a mask: its pose, the view cropped to this pose, and its volume. Pose and
view are the same as in pipelines/echo/locate/ventricle-pose.ts.
"""

import cv2
import numpy as np

from echo_datasets import CLASSES

LV, MYOCARDIUM, LA = (CLASSES.index(name) for name in ("lv", "myocardium", "la"))
CROP_SIZE = 128
# Side length of the view, in lengths of the ventricle's long axis.
CROP_LENGTHS = 1.7


def pose_of(mask: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Returns the centre of the cavity, the direction from base to apex, and the length of the
    ellipse with the same moments."""
    rows, columns = np.nonzero(mask == LV)
    centre = np.array([columns.mean(), rows.mean()])
    xx, yy = columns.var(), rows.var()
    xy = ((columns - centre[0]) * (rows - centre[1])).mean()
    axis = 0.5 * np.arctan2(2 * xy, xx - yy)
    wall_rows, wall_columns = np.nonzero(mask == MYOCARDIUM)
    wall = np.array([wall_columns.mean(), wall_rows.mean()]) - centre
    if wall @ [np.cos(axis), np.sin(axis)] < 0:
        axis += np.pi
    variance = (xx + yy) / 2 + np.hypot((xx - yy) / 2, xy)
    return centre, axis, 4 * np.sqrt(variance)


def crop_matrix(pose: tuple[np.ndarray, float, float], size: int = CROP_SIZE) -> np.ndarray:
    """Returns the 2x3 map from pixels of the view, apex up, to pixels of the source."""
    centre, axis, length = pose
    step = CROP_LENGTHS * length / size
    up = np.array([np.cos(axis), np.sin(axis)])
    right = np.array([-up[1], up[0]])
    linear = step * np.stack([right, -up], 1)
    middle = (size - 1) / 2
    return np.concatenate([linear, (centre - linear @ [middle, middle])[:, None]], 1)


def volume_of(mask: np.ndarray) -> float:
    """Returns the single-plane area-length volume 8 A^2 / (3 pi L) in cubic pixels (Dodge 1960); 0
    without LV. L is the distance from the middle of the border with the LA to the farthest pixel
    of the cavity."""
    cavity = (mask == LV).astype(np.uint8)
    area = int(cavity.sum())
    if area == 0:
        return 0.0
    rows, columns = np.nonzero(cavity)
    atrium = cv2.dilate((mask == LA).astype(np.uint8), np.ones((3, 3), np.uint8))
    base_rows, base_columns = np.nonzero(cavity & atrium)
    if len(base_rows) == 0:
        low = rows >= rows.max() - 1
        base_rows, base_columns = rows[low], columns[low]
    length = np.hypot(columns - base_columns.mean(), rows - base_rows.mean()).max() + 0.5
    return 8 * area**2 / (3 * np.pi * length)
