"""Synthetic images that show no ultrasound plane, for the class `other`. They are never stored."""

import cv2
import numpy as np

from letterbox import HEIGHT, WIDTH


def rubbish(rng: np.random.Generator) -> np.ndarray:
    """Draws a float32 (192, 256) image in 0..255: blank, noise, a gradient, a text screen, shapes,
    or ultrasound texture in random regions. A sector and speckle alone must not indicate a
    plane.
    """
    if rng.random() < 0.5:
        return nameless_tissue(rng)
    kind = rng.integers(0, 6)
    if kind == 0:
        return np.full((HEIGHT, WIDTH), rng.choice([0, 0, rng.uniform(0, 255)]), np.float32)
    if kind == 1:
        return smooth_noise(rng, rng.uniform(0.3, 4))
    if kind == 2:
        return smooth_noise(rng, rng.uniform(8, 50))
    if kind == 3:
        return text_screen(rng)
    if kind == 4:
        return shapes(rng)
    return empty_sector(rng)


def nameless_tissue(rng: np.random.Generator) -> np.ndarray:
    """Draws speckle in random regions and cavities with bright walls, in a sector, without any
    anatomy."""
    field = smooth_noise(rng, rng.uniform(8, 40))
    levels = np.sort(rng.uniform(20, 235, rng.integers(1, 5)))
    region = np.digitize(field, levels)
    tone = rng.uniform(0, 0.6, len(levels) + 1)
    tone[rng.integers(0, len(tone))] = rng.uniform(0, 0.05)
    x = tone[region].astype(np.float32)
    steps = np.abs(np.diff(x, axis=0, prepend=x[:1])) + np.abs(np.diff(x, axis=1, prepend=x[:, :1]))
    wall = cv2.GaussianBlur((steps > 0).astype(np.float32), (0, 0), rng.uniform(0.8, 3))
    x = x + rng.uniform(0, 1.2) * wall * np.abs(smooth_noise(rng, 12) / 128)
    real, imaginary = (
        cv2.GaussianBlur(rng.standard_normal((HEIGHT, WIDTH)).astype(np.float32), (0, 0), sigma)
        for sigma in [rng.uniform(0.6, 2)] * 2
    )
    envelope = np.hypot(real, imaginary)
    x = cv2.GaussianBlur(x, (0, 0), rng.uniform(0.5, 2)) * (envelope / envelope.mean()) ** 0.7
    y = np.arange(HEIGHT, dtype=np.float32)[:, None] + rng.uniform(0, 120)
    across = np.arange(WIDTH, dtype=np.float32)[None, :] - WIDTH / 2
    inside = np.abs(np.arctan2(across, y)) < rng.uniform(0.4, 1.2)
    inside &= np.hypot(across, y) < y.max() * rng.uniform(0.9, 1.3)
    return np.clip(255 * x * inside, 0, 255).astype(np.float32)


def smooth_noise(rng: np.random.Generator, sigma: float) -> np.ndarray:
    noise = cv2.GaussianBlur(rng.standard_normal((HEIGHT, WIDTH)).astype(np.float32), (0, 0), sigma)
    noise = noise / (noise.std() + 1e-6) * rng.uniform(10, 80) + rng.uniform(20, 180)
    return np.clip(noise, 0, 255).astype(np.float32)


