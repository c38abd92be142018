"""Parses the output of `python -m unittest`: its blocks of failures, and its last lines."""

import re

from tark_lsp.tools.runners.report import Failure, Report, message_of

BLOCK = re.compile(r"^={70}\n(?:FAIL|ERROR): (?P<test>.+)\n(?:(?!-{70}).*\n)?-{70}\n", re.MULTILINE)
END = re.compile(r"^-{70}$", re.MULTILINE)
RAN = re.compile(r"^Ran (\d+) tests? in [\d.]+s$", re.MULTILINE)
RESULT = re.compile(r"^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$", re.MULTILINE)
FRAME = re.compile(r'^  File "(?P<file>[^"]+)", line (?P<line>\d+)', re.MULTILINE)
NOT_OURS = re.compile(r"[\\/](?:unittest|importlib|asyncio)[\\/]|[\\/]site-packages[\\/]|^<")


def parse(text: str) -> Report:
    failures = []
    blocks = list(BLOCK.finditer(text))
    for match, following in zip(blocks, [*blocks[1:], None], strict=False):
        end = END.search(text, match.end()) if following is None else None
        body = text[match.end() : following.start() if following else end.start() if end else len(text)]
        failures.append(_failure(match["test"], body))
    ran = list(RAN.finditer(text))
    if not ran:
        return Report(False, text, tuple(failures))
    return Report(True, text, tuple(failures), _counts(int(ran[-1][1]), text[ran[-1].end() :], failures))


def _counts(ran: int, ending: str, failures: list[Failure]) -> dict[str, int]:
    """Count a test with several failed subtests only once. unittest itself counts each failed subtest."""
    result = RESULT.search(ending)
    said = {name: int(number) for name, number in re.findall(r"([a-z ]+)=(\d+)", (result and result[1]) or "")}
    said = {name.strip(): number for name, number in said.items()}
    skipped = said.get("skipped", 0)
    bad = len({failure.test.partition(" (")[0] for failure in failures})
    counts = {"passed": max(0, ran - bad - skipped), "failed": bad, "skipped": skipped}
    return {name: number for name, number in counts.items() if number}


def _failure(test: str, body: str) -> Failure:
    frames = list(FRAME.finditer(body))
    own = [frame for frame in frames if not NOT_OURS.search(frame["file"])] or frames
    last = own[-1] if own else None
    # The message follows the last frame and its source: it begins with the first line without indentation.
    after = body[frames[-1].end() :].partition("\n")[2] if frames else body
    told = re.search(r"^\S.*", after, re.MULTILINE | re.DOTALL)
    message = message_of((told[0] if told else body).splitlines())
    name = re.sub(r"^(\S+) \((\S+)\)", lambda match: match[2] if match[2].endswith(match[1]) else match[0], test)
    return Failure(message, last["file"] if last else "", int(last["line"]) if last else None, test=name)
