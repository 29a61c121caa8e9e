"""One encoder for two networks: a U-Net for outlines and landmarks, and a classifier for planes."""

from itertools import pairwise
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

WIDTHS = (16, 40, 80, 112, 128)
# Width of the hidden layer in the branch whose output PlaneNetwork adds to that of its last layer.
HIDDEN = 48
GEOMETRY_CHANNELS = ("head", "abdomen", "femur-shaft", "femur-ends")


def convolution(inputs: int, outputs: int, stride: int = 1, size: int = 3) -> nn.Sequential:
    # Group normalisation keeps no running statistics, which could be wrong for images from another
    # ultrasound machine.
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False),
        nn.GroupNorm(8, outputs),
        nn.LeakyReLU(0.05),
    )


class Encoder(nn.Module):
    """Encodes (n, 1, h, w) to five maps at strides 2, 4, 8, 16, 32."""

    def __init__(self, widths: tuple[int, ...] = WIDTHS):
        super().__init__()
        levels = [nn.Sequential(convolution(1, widths[0], 2, 5), convolution(widths[0], widths[0]))]
        for below, above in pairwise(widths):
            levels.append(nn.Sequential(convolution(below, above, 2), convolution(above, above)))
        self.levels = nn.ModuleList(levels)

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        maps = []
        for level in self.levels:
            x = level(x)
            maps.append(x)
        return maps


