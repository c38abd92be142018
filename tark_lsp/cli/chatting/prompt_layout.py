"""Layout and colours of the lines at the bottom of the terminal."""

import textwrap
from collections.abc import Callable

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import AnyContainer, BufferControl, ConditionalContainer, HSplit, Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import SearchToolbar

PROMPT, CONTINUATION = "❯ ", "  "
MAX_PROMPT_ROWS = 12
STYLE = Style.from_dict(
    {
        "prompt": "bold ansicyan",
        "question": "bold",
        "status": "reverse",
        "call": "ansicyan",
        "thinking": "italic ansibrightblack",
        "note": "ansiyellow",
    }
)


def prompt_layout(
    draft: Buffer,
    answer: Buffer,
    *,
    question: Callable[[], str],
    note: Callable[[], str],
    unfinished: Callable[[], StyleAndTextTuples],
    status: Callable[[], str],
) -> Layout:
    """From top to bottom: the `unfinished` lines, the question with its `answer` or the prompt being typed (`draft`),
    the completions, the status. `question()` is empty if no question has the keyboard.
    """
    asking = Condition(lambda: bool(question()))
    search = SearchToolbar(backward_search_prompt="earlier prompts: ", forward_search_prompt="later prompts: ")
    typed = Window(
        BufferControl(draft, search_buffer_control=search.control, preview_search=True),
        get_line_prefix=lambda number, wraps: [("class:prompt", CONTINUATION if number or wraps else PROMPT)],
        height=Dimension(min=1, max=MAX_PROMPT_ROWS),
        wrap_lines=True,
        dont_extend_height=True,
    )
    question_rows = Window(
        FormattedTextControl(lambda: [("class:question", "\n".join(_rows(question())[:-1]))]), dont_extend_height=True
    )
    last_question_row = Window(
        BufferControl(answer, input_processors=[BeforeInput(lambda: [("class:question", _rows(question())[-1])])]),
        wrap_lines=True,
        dont_extend_height=True,
    )
    note_row = Window(FormattedTextControl(lambda: [("class:note", note())]), height=1)
    rows: list[AnyContainer] = [
        Window(FormattedTextControl(unfinished), dont_extend_height=True),
        ConditionalContainer(note_row, Condition(lambda: bool(note()))),
        ConditionalContainer(question_rows, Condition(lambda: len(_rows(question())) > 1)),
        ConditionalContainer(last_question_row, asking),
        ConditionalContainer(typed, ~asking),
        search,
        CompletionsMenu(max_height=8, scroll_offset=1),
        Window(FormattedTextControl(lambda: [("class:status", status())]), height=1, style="class:status"),
    ]
    return Layout(HSplit(rows), focused_element=draft)


def _rows(question: str) -> list[str]:
    """Wraps the question between words, because a window does not do that. The answer follows the last row."""
    rows = textwrap.wrap(question, get_app().output.get_size().columns) or [""]
    return [*rows[:-1], rows[-1] + " " * question.endswith(" ")]
