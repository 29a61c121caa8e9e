"""What the client raises."""

from __future__ import annotations

from typing import Any, cast

import httpx

from ._generated import Problem


class ApiError(Exception):
    """The gateway refused a call; ``problem`` says why."""

    def __init__(self, problem: Problem) -> None:
        places = [f"{each['pointer']}: {each['detail']}" for each in problem.get("errors", [])]
        super().__init__(f"{problem['code']}: {'; '.join(places) or problem['detail']}")
        self.problem = problem


class NoAnswerError(Exception):
    """Nothing answered, also after several tries."""


class WebhookError(Exception):
    """A webhook that must not be believed."""


def problem_of(response: httpx.Response) -> Problem:
    """The problem details of an answer that has been read, or what its status says."""
    try:
        body: Any = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and "code" in body:
        return cast(Problem, body)
    title = f"HTTP {response.status_code}"
    return {
        "type": "about:blank",
        "title": title,
        "status": response.status_code,
        "detail": title,
        "code": "unknown",
    }
