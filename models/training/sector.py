"""The fan of a screen, as pipelines/echo/locate/sector.ts finds it."""

import cv2
import numpy as np

LIT = 10
BLOCKS = 96


def sector_of(image: np.ndarray) -> tuple[slice, slice]:
    """Rows and columns of the largest connected lit part; the whole image where none is lit."""
    height, width = image.shape
    size = max(1, -(-max(height, width) // BLOCKS))
    rows, columns = -(-height // size), -(-width // size)
    padded = np.full((rows * size, columns * size), np.nan, np.float32)
    padded[:height, :width] = image
    means = np.nanmean(padded.reshape(rows, size, columns, size), (1, 3))
    count, _, stats, _ = cv2.connectedComponentsWithStats((means > LIT).astype(np.uint8), connectivity=4)
    if count < 2:
        return slice(0, height), slice(0, width)
    left, top, wide, high, _ = stats[1 + np.argmax(stats[1:, cv2.CC_STAT_AREA])]
    return (
        slice(top * size, min((top + high) * size, height)),
        slice(left * size, min((left + wide) * size, width)),
    )
