"""A model asks for code without a query: the question is what the user said, and the answer is from the index."""

import json

import pytest

from tests.server.indexing.conftest import TRUSTED, MakeIndexed

pytestmark = pytest.mark.slow  # it starts an index process

FILES = {
    "shapes.py": "def area(width, height):\n    return width * height\n",
    "denied/shapes.py": "def area_of_denied(width, height):\n    return width\n",
    "words.py": "def shout(text):\n    return text.upper()\n",
}
DENY = '\n[permissions]\ndeny = ["read_file(denied/**)"]\n'


async def test_the_question_of_the_user_is_searched_for(make_indexed: MakeIndexed) -> None:
    desk = await make_indexed(FILES, config=TRUSTED + DENY)
    turn = await desk.start("where is the area of a rectangle computed?")
    await desk.end(turn)
    call = desk.updates(turn, "toolCall")[-1]
    assert call["status"] == "completed"
    answer = json.loads(call["content"][0]["text"])
    assert answer["query"] == "where is the area of a rectangle computed?"
    assert [result["path"] for result in answer["results"]] == ["shapes.py"]
    assert "def area(width, height)" in answer["results"][0]["snippet"]
    assert "denied" not in json.dumps(answer["results"])
