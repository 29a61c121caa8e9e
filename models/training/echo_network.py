"""Heart networks: a U-Net for chambers and a regression of the ejection fraction."""

import torch
from torch import nn
from torch.nn import functional as F

from network import Encoder, convolution

WIDE = (24, 48, 96, 160, 256)
SMALL = (16, 32, 64, 96, 128)


class RegionNetwork(nn.Module):
    """Maps (n, 1, h, w) in 0..1, with sides that are multiples of 32, to logits (n, classes, h, w).
    `coarse` contains the logits of every second pixel, which the training compares with areas."""

    def __init__(self, classes: int, widths: tuple[int, ...] = WIDE):
        super().__init__()
        self.encoder = Encoder(widths)
        steps = list(zip(widths[:0:-1], widths[-2::-1]))
        self.narrow = nn.ModuleList(nn.Conv2d(deep, skip, 1) for deep, skip in steps)
        self.decoder = nn.ModuleList(convolution(2 * skip, skip) for _, skip in steps)
        self.head = nn.Conv2d(widths[0], classes, 1)

    def coarse(self, x: torch.Tensor) -> torch.Tensor:
        maps = self.encoder(x)
        y = maps[-1]
        for narrow, level, skip in zip(self.narrow, self.decoder, maps[-2::-1]):
            y = F.interpolate(narrow(y), scale_factor=2.0, mode="bilinear", align_corners=False)
            y = level(torch.cat([y, skip], 1))
        return self.head(y).float()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.interpolate(self.coarse(x), scale_factor=2.0, mode="bilinear", align_corners=False)


class EjectionNetwork(nn.Module):
    """Maps end-diastole above end-systole (n, 1, 2 s, s) in 0..1, with s a multiple of 32, to EF
    (n, 1), 0..1. Both frames pass through the same encoder. The head gets the features of each
    frame and their difference."""

    def __init__(self, widths: tuple[int, ...] = WIDE, dropout: float = 0.3):
        super().__init__()
        self.encoder = Encoder(widths)
        pooled = 2 * widths[-1] + widths[-2] + widths[-3]
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Sequential(
            nn.Linear(3 * pooled, 128), nn.LeakyReLU(0.05), nn.Dropout(dropout), nn.Linear(128, 1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, _, height, width = x.shape
        maps = self.encoder(x.reshape(2 * n, 1, height // 2, width))
        deep, below, middle = (one.float() for one in maps[:1:-1])
        pooled = [deep.mean((2, 3)), deep.amax((2, 3)), below.mean((2, 3)), middle.mean((2, 3))]
        ed, es = torch.cat(pooled, 1).reshape(n, 2, -1).unbind(1)
        return 0.5 + 0.2 * self.head(self.dropout(torch.cat([ed, es, es - ed], 1)))


class ViewNetwork(nn.Module):
    """Maps (n, 1, h, w) in 0..1, with sides that are multiples of 32, to logits (n, views)."""

    def __init__(self, views: int, widths: tuple[int, ...] = SMALL, dropout: float = 0.3):
        super().__init__()
        self.encoder = Encoder(widths)
        self.dropout = nn.Dropout(dropout)
        # Views differ in the positions of their structures, so the deep map is pooled in a grid of
        # 3 x 3.
        self.squeeze = convolution(widths[-1], 48)
        self.head = nn.Linear(9 * 48 + widths[-1] + widths[-2], views)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        maps = self.encoder(x)
        deep, below = maps[-1].float(), maps[-2].float()
        placed = F.avg_pool2d(self.squeeze(deep), 2).flatten(1)
        pooled = torch.cat([placed, deep.amax((2, 3)), below.mean((2, 3))], 1)
        return self.head(self.dropout(pooled))
