# Written by clients/generate.ts from _async_client.py. Do not edit.
"""The blocking client."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self, cast

import httpx

from . import _flows as flows
from ._errors import ApiError, NoAnswerError, problem_of
from ._events import Event, EventReader
from ._generated import Calls, Request
from ._shared import (
    MOST_FAILURES,
    RECONNECT_SECONDS,
    TIMEOUT,
    Priority,
    Source,
    artifact_path,
    chosen,
    events_path,
    partial_file,
    saved,
    settings,
)


class Sonogate:
    """A client for a gateway, by default at ``SONOGATE_URL`` with the key ``SONOGATE_KEY``."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        retries: int = 4,
        http: httpx.Client | None = None,
    ) -> None:
        self._url, self._key = settings(url, key)
        self._retries = retries
        self._http = http or httpx.Client(timeout=TIMEOUT, follow_redirects=True)
        #: Every call of the API as a method.
        self.calls = Calls(self._send)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def _address(self, path: str) -> str:
        return path if path.startswith("http") else self._url + path

    def _drive(self, flow: flows.Flow) -> Any:
        answer: flows.Answer = None
        while True:
            try:
                step = flow.send(answer)
            except StopIteration as end:
                return end.value
            if isinstance(step, flows.Pause):
                time.sleep(step.seconds)
                answer = None
                continue
            headers = dict(step.headers)
            if step.with_key:
                headers["Authorization"] = f"Bearer {self._key}"
            try:
                answer = self._http.request(
                    step.method,
                    self._address(step.url),
                    headers=headers,
                    params=step.params,
                    json=step.json,
                    content=step.content.read() if step.content else None,
                )
            except httpx.TransportError as error:
                answer = error

    def _send(self, method: str, path: str, **given: Any) -> Any:
        return self._drive(flows.api_call(self._retries, method, path, **given))

    def fetch(self, method: str, path: str, **given: Any) -> httpx.Response:
        """Makes a call that ``calls`` does not cover. ``given`` is passed to ``httpx.request``."""
        headers = {**given.pop("headers", {}), "Authorization": f"Bearer {self._key}"}
        response = self._http.request(method, self._address(path), headers=headers, **given)
        if not response.is_success:
            raise ApiError(problem_of(response))
        return response

    def upload(
        self,
        sources: Sequence[Source],
        *,
        idempotency_key: str | None = None,
        on_progress: flows.OnProgress | None = None,
    ) -> list[str]:
        """Uploads files, and every file in the given folders. Returns the ids for ``files``."""
        paths = [path for each in sources for path in flows.open_source(each)]
        flow = flows.upload_files(self._retries, paths, idempotency_key, on_progress)
        return cast(list[str], self._drive(flow))

    def submit(
        self,
        endpoint: str,
        *,
        files: Sequence[Source],
        prior_files: Sequence[Source] | None = None,
        options: dict[str, Any] | None = None,
        clinical_context: dict[str, Any] | None = None,
        webhook: dict[str, Any] | None = None,
        priority: Priority | None = None,
        metadata: Any = None,
        idempotency_key: str | None = None,
        on_progress: flows.OnProgress | None = None,
    ) -> Request:
        """Uploads whatever has not been uploaded yet, and submits it.

        ``files`` are paths of files and folders, upload ids or https addresses. Repeating a
        submission with the same ``idempotency_key`` creates only one request and resumes
        interrupted uploads.
        """
        given = {
            "files": files,
            "prior_files": prior_files,
            "options": options,
            "clinical_context": clinical_context,
            "webhook": webhook,
            "priority": priority,
            "metadata": metadata,
        }
        flow = flows.submit(self._retries, endpoint, given, idempotency_key, on_progress)
        return cast(Request, self._drive(flow))

    def wait(self, request_id: str) -> Request:
        """Waits until a request has ended, and returns it."""
        return cast(Request, self._drive(flows.wait(self._retries, request_id)))

    def cancel(self, request_id: str) -> Request:
        """Cancels a request that has not ended."""
        return self.calls.cancel_request(id=request_id)

    def follow(self, request_id: str, *, after: int = 0) -> Iterator[Event]:
        """Yields the events of a request until it has ended, reconnecting as necessary."""
        failures = 0
        while True:
            headers = {"Authorization": f"Bearer {self._key}", "Last-Event-ID": str(after)}
            address = self._address(events_path(request_id))
            try:
                with self._http.stream("GET", address, headers=headers) as response:
                    if response.status_code == 204:
                        return
                    if not response.is_success:
                        response.read()
                        raise ApiError(problem_of(response))
                    reader = EventReader()
                    for line in response.iter_lines():
                        if event := reader.line(line):
                            failures, after = 0, event.id
                            yield event
                            if event.name == "done":
                                return
            except httpx.TransportError as error:
                failures += 1
                if failures > MOST_FAILURES:
                    raise NoAnswerError(str(error)) from error
            time.sleep(RECONNECT_SECONDS)

    def download(
        self, request_id: str, folder: str | Path, names: Sequence[str] | None = None
    ) -> list[Path]:
        """Saves artifacts to a folder, all of them by default. Returns their paths.

        The SHA-256 of each is checked.
        """
        found = self.calls.list_artifacts(id=request_id)["data"]
        paths: list[Path] = []
        for artifact in chosen(found, names, request_id):
            address = self._address(artifact_path(request_id, artifact["name"]))
            headers = {"Authorization": f"Bearer {self._key}"}
            partial = partial_file(folder, artifact["name"])
            digest = hashlib.sha256()
            with self._http.stream("GET", address, headers=headers) as response:
                if not response.is_success:
                    response.read()
                    raise ApiError(problem_of(response))
                with partial.open("wb") as file:
                    for chunk in response.iter_bytes():
                        digest.update(chunk)
                        file.write(chunk)
            paths.append(saved(partial, artifact, digest.hexdigest()))
        return paths
