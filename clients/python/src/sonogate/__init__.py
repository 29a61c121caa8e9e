"""Client of Sonogate's HTTP API."""

from ._async_client import AsyncSonogate
from ._client import Sonogate
from ._errors import ApiError, NoAnswerError, WebhookError
from ._events import Event
from ._flows import Progress
from ._generated import API_VERSION
from ._webhooks import verify_webhook

__all__ = [
    "API_VERSION",
    "ApiError",
    "AsyncSonogate",
    "Event",
    "NoAnswerError",
    "Progress",
    "Sonogate",
    "WebhookError",
    "verify_webhook",
]
