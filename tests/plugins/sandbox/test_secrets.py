"""Which files and variables count as secrets."""

from __future__ import annotations

import pytest
from pegboard_guard import table
from pegboard_sandbox.names import HOME_SECRETS, is_secret
from pegboard_sandbox.variables import passed
from sandboxed import SECRET, Place

KEPT_BACK = (
    "MYSQL_PWD DB_PASS SSHPASS GITHUB_PAT DBPWD PGPASSWORD FTP_PW NPM_TOKEN SECRET_KEY_BASE STRIPE_KEY AUTH_JWT PASS PAT "
    "SESSION_COOKIE AZURE_STORAGE_CONNECTION_STRING AWS_PROFILE GPG_PASSPHRASE MY_CREDS BASIC_AUTH"
)
PASSED_ON = "PATH HOME PWD OLDPWD COMPASS BYPASS PATTERN KEYBOARD PASSENGER SPATIAL AUTHOR LANG EDITOR PINNED MONKEY"
VALUES = ("ghp_" + "a" * 36, "sk-" + "b" * 40, "AKIA" + "A" * 16, "https://me:pw@example.org/", "Server=x;Password=y")


@pytest.mark.parametrize("name", KEPT_BACK.split())
def test_a_variable_with_such_a_name_is_kept_back(name: str) -> None:
    assert name not in passed({name: "x"}) and passed({name: "x"}, [name])[name] == "x"


@pytest.mark.parametrize("value", VALUES)
def test_a_variable_that_holds_a_token_is_kept_back_whatever_its_name(value: str) -> None:
    assert "PLAIN" not in passed({"PLAIN": value})


def test_ordinary_variables_are_passed_on() -> None:
    assert set(PASSED_ON.split()) <= passed(dict.fromkeys(PASSED_ON.split(), "/usr/bin:x")).keys()


def test_what_the_guard_protects_as_a_secret_cannot_be_read_in_it_either() -> None:
    for path in (*table.SECRET_FOLDERS, *table.SECRET_FILES, *(f"a.{suffix}" for suffix in table.SECRET_SUFFIXES)):
        parts = path.split("/")
        below = ["/".join(parts[: at + 1]) for at in range(len(parts))]
        assert any(is_secret(f"sub/{one}") for one in below), path


@pytest.mark.parametrize("name", ["id_rsa_work", "id_ed25519-me", "ssh_host_rsa_key", ".env.local", ".env~", "A.PEM"])
def test_names_of_keys_follow_a_form(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name", ["id_rsa.pub", "id_rsa_test.py", ".environment", ".env.example", "token", "config", "auth.json"]
)
def test_names_that_only_look_like_it_are_none(name: str) -> None:
    assert not is_secret(name)


def test_tokens_of_programs_in_the_home_folder_cannot_be_read(place: Place) -> None:
    names = (".cache/huggingface/token", ".config/containers/auth.json", ".m2/settings.xml", ".bundle/config")
    for path in (
        *(place.home / name for name in names),
        place.root / "id_rsa_work",
        place.root / "sub/.docker/config.json",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET)
    line = f"cat {' '.join(f'~/{name}' for name in names)} id_rsa_work sub/.docker/config.json"

    assert set(names) <= set(HOME_SECRETS)
    assert SECRET.encode() not in place.inside(line).stdout
    assert place.outside(line).stdout.count(SECRET.encode()) == len(names) + 2
