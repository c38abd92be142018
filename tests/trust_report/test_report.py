"""`tark-lsp trust-report`: what it prints, its exit codes, and that nothing is called held that was not measured."""

import json
from pathlib import Path

import pytest

from tark_lsp.cli.trust_report import main, report
from tark_lsp.trust_report.corpora import Corpora, find_corpora
from tark_lsp.trust_report.promise import Ground, NotMeasured, Outcome, Promise
from tark_lsp.trust_report.report import as_markdown, load_promises, measure


def promise(outcome: Outcome | Exception, says: str = "Nothing is written") -> Promise:
    async def found(_: Ground) -> Outcome:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return Promise(1, says, found)


HELD = promise(Outcome("writes", 3))
ENOUGH = promise(Outcome("questions", 10, ("one",), needed=9, note="a note"))
BROKEN = promise(Outcome("writes", 8, tuple(f"write {number}" for number in range(7))))
NO_CASES = promise(Outcome("writes", 0))
MISSING = promise(NotMeasured("there is no sandbox \x1b[2J"))
NO_CORPUS = Promise(1, "Nothing is run", lambda ground: ground.corpora.read("missing.json"))
FAILING = promise(OSError("the disk is full"))


@pytest.mark.parametrize(
    ("tried", "code", "verdict", "line"),
    [
        (HELD, 0, "held", "writes: 3 of 3,"),
        (ENOUGH, 0, "held", "at least 9 are needed; a note"),
        (BROKEN, 1, "BROKEN", "write 4"),
        (BROKEN, 1, "BROKEN", "and 2 more"),
        (NO_CASES, 1, "BROKEN", "0 of 0"),
        (MISSING, 0, "not measured", "there is no sandbox \\u{1b}[2J"),
        (NO_CORPUS, 0, "not measured", "no corpora were given (--corpora FOLDER)"),
        (FAILING, 1, "FAILED", "OSError: the disk is full"),
    ],
)
def test_a_row(
    tried: Promise,
    code: int,
    verdict: str,
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TARK_SHARED", raising=False)
    assert report([HELD, tried], []) == code
    shown = capsys.readouterr().out
    assert verdict in shown
    assert line in shown
    if verdict != "held":
        assert shown.count("held ") == 1


def test_only_some_promises(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([HELD, promise(OSError("x"), "Nothing connects")], ["--only", "WRITTEN"]) == 0
    assert "1 of 1 measured" in capsys.readouterr().out


def test_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")

    async def reads(ground: Ground) -> Outcome:
        return Outcome("cases", len(ground.corpora.read("a.json")))

    given = ["--json", "--corpora", str(tmp_path)]
    assert report([Promise(1, "It reads", reads), MISSING, ENOUGH], given) == 0
    found = json.loads(capsys.readouterr().out)
    read, missing, enough = found["rows"]
    assert (read["verdict"], read["cases"], read["held"], read["needed"]) == ("held", 1, 1, 1)
    assert (missing["verdict"], "held" in missing) == ("not measured", False)
    assert (enough["needed"], enough["failures"]) == (9, ["one"])
    assert found["corpora"] == {"a.json": "080a9ed428559ef602668b4c00f114f1a11c3f6b02a435f0bdc154578e4d7f22"}


async def test_markdown() -> None:
    corpora = Corpora(None, {"a.json": "00ff"})
    rows = [await measure(one, corpora) for one in (ENOUGH, MISSING)]
    head, _, enough, missing, *digests = as_markdown(rows, corpora.digests).splitlines()
    assert head == "| promise | tried | cases | held | seconds | |"
    assert enough == "| Nothing is written | questions (a note) | 10 | 9 (at least 9) | 0.0 | held |"
    assert missing.endswith("| | | | not measured |")
    assert digests[-1] == "| a.json | `00ff` |"


def test_where_the_corpora_are(tmp_path: Path) -> None:
    (tmp_path / "data" / "corpora").mkdir(parents=True)
    assert find_corpora(None, str(tmp_path)).folder == tmp_path / "data" / "corpora"
    assert find_corpora(tmp_path, "/nowhere").folder == tmp_path
    assert find_corpora(tmp_path / "missing", None).folder is None
    assert find_corpora(None, None).folder is None


def test_wrong_usage() -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--seed", "many"])


def test_each_promise_has_a_place_of_its_own() -> None:
    found = load_promises()
    assert len({one.order for one in found}) == len({one.says for one in found}) == len(found) >= 7
