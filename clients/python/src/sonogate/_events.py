"""Server-sent events (WHATWG HTML 9.2.6)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """Something that happened to a request; ``data`` depends on ``name``."""

    id: int
    name: str
    data: Any


class EventReader:
    """Puts lines together to events; comments and half events are left out."""

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}

    def line(self, line: str) -> Event | None:
        """Takes the next line; returns an event when it ends one."""
        if line:
            name, _, value = line.partition(":")
            self._fields[name] = value.removeprefix(" ")
            return None
        fields, self._fields = self._fields, {}
        if "id" not in fields or "data" not in fields:
            return None
        return Event(int(fields["id"]), fields.get("event", "message"), json.loads(fields["data"]))
