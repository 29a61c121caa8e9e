"""Functions and settings that both clients share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import httpx

from ._generated import Artifact

RECONNECT_SECONDS = 1.0
#: Number of consecutive connection failures after which the last one is raised.
MOST_FAILURES = 20
#: The read time-out is longer than any response takes: a wait for a request lasts up to 60 s, and
#: an event stream sends a comment every 15 s.
TIMEOUT = httpx.Timeout(30.0, read=90.0)

Source = str | Path
Priority = Literal["low", "normal", "high"]


def settings(url: str | None, key: str | None) -> tuple[str, str]:
    url = url or os.environ.get("SONOGATE_URL")
    key = key or os.environ.get("SONOGATE_KEY")
    if not url or not key:
        raise ValueError("Give url and key, or set SONOGATE_URL and SONOGATE_KEY.")
    return url.rstrip("/"), key


def events_path(request_id: str) -> str:
    return f"/v1/requests/{request_id}/events"


def artifact_path(request_id: str, name: str) -> str:
    return f"/v1/requests/{request_id}/artifacts/{name}"


def chosen(found: list[Artifact], names: Sequence[str] | None, request_id: str) -> list[Artifact]:
    by_name = {each["name"]: each for each in found}
    if names is None:
        return found
    for name in names:
        if name not in by_name:
            raise KeyError(f"{request_id} has no artifact {name}")
    return [by_name[name] for name in names]


def saved(partial: Path, artifact: Artifact, digest: str) -> Path:
    """Renames a complete download to its final name."""
    if digest != artifact["sha256"]:
        raise ValueError(f"{artifact['name']}: the file does not have the SHA-256 in the result")
    return partial.rename(partial.with_suffix(""))


def partial_file(folder: str | Path, name: str) -> Path:
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder, Path(name).name + ".partial")
