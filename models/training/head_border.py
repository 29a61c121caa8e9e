"""Trains the second stage of the head measurement: the ring around the ellipse of `fetal-head` is
unrolled from the image at full resolution, and the network finds how far the border of the skull is
from the ellipse at each angle. The same as pipelines/obstetric/shared/head-border.ts.
"""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from datasets import Record, fetal_planes, hc18, phantoms
from ellipse import Ellipse, ellipse_from_axes
from loop import Defaults, Training

# Width (angles) and height (radii) of the strip, and the number of angles in the network's output.
ANGLES, RADII = 128, 64
ANSWERED = 32
# The strip covers 1 - SPAN to 1 + SPAN times the radius of the ellipse.
SPAN = 0.25
# Samples of the image that are averaged for one element of the strip (angle, radius).
SAMPLES = (3, 2)
# Minimum weight of an angle in the fit, and the value added to the diagonal of its matrix.
LEAST_WEIGHT, RIDGE = 0.02, 1e-4
SMALL_MM = 110
# If the circumference of the first outline differs by more than this share from the label's, the
# label is used as the first outline.
FAR_OFF = 0.1

PHI = np.arange(ANSWERED) * (2 * np.pi / ANSWERED)
HARMONICS = torch.tensor(
    np.stack([np.ones(ANSWERED), np.cos(PHI), np.sin(PHI), np.cos(2 * PHI), np.sin(2 * PHI)], 1),
    dtype=torch.float32,
)


def frame_of(ellipse: Ellipse) -> np.ndarray:
    """Returns the symmetric matrix that maps the unit circle to the ellipse."""
    squares, axes = np.linalg.eigh(ellipse.shape)
    return axes @ np.diag(np.sqrt(np.maximum(squares, 1e-9))) @ axes.T


