"""Checks the accessibility of a page with axe-core."""

from playwright.sync_api import Frame

from tests.editors.vscode.installed import EXTENSION

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
