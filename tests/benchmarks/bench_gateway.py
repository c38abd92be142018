"""The gateway beside LiteLLM's proxy: Anthropic's wire as Responses events, over loopback, in one run.

    uv run python -m tests.benchmarks.bench_gateway [PATH_OF_LITELLM]

LiteLLM's proxy needs an older rich than we do, so it is in an environment of its own:
`uv venv PLACE && uv pip install --python PLACE/bin/python 'litellm[proxy]'`, then PATH_OF_LITELLM is PLACE/bin/litellm.

- added latency of an event, in a stream of 500 a second: the time from the upstream's write to our read, less that of
  a client that reads the upstream itself; goal: under 1 ms at p99
- time to the first event, less that of the upstream; goal: at most 3 ms
- CPU time of the proxy for an event, in that stream and in one as fast as possible; goal: 1/10 of LiteLLM's
- 200 streams at the same time: whether all are whole, and the memory of the proxy before and after

A busy machine delays events of all; the CPU time and the ratios say more then. The load is printed.
"""

import asyncio
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

STREAMS = 200
RATE = 500
STAMPS = re.compile(rb"t=([0-9.]+);")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Server:
    """`pid` of the process that is measured. `prefix` of the names of models."""

    name: str
    port: int
    pid: int
    path: str
    prefix: str

    def cpu(self) -> float:
        """Seconds, of the process and of those that it started."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / TICKS

    def memory(self) -> float:
        """MiB, resident."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+)", text)[0]) / 1024

    def request(self, model: str) -> bytes:
        body = {"model": f"{self.prefix}{model}", "stream": True}
        body |= {"input": "go"} if self.path.endswith("responses") else {"max_tokens": 9, "messages": []}
        content = json.dumps(body).encode()
        head = f"POST {self.path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer sk-bench\r\n"
        return f"{head}content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n".encode() + content


@dataclass(frozen=True, slots=True)
class Stream:
    """What one client saw; times in seconds. `first`: until the first text. `delays` of the texts."""

    first: float
    delays: Sequence[float]


async def read(server: Server, model: str) -> Stream:
    """Raises AssertionError if the stream is not whole."""
    count = int(model.partition("-")[0])
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    delays: list[float] = []
    begun, first, rest, tail = time.monotonic(), 0.0, b"", b""
    writer.write(server.request(model))
    try:
        while len(delays) < count or b"0\r\n\r\n" not in tail:
            piece = await reader.read(1 << 16)
            now = time.monotonic()
            assert piece, f"{server.name}: closed after {len(delays)} of {count}: {tail!r}"
            tail = (tail + piece)[-1200:]
            lines = (rest + piece).split(b"\n")
            rest = lines.pop()
            for line in lines:
                if b'delta"' in line and line.startswith(b"data:") and (stamp := STAMPS.search(line)):
                    first = first or now - begun
                    delays.append(now - float(stamp[1]))
    finally:
        writer.close()
        await writer.wait_closed()
    return Stream(first, delays)


@asynccontextmanager
async def process(
    *command: str, env: dict[str, str], output: int = asyncio.subprocess.PIPE
) -> AsyncIterator[asyncio.subprocess.Process]:
    started = await asyncio.create_subprocess_exec(*command, stdout=output, stderr=asyncio.subprocess.DEVNULL, env=env)
    try:
        yield started
    finally:
        if started.returncode is None:
            started.terminate()
        await started.communicate()


async def until_ready(server: Server, seconds: float = 240.0) -> None:
    async with asyncio.timeout(seconds):
        while True:
            try:
                await read(server, "2-0")
                return
            except (OSError, AssertionError):
                await asyncio.sleep(0.2)


