"""What axe-core says of a page: where not everybody can use it."""

from playwright.sync_api import Frame

from tests.editors.vscode.installed import EXTENSION

AXE = EXTENSION / "node_modules" / "axe-core" / "axe.min.js"
THEMES = {
    "Dark Modern": "vscode-dark",
    "Light Modern": "vscode-light",
    "Dark High Contrast": "vscode-high-contrast",
    "Light High Contrast": "vscode-high-contrast-light",
}
"""By their names in the list of themes: what the page is told of them."""
LOOK = """() => {
  // What VS Code draws behind the page, which has no ground of its own.
  document.body.style.background = 'var(--vscode-sideBar-background)';
  const said = ({id, nodes}) => nodes.map(({html, failureSummary}) => `${id}: ${html.slice(0, 100)} ${failureSummary}`);
  return axe.run(document).then(({violations}) => violations.flatMap(said));
}"""


def violations(page: Frame) -> list[str]:
    """Of what is on the page now, in the theme it has."""
    page.evaluate(AXE.read_text())
    found: list[str] = page.evaluate(LOOK)
    return found
