"""Crops an image to the head, rotated so that the long axis is horizontal: the same as
pipelines/obstetric/shared/head-crop.ts."""

import cv2
import numpy as np
import torch

from ellipse import Ellipse
from letterbox import HEIGHT, WIDTH, letterbox, letterbox_matrix
from network import GEOMETRY_CHANNELS, GeometryNetwork

CROP_WIDTH, CROP_HEIGHT = 224, 192
# Share of the crop's width occupied by the long axis of the head.
FILL = 0.88


def crop_matrix(
    head: Ellipse, turn: float = 0.0, zoom: float = 1.0, shift=(0.0, 0.0), flips=(1, 1)
) -> np.ndarray:
    """Returns the 2x3 map from source to crop, which centres, levels and scales the head and then
    applies the given jitter. `turn` is in radians, `shift` in semi-major axes of the head."""
    spread, axes = np.linalg.eigh(head.shape)
    along = axes[:, 1]
    along = along if along[0] >= 0 else -along
    angle = np.arctan2(along[1], along[0]) + turn
    a = np.sqrt(spread[1])
    scale = zoom * FILL * CROP_WIDTH / (2 * a)
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    linear = np.diag([flips[0] * scale, flips[1] * scale]) @ rotation
    middle = np.array([(CROP_WIDTH - 1) / 2, (CROP_HEIGHT - 1) / 2])
    return np.concatenate(
        [linear, (middle - linear @ (head.centre + a * np.array(shift)))[:, None]], 1
    )


def warp_crop(gray: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Warps a uint8 image to float32 (192, 224) in 0..255, bilinear, black outside."""
    size = (CROP_WIDTH, CROP_HEIGHT)
    return cv2.warpAffine(gray, matrix, size, flags=cv2.INTER_LINEAR).astype(np.float32)


@torch.no_grad()
def find_head(network: GeometryNetwork, gray: np.ndarray) -> Ellipse | None:
    """Finds the head from the moments of the largest region of the mask; None if the mask is empty."""
    image = torch.from_numpy(letterbox(gray))[None, None]
    logits = network(torch.cat([image, image.flip(3)]))[:, GEOMETRY_CHANNELS.index("head")]
    mask = ((torch.sigmoid(logits[0]) + torch.sigmoid(logits[1].flip(1))) / 2).numpy()
    count, labels, stats, _ = cv2.connectedComponentsWithStats((mask >= 0.5).astype(np.uint8))
    if count < 2:
        return None
    region = labels == 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    y, x = np.nonzero(region)
    on_grid = Ellipse(np.array([x.mean(), y.mean()]), 4 * np.cov(np.stack([x, y])))
    back = letterbox_matrix(gray.shape[1], gray.shape[0])
    inverse = cv2.invertAffineTransform(back)
    assert mask.shape == (HEIGHT, WIDTH)
    return on_grid.mapped(inverse)
