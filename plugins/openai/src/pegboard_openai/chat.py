"""The provider: requests out, a stream of parts back, and patience with endpoints that are busy."""

from __future__ import annotations

import asyncio
import difflib
import importlib
import logging
import os
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from pegboard.errors import ModelError
from pegboard.models import NotePart, ProviderSettings, ReplyPart, Request

from pegboard_openai.assembly import Assembly, BrokenOff
from pegboard_openai.endpoint import endpoint, own_options, proxy_of
from pegboard_openai.failures import Failure, broken_off, from_answer, lost, span
from pegboard_openai.messages import body
from pegboard_openai.stream import ToldError, Unreadable, chunks

if TYPE_CHECKING:
    import openai

TRIES = 5
FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
"""Seconds. An endpoint that wants to be left alone for longer is told of instead of waited for."""

LISTING = 10.0
NAMED = 10


_LOG = logging.getLogger(__name__)


class _Failed(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.what)
        self.failure = failure


class OpenAIProvider:
    """One endpoint. `context`: tokens it takes, where that is known. `sleep` is given by tests."""

    cautious = False

    def __init__(
        self, settings: ProviderSettings, *, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._settings = settings
        self._options = own_options(settings)
        self._endpoint = endpoint(settings, os.environ)
        self._sleep = sleep
        self._client: openai.AsyncOpenAI | None = None
        self._stream_usage = self._options.stream_usage
        self._limit_field = "max_completion_tokens" if self._endpoint.official else "max_tokens"
        context = settings.context
        self.context = context.get(settings.model or "") if isinstance(context, dict) else context
        open_line = self._endpoint.base_url.startswith("http:") and not self._endpoint.loopback
        name = f"{settings.name}/{settings.model}" if settings.model else settings.name
        self.banner = f"{name} at {self._endpoint.host}" + (", not encrypted" if open_line else "")

    async def reply(self, request: Request) -> AsyncIterator[ReplyPart]:
        """Stream one reply; an endpoint that is busy or lost before its first word is asked again, and that is said."""
        tried, said = 1, False
        while True:
            try:
                async with aclosing(self._once(request)) as parts:
                    async for part in parts:
                        said = True
                        yield part
                return
            except _Failed as failed:
                failure = failed.failure
            if said:
                reason = failure.text or failure.what
                raise broken_off(self._endpoint, reason) if failure.again else failure.error
            if self._adapt(failure):
                continue
            wait = self._wait(failure, tried)
            if wait is None:
                raise await self._with_models(failure)
            tried += 1
            yield NotePart(f"{failure.what}; trying again in {wait:.0f} s ({tried} of {TRIES})")
            await self._sleep(wait)

    async def models(self) -> list[str]:
        """The models that the endpoint lists, by name; those of the configuration come first.

        Raises:
            ModelError: it cannot be asked, or its answer is no list.
        """
        return list(dict.fromkeys([*self._settings.models, *sorted(await self._listed())]))

    async def close(self) -> None:
        """Let go of connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _once(self, request: Request) -> AsyncGenerator[ReplyPart, None]:
        """One request. Raises _Failed, whatever the SDK raised."""
        client = await self._open()
        import httpx2
        import openai

        assembly = Assembly()
        began = False
        _LOG.debug("asking %s for a reply to %d messages", self._endpoint.host, len(request.messages))
        try:
            stream = await client.post(
                "/chat/completions",
                body=self._body(request),
                cast_to=object,
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
            async with stream:
                kind = stream.response.headers.get("content-type", "text/event-stream").partition(";")[0].strip()
                _LOG.debug("%s answered %d with %s", self._endpoint.host, stream.response.status_code, kind)
                streams = kind == "text/event-stream"
                came = (
                    chunks(stream.response.aiter_bytes(), assembly) if streams else self._plain(stream.response, kind)
                )
                async for chunk in came:
                    began = True
                    for part in assembly.take(chunk):
                        yield part
            for part in assembly.end():
                yield part
        except BrokenOff as broken:
            reason = str(broken) or ("it ended without saying that it was whole" if began else "it answered nothing")
            raise _Failed(lost(self._endpoint, reason)) from None
        except openai.APIStatusError as error:
            raise _Failed(self._from_answer(error.status_code, error.body, error.response.headers)) from None
        except openai.APIConnectionError as error:
            raise _Failed(self._lost(error)) from None
        except ToldError as error:
            raise _Failed(self._from_answer(None, error.told, {})) from None
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            raise _Failed(self._lost(error)) from None
        except (Unreadable, ValueError) as error:
            what = str(error) if isinstance(error, Unreadable) else type(error).__name__
            raise _Failed(lost(self._endpoint, f"its answer cannot be read: {what}")) from None

    async def _plain(self, response: Any, kind: str) -> AsyncIterator[Any]:
        """An answer that is no stream: the whole reply as JSON, or the page of something else."""
        import msgspec

        data = await response.aread()
        try:
            whole = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            whole = None
        if isinstance(whole, dict) and whole.get("error"):
            raise _Failed(self._from_answer(None, whole, response.headers))
        if not isinstance(whole, dict) or "choices" not in whole:
            error = ModelError(
                f"{self._endpoint.base_url} answered with {kind}, not with a completion. Nothing was changed. "
                "Check base_url: it usually ends in /v1."
            )
            raise _Failed(Failure(error=error, what=str(error)))
        yield whole

    def _body(self, request: Request) -> dict[str, Any]:
        wired = body(request, self._settings.model or request.model.partition("/")[2] or request.model)
        if self._stream_usage:
            wired["stream_options"] = {"include_usage": True}
        if request.max_tokens is not None:
            wired[self._limit_field] = request.max_tokens
        return {**wired, **self._options.extra_body}

    async def _open(self) -> openai.AsyncOpenAI:
        if self._client is None:
            key = await self._endpoint.api_key()
            # The SDK takes its time: whoever looks on while it is imported still gets an answer.
            made = await asyncio.to_thread(importlib.import_module, "pegboard_openai.client")
            self._client = made.client(self._endpoint, self._settings, key)
        assert self._client is not None
        return self._client

    def _adapt(self, failure: Failure) -> bool:
        """Whether the request can be put so that this endpoint takes it: some refuse a field that others need."""
        if failure.status not in (400, 404, 422):
            return False
        if self._stream_usage and "stream_options" in failure.text:
            self._stream_usage = False
            return True
        if self._limit_field == "max_tokens" and "max_completion_tokens" in failure.text:
            self._limit_field = "max_completion_tokens"
            return True
        return False

    def _wait(self, failure: Failure, tried: int) -> float | None:
        """Seconds until the next try; None: no more."""
        if not failure.again or tried >= TRIES or (failure.wait or 0) > LONGEST_WAIT:
            return None
        if failure.wait is not None:
            return failure.wait
        jitter = random.uniform(0.75, 1.25)  # so that many clients do not come back at once
        return float(FIRST_WAIT * 2 ** (tried - 1) * jitter)

    async def _with_models(self, failure: Failure) -> ModelError:
        """The error; where the model is not known, with the names of those that are."""
        if failure.wait is not None and failure.again and failure.wait > LONGEST_WAIT:
            return ModelError(f"{failure.error} It asks to be left alone for {span(failure.wait)}.")
        if failure.status != 404 and "model" not in failure.text.lower():
            return failure.error
        if type(failure.error) is not ModelError or failure.status not in (400, 404):
            return failure.error
        try:
            names = sorted(await self._listed())
        except ModelError:
            return failure.error
        asked = self._settings.model or ""
        if not names or asked in names:
            return failure.error
        near = difflib.get_close_matches(asked, names, NAMED, 0.5) or names[:NAMED]
        more = f" and {len(names) - len(near)} more" if len(names) > len(near) else ""
        return ModelError(f"{failure.error} It has: {', '.join(near)}{more}.")

    async def _listed(self) -> list[str]:
        client = await self._open()
        import httpx2
        import openai

        try:
            listed = await client.get("/models", cast_to=object, options={"timeout": LISTING})
        except openai.APIStatusError as error:
            raise self._from_answer(error.status_code, error.body, error.response.headers).error from None
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            raise self._lost(error).error from None
        except (openai.APIError, ValueError):
            listed = None
        data = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(data, list):
            raise ModelError(
                f"{self._endpoint.base_url}/models answered with no list. Nothing was changed. Check base_url."
            )
        found = [one for one in data if isinstance(one, dict) and isinstance(one.get("id"), str)]
        self._learn(found)
        return [one["id"] for one in found]

    def _learn(self, listed: list[dict[str, Any]]) -> None:
        """vLLM and llama.cpp say how much their model takes."""
        mine = next((one for one in listed if one["id"] == self._settings.model), {})
        meta = mine.get("meta")
        size = mine.get("max_model_len") or (meta.get("n_ctx") if isinstance(meta, dict) else None)
        if self.context is None and isinstance(size, int) and size > 0:
            self.context = size

    def _from_answer(self, status: int | None, told: Any, headers: Any) -> Failure:
        return from_answer(self._endpoint, self._settings.model or self._settings.name, status, told, headers)

    def _lost(self, error: BaseException) -> Failure:
        import httpx2

        cause = error.__cause__ or error
        reason = str(cause) or type(cause).__name__
        # A server on this machine that does not listen will not begin to by being asked again.
        reached = not isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout)
        absent = isinstance(cause, httpx2.ConnectError) and self._endpoint.loopback
        proxy = (
            None if reached and not isinstance(cause, httpx2.ProxyError) else proxy_of(self._endpoint, self._settings)
        )
        return lost(self._endpoint, reason, again=not absent, reached=reached, proxy=proxy)
