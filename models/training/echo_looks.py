"""Gives heart images the appearance of real screens: grey levels of other images, uneven gain,
other fans, colour Doppler boxes, rulers and text. Can also remove the right heart from an apical
view.
"""

import cv2
import numpy as np


def grey_levels_of(rng: np.random.Generator, image: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Blends a uint8 image with a copy of itself whose grey levels are mapped by rank to those of
    another image. Machines differ in compression and grey map, but the order of tissue, blood
    and valve is the same."""
    lit, given = image[image > 4], other[other > 4]
    if len(lit) < 500 or len(given) < 500:
        return image
    shares = np.cumsum(np.bincount(lit, minlength=256)) / len(lit)
    levels = np.quantile(given, shares)
    levels[:5] = 0
    part = rng.uniform(0.3, 1)
    mixed = part * levels + (1 - part) * np.arange(256)
    return np.clip(mixed, 0, 255).astype(np.uint8)[image]


def uneven_gain(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    """Applies a smooth field of gain, and haze near the probe: 0..255 in, 0..255 out."""
    height, width = image.shape
    knots = np.exp(rng.normal(0, 0.45, (4, 4))).astype(np.float32)
    field = cv2.resize(knots, (width, height), interpolation=cv2.INTER_CUBIC)
    x = image.astype(np.float32) * np.clip(field, 0.15, 4)
    if rng.random() < 0.3:
        depth = np.linspace(0, 1, height, dtype=np.float32)[:, None]
        haze = rng.uniform(10, 70) * np.exp(-((depth / rng.uniform(0.1, 0.4)) ** 2))
        x = np.where(image > 2, x + haze, x)
    return np.clip(x, 0, 255).astype(np.uint8)


def other_fan(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    """Crops the picture to a narrower or shallower fan."""
    height, width = image.shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    tip = np.array([width * rng.uniform(0.4, 0.6), -height * rng.uniform(0, 0.12)])
    angle = np.arctan2(x - tip[0], np.maximum(y - tip[1], 1e-3))
    half = rng.uniform(0.5, 0.85)
    lean = rng.normal(0, 0.08)
    inside = np.abs(angle - lean) < half
    inside &= np.hypot(x - tip[0], y - tip[1]) < height * rng.uniform(0.85, 1.15)
    return np.where(inside, image, 0).astype(np.uint8)


def graphics(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    """Draws machine graphics: a colour flow box, a ruler, an ECG, and words next to the fan."""
    out = image.copy()
    height, width = out.shape
    ink = int(rng.integers(150, 256))
    if rng.random() < 0.3:
        left, right = sorted(rng.uniform(0.15, 0.85, 2) * width)
        top, bottom = sorted(rng.uniform(0.1, 0.9, 2) * height)
        lean = rng.uniform(-0.15, 0.15) * width
        corners = [(left, top), (right, top), (right + lean, bottom), (left - lean, bottom)]
        box = np.array(corners, np.int32)
        cv2.polylines(out, [box], True, ink, max(1, height // 200))
        if rng.random() < 0.6:
            flow = np.zeros_like(out)
            cv2.fillPoly(flow, [box], 1)
            knots = rng.normal(0, 1, (6, 6)).astype(np.float32)
            field = cv2.resize(knots, (width, height), interpolation=cv2.INTER_CUBIC)
            out[(flow > 0) & (field > rng.uniform(0, 1.2))] = int(rng.integers(40, 160))
    if rng.random() < 0.4:
        column = int(rng.choice([3, width - 8]))
        for row in range(int(rng.integers(0, 20)), height, max(6, height // rng.integers(8, 22))):
            cv2.line(out, (column, row), (column + int(rng.integers(2, 6)), row), ink, 1)
    if rng.random() < 0.4:
        base = int(height * rng.uniform(0.88, 0.98))
        steps = np.arange(0, width, 2)
        beat = np.exp(-(((steps % rng.integers(40, 160)) - 20) ** 2) / 12.0)
        trace = base - beat * height * rng.uniform(0.03, 0.1)
        line = np.stack([steps, trace], 1).astype(np.int32)
        cv2.polylines(out, [line], False, ink, 1)
    if rng.random() < 0.4:
        for _ in range(rng.integers(1, 5)):
            words = "".join(chr(rng.integers(45, 91)) for _ in range(rng.integers(2, 12)))
            at = (
                int(rng.choice([2, int(width * 0.7)])),
                int(height * rng.choice([0.06, 0.12, 0.9, 0.96])),
            )
            size = height / 900 * rng.uniform(0.8, 1.6)
            cv2.putText(out, words, at, cv2.FONT_HERSHEY_SIMPLEX, size, ink, 1, cv2.LINE_AA)
    return out


def real_screen(
    rng: np.random.Generator, image: np.ndarray, others: list[np.ndarray]
) -> np.ndarray:
    """Gives a uint8 image one random appearance; `others` are real images that provide grey levels."""
    if rng.random() < 0.5:
        image = grey_levels_of(rng, image, others[rng.integers(len(others))])
    if rng.random() < 0.5:
        image = uneven_gain(rng, image)
    if rng.random() < 0.35:
        image = other_fan(rng, image)
    if rng.random() < 0.5:
        image = graphics(rng, image)
    return image


def without_right_heart(
    rng: np.random.Generator, image: np.ndarray, apex: np.ndarray, base: np.ndarray
) -> np.ndarray:
    """Removes the right heart from a four-chamber picture that shows it on the left. The part to
    the left of the long axis is replaced by the mirror image of the part to its right, because
    the two-chamber view has a free wall on both sides. `apex` and `base` are (x, y), the ends of
    the long axis.
    """
    height, width = image.shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    along = (base - apex) / max(1e-6, float(np.hypot(*(base - apex))))
    across = np.array([along[1], -along[0]])
    offset = rng.normal(0, 0.012) * width
    aside = (x - apex[0]) * across[0] + (y - apex[1]) * across[1] - offset
    mirrored = cv2.remap(
        image,
        (x - 2 * aside * across[0]).astype(np.float32),
        (y - 2 * aside * across[1]).astype(np.float32),
        cv2.INTER_LINEAR,
    )
    # `across` points right if the axis points down.
    weight = np.clip(0.5 - aside / (0.02 * width), 0, 1)
    mixed = weight * mirrored + (1 - weight) * image
    return mixed.astype(np.uint8)


def long_axis(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Returns the apex and the middle of the base of an outlined ventricle (1 cavity, 3 atrium),
    (x, y) each."""
    cavity, atrium = np.argwhere(mask == 1)[:, ::-1], np.argwhere(mask == 3)[:, ::-1]
    if len(cavity) < 50:
        return None
    below = atrium.mean(0) if len(atrium) > 50 else [*cavity.mean(0), 0, 1000]
    away = np.hypot(*(cavity - below).T)
    return cavity[away > np.quantile(away, 0.995)].mean(0), cavity[
        away < np.quantile(away, 0.05)
    ].mean(0)
