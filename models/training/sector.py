"""Finds the fan of a screen as pipelines/echo/locate/sector.ts does."""

import cv2
import numpy as np

LIT = 10
BLOCKS = 96
# Limits for further parts of the fan: `FURTHER_PART` in sector.ts.
LIT_SHARE, SHORTER_SIDE, SIZE_SHARE, OFF_MIDDLE = 0.35, 4, 0.02, 0.25


def sector_of(image: np.ndarray) -> tuple[slice, slice]:
    """Returns the rows and columns of the largest lit part and of the other parts of its fan. If
    nothing is lit, it returns the whole image."""
    height, width = image.shape
    size = max(1, -(-max(height, width) // BLOCKS))
    rows, columns = -(-height // size), -(-width // size)
    padded = np.full((rows * size, columns * size), np.nan, np.float32)
    padded[:height, :width] = image
    means = np.nanmean(padded.reshape(rows, size, columns, size), (1, 3))
    count, _, stats, _ = cv2.connectedComponentsWithStats(
        (means > LIT).astype(np.uint8), connectivity=4
    )
    if count < 2:
        return slice(0, height), slice(0, width)
    largest = stats[1 + np.argmax(stats[1:, cv2.CC_STAT_AREA])]
    left, top, right, bottom = bounds_of(largest)
    middle = (largest[0] + largest[0] + largest[2] - 1) / 2
    for part in stats[1:]:
        aside = abs(part[0] + (part[2] - 1) / 2 - middle)
        line = part[4] < LIT_SHARE * part[2] * part[3] or min(part[2], part[3]) < SHORTER_SIDE
        if line or part[4] < SIZE_SHARE * largest[4] or aside > OFF_MIDDLE * largest[2]:
            continue
        own = bounds_of(part)
        left, top = min(left, own[0]), min(top, own[1])
        right, bottom = max(right, own[2]), max(bottom, own[3])
    return (
        slice(int(top * size), int(min(bottom * size, height))),
        slice(int(left * size), int(min(right * size, width))),
    )


def bounds_of(part: np.ndarray) -> tuple[int, int, int, int]:
    left, top, wide, high, _ = part
    return left, top, left + wide, top + high