def shuffled(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    """Shuffles and rotates the tiles of an image, which preserves its texture but not its anatomy."""
    across, down = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    w, h = WIDTH // across, HEIGHT // down
    tiles = [
        image[y * h : (y + 1) * h, x * w : (x + 1) * w] for y in range(down) for x in range(across)
    ]
    mixed = np.zeros_like(image)
    for place, which in enumerate(rng.permutation(len(tiles))):
        y, x = divmod(place, across)
        tile = tiles[which][:: rng.choice([-1, 1]), :: rng.choice([-1, 1])]
        mixed[y * h : (y + 1) * h, x * w : (x + 1) * w] = tile
    return mixed


def deformed(rng: np.random.Generator, gray: np.ndarray) -> np.ndarray:
    """Bends a uint8 image until its anatomy is lost: real tissue and speckle, but no plane."""
    height, width = gray.shape
    reach = rng.uniform(0.12, 0.3) * min(height, width)
    bend = rng.uniform(0.6, 1.6) * reach
    y, x = np.mgrid[:height, :width].astype(np.float32)
    across, down = (
        cv2.GaussianBlur(rng.standard_normal(gray.shape).astype(np.float32), (0, 0), reach)
        for _ in range(2)
    )
    across, down = bend * across / across.std(), bend * down / down.std()
    return cv2.remap(gray, x + across, y + down, cv2.INTER_LINEAR)


def without_regions(rng: np.random.Generator, gray: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Removes the symphysis, the head or both from a transperineal image, so that it no longer
    shows that plane. The region and its margin are smoothed beyond recognition and filled with
    the speckle of their surroundings.
    """
    labels = [[1], [2], [1, 2]][int(rng.integers(3))]
    region = np.isin(mask, labels).astype(np.uint8)
    region = cv2.dilate(region, np.ones((9, 9), np.uint8))
    weight = cv2.GaussianBlur(region.astype(np.float32), (0, 0), 3)
    flat = cv2.GaussianBlur(gray.astype(np.float32), (0, 0), rng.uniform(12, 30))
    grain = cv2.GaussianBlur(rng.standard_normal(gray.shape).astype(np.float32), (0, 0), 1.2)
    filled = flat * (1 + rng.uniform(0.3, 1) * grain)
    return np.clip(gray * (1 - weight) + filled * weight, 0, 255).astype(np.uint8)


def text_screen(rng: np.random.Generator) -> np.ndarray:
    ground = int(rng.choice([0, 0, 30, 255]))
    x = np.full((HEIGHT, WIDTH), ground, np.uint8)
    ink = 255 - ground
    for row in range(int(rng.integers(4, 30)), HEIGHT, int(rng.integers(9, 24))):
        text = "".join(chr(rng.integers(40, 91)) for _ in range(rng.integers(4, 34)))
        left = int(rng.integers(0, 60))
        cv2.putText(x, text, (left, row), cv2.FONT_HERSHEY_SIMPLEX, rng.uniform(0.25, 0.6), ink, 1)
    return x.astype(np.float32)


def shapes(rng: np.random.Generator) -> np.ndarray:
    x = np.full((HEIGHT, WIDTH), int(rng.uniform(0, 90)), np.uint8)
    for _ in range(rng.integers(1, 8)):
        level = int(rng.uniform(30, 256))
        p = (int(rng.integers(0, WIDTH)), int(rng.integers(0, HEIGHT)))
        q = (int(rng.integers(0, WIDTH)), int(rng.integers(0, HEIGHT)))
        if rng.random() < 0.5:
            cv2.rectangle(x, p, q, level, int(rng.choice([-1, 1, 2])))
        else:
            cv2.line(x, p, q, level, int(rng.integers(1, 6)))
    return cv2.GaussianBlur(x.astype(np.float32), (0, 0), rng.uniform(0.3, 3))


def empty_sector(rng: np.random.Generator) -> np.ndarray:
    """Draws the image of a probe in air: reverberation bands near the probe in a sector of noise."""
    y = np.arange(HEIGHT, dtype=np.float32)[:, None] + rng.uniform(5, 80)
    x = np.arange(WIDTH, dtype=np.float32)[None, :] - WIDTH / 2
    depth = np.hypot(x, y)
    inside = np.abs(np.arctan2(x, y)) < rng.uniform(0.3, 0.8)
    bands = 0.5 + 0.5 * np.cos(depth / rng.uniform(1.5, 6))
    level = bands * np.exp(-depth / rng.uniform(15, 90)) * rng.uniform(80, 255)
    grain = np.abs(smooth_noise(rng, rng.uniform(0.6, 2)) / 128)
    return np.clip(level * inside * grain, 0, 255).astype(np.float32)
