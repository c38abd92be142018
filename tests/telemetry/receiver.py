"""An OTLP receiver on loopback: receives spans and metrics as protobuf over HTTP; can delay its answers or refuse."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    """Times in nanoseconds since 1970; `parent` is "" for a root; `status` 2 is an error."""

    name: str
    trace: str
    id: str
    parent: str
    kind: int
    began: int
    ended: int
    status: int
    said: str
    events: int
    attributes: Mapping[str, Any]

    def overlaps(self, other: "ReceivedSpan") -> bool:
        return self.began < other.ended and other.began < self.ended


@dataclass(slots=True)
class Receiver:
    """`status` is that of the answers, which wait until `answering` is set."""

    url: str = ""
    status: int = 200
    answering: threading.Event = field(default_factory=threading.Event)
    spans: list[ReceivedSpan] = field(default_factory=list)
    resources: list[Mapping[str, Any]] = field(default_factory=list)
    metrics: dict[str, list[Any]] = field(default_factory=dict)
    """The points of each metric, as it was last received."""
    requests: int = 0

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest()
        request.ParseFromString(body)
        for resource in request.resource_spans:
            self.resources.append(
                {attribute.key: _value(attribute.value) for attribute in resource.resource.attributes}
            )
            for scope in resource.scope_spans:
                self.spans += [_received(span) for span in scope.spans]

    def take_metrics(self, body: bytes) -> None:
        request = ExportMetricsServiceRequest()
        request.ParseFromString(body)
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    self.metrics[metric.name] = list(getattr(metric, metric.WhichOneof("data")).data_points)

    def wait_for(self, count: int) -> list[ReceivedSpan]:
        """Wait until so many spans were received."""
        until = time.monotonic() + SECONDS
        while len(self.spans) < count:
            assert time.monotonic() < until, f"{len(self.spans)} of {count} spans came"
            time.sleep(0.02)
        return list(self.spans)

    def wait_for_requests(self, count: int) -> None:
        until = time.monotonic() + SECONDS
        while self.requests < count:
            assert time.monotonic() < until, f"{self.requests} of {count} requests came"
            time.sleep(0.02)


@contextmanager
def receiving(status: int = 200, *, holds: bool = False) -> Iterator[Receiver]:
    receiver = Receiver(status=status)
    if not holds:
        receiver.answering.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.requests += 1
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.answering.wait()
            if receiver.status == 200 and self.path == "/v1/traces":
                receiver.take(body)
            if receiver.status == 200 and self.path == "/v1/metrics":
                receiver.take_metrics(body)
            self.send_response(receiver.status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002  the name the library calls it by
            """Do not log to stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.answering.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _received(span: Any) -> ReceivedSpan:
    return ReceivedSpan(
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.kind,
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        span.status.code,
        span.status.message,
        len(span.events),
        {attribute.key: _value(attribute.value) for attribute in span.attributes},
    )


def attributes_of(point: Any) -> dict[str, Any]:
    """Of a point of a metric."""
    return {attribute.key: _value(attribute.value) for attribute in point.attributes}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    return getattr(value, kind) if kind else None
