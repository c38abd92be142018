"""The upstream of tests/benchmarks/bench_gateway.py: Anthropic's wire, with events that hold the time they were sent.

    python -m tests.benchmarks.gateway_upstream

It prints its port. The name of the model is COUNT-RATE: so many deltas, so many a second; 0 is as fast as possible.
"""

import asyncio
import json
import time
from typing import Any

STAMP = "t={:.6f};"
"""Seconds of the monotonic clock, which all processes share."""


def frame(kind: str, **fields: Any) -> bytes:
    data = f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
    return b"%x\r\n%b\r\n" % (len(data), data)


def begin() -> bytes:
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
    }
    usage = {"input_tokens": 10, "output_tokens": 1}
    return frame("message_start", message={**message, "usage": usage}) + frame(
        "content_block_start", index=0, content_block={"type": "text", "text": ""}
    )


def delta() -> bytes:
    return frame("content_block_delta", index=0, delta={"type": "text_delta", "text": STAMP.format(time.monotonic())})


def end(count: int) -> bytes:
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    return (
        frame("content_block_stop", index=0)
        + frame("message_delta", delta=stop, usage={"output_tokens": count})
        + frame("message_stop")
        + b"0\r\n\r\n"
    )


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.readline():
        length = 0
        while (header := await reader.readline()) != b"\r\n":
            name, _, value = header.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        model = json.loads(await reader.readexactly(length))["model"]
        count, rate = map(int, model.split("-"))
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n" + begin()
        )
        due = time.monotonic()
        for _ in range(count):
            if rate:
                due += 1 / rate
                await asyncio.sleep(due - time.monotonic())
            writer.write(delta())
            await writer.drain()
        writer.write(end(count))
        await writer.drain()
    writer.close()


async def main() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
