"""Where a name is defined: by how definitions look in many languages, in what the editor has, and cheaply."""

from pathlib import Path

import pytest

from tark_lsp.server.prompting.symbols import find_definitions, names_beginning
from tests.server.scripted import ScriptedEditor

DEFINED = {
    "a.py": "@cached\ndef thing(x):\n    return x\n",
    "b.py": "class Holder:\n    async def thing(self) -> None:\n        pass\n",
    "c.py": "thing: int = 3\n",
    "d.js": "export default async function thing(a) {\n  return a\n}\n",
    "e.ts": "export const thing = (a: number) => a\n",
    "f.ts": "class A {\n  private async thing(a: number): Promise<void> {\n  }\n}\n",
    "g.ts": "export interface thing {\n}\n",
    "h.go": "func (s *Shape) thing(x int) int {\n\treturn x\n}\n",
    "i.go": "type thing struct {\n}\n",
    "j.rs": "pub(crate) unsafe fn thing<T>(x: T) -> T {\n    x\n}\n",
    "k.rs": "    const thing: u32 = 3;\n",
    "l.c": "static unsigned int *thing(int x)\n{\n    return 0;\n}\n",
    "m.h": "#define thing(x) ((x) + 1)\n",
    "n.cpp": "std::vector<int> Shape::thing(const int &x) const {\n}\n",
    "o.java": "    public static Map<String, Integer> thing(String x) throws IOException {\n    }\n",
    "p.rb": "  def self.thing(x)\n  end\n",
    "q.lisp": "(defun thing (x)\n  x)\n",
    "r.kt": "    override suspend fun thing(x: Int): Int {\n    }\n",
    "s.swift": "struct thing {\n}\n",
    "t.php": "    public function thing($x) {\n    }\n",
    "u.ex": "  defp thing(x) do\n  end\n",
    "v.lua": "local function thing(x)\nend\n",
    "w.sh": "function thing {\n}\n",
}
NOT_DEFINED = {
    "a.py": "x = thing(1)\nreturn thing(x)\nfrom b import thing\n# def thing\nthing == 3\nf(thing=3)\n",
    "b.js": "await thing(1)\n// function thing(x)\nconst other = thing(1)\nnew thing(2)\nthing => 1\n",
    "c.c": "return thing(x);\nelse thing(x);\n * calls thing(x) somewhere\nint other(int thing) {\n",
    "d.md": "def thing(x):\nclass thing\n",
    "e.py": "def something(): pass\ndef thing_2(): pass\ndef nothing(thing): pass\n",
    "f.txt": "the type thing is\n",
    "g.min.js": f"function thing(x){{{'x' * 500}}}\n",
}


@pytest.fixture
def editor(tmp_path: Path) -> ScriptedEditor:
    return ScriptedEditor(tmp_path.resolve())


def unsaved(editor: ScriptedEditor) -> "list[Path]":
    return [document.path for document in editor.documents if document.path is not None and document.dirty]


async def places(editor: ScriptedEditor, name: str) -> list[str]:
    found = await find_definitions(name, editor.workspace, lambda _: unsaved(editor))
    return [f"{item.path.name}:{item.start + 1}-{item.end}" for item in found]


@pytest.mark.parametrize("name", DEFINED)
async def test_how_definitions_look(editor: ScriptedEditor, name: str) -> None:
    (editor.folder / name).write_text(DEFINED[name])
    (found,) = await places(editor, "thing")
    assert found.startswith(f"{name}:{2 if name in ('b.py', 'f.ts') else 1}-")


@pytest.mark.parametrize("name", NOT_DEFINED)
async def test_what_is_none(editor: ScriptedEditor, name: str) -> None:
    (editor.folder / name).write_text(NOT_DEFINED[name])
    assert await places(editor, "thing") == []


async def test_the_whole_of_it_the_likeliest_first(editor: ScriptedEditor) -> None:
    (editor.folder / "a.py").write_text(
        "area = 3\n\n\nclass Shape:\n    @property\n    def area(self):\n        return 1\n\n    x = 1\n"
    )
    (editor.folder / "b.py").write_text("def area(radius):\n    return radius\n")
    assert await places(editor, "area") == ["b.py:1-2", "a.py:5-7", "a.py:1-1"]
    assert await places(editor, "Shape.area") == ["a.py:5-7"]
    assert await places(editor, "b.area") == ["b.py:1-2"], "the module's name counts, too"
    assert len(await places(editor, "Nonesuch.area")) == 3, "none is in there, so any may be meant"


async def test_what_is_not_saved_counts(editor: ScriptedEditor) -> None:
    path = editor.open("a.py", "def area():\n    pass\n")
    editor.type(path, (4, 8, "surface"))
    assert await places(editor, "area") == []
    assert await places(editor, "surface") == ["a.py:1-2"]


async def test_ignored_files_are_left_out(editor: ScriptedEditor) -> None:
    (editor.folder / ".gitignore").write_text("out/\n")
    (editor.folder / "out").mkdir()
    (editor.folder / "out/a.py").write_text("def area(): pass\n")
    assert await places(editor, "area") == []


@pytest.mark.parametrize("name", ["", " ", "a b", "(", "a" * 101, ".*", "-e", "a.b.c.d.e.f.g", "é", "..", "\0"])
async def test_what_is_no_name(editor: ScriptedEditor, name: str) -> None:
    (editor.folder / "a.py").write_text("def area(): pass\n")
    assert await places(editor, name) == []


async def test_names_that_begin_so(editor: ScriptedEditor) -> None:
    (editor.folder / "a.py").write_text("def area(): pass\ndef arena(): pass\ndef other(): pass\narea = 2\n")
    path = editor.open("b.py", "")
    editor.type(path, (0, 0, "class Argument: pass\nclass argue: pass\n"))

    async def begin(prefix: str) -> list[str]:
        return await names_beginning(prefix, editor.workspace, lambda _: unsaved(editor))

    assert await begin("ar") == ["area", "arena", "argue"]
    assert await begin("nonesuch") == []
    assert await begin("(") == []
