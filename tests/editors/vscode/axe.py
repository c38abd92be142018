"""Checks the accessibility of a page with axe-core."""

from playwright.sync_api import Frame, expect

from tests.editors.vscode.installed import EXTENSION
from tests.editors.vscode.workbench import Workbench

AXE = EXTENSION / "node_modules" / "axe-core" / "axe.min.js"
THEMES = {
    "Dark Modern": "vscode-dark",
    "Light Modern": "vscode-light",
    "Dark High Contrast": "vscode-high-contrast",
    "Light High Contrast": "vscode-high-contrast-light",
}
"""Names of themes, with the theme kind that the page gets."""
LOOK = """() => {
  // The background that VS Code draws behind the page.
  document.body.style.background = 'var(--vscode-sideBar-background)';
  const said = ({id, nodes}) => nodes.map(({html, failureSummary}) => `${id}: ${html.slice(0, 100)} ${failureSummary}`);
  return axe.run(document).then(({violations}) => violations.flatMap(said));
}"""


def violations(page: Frame) -> list[str]:
    """The violations on the page, in the current theme."""
    page.evaluate(AXE.read_text())
    found: list[str] = page.evaluate(LOOK)
    return found


def violations_in_every_theme(bench: Workbench, page: Frame) -> list[str]:
    """Those of a visible page, each after its theme. A screenshot of each theme is beside the workspace."""
    found: list[str] = []
    for theme, kind in THEMES.items():
        bench.run("Preferences: Color Theme")
        bench.answer(theme)
        expect(page.locator("body")).to_have_attribute("data-vscode-theme-kind", kind)
        bench.page.screenshot(path=bench.workspace.parent / f"{page.title() or 'page'}-{kind}.png")
        found += [f"{theme}: {violation}" for violation in violations(page)]
    return found
