"""Verification of webhooks (Standard Webhooks 1.0.0)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import cast

from ._errors import WebhookError
from ._generated import WebhookMessage

#: Tolerated clock difference in seconds. A recorded webhook can be replayed for this long.
TOLERANCE_SECONDS = 300


def verify_webhook(
    body: bytes | str, headers: Mapping[str, str], secret: str, *, now: float | None = None
) -> WebhookMessage:
    """Verifies that the gateway signed a webhook, and returns its message.

    ``body`` must contain the bytes as received, not parsed and serialized again. ``secret`` is the
    account's ``whsec_…``. Raises WebhookError.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        id_, timestamp, signatures = (
            given[name] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
        )
    except KeyError as missing:
        raise WebhookError(f"The header {missing.args[0]} is missing.") from None
    at = time.time() if now is None else now
    if not timestamp.isdecimal() or abs(at - int(timestamp)) > TOLERANCE_SECONDS:
        raise WebhookError("The timestamp is too old or too new.")
    raw = body.encode() if isinstance(body, str) else body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{id_}.{timestamp}.".encode() + raw, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    if not any(hmac.compare_digest(expected, each) for each in signatures.split(" ")):
        raise WebhookError("No signature was made with this secret.")
    return cast(WebhookMessage, json.loads(raw))