def border_strip(gray: np.ndarray, centre: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """Unrolls the ring around an ellipse: float32 (RADII, ANGLES) from 0 to 1, black outside the
    image."""
    per_angle, per_radius = SAMPLES
    columns, rows = np.arange(ANGLES * per_angle), np.arange(RADII * per_radius)
    angles = ((columns + 0.5) / per_angle - 0.5) * 2 * np.pi / ANGLES
    radii = 1 - SPAN + 2 * SPAN * (rows + 0.5) / (RADII * per_radius)
    dx, dy = frame @ np.stack([np.cos(angles), np.sin(angles)])
    x = (centre[0] + radii[:, None] * dx).astype(np.float32)
    y = (centre[1] + radii[:, None] * dy).astype(np.float32)
    fine = cv2.remap(gray, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=0)
    return fine.reshape(RADII, per_radius, ANGLES, per_angle).mean((1, 3)).astype(np.float32) / 255


def offsets_to(truth: Ellipse, centre: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """Returns how far the true border is from the ellipse at each answered angle, as a share of the
    radius."""
    inverse = np.linalg.inv(frame)
    middle = inverse @ (truth.centre - centre)
    shape = np.linalg.inv(inverse @ truth.shape @ inverse.T)
    rays = np.stack([np.cos(PHI), np.sin(PHI)])
    square = np.einsum("ik,ij,jk->k", rays, shape, rays)
    half = -np.einsum("ik,ij,j->k", rays, shape, middle)
    root = np.sqrt(np.maximum(half * half - square * (middle @ shape @ middle - 1), 0))
    return ((root - half) / square - 1).astype(np.float32)


def moved(centre: np.ndarray, frame: np.ndarray, harmonics: np.ndarray):
    """Returns the centre and the frame of the ellipse whose border is moved by these harmonics."""
    size, x, y, cos, sin = harmonics
    change = np.array([[1 + size + cos, sin], [sin, 1 + size - cos]])
    linear = frame @ change
    return centre + frame @ np.array([x, y]), frame_of(Ellipse(centre, linear @ linear.T))


def harmonics_of(answer: torch.Tensor) -> torch.Tensor:
    """Fits `[1, cos φ, sin φ, cos 2φ, sin 2φ]` to the offsets by weighted least squares. To first
    order these are the size, the shift and the shape of an ellipse. `answer` is (n, 2, ANSWERED):
    offsets and the logits of their weights."""
    weight = torch.softmax(answer[:, 1], 1) * ANSWERED + LEAST_WEIGHT
    weighted = weight[:, :, None] * HARMONICS
    matrix = torch.einsum("nki,kj->nij", weighted, HARMONICS) + RIDGE * torch.eye(5)
    return torch.linalg.solve(matrix, torch.einsum("nki,nk->ni", weighted, answer[:, 0]))


def circumferences(frames: torch.Tensor, harmonics: torch.Tensor) -> torch.Tensor:
    """Returns the circumference in pixels of each frame's ellipse after it was moved (Ramanujan
    1914, first approximation, as the product)."""
    size, _, _, cos, sin = harmonics.unbind(1)
    rows = [torch.stack([1 + size + cos, sin], 1), torch.stack([sin, 1 + size - cos], 1)]
    linear = frames @ torch.stack(rows, 1)
    shape = linear @ linear.transpose(1, 2)
    middle = (shape[:, 0, 0] + shape[:, 1, 1]) / 2
    half = (shape[:, 0, 0] - shape[:, 1, 1]) / 2
    spread = torch.sqrt(half**2 + shape[:, 0, 1] ** 2 + 1e-6)
    a, b = torch.sqrt(middle + spread), torch.sqrt((middle - spread).clamp(min=1))
    return np.pi * (3 * (a + b) - torch.sqrt((3 * a + b) * (a + 3 * b)))


class Around(nn.Module):
    """A convolution of a strip, whose first and last angle are neighbours."""

    def __init__(self, channels: int, out: int, stride: tuple[int, int] = (1, 1), dilation=1):
        super().__init__()
        self.conv = nn.Conv2d(channels, out, 3, stride, dilation=(1, dilation), bias=False)
        self.norm = nn.GroupNorm(4, out)
        self.dilation = dilation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.cat([x[..., -self.dilation :], x, x[..., : self.dilation]], -1)
        return F.relu(self.norm(self.conv(F.pad(x, (0, 0, 1, 1)))))


class Context(nn.Module):
    """A residual block over the angles."""

    def __init__(self, channels: int, dilation: int, dropout: float):
        super().__init__()
        self.wide = nn.Conv1d(channels, channels, 3, dilation=dilation, bias=False)
        self.mix = nn.Conv1d(channels, channels, 1, bias=False)
        self.norms = nn.ModuleList(nn.GroupNorm(4, channels) for _ in range(2))
        self.dropout = nn.Dropout(dropout)
        self.dilation = dilation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.cat([x[..., -self.dilation :], x, x[..., : self.dilation]], -1)
        y = self.dropout(F.relu(self.norms[0](self.wide(y))))
        return F.relu(x + self.norms[1](self.mix(y)))


class BorderNetwork(nn.Module):
    """Returns for each of `ANSWERED` angles the offset of the border, as a share of the radius, and
    the logit of its weight: (n, 2, ANSWERED). The offset is the mean radius of a softmax over the
    radii, whose logits depend on a wide context too, plus a small correction."""

    def __init__(self, dropout: float = 0.1):
        super().__init__()
        self.near = nn.Sequential(
            Around(1, 8, (1, 2)),
            Around(8, 20, (2, 2)),
            Around(20, 32, (2, 1)),
            Around(32, 32, dilation=2),
        )
        self.far = Around(32, 32, (2, 1))
        # The direction of each angle, because the beam comes from above.
        self.register_buffer("direction", HARMONICS[:, 1:].T[None].clone())
        self.flat = nn.Conv1d(32 * RADII // 8 + 4, 64, 1, bias=False)
        self.norm = nn.GroupNorm(4, 64)
        self.context = nn.Sequential(*(Context(64, wide, dropout) for wide in (1, 2, 4, 8)))
        self.place = nn.Conv2d(32, 1, 1)
        self.shift = nn.Conv1d(64, RADII // 4, 1)
        self.out = nn.Conv1d(128, 2, 1)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, strips: torch.Tensor) -> torch.Tensor:
        near = self.near((strips - 0.25) * 4)
        far = self.far(near).flatten(1, 2)
        far = torch.cat([far, self.direction.expand(far.shape[0], -1, -1)], 1)
        context = self.context(F.relu(self.norm(self.flat(far))))
        whole = context.mean(2, keepdim=True).expand_as(context)
        correction, weight = self.out(torch.cat([context, whole], 1)).unbind(1)
        shares = torch.softmax(self.place(near)[:, 0] + self.shift(context), 1)
        radii = -SPAN + 2 * SPAN * (torch.arange(RADII // 4) + 0.5) / (RADII // 4)
        offset = 0.1 * correction + (shares * radii[None, :, None]).sum(1)
        return torch.stack([offset, weight], 1)


def random_strip(rng: np.random.Generator, strip: np.ndarray) -> np.ndarray:
    """Applies gamma, gain, a gain that differs around the head, an acoustic shadow, speckle, blur,
    noise and covered areas, each at random."""
    x, angles = strip, np.arange(ANGLES)
    if rng.random() < 0.8:
        x = np.power(np.maximum(x, 0), np.exp(rng.normal(0, 0.25))) * np.exp(rng.normal(0, 0.2))
    if rng.random() < 0.4:
        phase, waves = rng.uniform(0, 2 * np.pi), rng.integers(1, 3)
        x = x * np.exp(rng.normal(0, 0.35) * np.cos(waves * angles * 2 * np.pi / ANGLES + phase))
    if rng.random() < 0.35:
        middle, width = rng.uniform(0, ANGLES), rng.uniform(4, 30)
        away = np.abs((angles - middle + ANGLES / 2) % ANGLES - ANGLES / 2)
        x = x * (1 - rng.uniform(0.3, 0.95) * np.exp(-((away / width) ** 2)))
    if rng.random() < 0.3:
        sigma = rng.uniform(0.5, 1.5)
        grain = cv2.GaussianBlur(rng.standard_normal(x.shape), (0, 0), sigma) * sigma * 3
        x = x * (1 + rng.uniform(0.05, 0.3) * grain)
    if rng.random() < 0.2:
        x = cv2.GaussianBlur(x, (0, 0), rng.uniform(0.4, 1.2))
    if rng.random() < 0.15:
        x = x + rng.normal(0, rng.uniform(0.01, 0.04), x.shape)
    x = np.array(x)
    if rng.random() < 0.2:
        for _ in range(rng.integers(1, 3)):
            width, height = rng.integers(4, 40), rng.integers(4, 24)
            left, top = rng.integers(0, ANGLES), rng.integers(0, RADII)
            x[top : top + height, left : left + width] = 0
    return np.clip(x, 0, 1).astype(np.float32)


def flipped(
    gray: np.ndarray, ellipses: list[Ellipse], over: tuple[bool, bool]
) -> tuple[np.ndarray, list[Ellipse]]:
    """Exchanges left and right, and top and bottom, of an image and of its ellipses."""
    height, width = gray.shape
    signs = [-1 if flip else 1 for flip in over]
    matrix = np.diag(signs).astype(float)
    ends = [(size - 1) * flip for size, flip in zip((width, height), over)]
    matrix = np.concatenate([matrix, np.array(ends, float)[:, None]], 1)
    return gray[:: signs[1], :: signs[0]], [one.mapped(matrix) for one in ellipses]


class Sampler:
    """Samples strips around the first outline of a head, either unchanged or moved at random."""

    def __init__(self, records: list[Record], first: dict[str, Ellipse], options: Namespace):
        self.rng = np.random.default_rng(options.seed)
        self.options = options
        self.first = first
        self.heads = [r for r in records if r.dataset == "hc18" and r.key in first]
        self.small = [r for r in self.heads if r.reference_mm < SMALL_MM]
        self.landmarks = [r for r in records if r.dataset == "fetal-planes" and r.key in first]
        self.phantoms = [r for r in records if r.dataset == "phantom"]

    def record(self) -> Record:
        rng = self.rng
        if self.phantoms and rng.random() < self.options.phantom_share:
            pool = self.phantoms
        elif rng.random() < self.options.landmark_share:
            pool = self.landmarks
        else:
            pool = self.small if rng.random() < self.options.small else self.heads
        return pool[rng.integers(len(pool))]

    def one(self) -> tuple[np.ndarray, ...]:
        rng, record = self.rng, self.record()
        truth = record.ellipse
        start = self.first.get(record.key, truth)
        off = abs(start.circumference() / truth.circumference() - 1)
        if off > FAR_OFF or rng.random() < 0.1:
            start = truth
        over = (bool(rng.random() < 0.5), bool(rng.random() < 0.15))
        gray, (start, truth) = flipped(record.gray(), [start, truth], over)
        centre, frame = start.centre, frame_of(start)
        if record.dataset == "phantom" or rng.random() > self.options.exact:
            strength = rng.uniform(0.2, 1.2)
            spread = strength * np.array([0.025, 0.02, 0.02, 0.02, 0.02])
            centre, frame = moved(centre, frame, rng.normal(0, spread))
        if rng.random() < 0.5:
            # Starts the strip at another angle, as if the probe were rotated.
            turn = rng.normal(0, 0.25)
            frame = frame @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        strip = random_strip(rng, border_strip(np.ascontiguousarray(gray), centre, frame))
        length = np.float32(truth.circumference())
        return (
            strip[None],
            offsets_to(truth, centre, frame),
            np.float32(frame),
            length,
            np.float32(record.reference_mm),
        )

    def batch(self, size: int) -> tuple[torch.Tensor, ...]:
        columns = zip(*(self.one() for _ in range(size)))
        return tuple(torch.from_numpy(np.stack(column)) for column in columns)


def loss_of(
    answer: torch.Tensor,
    offsets: torch.Tensor,
    frames: torch.Tensor,
    lengths: torch.Tensor,
    reference_mm: torch.Tensor,
) -> torch.Tensor:
    """Returns the sum of the errors of the offsets, of the fitted border and, with the largest
    weight, of the circumference. Larger heads have a larger weight."""
    harmonics = harmonics_of(answer)
    each = F.smooth_l1_loss(answer[:, 0], offsets, beta=0.01, reduction="none").mean(1)
    border = (harmonics @ HARMONICS.T - offsets).abs().mean(1)
    around = circumferences(frames, harmonics) / lengths - 1
    around = torch.sqrt(around**2 + 0.003**2) - 0.003
    scale = (reference_mm / 170).clamp(0.4, 2)
    return 100 * ((each + border + 1.5 * around) * scale).mean()


DEFAULTS = Defaults(minutes=30, rate=3e-3, batch=12)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--labels", type=Path, required=True, help="outlines of the first stage")
    parser.add_argument("--exact", type=float, default=0.4, help="share of outlines not moved")
    parser.add_argument("--small", type=float, default=0.1, help="share of small heads")
    parser.add_argument("--landmark-share", type=float, default=0.12, help="FETAL_PLANES_DB heads")
    parser.add_argument("--phantom-share", type=float, default=0.07)


def prepare(options: Namespace) -> Training:
    first = {
        image: ellipse_from_axes(*axes)
        for image, axes in json.loads(options.labels.read_text()).items()
    }
    records = hc18(options.data) + fetal_planes(options.data) + phantoms(*options.phantoms)
    records = [r for r in records if r.split == "train" and r.task == "head"]
    sampler = Sampler(records, first, options)
    model = BorderNetwork()
    if options.resume:
        model.load_state_dict(torch.load(options.resume))

    def loss() -> torch.Tensor:
        strips, *labels = sampler.batch(options.batch)
        return loss_of(model(strips), *labels)

    def keep(weights: dict[str, torch.Tensor]) -> str:
        torch.save(weights, options.out)
        return ""

    return Training(model, loss, keep, weight_decay=1e-2)
