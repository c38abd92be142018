"""A real VS Code in a headless browser, with its own server, home and settings, and the packed extension."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, Frame, Locator, Page

from tests.editors.pool import environment, write_settings
from tests.editors.vscode.installed import Version, packed, version_of_run, workbench
from tests.patience import AT_ONCE

STORED = """async () => {
    const done = (request) => new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    const values = [];
    for (const { name } of await indexedDB.databases()) {
        const database = await done(indexedDB.open(name));
        if (database.objectStoreNames.contains("ItemTable")) {
            values.push(...(await done(database.transaction("ItemTable").objectStore("ItemTable").getAll())));
        }
        database.close();
    }
    return JSON.stringify(values);
}"""
"""What VS Code has stored in the browser: its layout, and the workspace state of extensions."""
LISTENING = re.compile(r"agent listening on (\d+)")
SETTINGS: dict[str, Any] = {
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "editor.minimap.enabled": False,
    # The tests look at none of these, and drawing them takes a tenth of the processor.
    "breadcrumbs.enabled": False,
    "window.commandCenter": False,
    "workbench.layoutControl.enabled": False,
    "editor.stickyScroll.enabled": False,
    "editor.occurrencesHighlight": "off",
    "editor.bracketPairColorization.enabled": False,
    "editor.guides.indentation": False,
    "editor.matchBrackets": "never",
    "editor.semanticHighlighting.enabled": False,
    "editor.wordBasedSuggestions": "off",
    "editor.links": False,
    "git.enabled": False,
    "workbench.quickOpen.closeOnFocusLost": False,  # the chat can take the focus a moment after it was asked to
    "extensions.ignoreRecommendations": True,
    "chat.commandCenter.enabled": False,
    "chat.disableAIFeatures": True,  # newer versions have a chat and a button for commit messages of their own
    "workbench.secondarySideBar.defaultVisibility": "hidden",
}
"""The user settings: nothing moves or asks by itself."""
STILL = """if (window === window.top) {
    const sheet = new CSSStyleSheet();
    const once = "animation-duration: 1ms !important; animation-iteration-count: 1 !important";
    sheet.replaceSync(`*, ::before, ::after { ${once} }`);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}"""
"""For the page of the workbench: nothing turns or blinks. Drawing that took a third of the processor during a turn."""
PATIENCE = 2 * AT_ONCE
"""Seconds to wait for the workbench: it has three processes and a server."""


class Workbench:
    """`page` shows the folder `workspace`. The user settings of both programs are in `home`."""

    def __init__(
        self,
        browser: Browser,
        folder: Path,
        scenario: Path | None,
        *,
        settings: Mapping[str, Any] | None = None,
        machine: Mapping[str, Any] | None = None,
        trusting: bool = True,
        env: Mapping[str, str] | None = None,
        version: Version | None = None,
    ) -> None:
        """`scenario`: None for an empty home. `machine`: machine settings; by default the server to run. `trusting`: VS
        Code trusts all folders. `version`: by default the one of this run.
        """
        self.workspace, self.home, self._data = folder / "workspace", folder / "home", folder / "code"
        self.workspace.mkdir(exist_ok=True)
        if scenario is None:
            self.home.mkdir()
        elif not self.home.exists():
            write_settings(self.home, scenario, review="ask")
        server = {"tark.server.command": [sys.executable, "-m", "tark_lsp"]}
        _write(self._data / "User" / "settings.json", {**SETTINGS, **(settings or {})})
        _write(self._data / "Machine" / "settings.json", server if machine is None else machine)
        self._argv = [*workbench(version or version_of_run()), "--accept-server-license-terms"]
        self._argv += ["--user-data-dir", str(self._data), "--server-data-dir", str(self._data / "server")]
        self._argv += ["--extensions-dir", str(self._data / "extensions"), "--telemetry-level", "off"]
        self._env = {**environment(self.home), "TARK_KEYRING": "off", "TARK_SANDBOX": "off", **(env or {})}
        self.install(packed())
        self._process, self.port = self._start(trusting)
        self._browser = browser
        self.page: Page = self._new_page()

    @property
    def program(self) -> Sequence[str]:
        """The command line, with its folders."""
        return self._argv

    def install(self, vsix: Path) -> None:
        """Install for windows that are opened later."""
        subprocess.run([*self._argv, "--install-extension", str(vsix)], env=self._env, check=True, capture_output=True)

    def _start(self, trusting: bool) -> tuple[subprocess.Popen[bytes], int]:
        log = self._data / "server.log"
        more = ["--host", "127.0.0.1", "--port", "0", "--without-connection-token"]
        more += ["--disable-workspace-trust"] if trusting else []
        with log.open("wb") as stream:
            process = subprocess.Popen(
                [*self._argv, *more], env=self._env, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True
            )
        until(lambda: LISTENING.search(log.read_text(errors="replace")), "the server of VS Code listens")
        found = LISTENING.search(log.read_text(errors="replace"))
        assert found is not None
        return process, int(found[1])

    def _new_page(self) -> Page:
        context = self._browser.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(PATIENCE * 1000)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.add_init_script(STILL)
        return context.new_page()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def extension(self) -> Path:
        """The folder of the installed extension."""
        (folder,) = (self._data / "extensions").glob("tark.tark-*")
        return folder

    def open(self, query: str = "") -> None:
        """Open the folder, and wait until the window can be used. `query` is added to the address.

        The item of the extension says so. The palette lists no commands of extensions that are found after it opens.
        """
        self.page.goto(f"{self.origin}/?folder={self.workspace}{query}")
        self.status().wait_for()

    def open_file(self, name: str) -> Locator:
        """Open a file of the workspace with Quick Open. Return its editor, which has the focus."""
        self.page.keyboard.press("Control+P")
        box = self.page.locator(".quick-input-widget input")
        box.fill(name)
        row = self.page.locator(".quick-input-list .monaco-list-row.focused").filter(has_text=name.rsplit("/", 1)[-1])
        row.wait_for()
        box.press("Enter")
        editor = self.page.locator(f'.editor-instance[data-uri$="/{name}"], .monaco-editor[data-uri$="/{name}"]').first
        editor.wait_for()
        editor.locator(".view-lines").first.wait_for()
        return editor

    def run(self, title: str) -> None:
        """Run a command of the palette by its title, including the category."""
        self.page.keyboard.press("F1")
        box = self.page.locator(".quick-input-widget input")
        box.fill(f">{title}")
        rows = self.page.locator(".quick-input-list .monaco-list-row").filter(has_text=title)
        # The list has been filtered: a click on a row that moves would run another command.
        rows.filter(has=self.page.locator(".highlight")).first.click()

    def until_stored(self, *texts: str) -> None:
        """Wait until VS Code has stored these. It does so now and then, and not when the page is reloaded."""

        def are_stored() -> bool:
            stored = self.page.evaluate(STORED).replace("\\", "")  # much of it is JSON in JSON
            return all(text in stored for text in texts)

        until(are_stored, f"stored: {texts}")

    def look(self) -> None:
        """Wait as long as a user needs to look: clicks right after something appears are ignored."""
        self.page.wait_for_timeout(600)

    def answer(self, text: str) -> None:
        """Answer in the open input box."""
        box = self.page.locator(".quick-input-widget input")
        box.fill(text)
        box.press("Enter")

    def answer_inline(self, text: str) -> None:
        """Answer in the box below the selected lines, once it has the focus."""
        self.page.locator(".review-widget .edit-textarea .monaco-editor.focused").wait_for()
        self.page.keyboard.type(text)
        self.page.locator(".review-widget .edit-textarea .view-line").filter(has_text=text.split()[-1]).wait_for()
        self.page.keyboard.press("Enter")

    def select_lines(self, first: int, last: int) -> None:
        """Select whole lines of the focused editor, counted from 1."""
        self.page.keyboard.press("Control+G")
        self.answer(f":{first}")
        self.page.locator(".quick-input-widget").wait_for(state="hidden")
        self.page.keyboard.press("Home")
        for _ in range(last - first + 1):
            self.page.keyboard.press("Shift+ArrowDown")

    def lines(self) -> list[str]:
        """The lines of the active editor, without decorations."""
        return [line.replace("\xa0", " ") for line in self.page.locator(".view-lines .view-line").all_inner_texts()]

    def toast(self, text: str) -> Locator:
        """One that has come to rest: a click on one that still slides in can miss its button."""
        return self.page.locator(".notification-toast.notification-fade-in-done").filter(has_text=text)

    def status(self) -> Locator:
        """The item of the extension in the status bar."""
        return self.page.locator('.statusbar-item[id^="tark."]').first

    def chat(self) -> Frame:
        """The page of the chat."""
        return self.frame_with("textarea#prompt")

    def frame_with(self, selector: str) -> Frame:
        """The page of a view of ours, which is in a nested frame."""
        found: list[Frame] = []

        def look() -> bool:
            for frame in self.page.frames:
                with suppress(Error):  # the frame is being removed
                    if frame.query_selector(selector):
                        found.append(frame)
            return bool(found)

        until(look, f"a page with {selector}")
        return found[-1]

    def describe_screen(self) -> str:
        """For a failed test: the path of a screenshot, and the texts of notifications."""
        picture = self.workspace.parent / "screen.png"
        self.page.screenshot(path=picture)
        said = self.page.locator(".notification-list-item-message").all_inner_texts()
        return "\n".join([str(picture), *said])

    def read(self, name: str) -> str:
        return (self.workspace / name).read_text()

    def processes(self) -> list[int]:
        """The process ids of the language servers of this workbench."""
        import psutil

        def is_server(process: psutil.Process) -> bool:
            try:
                return "tark_lsp" in process.cmdline()
            except psutil.Error:
                return False  # it has just ended

        family = psutil.Process(self._process.pid).children(recursive=True)
        return [process.pid for process in family if is_server(process)]

    def close(self) -> None:
        self.page.context.close()
        os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def until(condition: Callable[[], object], what: str) -> None:
    """Raises AssertionError if the condition does not become true."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"never came: {what}"
        time.sleep(0.1)


def _write(path: Path, settings: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings))
