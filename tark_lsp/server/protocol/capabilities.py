"""The answer to `initialize` as plain data. It is sent before pygls is imported, so only the version is imported here.

Source: protocol.md, "Capabilities" and "Commands". A test compares it with pygls's result for the registered handlers.
"""

from tark_lsp import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROTOCOL = 1
"""The version of the `tark/*` messages and commands, sent as `experimental.tark.protocol`."""

COMMANDS = (
    "tark.turn.start",
    "tark.turn.steer",
    "tark.turn.cancel",
    "tark.turn.undo",
    "tark.turn.redo",
    "tark.turn.wait",
    "tark.codeBlock.apply",
    "tark.hunk.list",
    "tark.hunk.accept",
    "tark.hunk.reject",
    "tark.hunk.edit",
    "tark.hunk.regenerate",
    "tark.problem.dismiss",
    "tark.state",
    "tark.permission.list",
    "tark.permission.answer",
    "tark.permissions.list",
    "tark.permissions.revoke",
    "tark.permissions.trust",
    "tark.mcp.list",
    "tark.mcp.add",
    "tark.mcp.show",
    "tark.mcp.inspect",
    "tark.mcp.approve",
    "tark.mcp.switch",
    "tark.mcp.restart",
    "tark.mcp.log",
    "tark.mcp.remove",
    "tark.hooks.list",
    "tark.hooks.show",
    "tark.hooks.approve",
    "tark.hooks.remove",
    "tark.input.answer",
    "tark.session.list",
    "tark.session.new",
    "tark.session.open",
    "tark.session.context",
    "tark.session.rename",
    "tark.session.delete",
    "tark.session.fork",
    "tark.session.restore",
    "tark.session.export",
    "tark.session.compact",
    "tark.models.list",
    "tark.models.check",
    "tark.settings.set",
    "tark.agents.list",
    "tark.agents.show",
    "tark.agents.approve",
    "tark.agents.remove",
    "tark.auth.login",
    "tark.auth.logout",
    "tark.auth.status",
    "tark.auth.check",
    "tark.index.status",
    "tark.index.rebuild",
    "tark.usage",
    "tark.doctor",
    "tark.demo",
    "tark.commitMessage",
    "tark.clipboardImage",
    "tark.patch",
)
CODE_ACTION_KINDS = ("quickfix", "refactor.rewrite", "refactor.rewrite.tark")
ENCODINGS = ("utf-8", "utf-16", "utf-32")
CHAT_FEATURES: "dict[str, tuple[str, Any]]" = {
    "completion": ("completionProvider", {"triggerCharacters": ["@", ":", "/"], "resolveProvider": False}),
    "foldingRange": ("foldingRangeProvider", True),
    "documentSymbol": ("documentSymbolProvider", True),
    "documentLink": ("documentLinkProvider", {"resolveProvider": False}),
    "definition": ("definitionProvider", True),
}
"""Features only for chat documents (docs/chat.md): method below `textDocument/` -> server capability and its options.

If the client can register them later, they are registered only for chat documents, so that it asks about no others.
"""
NOT_ANNOUNCED = ("hover", "completion", "definition")
"""Features that are not announced to Neovim, neither at the start nor later. Requests for them are answered.

Neovim sets `K`, `omnifunc` and `tagfunc` in every buffer for announced features (`vim.lsp._set_defaults`), whatever
documents a feature is registered for. Tark's plugin, or a few lines by the user, requests them in chats
(docs/neovim.md).
"""
FILE_OPERATIONS = ("didCreate", "didRename", "didDelete")


def find_value(value: "Any", path: str) -> "Any":
    """The value at a dotted path in a client's JSON. None if the path does not exist."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def choose_encoding(capabilities: object) -> str:
    """The first of the client's position encodings that Tark knows; utf-16 if it names none (LSP 3.17, general)."""
    offered = find_value(capabilities, "general.positionEncodings")
    known = [name for name in offered if name in ENCODINGS] if isinstance(offered, list) else []
    return known[0] if known else "utf-16"


def is_dynamic(capabilities: object, feature: str) -> bool:
    """Can this feature of `CHAT_FEATURES` be registered after the start, only for some documents?"""
    return find_value(capabilities, f"textDocument.{feature}.dynamicRegistration") is True


def is_announced(client: object, feature: str) -> bool:
    """Is this feature announced, at the start or later, to a client with this `clientInfo.name`?"""
    is_neovim = isinstance(client, str) and client.lower().startswith("neovim")
    return not (is_neovim and feature in NOT_ANNOUNCED)


def _synchronization(capabilities: object) -> "dict[str, Any]":
    asked: dict[str, Any] = {"openClose": True, "change": 2, "save": {"includeText": False}}
    if find_value(capabilities, "textDocument.synchronization.willSave"):
        asked["willSave"] = True
    return asked


def initialize_result(params: object) -> "dict[str, Any]":
    """The result of `initialize` for its params, which can be anything, including mistakes of a client."""
    capabilities, client = find_value(params, "capabilities"), find_value(params, "clientInfo.name")
    every_file = {"filters": [{"scheme": "file", "pattern": {"glob": "**/*"}}]}
    return {
        "capabilities": {
            "positionEncoding": choose_encoding(capabilities),
            "textDocumentSync": _synchronization(capabilities),
            "codeActionProvider": {"codeActionKinds": list(CODE_ACTION_KINDS), "resolveProvider": False},
            "codeLensProvider": {"resolveProvider": False},
            **({"hoverProvider": True} if is_announced(client, "hover") else {}),
            **{
                provider: options
                for feature, (provider, options) in CHAT_FEATURES.items()
                if is_announced(client, feature) and not is_dynamic(capabilities, feature)
            },
            "executeCommandProvider": {"commands": list(COMMANDS)},
            "workspace": {
                "workspaceFolders": {"supported": True, "changeNotifications": True},
                "fileOperations": {
                    name: every_file
                    for name in FILE_OPERATIONS
                    if find_value(capabilities, f"workspace.fileOperations.{name}")
                },
            },
            "experimental": {"tark": {"protocol": PROTOCOL}},
        },
        "serverInfo": {"name": "tark-lsp", "version": __version__},
    }
