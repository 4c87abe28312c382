"""The roads of a board: what the stages of a session's calls need, put together, and let go of again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pegboard.assembly import Assembled
from pegboard.config.places import own_files
from pegboard.context import Lasts
from pegboard.desk import Answers, Desk
from pegboard.editlock import lock_folder
from pegboard.kit.workspace import Outside, PathCheck, Workspace
from pegboard.road import Road
from pegboard.running import Runner
from pegboard.seats import Seats
from pegboard.session import Session
from pegboard.standing import Standing


class Roads:
    """Of one board. `workspace`: of sessions that are not kept, under a policy without lists."""

    def __init__(self, assembled: Assembled, standing: Standing, seats: Seats, *, state: Path | None) -> None:
        self._assembled = assembled
        self._plugged = assembled.plugged
        self._config = assembled.loaded.config
        self._standing = standing
        self._seats = seats
        self._state = state
        self._own = own_files(assembled.root, [assembled.user_file.parent, *([state] if state else [])])
        self._runners: list[Runner] = []
        self.workspace = self._workspace(None)

    def build(self, session: Session, *, answers: Answers, cautious: bool, lasts: Lasts) -> Road:
        """The road of one session; observers are told of what comes down it."""
        self._seats.observe(session)
        standing, guards = self._standing, self._assembled.guards
        desk = Desk(session, answers, self.named("pegboard_approvers"), home=standing.home, lasting=standing.lasting)
        made: list[Road] = []  # its policy is another once another mode is on
        rules = (lambda kind, path: made[0].policy.door(kind, path)) if standing.has_lists else None
        workspace = self._workspace(session.folder, rules) if session.folder or rules else self.workspace
        runner = Runner(
            workspace=workspace,
            config=self._config,
            session=session,
            desk=desk,
            settings={plugin.entry.name: plugin.settings for plugin in self._plugged.plugins},
            locks=lock_folder(self._state),
            launchers=standing.launchers,
            lasts=lasts,
        )
        self._runners.append(runner)
        road = Road(
            registry=self._assembled.registry,
            policy=standing.policy,
            guards=self._seats.beside(guards, session),
            workspace=workspace,
            session=session,
            desk=desk,
            runner=runner,
            cautious=cautious,
            rewriters=self.named("pegboard_rewriters"),
        )
        made.append(road)
        return road

    def named(self, hook: str) -> list[tuple[str, Any]]:
        """What plugins contributed by a hook, each with its plugin's name."""
        return [(plugin.entry.name, one) for plugin, given in self._plugged.contributed(hook) for one in given]

    async def release(self, road: Road) -> None:
        """Let go of what one road stood on."""
        await self._seats.settled()
        await road.runner.end_jobs()
        road.runner.close()
        self._runners.remove(road.runner)

    async def close(self) -> None:
        """Let go of what all of them stood on."""
        await asyncio.gather(*(runner.end_jobs() for runner in self._runners))
        for runner in self._runners:
            runner.close()
        self._runners.clear()

    def _workspace(self, session: Path | None, rules: PathCheck | None = None) -> Workspace:
        """rules: what denies by path say at the door, where there may be any."""
        guards = self._assembled.guards
        checks = [self._own, *([guards.path] if guards.seats else ()), *([rules] if rules else ())]
        # Where outside paths ask or are allowed, policy has spoken before the door is opened.
        outside: Outside = "refuse" if self._config.paths.outside == "refuse" else "allow"
        return Workspace(self._assembled.root, checks, outside=outside, session=str(session) if session else None)
