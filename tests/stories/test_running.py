"""Stories of who answers and how programs are run: a provider, a launcher."""

from __future__ import annotations

from typing import Any

import pytest
from pegboard.errors import ConfigError
from pegboard.events import CallFinished

pytestmark = pytest.mark.xdist_group("stories")  # what looks at plugins does so once


@pytest.mark.hook("pegboard.providers")
async def test_a_provider_answers_where_it_is_chosen_and_its_calls_go_down_the_road(machine: Any) -> None:
    machine.install("pegboard-parrot", "pegboard-csv")
    machine.files(people_csv="name,age\n")
    machine.file.write_text('model = "parrot/polly"\n')
    async with machine.board() as board:
        assert board.choose().model == "parrot/polly"
        session = board.session(in_memory=True)
        ended = await board.run("csv_columns path=people.csv", session=session)
        assert (ended.status, ended.text) == ("done", "polly says: name, age; 0 rows")
        refused = await board.run("csv_columns path=../people.csv")
        assert "Path escapes workspace" in refused.text
        assert [event.outcome for event in session.read() if isinstance(event, CallFinished)] == ["ok"]


async def test_a_provider_that_nobody_chooses_does_not_answer(machine: Any) -> None:
    machine.install("pegboard-parrot")
    async with machine.board() as board:
        assert board.choose().model.startswith("offline")


async def test_a_provider_that_is_not_installed_cannot_be_chosen(machine: Any) -> None:
    async with machine.board() as board:
        with pytest.raises(ConfigError, match="parrot"):
            await board.run("hi", model="parrot/polly")


@pytest.mark.hook("pegboard.launchers")
async def test_a_launcher_runs_the_programs_of_tools_where_it_is_named(machine: Any, monkeypatch: Any) -> None:
    machine.install("pegboard-witness")
    monkeypatch.setenv("SOME_TOKEN", "hidden")
    call = ("bash", {"command": 'echo "${WITNESS-nobody} ${SOME_TOKEN-nothing}"'})
    async with machine.board() as board:
        assert "nobody hidden" in (await board.call(*call, answers="--yes")).text
    machine.file.write_text('launcher = "witness"\n[witness]\nmode = "require"\nsays = "by me"\n')
    async with machine.board() as board:
        done = await board.call(*call, answers="--yes")
    assert (done.outcome, "by me nothing" in done.text) == ("ok", True), done.text