def quantile(values: Sequence[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


async def measure(server: Server, upstream: Server) -> dict[str, float]:
    await until_ready(server)
    for _ in range(5):  # what is done once
        await read(server, "200-0")
    figures: dict[str, float] = {}
    own, added = [], []
    for _ in range(30):
        added.append((await read(server, "1-0")).first)
        own.append((await read(upstream, "1-0")).first)
    figures["first event, ms"] = (statistics.median(added) - statistics.median(own)) * 1000
    through: list[float] = []
    direct: list[float] = []
    cpu = server.cpu()
    for _ in range(5):
        through += (await read(server, f"1000-{RATE}")).delays
    figures["CPU of an event at 500 a second, us"] = (server.cpu() - cpu) / len(through) * 1e6
    for _ in range(5):
        direct += (await read(upstream, f"1000-{RATE}")).delays
    for name, part in (("p50", 0.5), ("p99", 0.99)):
        figures[f"latency of an event, {name}, ms"] = (quantile(through, part) - quantile(direct, part)) * 1000
    cpu = server.cpu()
    for _ in range(5):
        await read(server, "4000-0")
    figures["CPU of an event, as fast as possible, us"] = (server.cpu() - cpu) / 20_000 * 1e6
    figures["memory before, MiB"], cpu = server.memory(), server.cpu()
    for number in range(3):
        streams = await asyncio.gather(*(read(server, "50-10") for _ in range(STREAMS)))
        figures[f"memory after {STREAMS} streams ({number + 1}), MiB"] = server.memory()
    figures[f"CPU of an event in {STREAMS} streams, us"] = (server.cpu() - cpu) / (3 * 50 * STREAMS) * 1e6
    figures[f"latency in {STREAMS} streams, p50, ms"] = quantile([d for s in streams for d in s.delays], 0.5) * 1000
    return figures


@asynccontextmanager
async def gateway(home: Path, port: int) -> AsyncIterator[Server]:
    (home / "tark").mkdir()
    (home / "tark" / "config.toml").write_text(f'[providers.anthropic]\nbaseUrl = "http://127.0.0.1:{port}"\n')
    folders = {f"XDG_{name}_HOME": str(home) for name in ("CONFIG", "STATE", "CACHE", "DATA")}
    env = {**os.environ, **folders, "ANTHROPIC_API_KEY": "sk-bench", "TARK_KEYRING": "off"}
    command = (sys.executable, "-m", "tark_lsp", "gateway", "--port", "0", "--no-token")
    async with process(*command, env=env) as started:
        assert started.stdout is not None
        own = int((await started.stdout.readline()).decode().rpartition(":")[2].partition("/")[0])
        yield Server("tark", own, started.pid, "/v1/responses", "anthropic/")


@asynccontextmanager
async def litellm(program: str, home: Path, port: int) -> AsyncIterator[Server]:
    parameters = {"model": "anthropic/*", "api_base": f"http://127.0.0.1:{port}", "api_key": "sk-bench"}
    models = [{"model_name": "anthropic/*", "litellm_params": parameters}]
    (home / "litellm.yaml").write_text(json.dumps({"model_list": models}))  # JSON is YAML
    env = {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_LOG": "ERROR",
        "LITELLM_MASTER_KEY": "sk-bench",
    }
    own = 20_000 + os.getpid() % 20_000
    command = (program, "--config", str(home / "litellm.yaml"), "--port", str(own), "--host", "127.0.0.1")
    async with process(*command, env=env, output=asyncio.subprocess.DEVNULL) as started:
        yield Server("litellm", own, started.pid, "/v1/responses", "anthropic/")


async def main(program: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = (sys.executable, "-m", "tests.benchmarks.gateway_upstream")
        async with process(*command, env=dict(os.environ)) as started:
            assert started.stdout is not None
            port = int(await started.stdout.readline())
            upstream = Server("upstream", port, started.pid, "/v1/messages", "")
            print(f"load before: {os.getloadavg()[0]:.1f}")
            async with gateway(Path(folder), port) as server:
                ours = await measure(server, upstream)
            theirs: dict[str, float] = {}
            if program:
                async with litellm(program, Path(folder), port) as server:
                    theirs = await measure(server, upstream)
    print(f"load after: {os.getloadavg()[0]:.1f}\n{'':44}{'tark':>10}{'litellm':>10}{'ratio':>8}")
    for name, figure in ours.items():
        other = theirs.get(name)
        beside = f"{other:10.2f}{figure / other:8.3f}" if other else f"{'not run':>10}"
        print(f"{name:44}{figure:10.2f}{beside}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else ""))
