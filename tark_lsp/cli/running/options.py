"""The command line of `tark-lsp run`, as `RunOptions`."""

import os
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from tark_lsp.agent.kinds import AGENT_NAME
from tark_lsp.cli.model_options import add_model_options

Format: TypeAlias = Literal["text", "json", "stream-json"]
EPILOG = """\
The last argument is the prompt. A FILE can name lines (src/a.py:10-40, the first line is 1); a GLOB ('src/**/*.py')
stands for all files that it matches and that are not ignored. The workspace is the current folder: all files are in it.
If standard input is not a terminal, it is context for the prompt: git diff | tark-lsp run "review this".
Standard output has only the answer; everything else goes to standard error.
Without a terminal nobody can be asked: edits need --yes, commands and MCP tools need --allow, the rest is refused.
It never asks whether you trust the folder: you do if you said so before, in an editor or tark-lsp chat, or with
--trust-workspace.
Ctrl-C, SIGTERM, SIGHUP and a closed output cancel the turn; a second Ctrl-C ends the program at once.
Exit codes: 0 done; 1 an edit or a command was needed and refused; 2 wrong usage; 3 the model or its provider failed;
4 a limit was reached; 129, 130, 143 cancelled by SIGHUP, Ctrl-C, SIGTERM; 141 the output could not be written.
See docs/scripting.md."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`targets`: files, ranges and globs. `resume`: the id or title of a session. `last`: continue the newest one."""

    prompt: str
    targets: tuple[str, ...]
    output: Format
    quiet: bool
    yes: bool
    patch: bool
    allow: tuple[str, ...]
    trust_workspace: bool
    model: str | None
    force_model: bool
    mode: str | None
    max_usd: float | None
    max_requests: int | None
    resume: str | None
    last: bool
    keep_session: bool

    @property
    def settings(self) -> dict[str, Any]:
        """The options that the server gets as settings of the user."""
        limits = {"turnUsd": self.max_usd, "turnRequests": self.max_requests}
        given = {name: value for name, value in limits.items() if value is not None}
        return {
            "editReview": "ask",  # this command decides about each edit, by --yes or a question
            **({"limits": given} if given else {}),
            **({"permissions": {"allow": list(self.allow)}} if self.allow else {}),
            **({"workspaceTrusted": True} if self.trust_workspace else {}),
        }


def parse_options(arguments: Sequence[str]) -> RunOptions:
    """Exits with code 2 if the command line is wrong."""
    parser = new_parser()
    given = parser.parse_intermixed_args(arguments)
    *targets, prompt = given.words or [""]
    if not prompt.strip():
        parser.error("there is no prompt: the last argument is what to do, after any FILE or GLOB")
    if os.path.isfile(prompt):  # noqa: PTH113  Path.is_file raises if the name is too long
        parser.error(f"the last argument is the prompt, but {prompt!r} is a file: add what to do")
    if given.agent is not None and not AGENT_NAME.fullmatch(f"/agent {given.agent}"):
        parser.error(f"{given.agent!r} cannot be the name of an agent")
    return RunOptions(
        prompt=f"/agent {given.agent} {prompt}" if given.agent else prompt,
        targets=tuple(targets),
        output="stream-json" if given.json else given.output,
        quiet=given.quiet,
        yes=given.yes,
        patch=given.patch,
        allow=tuple(given.allow),
        trust_workspace=given.trust_workspace,
        model=given.model,
        force_model=given.force_model,
        mode=given.mode,
        max_usd=given.max_usd,
        max_requests=given.max_requests,
        resume=given.resume,
        last=given.last,
        keep_session=not given.no_session,
    )


def new_parser() -> ArgumentParser:
    parser = ArgumentParser(
        "tark-lsp run",
        usage="tark-lsp run [OPTIONS] [FILE[:START-END] | GLOB]... PROMPT",
        description="Let the agent do one thing, and print its answer.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("words", nargs="*", metavar="FILE | GLOB | PROMPT", help=SUPPRESS)
    parser.add_argument(
        "--output",
        choices=get_args(Format),
        default="text",
        help="text (default), one JSON object, or one for each event",
    )
    parser.add_argument("--json", action="store_true", help="the same as --output stream-json")
    parser.add_argument("--quiet", action="store_true", help="write only errors and questions to standard error")
    parser.add_argument(
        "--yes",
        action="store_true",
        help="apply edits without asking (except deletions, and edits of protected files or outside the range)",
    )
    parser.add_argument(
        "--patch", action="store_true", help="change no file, run no command: print the edits as a diff"
    )
    parser.add_argument(
        "--allow",
        metavar="RULE",
        action="append",
        type=_rule,
        default=[],
        help="allow calls of a tool without asking, such as 'run_command(pytest *)'; can be repeated",
    )
    parser.add_argument(
        "--trust-workspace",
        action="store_true",
        help="trust the current folder in this run: what the approval level allows runs in the sandbox without asking",
    )
    parser.add_argument("--agent", metavar="NAME", help="the custom agent to use (docs/agents.md)")
    add_model_options(parser, "for this run")
    parser.add_argument(
        "--max-usd", metavar="USD", type=_dollars, help="stop at this cost; checked before each request"
    )
    parser.add_argument("--max-requests", metavar="N", type=_count, help="stop after N requests to the model")
    session = parser.add_mutually_exclusive_group()
    session.add_argument(
        "--continue", dest="last", action="store_true", help="continue the newest session of this folder"
    )
    session.add_argument("--resume", metavar="SESSION", help="continue a session, by its id or a part of its title")
    session.add_argument(
        "--no-session", action="store_true", help="delete the session at the end; its cost stays in the usage"
    )
    return parser


def _rule(text: str) -> str:
    from tark_lsp.agent.rules import Rule
    from tark_lsp.errors import SettingsError
    from tark_lsp.tools import load_tools

    try:
        rule = Rule.parse(text)
    except SettingsError as error:
        raise ArgumentTypeError(f"{error.message}: {error.hint}") from error
    if rule.tool not in load_tools() and not rule.tool.startswith("mcp__"):
        raise ArgumentTypeError(f"{text!r}: there is no tool {rule.tool!r}")
    return text


def _dollars(text: str) -> float:
    value = _number(text, float)
    if not 0 < value < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not an amount above 0")
    return float(value)


def _count(text: str) -> int:
    value = _number(text, int)
    if value < 1:
        raise ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(value)


def _number(text: str, kind: type[float] | type[int]) -> float:
    try:
        return kind(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number") from None
