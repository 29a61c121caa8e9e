"""Server-sent events (WHATWG HTML 9.2.6)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """An event of a request, with ``data`` that depends on its ``name``."""

    id: int
    name: str
    data: Any


class EventReader:
    """Assembles lines into events, leaving out comments and incomplete events."""

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}

    def line(self, line: str) -> Event | None:
        """Accepts the next line. Returns an event if this line completes one."""
        if line:
            name, _, value = line.partition(":")
            self._fields[name] = value.removeprefix(" ")
            return None
        fields, self._fields = self._fields, {}
        if "id" not in fields or "data" not in fields:
            return None
        return Event(int(fields["id"]), fields.get("event", "message"), json.loads(fields["data"]))
