"""The rules about places, and that what was judged is what is dialled."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

import pytest
from pegboard.kit.net import Policy, Refused, Target, dial, parse, resolve

PUBLIC, OTHER = "93.184.216.34", "151.101.1.69"


class Network:
    """Names and the addresses that answer; what was looked up and dialled."""

    def __init__(self, *answers: Sequence[str], down: Sequence[str] = ()) -> None:
        self.answers = list(answers)
        self.down = down
        self.looked_up: list[str] = []
        self.dialled: list[str] = []

    async def look_up(self, host: str, port: int) -> Sequence[str]:
        self.looked_up.append(host)
        if not self.answers:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self.answers.pop(0)

    async def connect(self, address: str, port: int) -> str:
        self.dialled.append(address)
        if address in self.down:
            raise ConnectionRefusedError(address)
        return f"{address}:{port}"

    def dial(self, url: str, policy: Policy) -> str:
        return asyncio.run(dial(parse(url), policy, self.connect, look_up=self.look_up))


def refusal(url: str, policy: Policy, *answers: Sequence[str]) -> str:
    network = Network(*answers)
    with pytest.raises(Refused) as refused:
        network.dial(url, policy)
    assert network.dialled == []
    return refused.value.reason


def test_a_name_is_looked_up_once_and_its_address_dialled() -> None:
    network = Network([PUBLIC], ["127.0.0.1"])

    assert network.dial("http://docs.example/", Policy()) == f"{PUBLIC}:80"
    assert network.looked_up == ["docs.example"]


def test_an_address_is_not_looked_up() -> None:
    network = Network()

    assert network.dial(f"https://{PUBLIC}/", Policy()) == f"{PUBLIC}:443"
    assert network.looked_up == []


@pytest.mark.parametrize("answers", [["127.0.0.1"], [PUBLIC, "::1"], ["10.0.0.1", PUBLIC], ["fe80::1%eth0"], ["x"]])
@pytest.mark.row("Z-044")
def test_one_address_that_is_not_public_refuses_the_name(answers: list[str]) -> None:
    assert refusal("http://docs.example/", Policy(), answers) == "address"


def test_the_next_address_is_dialled_when_one_does_not_answer() -> None:
    network = Network([PUBLIC, PUBLIC, OTHER], down=[PUBLIC])

    assert network.dial("http://docs.example/", Policy()) == f"{OTHER}:80"
    assert network.dialled == [PUBLIC, OTHER]


def test_the_last_failure_is_told_when_none_answers() -> None:
    with pytest.raises(ConnectionRefusedError, match=OTHER):
        Network([PUBLIC, OTHER], down=[PUBLIC, OTHER]).dial("http://docs.example/", Policy())


def test_an_unknown_name_is_refused() -> None:
    assert refusal("http://docs.example/", Policy()) == "unknown"
    assert refusal("http://docs.example/", Policy(), []) == "unknown"


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST.", "a.localhost"])
def test_names_of_this_machine_are_refused_whatever_a_resolver_says(name: str) -> None:
    assert refusal(f"http://{name}/", Policy(), [PUBLIC]) == "address"


def test_ports_are_those_of_the_list() -> None:
    assert refusal("http://docs.example:8080/", Policy(), [PUBLIC]) == "port"
    assert Network([PUBLIC]).dial("http://docs.example:8080/", Policy.of(ports=[8080])) == f"{PUBLIC}:8080"


# --- what a person opened ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "url", "answers", "reached"),
    [
        ("localhost:8000", "http://localhost:8000/", ["127.0.0.1"], "127.0.0.1:8000"),
        ("localhost", "http://localhost:5173/", ["::1"], "::1:5173"),
        ("Dev.Home.", "http://dev.home/", ["192.168.1.5"], "192.168.1.5:80"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/", [], "127.0.0.1:8000"),
        ("[::1]:8000", "http://[0:0::1]:8000/", [], "::1:8000"),
        ("169.254.169.254", "http://169.254.169.254/", [], "169.254.169.254:80"),
    ],
)
def test_a_host_that_was_named_may_be_private(host: str, url: str, answers: list[str], reached: str) -> None:
    assert Network(answers).dial(url, Policy.of(hosts=[host])) == reached


@pytest.mark.parametrize(
    ("host", "url", "answers", "reason"),
    [
        ("localhost:8000", "http://localhost:6379/", ["127.0.0.1"], "port"),
        ("localhost:80", "https://localhost/", ["127.0.0.1"], "address"),
        ("localhost:8000", "http://127.0.0.1:8000/", [], "port"),
        ("localhost", "http://127.0.0.1/", [], "address"),
        ("127.0.0.1", "http://localhost/", ["127.0.0.1"], "address"),
        ("localhost", "http://a.localhost/", ["127.0.0.1"], "address"),
        ("dev.home", "http://other.home/", ["192.168.1.5"], "address"),
        ("dev.home", "http://dev.home/", ["169.254.169.254"], "address"),
        ("dev.home", "http://dev.home/", ["100.100.100.200"], "address"),
        ("dev.home", "http://dev.home/", ["::ffff:127.0.0.1"], "address"),
    ],
)
@pytest.mark.row("Z-044")
def test_it_opens_that_host_and_nothing_beside_it(host: str, url: str, answers: list[str], reason: str) -> None:
    assert refusal(url, Policy.of(hosts=[host]), answers) == reason


@pytest.mark.parametrize(
    "host", ["", "http://localhost", "localhost/", "localhost/a", "a b", "u@a", "a:0", "*.a", "a?b", "a#b"]
)
def test_what_is_no_host_cannot_be_opened(host: str) -> None:
    with pytest.raises(ValueError, match="is not a host"):
        Policy.of(hosts=[host])


def test_blocks_of_addresses_can_be_opened() -> None:
    policy = Policy.of(networks=["198.18.0.0/15"])

    assert Network(["198.18.0.84"]).dial("http://docs.example/", policy) == "198.18.0.84:80"
    assert refusal("http://docs.example/", policy, ["198.18.0.84", "10.0.0.1"]) == "address"
    assert refusal("http://localhost/", policy, ["127.0.0.1"]) == "address"
    assert Network(["127.0.0.1"]).dial("http://localhost/", Policy.of(networks=["127.0.0.0/8"])) == "127.0.0.1:80"
    with pytest.raises(ValueError, match="does not appear"):
        Policy.of(networks=["somewhere"])


def test_the_refusal_says_how_a_person_opens_it() -> None:
    policy = Policy.of(setting="web.allow_hosts")
    for url, line in [("http://localhost:8000/", "localhost:8000"), ("http://[::1]/", "[::1]:80")]:
        with pytest.raises(Refused, match="allow_hosts") as refused:
            Network().dial(url, policy)
        assert f'web.allow_hosts = ["{line}"]' in str(refused.value)
    with pytest.raises(
        Refused, match=r"Nothing was requested there\.$"
    ):  # naming the host would not open this, or must not
        Network(["169.254.169.254"]).dial("http://metadata.example/", policy)
    with pytest.raises(
        Refused, match=r'allow_hosts = \["169\.254\.169\.254:80"\]\. What answers there may hand out cred'
    ):
        Network().dial("http://169.254.169.254/", policy)


def test_the_platforms_resolver_is_asked_in_the_platforms_order() -> None:
    found = asyncio.run(resolve("127.0.0.1", 80))
    assert found == ["127.0.0.1"]
    with pytest.raises(Refused) as refused:
        asyncio.run(dial(Target(scheme="http", host="localhost", port=80, path="/"), Policy(), Network().connect))
    assert refused.value.reason == "address"
