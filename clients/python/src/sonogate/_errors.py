"""Exceptions raised by the clients."""

from __future__ import annotations

from typing import Any, cast

import httpx

from ._generated import Problem


class ApiError(Exception):
    """The gateway refused a call; ``problem`` contains the reason."""

    def __init__(self, problem: Problem) -> None:
        places = [f"{each['pointer']}: {each['detail']}" for each in problem.get("errors", [])]
        super().__init__(f"{problem['code']}: {'; '.join(places) or problem['detail']}")
        self.problem = problem


class NoAnswerError(Exception):
    """There was no response, even after several retries."""


class WebhookError(Exception):
    """A webhook cannot be trusted."""


def problem_of(response: httpx.Response) -> Problem:
    """Returns the problem details in a response, or creates them from its status."""
    try:
        body: Any = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and "code" in body:
        return cast(Problem, body)
    title = f"HTTP {response.status_code}"
    # The answer is not of a gateway. Its address may contain a signature, so only the host is named.
    host = response.url.copy_with(raw_path=b"/", fragment=None)
    return {
        "type": "about:blank",
        "title": title,
        "status": response.status_code,
        "detail": f"{title} from {host}: is this the address of a gateway?",
        "code": "unknown",
    }
