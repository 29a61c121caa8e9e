"""Ellipses as a centre and a shape matrix, to which an affine map can be applied directly.

Pixel coordinates: the centre of the first pixel is (0, 0).
"""

from dataclasses import dataclass

import cv2
import numpy as np


@dataclass
class Ellipse:
    """Points p with (p - centre)^T shape^-1 (p - centre) = 1; shape = R diag(a^2, b^2) R^T."""

    centre: np.ndarray
    shape: np.ndarray

    def mapped(self, matrix: np.ndarray) -> "Ellipse":
        """Maps the ellipse by a 2x3 affine matrix."""
        linear = matrix[:, :2]
        return Ellipse(linear @ self.centre + matrix[:, 2], linear @ self.shape @ linear.T)

    def semi_axes(self) -> tuple[float, float]:
        """Returns the semi-major and the semi-minor axis."""
        small, large = np.linalg.eigvalsh(self.shape)
        return float(np.sqrt(large)), float(np.sqrt(small))

    def circumference(self) -> float:
        """Returns the circumference by Ramanujan's second approximation (1914)."""
        a, b = self.semi_axes()
        h = ((a - b) / (a + b)) ** 2
        return float(np.pi * (a + b) * (1 + 3 * h / (10 + np.sqrt(4 - 3 * h))))

    def distance(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Returns the signed first-order distance of points to the ellipse in pixels, negative
        inside (Sampson 1982)."""
        inverse = np.linalg.inv(self.shape).astype(x.dtype)
        x, y = x - x.dtype.type(self.centre[0]), y - y.dtype.type(self.centre[1])
        gx = inverse[0, 0] * x + inverse[0, 1] * y
        gy = inverse[0, 1] * x + inverse[1, 1] * y
        radius = np.sqrt(np.maximum(x * gx + y * gy, 1e-12))
        return (radius - 1) * radius / np.sqrt(gx * gx + gy * gy + 1e-12)

    def coverage(self, width: int, height: int) -> np.ndarray:
        """Returns the share of each pixel that is inside the ellipse, float32 (height, width). It
        falls linearly from 1 to 0 within one pixel across the border."""
        x = np.arange(width, dtype=np.float32)[None, :]
        y = np.arange(height, dtype=np.float32)[:, None]
        return np.clip(0.5 - self.distance(x, y), 0, 1)


def ellipse_from_axes(cx: float, cy: float, a: float, b: float, angle: float) -> Ellipse:
    """Returns the ellipse with semi-axes a and b; `angle` in radians from +x to the axis a."""
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return Ellipse(np.array([cx, cy]), rotation @ np.diag([a * a, b * b]) @ rotation.T)


def ellipse_from_outline(outline: np.ndarray) -> Ellipse:
    """Fits the ellipse of a drawn one-pixel outline (uint8, non-zero on the line)."""
    points = cv2.findNonZero(outline).reshape(-1, 2).astype(np.float32)
    (cx, cy), (d1, d2), degrees = cv2.fitEllipseDirect(points)
    return ellipse_from_axes(cx, cy, d1 / 2, d2 / 2, np.deg2rad(degrees))


def ellipse_from_diameters(first: np.ndarray, second: np.ndarray) -> Ellipse:
    """Returns the ellipse of two roughly perpendicular diameters, each 2x2 (end point, xy).

    Each diameter determines the centre only along its own direction: it is drawn where the border
    is visible, and therefore need not pass through the middle of the other diameter.
    """
    u = (first[1] - first[0]) / np.linalg.norm(first[1] - first[0])
    v = (second[1] - second[0]) / np.linalg.norm(second[1] - second[0])
    centre = np.linalg.solve(
        np.stack([u, v]), np.array([u @ first.mean(axis=0), v @ second.mean(axis=0)])
    )
    # The common direction is the mean of the first diameter and of the second rotated back by 90
    # degrees.
    turned = np.array([v[1], -v[0]])
    mean = u + np.sign(u @ turned) * turned
    a = np.linalg.norm(first[1] - first[0]) / 2
    b = np.linalg.norm(second[1] - second[0]) / 2
    return ellipse_from_axes(*centre, a, b, np.arctan2(mean[1], mean[0]))
