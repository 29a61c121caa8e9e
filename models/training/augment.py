"""Random views of an image: affine placement and photometric appearance."""

import cv2
import numpy as np

from letterbox import HEIGHT, WIDTH, letterbox_matrix


def random_affine(
    rng: np.random.Generator,
    width: int,
    height: int,
    free_rotation: float,
    strength: float = 1.0,
    size: tuple[int, int] = (WIDTH, HEIGHT),
    upright: bool = False,
) -> np.ndarray:
    """Returns the 2x3 map from source to network: the letterbox, then rotation, zoom, stretch,
    shift and mirroring."""
    if rng.random() < free_rotation:
        angle = rng.uniform(-np.pi, np.pi)
    else:
        angle = rng.normal(0, 0.25 * strength)
    zoom = np.exp(rng.normal(-0.02, 0.17 * strength))
    stretch = np.exp(rng.normal(0, 0.06 * strength))
    mirror_x = -1 if rng.random() < 0.5 else 1
    mirror_y = -1 if not upright and rng.random() < 0.15 else 1
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    linear = rotation @ np.diag([zoom * stretch * mirror_x, zoom / stretch * mirror_y])
    centre = np.array([(size[0] - 1) / 2, (size[1] - 1) / 2])
    shift = rng.normal(0, 0.07 * strength, 2) * size
    view = np.concatenate([linear, (centre + shift - linear @ centre)[:, None]], 1)
    base = letterbox_matrix(width, height, size)
    return np.concatenate(
        [view[:, :2] @ base[:, :2], (view[:, :2] @ base[:, 2] + view[:, 2])[:, None]], 1
    )


def warp(
    gray: np.ndarray, matrix: np.ndarray, size: tuple[int, int] = (WIDTH, HEIGHT)
) -> np.ndarray:
    """Warps a uint8 image to float32 of a network's size in 0..255.

    It is warped at twice the size and averaged down, which is close to the area average of the
    letterbox.
    """
    double = np.array([[2.0, 0, 0.5], [0, 2.0, 0.5]])
    twice = np.concatenate(
        [double[:, :2] @ matrix[:, :2], (double[:, :2] @ matrix[:, 2] + double[:, 2])[:, None]], 1
    )
    big = cv2.warpAffine(gray, twice, (2 * size[0], 2 * size[1]), flags=cv2.INTER_LINEAR)
    return cv2.resize(big, size, interpolation=cv2.INTER_AREA).astype(np.float32)


def random_look(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    """Applies gamma, gain, speckle, blur, noise, a shadow, covered areas and marks, each at random,
    to an image (0..255 in, 0..1 out)."""
    height, width = image.shape
    x = image / 255
    if rng.random() < 0.8:
        x = np.power(x, np.exp(rng.normal(0, 0.3))) * np.exp(rng.normal(0, 0.25))
    if rng.random() < 0.3:
        gain = np.linspace(*np.exp(rng.normal(0, 0.4, 2)), height, dtype=np.float32)
        x = x * gain[:, None]
    if rng.random() < 0.35:
        grain = rng.standard_normal((height, width)).astype(np.float32)
        sigma = rng.uniform(0.5, 1.6)
        grain = cv2.GaussianBlur(grain, (0, 0), sigma) * sigma * 3
        x = x * (1 + rng.uniform(0.05, 0.35) * grain)
    if rng.random() < 0.2:
        x = cv2.GaussianBlur(x.astype(np.float32), (0, 0), rng.uniform(0.4, 1.2))
    if rng.random() < 0.15:
        x = x + rng.normal(0, rng.uniform(0.01, 0.05), x.shape)
    if rng.random() < 0.25:
        x = x * shadow(rng, height, width)
    x = np.clip(x, 0, 1).astype(np.float32)
    if rng.random() < 0.3:
        cover(rng, x)
    if rng.random() < 0.25:
        marks(rng, x)
    return x


def shadow(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Draws a dark acoustic shadow that widens downwards from the top."""
    columns = np.arange(width)[None, :] - rng.uniform(0, width)
    rows = np.arange(height)[:, None]
    slope, wide = rng.normal(0, 0.4), rng.uniform(6, 22)
    inside = np.exp(-(((columns - slope * rows) / wide) ** 2))
    return (1 - rng.uniform(0.3, 0.9) * inside).astype(np.float32)


def cover(rng: np.random.Generator, x: np.ndarray) -> None:
    height, width = x.shape
    for _ in range(rng.integers(1, 4)):
        w, h = rng.integers(8, 70), rng.integers(8, 50)
        left, top = rng.integers(-w // 2, width - w // 2), rng.integers(-h // 2, height - h // 2)
        x[max(top, 0) : top + h, max(left, 0) : left + w] = 0


def erased_marks(rng: np.random.Generator, gray: np.ndarray) -> np.ndarray:
    """Paints over crosses at random places in a uint8 image. Publishers erase calipers in this way;
    with this augmentation, such traces no longer indicate where a structure is.
    """
    height, width = gray.shape
    crosses = np.zeros(gray.shape, np.uint8)
    for _ in range(rng.integers(2, 9)):
        at = (int(rng.integers(0, width)), int(rng.integers(0, height)))
        cv2.drawMarker(crosses, at, 255, cv2.MARKER_CROSS, int(rng.integers(5, 12)), 1)
    crosses = cv2.dilate(crosses, np.ones((int(rng.integers(1, 4)),) * 2, np.uint8))
    return cv2.inpaint(gray, crosses, 3, cv2.INPAINT_TELEA)


def smear(
    rng: np.random.Generator, gray: np.ndarray, box: tuple[float, float, float, float]
) -> np.ndarray:
    """Smooths away the fine texture in a box (left, top, right, bottom) of a uint8 image."""
    left, top, right, bottom = (int(v) for v in box)
    out = gray.copy()
    part = out[max(top - 3, 0) : bottom + 4, max(left - 3, 0) : right + 4]
    if rng.random() < 0.5:
        part[:] = cv2.medianBlur(np.ascontiguousarray(part), int(rng.choice([3, 5])))
    else:
        part[:] = cv2.GaussianBlur(part, (0, 0), rng.uniform(0.8, 1.8))
    return out


def marks(rng: np.random.Generator, x: np.ndarray) -> None:
    """Draws calipers, dotted lines and text at places unrelated to the anatomy."""
    height, width = x.shape
    ink = np.zeros(x.shape, np.uint8)
    level = int(rng.uniform(150, 256))
    for _ in range(rng.integers(1, 4)):
        p = (int(rng.integers(0, width)), int(rng.integers(0, height)))
        q = (int(rng.integers(0, width)), int(rng.integers(0, height)))
        kind = rng.integers(0, 3)
        if kind == 0:
            for point in (p, q):
                cv2.drawMarker(ink, point, level, cv2.MARKER_CROSS, 5)
        elif kind == 1:
            for t in np.linspace(0, 1, 20):
                dot = (int(p[0] + t * (q[0] - p[0])), int(p[1] + t * (q[1] - p[1])))
                cv2.circle(ink, dot, 0, level, -1)
        else:
            text = "".join(chr(rng.integers(48, 91)) for _ in range(rng.integers(3, 9)))
            cv2.putText(ink, text, p, cv2.FONT_HERSHEY_SIMPLEX, 0.3, level, 1, cv2.LINE_AA)
    np.maximum(x, ink / np.float32(255), out=x)
