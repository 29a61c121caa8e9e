"""Trains the estimate of the ejection fraction from an end-diastolic and an end-systolic frame. In
half of the pairs, a smooth warp narrows or widens the cavity in one frame, and the reference is
that of the warped mask. There are few patients, and the warp forces the network to look at the
cavity instead of recognising the patient.
"""

from argparse import ArgumentParser, Namespace

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from augment import random_look
from echo_datasets import HeartFrame, HeartPair, camus, held_out, phantom_pairs
from echo_network import EjectionNetwork
from loop import Defaults, Training, autocast
from network import start_encoder
from ventricle import CROP_SIZE, LV, crop_matrix, pose_of, volume_of

VOLUME_RANGE = (0.02, 0.85)


def view_of(frame: HeartFrame, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    size, way = (CROP_SIZE, CROP_SIZE), cv2.WARP_INVERSE_MAP
    image = frame.image
    step = np.sqrt(abs(np.linalg.det(matrix[:, :2])))
    if step > 1.2:
        image = cv2.GaussianBlur(image, (0, 0), 0.4 * step)
    return (
        cv2.warpAffine(image, matrix, size, flags=way | cv2.INTER_LINEAR),
        cv2.warpAffine(frame.mask, matrix, size, flags=way | cv2.INTER_NEAREST),
    )


def squeezed(rng: np.random.Generator, image: np.ndarray, mask: np.ndarray):
    """Narrows and shortens the cavity in a view, or the reverse, by a smooth displacement."""
    rows, columns = np.nonzero(mask == LV)
    centre = np.array([columns.mean(), rows.mean()], np.float32)
    half = np.array([2.2 * columns.std(), 2.2 * rows.std()], np.float32)
    narrow = rng.uniform(-0.25, 0.4)
    amount = np.array([narrow, narrow * rng.uniform(0.1, 0.8)], np.float32)
    y, x = np.mgrid[: mask.shape[0], : mask.shape[1]].astype(np.float32)
    offset = np.stack([x, y], -1) - centre
    near = np.exp(-(((offset / half) ** 2).sum(-1)) / 1.5)[..., None]
    where = centre + offset * (1 + amount * near)
    return (
        cv2.remap(image, where, None, cv2.INTER_LINEAR),
        cv2.remap(mask, where, None, cv2.INTER_NEAREST),
    )


def jittered(rng: np.random.Generator, pose: tuple[np.ndarray, float, float]):
    """Adds random errors to a pose, as large as those of a pose found on a network's masks."""
    centre, axis, length = pose
    return (
        centre + rng.normal(0, 0.03, 2) * length,
        axis + rng.normal(0, 0.08),
        length * np.exp(rng.normal(0, 0.06)),
    )


def ejected(ed: np.ndarray, es: np.ndarray) -> float:
    volume = volume_of(ed)
    return 1 - volume_of(es) / volume if volume > 0 else 0.0


def training_view(rng: np.random.Generator, pair: HeartPair) -> tuple[np.ndarray, float]:
    """Samples a pair of views as one image (2 s, s) in 0..1, end diastole above end systole, and
    its ejection fraction, 0..1."""
    while True:
        matrix = crop_matrix(jittered(rng, pose_of(pair.ed.mask)))
        (ed, ed_mask), (es, es_mask) = (view_of(one, matrix) for one in (pair.ed, pair.es))
        known = ejected(ed_mask, es_mask)
        if rng.random() < 0.6:
            if rng.random() < 0.5:
                ed, ed_mask = squeezed(rng, ed, ed_mask)
            if rng.random() < 0.7:
                es, es_mask = squeezed(rng, es, es_mask)
        reference = pair.ef / 100 + ejected(ed_mask, es_mask) - known
        if VOLUME_RANGE[0] <= reference <= VOLUME_RANGE[1]:
            break
    seed = rng.integers(1 << 31)
    looks = (seed, seed) if rng.random() < 0.7 else (seed, seed + 1)
    pictures = [
        random_look(np.random.default_rng(look), image.astype(np.float32))
        for look, image in zip(looks, (ed, es))
    ]
    view = np.concatenate(pictures)
    return (view[:, ::-1].copy() if rng.random() < 0.5 else view), reference


def batch(pools: list[tuple[float, list[HeartPair]]], count: int, rng: np.random.Generator):
    shares = np.cumsum([share for share, _ in pools])
    views = []
    for _ in range(count):
        pairs = pools[int(np.searchsorted(shares, rng.random() * shares[-1]))][1]
        views.append(training_view(rng, pairs[rng.integers(len(pairs))]))
    images, references = zip(*views)
    return torch.from_numpy(np.stack(images))[:, None], torch.tensor(references).float()[:, None]


@torch.no_grad()
def error_on(model: EjectionNetwork, pairs: list[HeartPair]) -> str:
    """Describes the errors on views cropped by the reference mask: mean absolute error and bias in
    percentage points, and correlation. Each estimate is the mean over a view and its mirror
    image."""
    model.eval()
    errors = []
    for pair in pairs:
        matrix = crop_matrix(pose_of(pair.ed.mask))
        view = np.concatenate([view_of(one, matrix)[0] for one in (pair.ed, pair.es)]) / 255
        image = torch.from_numpy(view.astype(np.float32))[None, None]
        errors.append(100 * model(torch.cat([image, image.flip(3)])).mean().item() - pair.ef)
    model.train()
    found = np.array(errors) + [pair.ef for pair in pairs]
    r = np.corrcoef(found, [pair.ef for pair in pairs])[0, 1]
    return f"MAE {np.abs(errors).mean():.2f} bias {np.mean(errors):.2f} r {r:.3f}"


DEFAULTS = Defaults(minutes=15, rate=1e-3, batch=16)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--camus", action="store_true", help="research pack: CC BY-NC-SA images")
    parser.add_argument("--phantom-share", type=float, default=0.2)


def prepare(options: Namespace) -> Training:
    rng = np.random.default_rng(options.seed)
    seen, held = held_out(camus(options.data, "train"))
    share = options.phantom_share if options.camus else 1.0
    real = seen if options.camus else []
    pools = [(1 - share, real), (share, phantom_pairs(*options.phantoms))]
    pools = [(weight, pairs) for weight, pairs in pools if pairs and weight > 0]
    model, smooth = EjectionNetwork(), EjectionNetwork()
    if options.encoder:
        start_encoder(model, options.encoder)
    if options.resume:
        model.load_state_dict(torch.load(options.resume))

    def loss_of_batch() -> torch.Tensor:
        images, references = batch(pools, options.batch, rng)
        with autocast():
            found = model(images)
        return F.smooth_l1_loss(found.float(), references, beta=0.05)

    def keep(weights: dict[str, torch.Tensor]) -> str:
        torch.save(weights, options.out)
        smooth.load_state_dict(weights)
        return error_on(smooth, held)

    return Training(model, loss_of_batch, keep, weight_decay=2e-2, keep_every=200)
