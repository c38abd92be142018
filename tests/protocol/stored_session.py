"""What `tark.session.open` answers, told as the updates that would have made it. The rules are in docs/clients.md."""

import re

from tests.protocol.transcript import Json, Transcript, Turn

MARK = re.compile(r"\n?\n?\[interrupted\]\Z")
"""Of the server, in the history, at the end of an answer that was cut."""


def from_session(opened: Json) -> Transcript:
    """Updates that come after the answer go on from here."""
    transcript = Transcript(opened["sessionId"], opened.get("earlier") is True)
    told = {item["turnId"]: item for item in opened["turns"]}

    def seen(turn_id: str) -> Turn | None:
        if turn_id in told and turn_id not in transcript.by_id:
            _begin(transcript, told[turn_id])
        return transcript.by_id.get(turn_id)

    begun: set[Turn] = set()
    loose: Turn | None = None  # of messages that are of no turn: what the session was begun with
    for message in opened["messages"]:
        is_user = message["role"] == "user"
        turn = seen(message["turnId"])
        if turn is None:
            if is_user or loose is None:
                loose = transcript.listed(message["messageId"])
                loose.state = "ended"
            turn = loose
        if not is_user:
            _tell_answer(transcript, turn.id, message)
        elif turn in begun:
            transcript.steered(turn.id, message["text"])
        else:
            turn.told["prompt"] = message["text"]  # all of it: that of the turn is cut
        begun.add(turn)
    for item in opened["turns"]:
        seen(item["turnId"])
        _conclude(transcript, item)
    return transcript


def _begin(transcript: Transcript, told: Json) -> None:
    """Where in the turn its notices came is not kept: so before what is being said, which goes on at the end."""
    turn_id = told["turnId"]
    transcript.tell(turn_id, {**told, "kind": "start", "turnKind": told["kind"]})
    transcript.by_id[turn_id].seq = told.get("seq") or 0
    if told["state"] != "ended":
        _tell_notices(transcript, told)


def _tell_answer(transcript: Transcript, turn_id: str, message: Json) -> None:
    transcript.tell(turn_id, {"kind": "thinking", "delta": message.get("thinking")})
    transcript.tell(turn_id, {"kind": "text", "delta": message.get("text")})
    for call in message.get("toolCalls") or ():
        transcript.tell(turn_id, {**call, "kind": "toolCall"})


def _conclude(transcript: Transcript, told: Json) -> None:
    """After its messages."""
    turn_id = told["turnId"]
    turn = transcript.by_id[turn_id]
    if told.get("plan"):
        transcript.tell(turn_id, {"kind": "plan", "entries": told["plan"]})
    if told.get("usage"):
        transcript.tell(turn_id, {**told["usage"], "kind": "usage"})
    if told["state"] == "ended":
        transcript.tell(turn_id, {**told, "kind": "end"})
        transcript.tell(turn_id, {"kind": "undone", "undone": told.get("undone")})
        _unmark(turn)
        _tell_notices(transcript, told)
    turn.state = told["state"]
    for words in told.get("steers") or ():
        transcript.steered(turn_id, words)


def _tell_notices(transcript: Transcript, told: Json) -> None:
    for notice in told.get("notices") or ():
        transcript.tell(told["turnId"], {**notice, "kind": "notice"})


def _unmark(turn: Turn) -> None:
    match turn.blocks:
        case [*_, {"kind": "text", "text": text}] if turn.told.get("stopReason") != "end_turn":
            turn.blocks.pop()
            turn.blocks += [{"kind": "text", "text": bare}] if (bare := MARK.sub("", text)) else []
