"""Shows a conversation: finished blocks and calls are printed, unfinished ones are drawn at the bottom."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prompt_toolkit.styles import ANSI_COLOR_NAMES
from rich.cells import chop_cells
from rich.console import Console, RenderableType
from rich.segment import Segment, SegmentLines
from rich.style import Style
from rich.text import Text

from tark_lsp.cli.chatting.blocks import MarkdownBlocks
from tark_lsp.cli.chatting.markdown import draw_block
from tark_lsp.cli.screen import ENDED_BADLY, PLAN_MARKS, Screen, outcome_text, reasons
from tark_lsp.cli.visible import one_line, visible

THINKING = "dim italic"
MARKS = {"pending": "·", "in_progress": "●", "waiting": "?", "completed": "✓"}
MAX_FORMATTED = 4_000
"""Characters. A longer unfinished block is shown without formatting, because each new piece of text redraws it."""
StyledLine = list[tuple[str, str]]
"""A line at the bottom: pairs of a prompt_toolkit style and a text."""


class ChatScreen(Screen):
    """A `Screen` that also draws Markdown, and provides `unfinished_lines`."""

    wraps = True

    def __init__(self, console: Console, folder: Path) -> None:
        super().__init__(console, folder)
        self._kind = ""
        self._blocks = MarkdownBlocks()
        self._formatted: tuple[str, int, list[StyledLine]] = ("", 0, [])
        self._calls: dict[str, tuple[str, str]] = {}
        self._plan: list[Mapping[str, Any]] = []

    def update(self, update: Mapping[str, Any]) -> None:
        match update:
            case {"kind": "text" | "thinking" as kind, "delta": delta}:
                self._write(kind, delta)
            case {"kind": "toolCall"}:
                self._call(update)
            case {"kind": "plan", "entries": entries}:
                self._plan = list(entries)
            case {"kind": "end"}:
                self.finish_turn()
            case _:
                super().update(update)

    def print_line(self, text: str, style: str = "none", *, exact: bool = False) -> None:
        self._finish_text()
        super().print_line(text, style, exact=exact)

    def show_edits(self, edits: Any) -> None:
        self._finish_text()
        super().show_edits(edits)

    def show_markdown(self, text: str) -> None:
        """Prints a whole Markdown text."""
        self._finish_text()
        blocks = MarkdownBlocks()
        for block in (*blocks.feed_text(text), *blocks.finish_text()):
            self._draw_block(draw_block(block))

    def show_prompt(self, prompt: str) -> None:
        """Prints the user's prompt as a heading for the answer."""
        self.print_line("")
        self.print_line("\n".join(f"❯ {line}" for line in visible(prompt).split("\n")), "bold cyan")

    def finish_turn(self) -> None:
        """Prints everything that is unfinished, because the turn or its server ended."""
        self._finish_text()
        for title, status in self._calls.values():
            self.print_line(f"{MARKS.get(status, '·')} {title}: it is not known how this ended", "dim")
        self._calls.clear()
        if self._plan:
            entries, self._plan = self._plan, []
            super().update({"kind": "plan", "entries": entries})

    def unfinished_lines(self, rows: int, columns: int) -> list[StyledLine]:
        """The end of the unfinished text, the running calls, and the plan: at most `rows` lines."""
        calls = [("class:call", f"{MARKS.get(status, '·')} {title}") for title, status in self._calls.values()]
        plan = [("class:plan", _entry(entry)) for entry in self._plan]
        below = [[(style, chop_cells(text, columns)[0])] for style, text in (*calls, *plan)][-rows:]
        room = max(0, rows - len(below))
        return [*self._unfinished_text(room, columns)[-room:], *below] if room else below

    def _unfinished_text(self, rows: int, columns: int) -> list[StyledLine]:
        """The unfinished text, formatted as it will be when it is finished, if it is short enough."""
        whole = self._blocks.unfinished(MAX_FORMATTED)
        if whole.strip() and self._kind == "text":
            if self._formatted[:2] != (whole, columns):
                lines = self._render(draw_block(whole), columns)
                self._formatted = (whole, columns, [[], *(styled_line(line) for line in lines)])
            return self._formatted[2]
        tail = visible(self._blocks.tail(rows, rows * columns)).expandtabs(4)
        style = "class:thinking" if self._kind == "thinking" else ""
        return [[(style, line.plain)] for line in Text(tail).wrap(self.console, columns)] if tail else []

    def _render(self, drawn: RenderableType, columns: int | None = None) -> list[list[Segment]]:
        """The lines, without the empty lines that rich adds around lists, tables and code."""
        options = self.console.options.update(width=columns) if columns else None
        lines = self.console.render_lines(drawn, options, pad=False)
        while lines and _is_blank(lines[-1]):
            lines.pop()
        return lines[next((number for number, line in enumerate(lines) if not _is_blank(line)), 0) :]

    def _write(self, kind: str, delta: str) -> None:
        if kind != self._kind:
            self._finish_text()
            self._kind = kind
        for block in self._blocks.feed_text(delta):
            self._draw_finished(block)

    def _finish_text(self) -> None:
        for block in self._blocks.finish_text():
            self._draw_finished(block)

    def _draw_finished(self, block: str) -> None:
        thought = self._kind == "thinking"
        self._draw_block(Text(visible(block), style=THINKING) if thought else draw_block(block))

    def _draw_block(self, drawn: RenderableType) -> None:
        """Prints the block after exactly one empty line."""
        lines = self._render(drawn)
        self.console.print()
        self.console.print(SegmentLines(lines, new_lines=True))

    def _call(self, update: Mapping[str, Any]) -> None:
        self._finish_text()
        call, status = update["toolCallId"], update["status"]
        title, _ = self._calls.pop(call, ("", ""))
        title = one_line(update.get("title") or "") or title or one_line(update.get("name") or "")
        if status == "completed":
            outcome = update.get("outcome") or {}
            words = outcome_text(outcome)
            mark, style = ("✗", "yellow") if outcome.get("exitCode") else (MARKS[status], "green")
            self.print_line(f"{mark} {title}{words and f'  {words}'}", style)
            self.show_failures(update)
        elif status in ENDED_BADLY:
            self.print_line(f"✗ {': '.join([title, status, *reasons(update)])}", "red")
        else:
            self._calls[call] = (title, status)


def styled_line(line: Sequence[Segment]) -> StyledLine:
    return [(_prompt_style(segment.style), segment.text) for segment in line if not segment.control]


def _prompt_style(style: Style | None) -> str:
    """The style for prompt_toolkit. Markdown uses only the terminal's 16 colours."""
    if style is None:
        return ""
    names = [name for name in ("bold", "dim", "italic", "underline", "strike") if getattr(style, name)]
    number = style.color.number if style.color is not None else None
    colour = [ANSI_COLOR_NAMES[number + 1]] if number is not None and number < 16 else []
    return " ".join([*colour, *names])


def _is_blank(line: list[Segment]) -> bool:
    return not any(segment.text.strip() for segment in line)


def _entry(entry: Mapping[str, Any]) -> str:
    return f"{PLAN_MARKS.get(entry['status'], '[?]')} {one_line(entry['content'])}"
