"""Settings: how layers are merged, who can set what, what a workspace can make stricter, messages for bad values."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tark_lsp.folders import state_folder, user_config_path, workspace_config_path
from tark_lsp.messages import ApprovalLevel, Mode
from tark_lsp.settings import Settings
from tark_lsp.settings_cleaning import leaf_paths
from tark_lsp.settings_loading import load_settings
from tests.documented import documented_settings

DOCUMENTED = documented_settings()


def load(
    tmp_path: Path,
    *,
    user: str = "",
    environ: dict[str, str] | None = None,
    initialization: object = None,
    configuration: object = None,
    trusted: bool = False,
    workspace: str = "",
) -> tuple[Settings, list[str]]:
    user_file, workspace_file = tmp_path / "config.toml", workspace_config_path(tmp_path / "folder")
    user_file.write_text(user, encoding="utf-8")
    workspace_file.parent.mkdir(parents=True)
    workspace_file.write_text(workspace, encoding="utf-8")
    return load_settings(
        user_file=user_file,
        environ=environ or {},
        initialization=initialization,
        configuration=configuration,
        trusted_client=trusted,
        workspace_files=[workspace_file],
    )


def value(settings: Settings, path: str) -> Any:
    found: Any = settings.as_protocol_json()
    for name in path.split("."):
        found = found[name]
    return found


def nested(path: str, value: object) -> dict[str, Any]:
    *outer, last = path.split(".")
    found: dict[str, Any] = {last: value}
    for name in reversed(outer):
        found = {name: found}
    return found


def test_the_documented_defaults_are_those_of_the_code() -> None:
    defaults = Settings().as_protocol_json()
    models = {**defaults["models"], "agents": None}
    maps = {"providers": None, "mcp": {"servers": None}, "gateway": {"aliases": None}, "models": models}
    keys = {".".join(path) for path in leaf_paths({**defaults, **maps})}
    assert {key: value(Settings(), key) for key in keys} == {key: row.default for key, row in DOCUMENTED.items()}
    assert load_settings(user_file=None, environ={}) == (Settings(), [])


@pytest.mark.parametrize("key", DOCUMENTED)
def test_the_settings_documented_as_the_users_alone_are_refused_elsewhere(tmp_path: Path, key: str) -> None:
    _, problems = load(tmp_path, configuration={"tark": nested(key, "any value")})
    assert any("a repository could have set it" in problem for problem in problems) == DOCUMENTED[key].user_only


LAYERS: list[tuple[str, dict[str, Any], str, Any]] = [
    ("file", {"user": 'model = "openai/a"'}, "model", "openai/a"),
    ("environment over file", {"user": 'mode = "ask"', "environ": {"TARK_MODE": "plan"}}, "mode", "plan"),
    ("empty variable is not set", {"user": 'mode = "ask"', "environ": {"TARK_MODE": ""}}, "mode", "ask"),
    (
        "trusted client over environment",
        {"environ": {"TARK_MODEL": "openai/a"}, "initialization": {"model": "openai/b"}, "trusted": True},
        "model",
        "openai/b",
    ),
    ("under tark", {"initialization": {"tark": {"thinking": "low"}}}, "thinking", "low"),
    (
        "configuration over initializationOptions",
        {"initialization": {"thinking": "low"}, "configuration": {"tark": {"thinking": "high"}}},
        "thinking",
        "high",
    ),
    ("bare known keys", {"configuration": {"pylsp": {"a": 1}, "thinking": "high"}}, "thinking", "high"),
    ("null is not set", {"user": 'thinking = "low"', "configuration": {"thinking": None}}, "thinking", "low"),
    ("null inside", {"user": "[limits]\nturnUsd = 2", "initialization": {"limits": None}}, "limits.turnUsd", 2.0),
    ("a null section", {"configuration": {"tark": None}}, "thinking", "auto"),
    ("an empty Lua table", {"initialization": []}, "thinking", "auto"),
    (
        "merged by key",
        {"user": "[limits]\nturnUsd = 2", "initialization": {"limits": {"turnRequests": 7}}, "trusted": True},
        "limits",
        {**Settings().as_protocol_json()["limits"], "turnUsd": 2, "turnRequests": 7},
    ),
    (
        "providers merged by key",
        {
            "user": '[providers.mine]\nwire = "openai-chat"\nbaseUrl = "http://localhost:1/v1"',
            "initialization": {"providers": {"mine": {"apiKeyEnv": "MINE"}}},
            "trusted": True,
        },
        "providers.mine",
        {
            "baseUrl": "http://localhost:1/v1",
            "apiKeyEnv": "MINE",
            "headers": {},
            "wire": "openai-chat",
            "clientId": None,
            "loginUrl": None,
            "scenario": None,
            "models": {},
        },
    ),
    (
        "rules add up",
        {
            "user": '[permissions]\ndeny = ["run_command"]',
            "initialization": {"permissions": {"deny": []}},
            "configuration": {"permissions": {"deny": ["fetch(a.example)"]}},
            "workspace": '[permissions]\ndeny = ["edit_file(docs/**)"]',
        },
        "permissions.deny",
        ["run_command", "fetch(a.example)", "edit_file(docs/**)"],
    ),
    ("a byte order mark", {"user": '\ufeffthinking = "low"'}, "thinking", "low"),
    ("log level", {"environ": {"TARK_LOG_LEVEL": "debug"}}, "logLevel", "debug"),
    ("approval", {"environ": {"TARK_APPROVAL": "manual"}}, "approval", "manual"),
]


@pytest.mark.parametrize(("layers", "path", "expected"), [row[1:] for row in LAYERS], ids=[row[0] for row in LAYERS])
def test_later_layers_override_earlier_ones_key_by_key(
    tmp_path: Path, layers: dict[str, Any], path: str, expected: object
) -> None:
    settings, problems = load(tmp_path, **layers)
    assert value(settings, path) == expected
    assert problems == []


USER_ONLY: list[tuple[str, dict[str, Any]]] = [
    ("model", {"model": "openai/evil"}),
    ("mode", {"mode": "ask"}),
    ("approval", {"approval": "balanced"}),
    ("editReview", {"editReview": "after"}),
    ("permissions.allow", {"permissions": {"allow": ["run_command"]}}),
    ("workspaceTrusted", {"workspaceTrusted": True}),
    ("providers", {"providers": {"openai": {"baseUrl": "https://evil.example"}}}),
    ("providers", {"providers": {"openai": {"models": {"m": {"price": {"input": 0, "output": 0}}}}}}),
    ("limits", {"limits": {"turnUsd": 1000}}),
    ("sandbox", {"sandbox": "off"}),
    ("index", {"index": {"enabled": False}}),
]


@pytest.mark.parametrize(("key", "words"), USER_ONLY, ids=[key for key, _ in USER_ONLY])
def test_user_only_settings_are_ignored_in_untrusted_layers(tmp_path: Path, key: str, words: dict[str, Any]) -> None:
    untrusted: list[dict[str, Any]] = [
        {"initialization": words},
        {"configuration": {"tark": words}},
        {"configuration": words, "trusted": True},
    ]
    for number, layers in enumerate(untrusted):
        folder = tmp_path / str(number)
        folder.mkdir()
        settings, problems = load(folder, **layers)
        assert settings == Settings()
        [problem] = problems
        assert f"{key} ignored" in problem
        assert str(folder / "config.toml") in problem
    (tmp_path / "trusted").mkdir()
    settings, problems = load(tmp_path / "trusted", initialization=words, trusted=True)
    assert settings != Settings()
    assert problems == []


def test_other_rules_than_allow_count_from_every_layer(tmp_path: Path) -> None:
    settings, problems = load(tmp_path, initialization={"permissions": {"allow": ["a"], "ask": ["b"], "deny": ["c"]}})
    assert settings.permissions.model_dump() == {"allow": (), "ask": ("b",), "deny": ("c",)}
    assert len(problems) == 1


WORKSPACE: list[tuple[str, str, str, str, Any, str]] = [
    ("mode to ask", "", 'mode = "ask"', "mode", "ask", ""),
    ("mode to build", 'mode = "ask"', 'mode = "build"', "mode", "ask", "mode"),
    ("review", "", 'editReview = "ask"', "editReview", "ask", ""),
    ("no review", "", 'editReview = "after"', "editReview", None, "editReview"),
    ("lower limit", "", "[limits]\nturnUsd = 1", "limits.turnUsd", 1.0, ""),
    ("higher limit", "", "[limits]\nturnUsd = 50", "limits.turnUsd", 5.0, "limits.turnUsd (it is higher)"),
    ("a limit where there was none", "", "[limits]\nsessionUsd = 3", "limits.sessionUsd", 3.0, ""),
    ("ask", "", '[permissions]\nask = ["edit_file"]', "permissions.ask", ["edit_file"], ""),
    ("allow", "", '[permissions]\nallow = ["edit_file"]', "permissions.allow", [], "permissions.allow"),
    ("model", "", 'model = "openai/dear"', "model", None, "model"),
    ("a provider", "", '[providers.openai]\nbaseUrl = "https://evil.example"', "providers", {}, "providers.openai"),
    ("trust", "", "workspaceTrusted = true", "workspaceTrusted", None, "workspaceTrusted"),
    ("approval", 'approval = "manual"', 'approval = "balanced"', "approval", "manual", "approval"),
    ("sandbox", "", 'sandbox = "off"', "sandbox", "auto", "sandbox"),
    ("thinking", "", 'thinking = "high"', "thinking", "auto", "thinking"),
    ("no index", "", "[index]\nenabled = false", "index.enabled", False, ""),
    ("an index", "[index]\nenabled = false", "[index]\nenabled = true", "index.enabled", False, "index.enabled"),
    ("a smaller index", "", "[index]\nmaxMegabytes = 5", "index.maxMegabytes", 5, ""),
    ("a larger index", "", "[index]\nmaxMegabytes = 5000", "index.maxMegabytes", 2000, "index.maxMegabytes"),
    ("less context", "", '[context]\nautomatic = "off"', "context.automatic", "off", ""),
    ("more context", "", '[context]\nautomatic = "full"', "context.automatic", "light", "context.automatic"),
    (
        "more again",
        '[context]\nautomatic = "off"',
        '[context]\nautomatic = "light"',
        "context.automatic",
        "off",
        "context",
    ),
    ("fewer tokens", "", "[context]\ntokens = 500", "context.tokens", 500, ""),
    ("more tokens", "", "[context]\ntokens = 90000", "context.tokens", 4000, "context.tokens"),
    ("embeddings", "", '[index]\nembeddings = "static"', "index.embeddings", None, "index.embeddings"),
    ("no look after edits", "", "checkAfterEdit = false", "checkAfterEdit", True, "checkAfterEdit"),
]


@pytest.mark.parametrize(
    ("user", "workspace", "path", "expected", "ignored"),
    [row[1:] for row in WORKSPACE],
    ids=[row[0] for row in WORKSPACE],
)
def test_the_workspaces_own_file_only_makes_things_stricter(
    tmp_path: Path, user: str, workspace: str, path: str, expected: object, ignored: str
) -> None:
    settings, problems = load(tmp_path, user=user, workspace=workspace)
    assert value(settings, path) == expected
    assert [f"ignored {ignored}" in problem for problem in problems] == ([True] if ignored else [])


HOOK = '[[hooks]]\nname = "a"\ncommand = "b"\non = "beforeTool"\n'
BAD: list[tuple[str, dict[str, Any], str]] = [
    ("word", {"user": 'mode = "buld"'}, "config.toml: mode is \"buld\", but must be 'ask', 'plan' or 'build'; ignored"),
    ("variable", {"environ": {"TARK_APPROVAL": "all"}}, "environment variable TARK_APPROVAL: approval is"),
    ("model", {"environ": {"TARK_MODEL": "gpt-5"}}, 'must be "<provider>/<model>"'),
    ("type", {"user": "saveAfterEdit = 1"}, "saveAfterEdit is 1, but must be true or false"),
    ("a boolean as a number", {"user": "[limits]\nturnRequests = true"}, "limits.turnRequests is true"),
    ("a negative limit", {"user": "[limits]\nturnUsd = -1"}, "must be greater than or equal to 0"),
    ("infinity", {"user": "[limits]\ntoolSeconds = inf"}, "must be a finite number"),
    ("table expected", {"user": "limits = 5"}, "limits is 5, but must be a table; ignored"),
    (
        "list expected",
        {"user": '[permissions]\ndeny = "all"'},
        'permissions.deny is "all", but must be a list; ignored',
    ),
    ("rule", {"user": '[permissions]\ndeny = ["rm ((", "fetch"]'}, "permissions.deny.0 is"),
    ("a hook", {"user": HOOK + 'tools = "read_*"'}, 'hook 1: tools is "read_*", but must be a list; ignored'),
    ("a hook without an event", {"user": '[[hooks]]\nname = "a"\ncommand = "b"'}, "hook 1 has no on; ignored"),
    ("one table for hooks", {"user": '[hooks]\nname = "a"'}, "must be a list: write [[hooks]], not [hooks]; ignored"),
    ("unknown", {"user": 'modle = "a/b"'}, "modle is not a setting; ignored (did you mean mode?)"),
    ("snake_case", {"user": 'edit_review = "ask"'}, "did you mean editReview?"),
    ("snake_case inside", {"user": "[limits]\nturn_usd = 1"}, "did you mean turnUsd?"),
    ("a name", {"user": '[models.agents]\nA = "a/b"'}, 'models.agents.A is "a/b", but must be the name of an agent'),
    (
        "a name of a server",
        {"user": '[mcp.servers.A]\nurl = "https://x"'},
        "mcp.servers.A must be a name of at most 20",
    ),
    ("the model of a mode", {"user": '[models.modes]\nplan = "gpt"'}, 'models.modes.plan is "gpt", but must be'),
    ("wire", {"user": '[providers.a]\nwire = "grpc"'}, "providers.a.wire must be 'openai-chat'"),
    ("base URL", {"user": '[providers.a]\nbaseUrl = "localhost"'}, "providers.a.baseUrl must be a URL"),
    *(
        (f"base URL {url}", {"user": f'[providers.a]\n{key} = "{url}"'}, f"{key} must be a URL without user name")
        for key in ("baseUrl", "loginUrl")
        for url in ("https://me:pw@h.example/v1", "https://me:p/w@h.example", "https://h/v1?key=x", "https://h/v1#x")
    ),
    ("header", {"user": '[providers.a.headers]\nx = "a\\nb"'}, "providers.a.headers.x must be one line"),
    ("a window", {"user": '[providers.a.models."m:8b"]\ncontextWindow = 0'}, "must be greater than or equal to 1"),
    ("a window as text", {"user": '[providers.a.models.m]\ncontextWindow = "8k"'}, "contextWindow must be an integer"),
    ("a style of thinking", {"user": '[providers.a.models.m]\nthinking = "hard"'}, "thinking must be 'none', 'effort'"),
    ("an effort", {"user": '[providers.a.models.m]\nefforts = ["low", "lots"]'}, "efforts.1 must be 'none'"),
    ("tools", {"user": '[providers.a.models.m]\ntools = "yes"'}, "providers.a.models.m.tools must be true or false"),
    (
        "half a price",
        {"user": "[providers.a.models.m]\nprice = {input = 3}"},
        "providers.a.models.m.price has no output",
    ),
    (
        "a price below nothing",
        {"user": "[providers.a.models.m]\nprice = {input = -3, output = 1}"},
        "price.input must be",
    ),
    (
        "unknown of a model",
        {"user": "[providers.a.models.m]\nwindow = 3"},
        "providers.a.models.m.window is not a setting",
    ),
    ("not TOML", {"user": "mode = ask"}, "config.toml cannot be read as TOML"),
    ("deep TOML", {"user": "a = " + "[" * 100_000}, "config.toml cannot be read as TOML"),
    ("huge", {"user": "#" * 1_000_001}, "larger than 1,000,000 bytes"),
    ("not an object", {"initialization": "model"}, 'must be an object of settings, not "model"'),
    ("settings not an object", {"configuration": {"tark": 5}}, "must be an object of settings, not 5"),
    ("bidi in a name", {"user": '"a\u202eb" = 1'}, r'"a\u202eb" is not a setting'),
]


@pytest.mark.parametrize(("layers", "sentence"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_bad_value_is_reported_once_and_the_default_is_used(
    tmp_path: Path, layers: dict[str, Any], sentence: str
) -> None:
    settings, [problem, *more] = load(tmp_path, **layers)
    assert sentence in problem
    assert problem.isprintable()
    level = settings.approval if more else ApprovalLevel.CAREFUL
    unset = {"permissions": Settings().permissions, "providers": {}, "hooks": ()}
    assert settings.model_copy(update=unset) == Settings().model_copy(update={"approval": level})


BROKEN: list[tuple[str, dict[str, Any], str]] = [
    ("not TOML", {"user": 'approval = "balanced"\nmodel = [broken'}, "config.toml: because of this"),
    ("a rule of the wrong type", {"user": '[permissions]\ndeny = "fetch"'}, "config.toml: because of this"),
    ("a wrong rule", {"user": '[permissions]\ndeny = ["fetch", "(("]'}, "config.toml: because of this"),
    ("a misspelled list", {"user": '[permissions]\ndenny = ["fetch"]'}, "config.toml: because of this"),
    ("a level", {"environ": {"TARK_APPROVAL": "manuel"}}, "TARK_APPROVAL: because"),
    ("a hook", {"user": '[[hooks]]\nname = "a"\non = "never"\ncommand = "x"'}, "config.toml: because of this"),
    ("an editor's rule", {"configuration": {"permissions": {"deny": "fetch"}}}, "the editor's settings: because"),
    ("the workspace's file", {"workspace": "model = [broken"}, "config.toml: because of this"),
]


@pytest.mark.parametrize(("layers", "words"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_layer_that_cannot_be_used_makes_everything_ask(tmp_path: Path, layers: dict[str, Any], words: str) -> None:
    allowing = {"approval": "balanced", "permissions": {"allow": ["run_command"]}}
    settings, problems = load(tmp_path, **layers, initialization=allowing, trusted=True)
    assert (settings.approval, settings.permissions.allow) == ("manual", ())
    assert words in problems[-1]
    assert "the approval level is manual" in problems[-1]


def test_a_file_that_breaks_later_keeps_its_earlier_values(tmp_path: Path) -> None:
    file, last_usable = tmp_path / "config.toml", dict[str, Any]()
    for text, level, rules in (
        ('approval = "balanced"\n[permissions]\ndeny = ["fetch"]', "balanced", ("fetch",)),
        ("approval = [broken", "balanced", ("fetch",)),
        ('[permissions]\ndeny = "fetch"', "balanced", ("fetch",)),
        ("", "careful", ()),
    ):
        file.write_text(text)
        settings, problems = load_settings(user_file=file, environ={}, last_usable=last_usable)
        assert (settings.approval, settings.permissions.deny) == (level, rules)
        assert any("the earlier values apply" in problem for problem in problems) == (problems != [])


def test_good_rules_beside_a_bad_one_count(tmp_path: Path) -> None:
    rules = '["run_command(rm *)", 5, "fetch", "((", "edit_file(src/**)"]'
    settings, problems = load(tmp_path, user=f"[permissions]\ndeny = {rules}")
    assert settings.permissions.deny == ("run_command(rm *)", "fetch", "edit_file(src/**)")
    assert len(problems) == 3


@pytest.mark.parametrize(
    "text",
    [
        '[providers.openai]\napiKeyEnv = "sk-secret-1"',
        '[providers.openai]\napiKey = "sk-secret-1"',
        '[providers.openai]\nbaseUrl = "sk-secret-1"',
        '[providers.openai]\nbaseUrl = "https://me:secret@h.example/v1?key=secret#secret"',
        '[providers]\nopenai = "sk-secret-1"',
        '[providers.openai.headers]\nauthorization = "sk-secret-1\\n"',
    ],
)
def test_a_key_in_the_wrong_place_is_never_repeated(tmp_path: Path, text: str) -> None:
    _, problems = load(tmp_path, user=text)
    assert problems
    assert "secret" not in "".join(problems)


def test_values_of_headers_are_not_shown() -> None:
    settings = Settings.model_validate({"providers": {"a": {"headers": {"x-key": "secret"}}}})
    assert settings.as_protocol_json()["providers"]["a"]["headers"] == {"x-key": "(hidden)"}


def test_many_problems_of_one_file_are_cut(tmp_path: Path) -> None:
    bad = "\n".join(f"k{number} = 1" for number in range(1000))
    _, problems = load(tmp_path, user=bad)
    assert len(problems) == 6
    assert "995 more settings" in problems[-1]


def test_a_named_pipe_is_not_read_as_settings(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    settings, problems = load_settings(user_file=tmp_path / "pipe", environ={}, workspace_files=[tmp_path])
    assert settings == Settings(approval=ApprovalLevel.MANUAL)
    assert [problem.startswith(str(tmp_path)) for problem in problems] == [True] * 4


def test_config_and_state_follow_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "s"))
    assert user_config_path() == tmp_path / "c/tark/config.toml"
    assert state_folder() == tmp_path / "s/tark"
    assert stat.S_IMODE(state_folder().stat().st_mode) == 0o700
    state_folder().chmod(0o755)
    assert stat.S_IMODE(state_folder().stat().st_mode) == 0o700
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_config_path() == tmp_path / ".config/tark/config.toml"


words = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["tark", "mode", "limits", "turnUsd", "permissions", "deny", "providers", "headers", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(initialization=words, configuration=words, trusted=st.booleans())
def test_any_value_from_an_editor_gives_settings(initialization: Any, configuration: Any, trusted: bool) -> None:
    settings, problems = load_settings(
        user_file=None,
        environ={},
        initialization=initialization,
        configuration=configuration,
        trusted_client=trusted,
    )
    assert all(problem.isprintable() for problem in problems)
    if not trusted:
        broken = any("the approval level is manual" in problem for problem in problems)
        level = ApprovalLevel.MANUAL if broken else ApprovalLevel.CAREFUL
        expected = Settings().model_copy(update={"approval": level})
        assert settings.model_copy(update={"permissions": Settings().permissions}) == expected
        assert settings.permissions.allow == ()
    assert settings.mode in Mode
