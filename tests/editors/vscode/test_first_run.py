"""The first ten minutes: an empty home, a pasted key, a prompt typed before that, errors with buttons, the demo."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import expect

from tests.editors.vscode.axe import violations, violations_in_every_theme
from tests.editors.vscode.chat import Chat
from tests.editors.vscode.windows import Begin
from tests.editors.vscode.workbench import Workbench
from tests.key_provider import RIGHT_KEY, KeyProvider

WRONG_KEY = "sk-wrong"


@pytest.fixture(scope="module")
def provider() -> Iterator[KeyProvider]:
    with KeyProvider(public=True, answer="Four.") as provider:
        yield provider


@pytest.fixture(scope="module")
def bench(begin: Begin, provider: KeyProvider) -> Workbench:
    bench = begin(None, settings={"tark.providers": {"openrouter": {"baseUrl": provider.url}}})
    bench.open()
    return bench


def paste(bench: Workbench, chat: Chat, key: str) -> None:
    chat.button("Paste API Key…").click()
    rows = bench.page.locator(".quick-input-list .monaco-list-row")
    rows.filter(has_text="OpenRouter").wait_for()
    bench.answer("OpenRouter")
    bench.page.locator(".quick-input-title").filter(has_text="API Key of OpenRouter").wait_for()
    bench.answer(key)


def test_the_demo_needs_no_key(opened: Chat, bench: Workbench) -> None:
    """In a window of its own. It stores nothing: the next test has an empty home, too."""
    first = bench.page
    with first.context.expect_page() as opening:
        opened.button("Try the Demo").click()
    bench.page = opening.value
    opened.page = bench.chat()
    expect(opened.prompt).to_have_value("An empty basket must not crash this.")
    expect(bench.page.locator(".tab.active")).to_contain_text("prices.py")
    opened.prompt.press("Enter")
    opened.until_said("Done:")
    bench.page.screenshot(path=bench.workspace.parent / "demo.png")
    bench.page.close()
    bench.page = first
    opened.open()


@pytest.mark.exhaustive
def test_everybody_can_set_up_a_model(opened: Chat, bench: Workbench) -> None:
    expect(opened.find(".setup .card")).to_contain_text("Set up a model")
    assert violations_in_every_theme(bench, opened.page) == []


def test_from_nothing_to_the_first_answer(opened: Chat, bench: Workbench, provider: KeyProvider) -> None:
    """Opening the chat starts the server. The prompt that was typed before is sent after the set-up."""
    card = opened.find(".setup .card")
    expect(card).to_contain_text("Set up a model")
    expect(opened.button("Set Up Copilot")).to_be_visible()
    expect(opened.find(".setup button.main")).to_have_text("Paste API Key…")
    assert violations(opened.page) == []
    bench.page.screenshot(path=bench.workspace.parent / "setup.png")
    opened.say("what is two and two?")
    expect(card).to_contain_text("Sent as soon as a model is set up: “what is two and two?”")
    paste(bench, opened, WRONG_KEY)
    expect(card).to_contain_text("OpenRouter does not accept this key. It was not saved.")
    bench.page.screenshot(path=bench.workspace.parent / "refused.png")
    assert provider.prompts == []
    bench.run("Tark: Doctor")
    bench.frame_with("main:has-text('No model is set')")
    paste(bench, opened, RIGHT_KEY)
    expect(opened.find(".alert")).to_contain_text("The model is now openrouter/")
    expect(opened.prompt).to_be_focused()
    opened.until_said("Four.")
    assert len(provider.prompts) == 1
    assert "what is two and two?" in provider.prompts[0]
    expect(opened.find(".setup")).to_be_hidden()
    expect(opened.find(".picker", "gpt-6.1-sol")).to_be_visible()
    assert not bench.page.locator(".notification-toast").count()
    bench.frame_with("main:has-text('No problems were found.')")  # the doctor's, drawn again
    for file in (*bench.home.rglob("*"), *bench.workspace.parent.rglob("*.log")):
        with suppress(FileNotFoundError):  # of a database, for example
            told = file.read_bytes() if file.is_file() else b""
        assert not any(key.encode() in told for key in (RIGHT_KEY, WRONG_KEY)), file


def test_an_error_is_a_card_with_the_buttons_that_help(opened: Chat, bench: Workbench, provider: KeyProvider) -> None:
    provider.status, provider.retry_after = 429, 200
    opened.say("and three and three?")
    card = opened.last.locator(".card")
    expect(card.locator(".sentence")).to_have_text("OpenRouter got too many requests.")
    assert card.get_by_role("button").all_inner_texts()[::2] == ["Retry", "Select Model"]
    expect(card.get_by_role("button", name="Wait")).to_contain_text("min")
    expect(card.get_by_text("no, 429")).to_be_hidden()
    card.get_by_text("Details").click()
    expect(card.get_by_text("no, 429")).to_be_visible()
    assert violations(opened.page) == []
    bench.page.screenshot(path=bench.workspace.parent / "error.png")
    provider.status, provider.retry_after = 401, 0
    card.get_by_role("button", name="Retry").click()
    expect(opened.last.locator(".sentence")).to_have_text("OpenRouter does not accept the key.")
    expect(opened.last.locator("button.main")).to_have_text("Set API Key")
    provider.status = 0
    opened.last.get_by_role("button", name="Retry").click()
    opened.until_said("Four.")
    expect(opened.find(".card .buttons:visible")).to_have_count(0)


def test_the_doctor_is_a_page_with_buttons(bench: Workbench) -> None:
    bench.run("Tark: Doctor")
    page = bench.frame_with("a.button")
    expect(page.locator("main")).to_contain_text("No problems were found.")
    expect(page.locator("main")).to_contain_text("openrouter/")  # the page is drawn again when the model is known
    expect(page.locator("a.button")).to_have_text(["Check Again", "Restart Server", "Show Output"])
    assert violations(page) == []
    bench.page.screenshot(path=bench.workspace.parent / "doctor.png")
