"""Links between docs work, and so do references in code, such as `safety.md, "What is asked"`."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CODE = ("tark_lsp/**/*.py", "tests/**/*.py", "editors/vscode/src/**/*.ts", "editors/neovim/lua/**/*.lua")
LINK = re.compile(r"\]\((?P<path>[^)#:\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
REFERENCE = re.compile(r"(?P<page>\w+\.md)(?:, | \()\"(?P<section>[^\"\n]+)\"")
SECTION = re.compile(r"^(?:#+ (?P<heading>.+)|\*\*(?P<bold>[^*]+)\*\*)", re.MULTILINE)
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def without_blocks(page: Path) -> str:
    return re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text(encoding="utf-8")))


def sections(page: Path) -> set[str]:
    """Headings, and the bold words at the beginning of a paragraph."""
    found = SECTION.finditer(without_blocks(page))
    return {re.sub(r"[`*]", "", match["heading"] or match["bold"]).rstrip(".:").strip() for match in found}


def anchors(page: Path) -> set[str]:
    """As GitHub makes them: lower case, without punctuation, with `-` for spaces."""
    titles = re.findall(r"^#+ (.+)$", without_blocks(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_links_between_docs_lead_somewhere() -> None:
    broken = []
    for page in [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]:
        for link in LINK.finditer(without_blocks(page)):
            target = (page.parent / link["path"]).resolve() if link["path"] else page
            if not target.exists() or (
                link["anchor"] and target.suffix == ".md" and link["anchor"] not in anchors(target)
            ):
                broken.append(f"{page.name}: {link[0][1:]}")
    assert broken == []


def test_code_names_sections_that_exist() -> None:
    known = {page.name: sections(page) for page in DOCS.glob("*.md")}
    wrong = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for pattern in CODE
        for path in sorted(ROOT.glob(pattern))
        if path != Path(__file__)
        for match in REFERENCE.finditer(path.read_text(encoding="utf-8"))
        if match["section"] not in known.get(match["page"], ())
    ]
    assert wrong == []
