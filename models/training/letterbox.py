"""The pre-processing contract, the same as pipelines/inference/letterbox.ts."""

import cv2
import numpy as np

WIDTH, HEIGHT = 256, 192


def letterbox_matrix(width: int, height: int) -> np.ndarray:
    """2x3 map from source pixel centres to network pixel centres."""
    scale = min(WIDTH / width, HEIGHT / height)
    w = max(1, int(width * scale + 0.5))
    h = max(1, int(height * scale + 0.5))
    sx, sy = w / width, h / height
    return np.array(
        [
            [sx, 0, 0.5 * sx - 0.5 + (WIDTH - w) // 2],
            [0, sy, 0.5 * sy - 0.5 + (HEIGHT - h) // 2],
        ]
    )


def letterbox(gray: np.ndarray) -> np.ndarray:
    """uint8 luminance (h, w) to float32 (192, 256) in 0..1, centred on black."""
    height, width = gray.shape
    scale = min(WIDTH / width, HEIGHT / height)
    w = max(1, int(width * scale + 0.5))
    h = max(1, int(height * scale + 0.5))
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    net = np.zeros((HEIGHT, WIDTH), np.float32)
    top, left = (HEIGHT - h) // 2, (WIDTH - w) // 2
    net[top : top + h, left : left + w] = cv2.resize(gray, (w, h), interpolation=method)
    return net / 255
