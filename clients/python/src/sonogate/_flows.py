"""The logic of both clients, independent of how they wait.

Each flow is a generator that yields calls and pauses, and receives the response to each call. The
two clients run the same flows, one with ``await`` and one without.
"""

from __future__ import annotations

import mimetypes
import random
import re
import uuid
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import httpx

from ._errors import ApiError, NoAnswerError, problem_of

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 60.0
#: Statuses after which the same call may succeed: the gateway, or a proxy in front of it, is busy.
PASSING = {429, 500, 502, 503, 504}
#: Methods that are safe to repeat (RFC 9110 9.2.2).
REPEATABLE = {"GET", "PUT", "DELETE"}
#: Number of bytes read from a file at a time.
CHUNK_BYTES = 1 << 18

ENDED = {"succeeded", "failed", "canceled", "rejected", "expired"}


@dataclass(frozen=True)
class FilePart:
    """A byte range of a file. It is read while it is being sent."""

    path: Path
    first: int
    size: int

    def read(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            file.seek(self.first)
            left = self.size
            while left > 0 and (chunk := file.read(min(CHUNK_BYTES, left))):
                left -= len(chunk)
                yield chunk

    async def read_async(self) -> AsyncIterator[bytes]:
        for chunk in self.read():
            yield chunk


@dataclass(frozen=True)
class Call:
    """A call to send. ``content`` is a body other than JSON."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, Any] | None = None
    json: Any = None
    content: FilePart | None = None
    #: True if the key is sent. Signed URLs need no key.
    with_key: bool = True


@dataclass(frozen=True)
class Pause:
    """A wait before the next step."""

    seconds: float


@dataclass(frozen=True)
class Progress:
    """Progress of an upload, in bytes summed over all files."""

    file: str
    sent: int
    total: int


OnProgress: TypeAlias = Callable[[Progress], None]
#: The response, or the error if there was none.
Answer: TypeAlias = "httpx.Response | httpx.TransportError | None"
Flow: TypeAlias = Generator["Call | Pause", Answer, Any]


def wait_before(attempt: int, response: httpx.Response | None) -> float:
    """Returns the seconds to wait: as long as requested, or else twice as long each time."""
    asked = response.headers.get("Retry-After", "") if response is not None else ""
    if asked.isdecimal():
        return min(float(asked), LONGEST_WAIT_SECONDS)
    return FIRST_WAIT_SECONDS * 2.0**attempt * random.uniform(0.5, 1.0)


def with_retries(call: Call, retries: int) -> Flow:
    """Sends a call, which must be safe to repeat, until it succeeds or its failure is permanent."""
    attempt = 0
    while True:
        answer = yield call
        response = answer if isinstance(answer, httpx.Response) else None
        if response is not None:
            if response.is_success:
                return response
            problem = problem_of(response)
            passing = (
                response.status_code in PASSING or problem["code"] == "idempotency_in_progress"
            )
            if not passing or attempt >= retries:
                raise ApiError(problem)
        elif attempt >= retries:
            error = answer if isinstance(answer, Exception) else None
            raise NoAnswerError(f"The gateway did not answer: {error}") from error
        yield Pause(wait_before(attempt, response))
        attempt += 1


def api_call(
    retries: int,
    method: str,
    path: str,
    *,
    query: Mapping[str, Any] | None = None,
    json: Any = None,
    once: bool = False,
    idempotency_key: str | None = None,
    if_match: str | None = None,
) -> Flow:
    """Makes a call. Returns the JSON of the response, or None if it has no body."""
    params = {name: value for name, value in (query or {}).items() if value is not None}
    headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())} if once else {}
    if if_match is not None:
        headers["If-Match"] = if_match
    call = Call(method, path, headers, params or None, json)
    repeatable = once or method in REPEATABLE
    response = yield from with_retries(call, retries if repeatable else 0)
    return response.json() if response.content else None


def open_source(source: str | Path) -> list[Path]:
    """Returns the file at a path, or every file in a folder and its subfolders, sorted by path."""
    path = Path(source)
    if not path.is_dir():
        path.stat()
        return [path]
    return sorted(each for each in path.rglob("*") if each.is_file() and each.name[0] != ".")


def upload_files(
    retries: int,
    paths: Sequence[Path],
    idempotency_key: str | None,
    on_progress: OnProgress | None,
) -> Flow:
    """Uploads files one after the other and returns their ids."""
    total = sum(path.stat().st_size for path in paths)
    base = idempotency_key or str(uuid.uuid4())
    sent = 0
    ids: list[str] = []
    for index, path in enumerate(paths):
        size = path.stat().st_size

        def tell(bytes_: int, name: str = path.name) -> None:
            nonlocal sent
            sent += bytes_
            if on_progress:
                on_progress(Progress(name, sent, total))

        # The size distinguishes a different file in the same place of a changed folder.
        ids.append((yield from upload_one(retries, path, size, f"{base}/{index}/{size}", tell)))
    return ids


def upload_one(
    retries: int, path: Path, size: int, key: str, tell: Callable[[int], None]
) -> Flow:
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    body = {"filename": path.name, "bytes": size, "media_type": media_type}
    made = yield from api_call(
        retries, "POST", "/v1/uploads", json=body, once=True, idempotency_key=key
    )
    # The response may be a stored one from an earlier call, so the current state is fetched.
    id_: str = made["file"]["id"]
    state = yield from api_call(retries, "GET", f"/v1/uploads/{id_}")
    if state["file"]["status"] == "ready":
        tell(size)
        return id_
    to = state["upload"]
    whole = {**to, "first_byte": 0, "bytes": size, "etag": None}
    for part in to.get("parts", [whole]):
        if part["etag"] is None:
            content = FilePart(path, part["first_byte"], part["bytes"])
            headers = {**part["headers"], "Content-Length": str(part["bytes"])}
            put = Call("PUT", part["url"], headers, content=content, with_key=False)
            yield from with_retries(put, retries)
        tell(part["bytes"])
    yield from api_call(retries, "POST", f"/v1/uploads/{id_}/complete", once=True)
    return id_


KNOWN = re.compile(r"file_[0-9a-z]{26}$|https?://")


def ids_of(
    retries: int,
    sources: Sequence[str | Path],
    idempotency_key: str,
    on_progress: OnProgress | None,
) -> Flow:
    """Replaces each source with its upload id or address, uploading those that have neither."""
    opened = [
        each if isinstance(each, str) and KNOWN.match(each) else open_source(each)
        for each in sources
    ]
    local = [path for each in opened if isinstance(each, list) for path in each]
    ids = iter((yield from upload_files(retries, local, idempotency_key, on_progress)))
    return [
        found
        for each in opened
        for found in ([each] if isinstance(each, str) else [next(ids) for _ in each])
    ]


def submit(
    retries: int,
    endpoint: str,
    given: Mapping[str, Any],
    idempotency_key: str | None,
    on_progress: OnProgress | None,
) -> Flow:
    """Uploads whatever has not been uploaded yet, submits it and returns the request."""
    key = idempotency_key or str(uuid.uuid4())
    body = {name: value for name, value in given.items() if value is not None}
    inputs: dict[str, Any] = {
        name: body.pop(name) for name in ("options", "clinical_context") if name in body
    }
    for name in ("files", "prior_files"):
        if name in body:
            ids = ids_of(retries, body.pop(name), f"{key}/{name}", on_progress)
            inputs[name] = yield from ids
    call = api_call(
        retries,
        "POST",
        f"/v1/run/{endpoint}",
        json={**body, "input": inputs},
        once=True,
        idempotency_key=key,
    )
    return (yield from call)


def wait(retries: int, request_id: str) -> Flow:
    """Waits until a request has ended, and returns it."""
    while True:
        path = f"/v1/requests/{request_id}"
        request = yield from api_call(retries, "GET", path, query={"wait": 60})
        if request["status"] in ENDED:
            return request