class GeometryNetwork(nn.Module):
    """Maps (n, 1, h, w) in 0..1, sides multiples of 32, to logits (n, channels, h, w)."""

    def __init__(self, channels: int = len(GEOMETRY_CHANNELS)):
        super().__init__()
        self.encoder = Encoder()
        steps = list(zip(WIDTHS[:0:-1], WIDTHS[-2::-1]))
        # The map is narrowed before it is enlarged. Both are linear, so the result is the same as
        # in the other order, at half the cost.
        self.narrow = nn.ModuleList(nn.Conv2d(deep, skip, 1) for deep, skip in steps)
        self.decoder = nn.ModuleList(convolution(2 * skip, skip) for _, skip in steps)
        self.head = nn.Conv2d(WIDTHS[0], channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        maps = self.encoder(x)
        y = maps[-1]
        for narrow, level, skip in zip(self.narrow, self.decoder, maps[-2::-1]):
            y = F.interpolate(narrow(y), scale_factor=2.0, mode="bilinear", align_corners=False)
            y = level(torch.cat([y, skip], 1))
        y = self.head(y).float()
        return F.interpolate(y, scale_factor=2.0, mode="bilinear", align_corners=False)


class PlaneNetwork(nn.Module):
    """Maps (n, 1, h, w) in 0..1, sides multiples of 32, to logits (n, classes)."""

    def __init__(self, classes: int, dropout: float = 0.3):
        super().__init__()
        self.encoder = Encoder()
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(2 * WIDTHS[-1] + WIDTHS[-2], classes)
        # A linear layer alone cannot separate the planes from other images. The last weights of
        # this branch start at 0, so an untrained branch changes nothing.
        self.hidden = nn.Linear(self.head.in_features, HIDDEN)
        self.beside = nn.Linear(HIDDEN, classes, bias=False)
        nn.init.zeros_(self.beside.weight)

    def pooled(self, x: torch.Tensor) -> torch.Tensor:
        maps = self.encoder(x)
        deep, below = maps[-1].float(), maps[-2].float()
        return torch.cat([deep.mean((2, 3)), deep.amax((2, 3)), below.mean((2, 3))], 1)

    def answer(self, pooled: torch.Tensor) -> torch.Tensor:
        pooled = self.dropout(pooled)
        return self.head(pooled) + self.beside(F.leaky_relu(self.hidden(pooled), 0.05))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.answer(self.pooled(x))


# For HeadPlaneNetwork, on a crop of 224 x 192: the semi-axes in pixels of the region it uses, which
# is a little larger than a head (head_crop.py), and the share of them over which the region fades
# out.
HEAD_AXES = (106, 88)
FADE = 0.06
# Standard deviation of the Gaussian weights, in pixels of a map at one eighth of the size. Each
# grey level is compared with the weighted mean and spread of its surroundings.
SURROUNDING = 3
NARROW = 32
# Structures that HeadStructureNetwork also learns to find (head_targets.py). `front` is the half of
# the head with the forehead.
STRUCTURES = ("csp", "thalami", "cerebellum", "cisterna-magna", "ventricle", "front")
STRUCTURE_STRIDE = 8
# Structures of which fetal-brain-plane also outputs whether they are visible, in this order.
ANSWERED = ("csp", "thalami", "cerebellum")
# In fetal-brain-plane 1.4.0: weight of the networks that map structures, relative to the others.
STRUCTURE_WEIGHT = 0.7
LOOKED = 24


class HeadPlaneNetwork(nn.Module):
    """Maps (n, 1, 192, 224) in 0..1, a levelled crop of the head (head_crop.py), to logits (n,
    classes). Gain differs more between heads than between planes, so each grey level is taken
    relative to its surroundings. A plane is defined by the positions of its structures in the head.
    The network therefore pools the middle of the head and its eight neighbours separately, in
    addition to the whole.
    """

    def __init__(self, classes: int, dropout: float = 0.4):
        super().__init__()
        self.encoder = Encoder()
        self.narrow = nn.Conv2d(WIDTHS[-1], NARROW, 1)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(9 * NARROW + 2 * WIDTHS[-1] + WIDTHS[-2], classes)
        y, x = torch.meshgrid(
            torch.arange(192.0) - 95.5, torch.arange(224.0) - 111.5, indexing="ij"
        )
        radius = torch.hypot(x / HEAD_AXES[0], y / HEAD_AXES[1])
        inside = ((1 - radius) / FADE).clamp(0, 1)[None, None]
        self.register_buffer("inside", inside, persistent=False)
        reach = torch.arange(-2.0 * SURROUNDING, 2 * SURROUNDING + 1)
        weights = torch.exp(-(reach**2) / (2 * SURROUNDING**2))
        self.register_buffer("weights", weights / weights.sum(), persistent=False)

    def surrounding(self, x: torch.Tensor) -> torch.Tensor:
        margin = 2 * SURROUNDING
        small = F.pad(F.avg_pool2d(x, 8), (margin,) * 4, mode="replicate")
        across = F.conv2d(small, self.weights[None, None, None])
        both = F.conv2d(across, self.weights[None, None, :, None])
        return F.interpolate(both, scale_factor=8.0, mode="bilinear", align_corners=False)

    def relative(self, x: torch.Tensor) -> torch.Tensor:
        x = (x.float().clamp(0, 1) + 1e-4).sqrt()
        mean = self.surrounding(x)
        spread = self.surrounding((x - mean) ** 2).sqrt()
        return ((x - mean) / (spread + 0.05) * 0.2 + 0.35) * self.inside

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", enabled=False):
            x = self.relative(x)
        return self.head(self.dropout(self.pooled(self.encoder(x))))

    def pooled(self, maps: list[torch.Tensor]) -> torch.Tensor:
        """Returns the pooled features of nine parts of the head, then those of the whole head."""
        deep, below = maps[-1].float(), maps[-2].float()
        places = F.avg_pool2d(F.leaky_relu(self.narrow(deep), 0.05), (2, 3), 2).flatten(1)
        return torch.cat([places, deep.mean((2, 3)), deep.amax((2, 3)), below.mean((2, 3))], 1)


class HeadStructureNetwork(HeadPlaneNetwork):
    """A HeadPlaneNetwork that also learns to map each of `STRUCTURES`, and classifies with the
    features at their positions as well.
    """

    def __init__(self, classes: int, dropout: float = 0.4):
        super().__init__(classes, dropout)
        steps = list(zip(WIDTHS[:1:-1], WIDTHS[-2:1:-1]))
        self.lift = nn.ModuleList(nn.Conv2d(deep, skip, 1) for deep, skip in steps)
        self.decoder = nn.ModuleList(convolution(2 * skip, skip) for _, skip in steps)
        self.structures = nn.Conv2d(WIDTHS[2], len(STRUCTURES), 1)
        self.looked = nn.Conv2d(WIDTHS[2], LOOKED, 1)
        # Features of each structure and of the back, and for each structure its probability and its
        # size.
        seen = (len(STRUCTURES) + 1) * LOOKED + 2 * len(STRUCTURES)
        self.head = nn.Linear(self.head.in_features + seen, classes)

    def look(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the logits of the classes, and of `STRUCTURES` (n, structures, 24, 28)."""
        with torch.autocast("cpu", enabled=False):
            x = self.relative(x)
        maps = self.encoder(x)
        y = maps[-1]
        for lift, level, skip in zip(self.lift, self.decoder, maps[-2::-1]):
            y = F.interpolate(lift(y), scale_factor=2.0, mode="bilinear", align_corners=False)
            y = level(torch.cat([y, skip], 1))
        structures = self.structures(y)
        seen = torch.sigmoid(structures)
        where = torch.cat([seen, 1 - seen[:, -1:]], 1).flatten(2)
        what = F.leaky_relu(self.looked(y), 0.05).flatten(2)
        there = torch.einsum("nkp,ncp->nkc", where, what) / (where.sum(2, keepdim=True) + 2)
        found = [there.flatten(1), seen.amax((2, 3)), 10 * seen.mean((2, 3))]
        pooled = torch.cat([self.pooled(maps), *found], 1)
        return self.head(self.dropout(pooled)), structures

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.look(x)[0]


def save_planes(weights: dict, classes: tuple[str, ...], file: Path) -> None:
    torch.save({"classes": list(classes), "weights": weights}, file)


def load_planes(
    model: PlaneNetwork | HeadPlaneNetwork, file: Path, classes: tuple[str, ...]
) -> None:
    """Loads the weights of a run that may have had fewer classes. The classes of that run keep
    their logits."""
    saved = torch.load(file)
    weights = saved["weights"]
    rows = [name for name in ("head.weight", "head.bias", "beside.weight") if name in weights]
    for name in rows:
        fresh = model.state_dict()[name].clone()
        for row, plane in enumerate(saved["classes"]):
            if plane in classes:
                fresh[classes.index(plane)] = weights[name][row]
        weights[name] = fresh
    # Networks trained before the run planes-8 have no hidden layer.
    missing = model.load_state_dict(weights, strict=False)
    if missing.unexpected_keys or any(
        not name.startswith(("hidden.", "beside.")) for name in missing.missing_keys
    ):
        raise ValueError(f"{file} holds weights of another network")


def start_encoder(model: nn.Module, weights: Path) -> None:
    """Starts the encoder of a network from that of another."""
    encoder = {
        name.removeprefix("encoder."): value
        for name, value in torch.load(weights).items()
        if name.startswith("encoder.")
    }
    model.encoder.load_state_dict(encoder)


def start_geometry(model: GeometryNetwork, weights: Path) -> None:
    """Starts a geometry network from all layers but the last of another network that was trained on
    real screens.
    """
    known = {
        name: value for name, value in torch.load(weights).items() if not name.startswith("head.")
    }
    model.load_state_dict(known, strict=False)


class Average:
    """Exponential moving average of the weights, smoother than those of the last step."""

    def __init__(self, model: nn.Module, decay: float = 0.998):
        self.decay = decay
        self.steps = 0
        self.weights = {k: v.detach().clone() for k, v in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        self.steps += 1
        decay = min(self.decay, (1 + self.steps) / (10 + self.steps))
        for key, value in model.state_dict().items():
            self.weights[key].lerp_(value, 1 - decay)
