"""Where requests go: addresses, keys, headers, proxies, certificates; and what stays at home."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, Reply
from pegboard.errors import ConfigError, ModelError
from pegboard.models import ProviderSettings
from pegboard_openai import endpoint as endpoint_module
from pegboard_openai.chat import OpenAIProvider
from pegboard_openai.endpoint import endpoint, is_loopback


def at(environ: dict[str, str] | None = None, **table: Any) -> Any:
    return endpoint(ProviderSettings(**{"name": "openai", **table}), environ or {})


def test_without_a_table_it_is_openai_itself() -> None:
    found = at({"OPENAI_API_KEY": " k-123456 \n"})
    assert (found.base_url, found.key, found.official) == ("https://api.openai.com/v1", "k-123456", True)


def test_the_usual_variable_moves_openai_elsewhere_and_nobody_else() -> None:
    environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://gate.example/v1/"}
    assert at(environ).base_url == "https://gate.example/v1"
    with pytest.raises(ConfigError, match="base_url is missing"):
        at(environ, name="mine")


@pytest.mark.parametrize(
    ("table", "variable"),
    [
        ({}, "OPENAI_API_KEY"),
        ({"api_key_env": "GATE_KEY"}, "GATE_KEY"),
        ({"name": "my-vllm", "base_url": "https://v.example/v1"}, "MY_VLLM_API_KEY"),
    ],
)
def test_a_missing_key_is_named_by_its_variable(table: dict[str, Any], variable: str) -> None:
    with pytest.raises(ConfigError, match=f"the variable {variable} is not set.*nothing was started"):
        at({"OTHER_API_KEY": "x"}, **table)


def test_openais_key_is_not_sent_to_others() -> None:
    found = at({"OPENAI_API_KEY": "k"}, name="mine", base_url="http://127.0.0.1:1/v1")
    assert found.key is None


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.9.9.9", "llm.localhost"])
def test_this_machine_needs_no_key(host: str) -> None:
    assert at(base_url=f"http://{host}:1234/v1").loopback


@pytest.mark.parametrize(
    "host", ["128.0.0.1", "localhost.example", "127.0.0.1.example", "10.0.0.1", "0x7f000001.example"]
)
def test_others_are_not_this_machine(host: str) -> None:
    assert not is_loopback(host)


def test_an_endpoint_without_keys_can_be_said_to_be_one() -> None:
    assert at(base_url="https://v.example/v1", api_key_env="").key is None


@pytest.mark.parametrize("url", ["api.openai.com/v1", "ftp://x/v1", "https://", "http:///v1"])
def test_an_address_that_is_none_is_told(url: str) -> None:
    with pytest.raises(ConfigError, match="no address"):
        at(base_url=url)


def test_a_login_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigError, match="holds a login") as caught:
        at(base_url="https://me:pass@gate.example/v1")
    assert "pass@" not in str(caught.value)


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"X-Token": "{env:NOT_THERE}"}, "NOT_THERE"),
        ({"X Token": "a"}, "no header"),
        ({"X-Token": "a\r\nEvil: 1"}, "no header"),
    ],
)
def test_headers_that_cannot_be_sent_are_told(headers: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        at({"OPENAI_API_KEY": "k"}, headers=headers)


async def test_headers_of_the_table_go_out_and_the_sdks_own_do_not(
    talk: Any, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "of-another-account")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-account")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Other: of-another-account")
    monkeypatch.setenv("GATE", "value-1")
    await talk(headers={"X-Gate": "Token {env:GATE}", "x-title": "Pegboard"}).ask()
    sent = model_server.requests[0].headers
    assert (sent["x-gate"], sent["x-title"]) == ("Token value-1", "Pegboard")
    assert not any("of-another-account" in value for value in sent.values())
    assert not any("stainless" in name or name.startswith("openai-") for name in sent)
    assert "authorization" not in sent


def script(folder: Path, text: str) -> list[str]:
    file = folder / "key.sh"
    file.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return [str(file)]


async def test_a_command_for_the_key_runs_once_and_only_when_it_is_needed(
    talk: Any, model_server: ModelServer, tmp_path: Path
) -> None:
    said = talk(api_key_command=script(tmp_path, f"echo run >> {tmp_path}/runs; echo '  sk-from-command  '"))
    assert not (tmp_path / "runs").exists()
    await said.ask()
    await said.ask()
    assert (tmp_path / "runs").read_text("utf-8") == "run\n"
    assert {seen.headers["authorization"] for seen in model_server.requests} == {"Bearer sk-from-command"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("echo sk-leak >&2; echo sk-leak; exit 3", "ended with 3"),
        ("exit 0", "printed nothing"),
        ("printf 'sk-leak\\nmore'", "more than a key"),
    ],
)
async def test_a_command_that_fails_is_told_without_what_it_printed(
    talk: Any, model_server: ModelServer, tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    with pytest.raises(ModelError, match=told) as caught:
        await talk(api_key_command=script(tmp_path, text)).ask()
    shown = capfd.readouterr()
    assert "sk-leak" not in str(caught.value) + shown.out + shown.err
    assert model_server.requests == []


async def test_a_command_that_hangs_is_stopped_with_all_it_started(
    talk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_module, "COMMAND_LIMIT", 0.5)
    with pytest.raises(ModelError, match=r"longer than 0\.5 s"):
        await talk(api_key_command=script(tmp_path, f"sleep 600 & echo $! > {tmp_path}/pid; wait")).ask()
    pid = int((tmp_path / "pid").read_text("utf-8"))
    until = time.monotonic() + 60
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("key", ["sk-secret-1\nsk-secret-2", "sk-sécret-1", "sk-secret-1\x7f"])
def test_a_key_that_cannot_be_sent_is_refused_at_the_start_and_not_repeated(key: str) -> None:
    settings = ProviderSettings(name="x", base_url="https://h/v1", api_key_env="MY_KEY")
    with pytest.raises(ConfigError, match="MY_KEY") as caught:
        endpoint(settings, {"MY_KEY": key})
    assert "secret-" not in str(caught.value) and "cret-1" not in str(caught.value)


def test_a_secret_is_taken_out_however_it_is_spelled() -> None:
    made = endpoint(ProviderSettings(name="x", base_url="https://h/v1", api_key_env="K"), {"K": "a\\b'secret"})
    for text in ("a\\b'secret", repr("a\\b'secret"), repr(b"Bearer a\\b'secret")):
        assert "secret" in text
        assert "b'secret" not in made.clean(text)


@pytest.mark.parametrize("tail", ["?tenant=open-sesame&x=", "/?tenant=open-sesame&x="])
async def test_a_query_of_the_address_goes_behind_every_path_and_is_not_shown(
    talk: Any, model_server: ModelServer, tail: str
) -> None:
    said = talk(base_url=model_server.base_url + tail)
    await said.ask()
    await said.provider.models()
    assert [seen.path for seen in model_server.requests] == [
        "/v1/chat/completions?tenant=open-sesame&x=",
        "/v1/models?tenant=open-sesame&x=",
    ]
    model_server.say(Reply(body="<html>open-sesame</html>", headers={"Content-Type": "text/html"}))
    with pytest.raises(ModelError) as caught:
        await said.ask()
    assert "sesame" not in str(caught.value)


async def test_no_log_line_holds_an_address_or_headers_of_an_answer(
    talk: Any, model_server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    cookie = {"Set-Cookie": "session=hush-1", "Content-Type": "text/html"}
    model_server.say(Reply(body="<html>log in</html>", headers=cookie))
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelError):
        await talk(base_url=f"{model_server.base_url}?k=hush-2").ask()
    assert f"127.0.0.1:{model_server.port} answered 200" in caplog.text
    assert "hush" not in caplog.text


async def test_no_secret_is_in_the_log_lines(
    talk: Any, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret-1")
    monkeypatch.setenv("GATE", "gate-secret-2")
    with caplog.at_level(logging.DEBUG):
        await talk(api_key_env="MY_KEY", headers={"X-Gate": "{env:GATE}"}).ask()
    assert model_server.requests[0].headers["x-gate"] == "gate-secret-2"
    assert caplog.text
    assert "secret" not in caplog.text


async def test_this_machine_is_not_asked_through_the_environments_proxy(
    talk: Any, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    await talk().ask()
    assert len(model_server.completions) == 1


async def test_a_proxys_password_is_not_repeated(talk: Any) -> None:
    with pytest.raises(ModelError) as caught:
        await talk(proxy="http://me:hush-hush@127.0.0.1:1").provider.models()
    assert "hush" not in str(caught.value)


async def test_a_proxy_of_the_table_is_used(talk: Any, model_server: ModelServer) -> None:
    with ModelServer() as proxy:
        await talk(proxy=f"http://127.0.0.1:{proxy.port}").ask()
        assert (len(proxy.requests), len(model_server.requests)) == (1, 0)
        assert proxy.requests[0].path.startswith(model_server.base_url)


async def test_the_environments_proxy_is_used_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        settings = ProviderSettings(name="x", model="m", base_url="http://gate.example/v1", api_key_env="")
        provider = OpenAIProvider(settings)
        try:
            assert await provider.models() == ["scripted"]
        finally:
            await provider.close()
        assert proxy.requests[0].headers["host"] == "gate.example"


@pytest.mark.parametrize("table", [{"ca": "/not/there.pem"}, {"proxy": "nonsense://x"}])
async def test_certificates_and_proxies_that_cannot_be_used_are_told(talk: Any, table: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="cannot be used"):
        await talk(**table).ask()


async def test_a_companys_own_certificates_are_trusted_beside_the_systems(tmp_path: Path) -> None:
    """A server with a certificate of its own: refused without `ca`, answered with it."""
    import shutil
    import ssl

    if shutil.which("openssl") is None:
        pytest.skip("openssl is missing; it makes the certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "k.pem", "-out", "c.pem", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    with ModelServer() as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "c.pem", tmp_path / "k.pem")
        server.speak_tls(context)
        url = f"https://localhost:{server.port}/v1"
        without = OpenAIProvider(ProviderSettings(name="x", model="m", base_url=url))
        with_ca = OpenAIProvider(ProviderSettings(name="x", model="m", base_url=url, ca=str(tmp_path / "c.pem")))
        try:
            with pytest.raises(ModelError, match="certificate"):
                await without.models()
            assert await with_ca.models() == ["scripted"]
        finally:
            await without.close()
            await with_ca.close()


async def test_models_come_from_the_table_and_the_endpoint(talk: Any, model_server: ModelServer) -> None:
    model_server.models = [{"id": "b"}, {"id": "a"}, {"no": "id"}, {"id": 5}]
    assert await talk(models=["z", "a"]).provider.models() == ["z", "a", "b"]


@pytest.mark.parametrize(
    ("listed", "context"),
    [
        ({"id": "m", "max_model_len": 4096}, 4096),
        ({"id": "m", "meta": {"n_ctx": 2048}}, 2048),
        ({"id": "m"}, None),
        ({"id": "n", "max_model_len": 9}, None),
    ],
)
async def test_the_context_is_learnt_from_servers_that_say_it(
    talk: Any, model_server: ModelServer, listed: dict[str, Any], context: int | None
) -> None:
    model_server.models = [listed]
    said = talk()
    await said.provider.models()
    assert said.provider.context == context


@pytest.mark.parametrize(
    ("context", "known"), [(500, 500), ({"m": 7, "other": 9}, 7), ({"other": 9}, None), (None, None)]
)
def test_the_context_of_the_table_is_known_at_once(talk: Any, context: Any, known: int | None) -> None:
    assert talk(context=context).provider.context == known


def test_the_header_names_model_and_host_and_what_is_not_encrypted() -> None:
    plain = ProviderSettings(name="x", model="m", base_url="http://gate.example:8000/v1", api_key_env="")
    assert OpenAIProvider(plain).banner == "x/m at gate.example:8000, not encrypted"


@pytest.mark.parametrize("module", ["openai", "httpx2", "pydantic"])
def test_importing_and_making_the_provider_imports_no_sdk(module: str) -> None:
    code = (
        "import sys; from pegboard_openai import provider; from pegboard.models import ProviderSettings;"
        "provider(ProviderSettings(name='openai', base_url='http://127.0.0.1:1/v1'));"
        f"sys.exit({module!r} in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], env=dict(os.environ)).returncode == 0
