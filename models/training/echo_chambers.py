"""Trains the heart chamber network: for the research pack on `camus` and phantoms, otherwise only
on phantoms. CAMUS does not label the right heart, so what it labels as background may be the RV or
the RA.
"""

from argparse import ArgumentParser, Namespace

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from echo_augment import sample
from echo_datasets import CLASSES, HeartFrame, HeartPair, camus, held_out, phantom_frames
from echo_network import SMALL, WIDE, RegionNetwork
from letterbox import letterbox, letterbox_matrix
from loop import Defaults, Training, autocast

SIZE = (256, 256)
# Input size of the small network: phantoms contain no finer detail, and half the pixels take half
# the time.
SMALL_SIZE = (160, 160)
LV, MYOCARDIUM, LA = (CLASSES.index(name) for name in ("lv", "myocardium", "la"))
CHAMBERS = {"lv": LV, "myocardium": MYOCARDIUM, "la": LA}
CLASS_WEIGHT = (1.0, 1.3, 1.3, 1.3, 0.8, 0.8)
DICE_WEIGHT = (0.5, 0.5, 0.5, 0.15, 0.15)


def loss_of(logits: torch.Tensor, target: torch.Tensor, right_heart: torch.Tensor) -> torch.Tensor:
    """Returns the weighted cross-entropy plus the soft Dice of each chamber labelled in the frame.
    `target` contains the share of each class in each pixel of the coarse grid (n, 6, h/2, w/2).
    """
    log_shares = F.log_softmax(logits, 1)
    ground = torch.logsumexp(log_shares[:, [0, 4, 5]], 1)
    ground = torch.where(right_heart[:, None, None], log_shares[:, 0], ground)
    log_shares = torch.cat([ground[:, None], log_shares[:, 1:]], 1)
    weight = torch.tensor(CLASS_WEIGHT)[:, None, None]
    loss = -(weight * target * log_shares).sum(1).mean()
    shares = log_shares[:, 1:].exp()
    truth = target[:, 1:]
    overlap = (truth * shares).sum((2, 3))
    dice = 1 - (2 * overlap + 10) / (truth.sum((2, 3)) + shares.sum((2, 3)) + 10)
    judged = torch.ones_like(dice)
    judged[~right_heart, 3:] = 0
    return loss + (dice * judged * torch.tensor(DICE_WEIGHT)).sum(1).mean()


def coverage(mask: np.ndarray, classes: int = len(CLASSES)) -> np.ndarray:
    """Returns the share of each class in each 2 x 2 block of a mask (classes, h/2, w/2)."""
    height, width = mask.shape
    blocks = mask.reshape(height // 2, 2, width // 2, 2)
    return np.stack([(blocks == value).mean((1, 3)) for value in range(classes)])


def batch(
    pools: list[tuple[float, list[HeartFrame]]],
    count: int,
    size: tuple[int, int],
    rng: np.random.Generator,
):
    shares = np.cumsum([share for share, _ in pools])
    views = []
    for _ in range(count):
        frames = pools[int(np.searchsorted(shares, rng.random() * shares[-1]))][1]
        frame = frames[rng.integers(len(frames))]
        image, mask = sample(rng, frame.image, frame.mask, size)
        views.append((image, coverage(mask), frame.right_heart))
    images, targets, named = zip(*views)
    return (
        torch.from_numpy(np.stack(images))[:, None],
        torch.from_numpy(np.stack(targets)).float(),
        torch.tensor(named),
    )


@torch.no_grad()
def dice_of(
    model: RegionNetwork, pairs: list[HeartPair], size: tuple[int, int]
) -> dict[str, float]:
    """Returns the mean Dice for each chamber and phase, at the resolution of the source images."""
    scores: dict[str, list[float]] = {}
    for pair in pairs:
        for phase, frame in (("ED", pair.ed), ("ES", pair.es)):
            height, width = frame.image.shape
            logits = model(torch.from_numpy(letterbox(frame.image, size))[None, None])
            shares = logits.softmax(1)[0].numpy()
            back = cv2.invertAffineTransform(letterbox_matrix(width, height, size))
            maps = [cv2.warpAffine(one, back, (width, height)) for one in shares]
            found = np.argmax(maps, 0)
            for name, chamber in CHAMBERS.items():
                one, truth = found == chamber, frame.mask == chamber
                dice = 2 * (one & truth).sum() / max(1, one.sum() + truth.sum())
                scores.setdefault(f"{name} {phase}", []).append(float(dice))
    return {name: round(float(np.mean(own)), 4) for name, own in scores.items()}


DEFAULTS = Defaults(minutes=25, rate=2e-3, batch=12)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--camus", action="store_true", help="research pack: CC BY-NC-SA images")
    parser.add_argument("--phantom-share", type=float, default=0.2)
    parser.add_argument("--small", action="store_true")


def prepare(options: Namespace) -> Training:
    rng = np.random.default_rng(options.seed)
    seen, held = held_out(camus(options.data, "train"))
    real = [frame for pair in seen for frame in (pair.ed, pair.es)] if options.camus else []
    share = options.phantom_share if real else 1.0
    pools = [(1 - share, real), (share, phantom_frames(*options.phantoms))]
    pools = [(weight, frames) for weight, frames in pools if frames and weight > 0]
    widths, size = (SMALL, SMALL_SIZE) if options.small else (WIDE, SIZE)
    model, smooth = RegionNetwork(len(CLASSES), widths), RegionNetwork(len(CLASSES), widths)
    if options.resume:
        model.load_state_dict(torch.load(options.resume))

    def loss_of_batch() -> torch.Tensor:
        images, targets, named = batch(pools, options.batch, size, rng)
        with autocast():
            logits = model.coarse(images)
        return loss_of(logits, targets, named)

    def keep(weights: dict[str, torch.Tensor]) -> str:
        torch.save(weights, options.out)
        smooth.load_state_dict(weights)
        return f"Dice {dice_of(smooth, held, size)}"

    return Training(model, loss_of_batch, keep, weight_decay=5e-3, keep_every=400)
