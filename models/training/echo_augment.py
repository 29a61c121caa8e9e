"""Random views of a heart: rotated, stretched, bent and shaded, but never mirrored, because the
network must know the side of the right ventricle. Mirrored displays are mirrored back before
they reach the network.
"""

import cv2
import numpy as np

from augment import random_look
from letterbox import letterbox_matrix


def random_placement(
    rng: np.random.Generator, width: int, height: int, size: tuple[int, int], strength: float = 1.0
) -> np.ndarray:
    """Returns the 2x3 map from the source to the network: the letterbox, then rotation, zoom,
    stretch and shift."""
    angle = rng.normal(0, 0.16 * strength)
    zoom = np.exp(rng.normal(-0.03, 0.14 * strength))
    stretch = np.exp(rng.normal(0, 0.08 * strength))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    linear = turn @ np.diag([zoom * stretch, zoom / stretch])
    centre = (np.array(size) - 1) / 2
    shift = rng.normal(0, 0.05 * strength, 2) * size
    base = letterbox_matrix(width, height, size)
    offset = linear @ base[:, 2] + centre + shift - linear @ centre
    return np.concatenate([linear @ base[:, :2], offset[:, None]], 1)


def bend(rng: np.random.Generator, size: tuple[int, int], amount: float = 5.0) -> np.ndarray:
    """Samples a smooth displacement (h, w, 2) in network pixels."""
    knots = rng.normal(0, rng.uniform(0, amount), (5, 5, 2)).astype(np.float32)
    return cv2.resize(knots, size, interpolation=cv2.INTER_CUBIC)


def source_map(matrix: np.ndarray, displacement: np.ndarray) -> np.ndarray:
    """Returns the position in the source of each pixel of the network's input, (h, w, 2), for
    cv2.remap."""
    height, width = displacement.shape[:2]
    inverse = cv2.invertAffineTransform(matrix).astype(np.float32)
    at = displacement.copy()
    at[..., 0] += np.arange(width, dtype=np.float32)[None, :]
    at[..., 1] += np.arange(height, dtype=np.float32)[:, None]
    return cv2.transform(at, inverse)


def sample(
    rng: np.random.Generator,
    image: np.ndarray,
    mask: np.ndarray,
    size: tuple[int, int],
    strength: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Makes one random view: image float32 (h, w) in 0..1, mask uint8 (h, w)."""
    matrix = random_placement(rng, image.shape[1], image.shape[0], size, strength)
    where = source_map(matrix, bend(rng, size, 5.0 * strength))
    # An image that will be shrunk is smoothed first, as the letterbox does by averaging areas.
    scale = np.sqrt(abs(np.linalg.det(matrix[:, :2])))
    if scale < 0.9:
        image = cv2.GaussianBlur(image, (0, 0), 0.4 / scale)
    view = cv2.remap(image, where, None, cv2.INTER_LINEAR).astype(np.float32)
    labels = cv2.remap(mask, where, None, cv2.INTER_NEAREST)
    return random_look(rng, view), labels
