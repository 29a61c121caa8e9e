"""The pre-processing contract, the same as pipelines/inference/letterbox.ts."""

import cv2
import numpy as np

WIDTH, HEIGHT = 256, 192


def letterbox_matrix(
    width: int, height: int, size: tuple[int, int] = (WIDTH, HEIGHT)
) -> np.ndarray:
    """Returns the 2x3 matrix that maps source pixel centres to those of a network's input. `size`
    is its width and height."""
    scale = min(size[0] / width, size[1] / height)
    w = max(1, int(width * scale + 0.5))
    h = max(1, int(height * scale + 0.5))
    sx, sy = w / width, h / height
    return np.array(
        [
            [sx, 0, 0.5 * sx - 0.5 + (size[0] - w) // 2],
            [0, sy, 0.5 * sy - 0.5 + (size[1] - h) // 2],
        ]
    )


def letterbox(gray: np.ndarray, size: tuple[int, int] = (WIDTH, HEIGHT)) -> np.ndarray:
    """Scales uint8 luminance (h, w) to a network's input size, centred on black. Returns float32
    from 0 to 1."""
    height, width = gray.shape
    scale = min(size[0] / width, size[1] / height)
    w = max(1, int(width * scale + 0.5))
    h = max(1, int(height * scale + 0.5))
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    net = np.zeros((size[1], size[0]), np.float32)
    top, left = (size[1] - h) // 2, (size[0] - w) // 2
    net[top : top + h, left : left + w] = cv2.resize(gray, (w, h), interpolation=method)
    return net / 255
