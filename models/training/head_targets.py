"""Positions, on the grid of HeadStructureNetwork, of the structures that a reader located on a
head."""

import numpy as np

from ellipse import Ellipse, ellipse_from_axes
from head_crop import CROP_HEIGHT, CROP_WIDTH
from head_readings import Reading, ellipse_between, ellipse_in
from network import STRUCTURE_STRIDE, STRUCTURES

COLUMNS, ROWS = CROP_WIDTH // STRUCTURE_STRIDE, CROP_HEIGHT // STRUCTURE_STRIDE
# Maps pixels of the crop to cells of the grid.
TO_GRID = np.array([[1, 0, -(STRUCTURE_STRIDE - 1) / 2], [0, 1, -(STRUCTURE_STRIDE - 1) / 2]])
TO_GRID /= STRUCTURE_STRIDE
# In pixels of the levelled crop. CAVUM: half axes of the cavum, of which a reader marked only the
# centre. CEREBELLUM_THICKNESS: used if the reader marked none. LEAST, LEAST_CHOROID: minimum half
# axes, so that a structure covers at least one cell. CISTERNA_WIDTH, ATRIUM_WIDTH: half the width
# of the ellipse drawn around the line that the reader marked.
CAVUM = (14, 9)
CEREBELLUM_THICKNESS = 18
LEAST, LEAST_CHOROID = 8, 6
CISTERNA_WIDTH, ATRIUM_WIDTH = 14, 9


def between(ends: np.ndarray, beyond: float, half_width: float) -> Ellipse:
    """Returns an ellipse along the line between two ends, extended by `beyond` at each end."""
    along = ends[1] - ends[0]
    half = max(np.hypot(*along) / 2 + beyond, LEAST)
    return ellipse_from_axes(*ends.mean(0), half, half_width, np.arctan2(*along[::-1]))


def regions(reading: Reading) -> dict[str, list[Ellipse]]:
    """Returns the structures that were seen, in pixels of the levelled crop."""
    found: dict[str, list[Ellipse]] = {}
    if (cavum := reading.entry.get("csp")) is not None:
        found["csp"] = [ellipse_from_axes(*cavum, *CAVUM, 0.0)]
    if (thalami := reading.box("thalami")) is not None:
        found["thalami"] = [ellipse_in(thalami)]
    if (cerebellum := reading.ends("cerebellum")) is not None:
        thick = reading.entry["cerebellum"].get("thick") or CEREBELLUM_THICKNESS
        found["cerebellum"] = [ellipse_between(cerebellum, max(LEAST, thick / 2))]
    if (cisterna := reading.ends("cisterna-magna")) is not None:
        found["cisterna-magna"] = [between(cisterna, 3, CISTERNA_WIDTH)]
    ventricle = []
    if (choroid := reading.box("choroid")) is not None:
        ventricle.append(ellipse_in(choroid, LEAST_CHOROID))
    if (atrium := reading.ends("atrium")) is not None:
        ventricle.append(between(atrium, 2, ATRIUM_WIDTH))
    return found | ({"ventricle": ventricle} if ventricle else {})


def in_front(side: str, view: np.ndarray) -> np.ndarray:
    """Returns a map that is 1 on the half of the head that contains the forehead: the `left` or
    `right` half of the levelled crop."""
    middle = np.array([(CROP_WIDTH - 1) / 2, (CROP_HEIGHT - 1) / 2])
    forward = view[:, 0] if side == "right" else -view[:, 0]
    centre = TO_GRID[:, :2] @ (view[:, :2] @ middle + view[:, 2]) + TO_GRID[:, 2]
    y, x = np.mgrid[0:ROWS, 0:COLUMNS]
    return (x - centre[0]) * forward[0] + (y - centre[1]) * forward[1] > 0


def draw_structures(reading: Reading | None, view: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the maps (structures, rows, columns) of one view, and whether each map counts in the
    loss. `view` maps the levelled crop to the view of the head. Without a reading, no map
    counts. The map of the front does not count if the side of the front was unclear."""
    maps = np.zeros((len(STRUCTURES), ROWS, COLUMNS), np.float32)
    judged = np.full(len(STRUCTURES), reading is not None, np.float32)
    if reading is None:
        return maps, judged
    for name, ellipses in regions(reading).items():
        for ellipse in ellipses:
            drawn = ellipse.mapped(view).mapped(TO_GRID).coverage(COLUMNS, ROWS)
            maps[STRUCTURES.index(name)] = np.maximum(maps[STRUCTURES.index(name)], drawn)
    front = STRUCTURES.index("front")
    side = reading.entry["front"]
    if side == "unclear":
        judged[front] = 0
    else:
        maps[front] = in_front(side, view)
    return maps, judged
