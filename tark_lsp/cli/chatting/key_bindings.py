"""The keys of the terminal chat."""

import time
from collections.abc import Callable
from typing import Protocol

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.search import stop_search

from tark_lsp.cli.chatting.question_prompt import KeyTarget, QuestionPrompt


class KeyHandlers(Protocol):
    """The actions of the keys. `interrupt()` is Ctrl-C, `leave()` Ctrl-D, `suspend()` Ctrl-Z, `edit()` Ctrl-X Ctrl-E,
    `paste_image()` Ctrl-V. Until `typed_ahead_until` (`time.monotonic()`), a line feed counts as Enter."""

    @property
    def draft(self) -> Buffer: ...

    @property
    def question(self) -> QuestionPrompt: ...

    @property
    def typed_ahead_until(self) -> float: ...

    @property
    def interrupt(self) -> Callable[[], None]: ...

    @property
    def leave(self) -> Callable[[], None]: ...

    @property
    def suspend(self) -> Callable[[], None]: ...

    @property
    def edit(self) -> Callable[[], None]: ...

    @property
    def paste_image(self) -> Callable[[], None]: ...

    def press_enter(self) -> None: ...

    def paste(self, text: str) -> None: ...

    def clear(self) -> None: ...


def key_bindings(handlers: KeyHandlers) -> KeyBindings:
    keys = KeyBindings()
    _bind_prompt_keys(keys, handlers)
    _bind_answer_keys(keys, handlers)
    _bind_common_keys(keys, handlers)
    return keys


def _bind_prompt_keys(keys: KeyBindings, handlers: KeyHandlers) -> None:
    """During a search of the history (Ctrl-R), prompt_toolkit handles the keys: Enter or Escape takes the prompt."""
    draft = handlers.draft
    prompting = Condition(lambda: handlers.question.key_target is KeyTarget.PROMPT) & ~is_searching

    @keys.add("enter", filter=prompting)
    def _(_: KeyPressEvent) -> None:
        handlers.press_enter()

    @keys.add("escape", "enter", filter=prompting)
    def _(_: KeyPressEvent) -> None:
        draft.insert_text("\n")

    @keys.add("c-j", filter=prompting)
    def _(_: KeyPressEvent) -> None:
        if time.monotonic() < handlers.typed_ahead_until:
            handlers.press_enter()
        else:
            draft.insert_text("\n")

    @keys.add("tab", filter=prompting)
    def _(_: KeyPressEvent) -> None:
        if draft.complete_state:
            draft.complete_next()
        else:
            draft.start_completion(select_first=True)

    @keys.add("s-tab", filter=prompting)
    def _(_: KeyPressEvent) -> None:
        draft.complete_previous()

    @keys.add("c-x", "c-e", filter=prompting)
    def _(_: KeyPressEvent) -> None:
        handlers.edit()

    @keys.add("c-v", filter=prompting)
    def _(_: KeyPressEvent) -> None:
        handlers.paste_image()


def _bind_answer_keys(keys: KeyBindings, handlers: KeyHandlers) -> None:
    question = handlers.question
    answering = Condition(lambda: question.key_target is KeyTarget.ANSWER)
    by_key = answering & Condition(lambda: bool(question.keys))
    closed = Condition(lambda: question.key_target is KeyTarget.NOTHING)

    @keys.add("<any>", filter=by_key, eager=True)
    @keys.add("enter", filter=by_key, eager=True)
    @keys.add("c-j", filter=by_key, eager=True)
    def _(event: KeyPressEvent) -> None:
        question.press_key(event.data)

    @keys.add("<bracketed-paste>", filter=by_key, eager=True)
    def _(_: KeyPressEvent) -> None:
        question.press_key("")

    @keys.add("enter", filter=answering)
    @keys.add("c-j", filter=answering)
    def _(_: KeyPressEvent) -> None:
        question.answer_with(question.answer.text.strip())

    @keys.add("<any>", filter=closed, eager=True)
    @keys.add("enter", filter=closed, eager=True)
    @keys.add("c-j", filter=closed, eager=True)
    @keys.add("<bracketed-paste>", filter=closed, eager=True)
    def _(_: KeyPressEvent) -> None:
        """Ignores the key."""

    @keys.add("<bracketed-paste>", filter=~closed & ~by_key)
    def _(event: KeyPressEvent) -> None:
        handlers.paste(event.data)


def _bind_common_keys(keys: KeyBindings, handlers: KeyHandlers) -> None:
    @keys.add("c-c", eager=True)
    def _(_: KeyPressEvent) -> None:
        if is_searching():
            stop_search()
        else:
            handlers.interrupt()

    @keys.add("c-d", eager=True)
    def _(_: KeyPressEvent) -> None:
        if handlers.question.key_target is KeyTarget.ANSWER:
            handlers.question.answer_with(None)
        elif not handlers.draft.text:
            handlers.leave()

    @keys.add("c-z", eager=True)
    def _(_: KeyPressEvent) -> None:
        handlers.suspend()

    @keys.add("c-l", eager=True)
    def _(_: KeyPressEvent) -> None:
        handlers.clear()
