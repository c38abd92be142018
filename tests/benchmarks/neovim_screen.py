"""A Neovim whose screen is a grid in memory, and the time from a key to the cell it changes. For bench_neovim."""

import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped,unused-ignore]  # comes with pynvim

COLUMNS, ROWS = 120, 40
SECONDS = 30.0
REQUEST, RESPONSE, NOTIFICATION = 0, 1, 2


class NeovimScreen:
    def __init__(self, binary: Path, arguments: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [binary, "--embed", *arguments], cwd=folder, env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin
        assert self._process.stdout
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, unicode_errors="replace")
        self._number = 0
        self._answers: dict[int, tuple[Any, Any]] = {}
        self._cells = [[" "] * COLUMNS for _ in range(ROWS)]
        self._cursor = (0, 0)
        self.flushed_at = 0.0
        self.flushes = 0
        self.call("nvim_ui_attach", COLUMNS, ROWS, {"rgb": True, "ext_linegrid": True})

    def call(self, method: str, *arguments: Any) -> Any:
        self._number += 1
        number = self._number
        self._send([REQUEST, number, method, arguments])
        deadline = time.perf_counter() + SECONDS
        while number not in self._answers:
            self.read(0.1)
            assert time.perf_counter() < deadline, f"{method} is not answered\n{self.text}"
        problem, answer = self._answers.pop(number)
        assert problem is None, problem
        return answer

    def lua(self, code: str, *arguments: Any) -> Any:
        return self.call("nvim_exec_lua", code, arguments)

    def until(self, code: str, what: str, seconds: float = SECONDS) -> None:
        """`code` is Lua that returns whether it is so."""
        deadline = time.perf_counter() + seconds
        while not self.lua(code):
            assert time.perf_counter() < deadline, f"not in time: {what}\n{self.text}"
            self.read(0.05)

    def input(self, keys: str) -> None:
        self._send([NOTIFICATION, "nvim_input", [keys]])

    def press(self, key: str) -> float:
        """Type one character in insert mode; seconds until it stands on the screen that was drawn."""
        row, column = self._cursor
        begun = time.perf_counter()
        self.input("<lt>" if key == "<" else key)
        while True:
            before = self.flushes
            self.read(1.0)
            assert time.perf_counter() - begun < SECONDS, f"{key!r} is not shown\n{self.text}"
            if self.flushes == before or self._cursor == (row, column):
                continue
            # Where the cursor was; or left of where it is now, if its window has scrolled or grown meanwhile.
            now_row, now_column = self._cursor
            if key in (self._cells[row][column], self._cells[now_row][now_column - 1]):
                return self.flushed_at - begun

    def rest(self, seconds: float) -> None:
        """Let it draw for a while."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            self.read(left)

    def read(self, seconds: float) -> None:
        """What has come, or comes first within the time."""
        if not select.select([self._out], [], [], seconds)[0]:
            return
        data = os.read(self._out, 1 << 20)
        assert data, f"Neovim has ended\n{self.text}"
        self._unpacker.feed(data)
        for message in self._unpacker:
            if message[0] == RESPONSE:
                self._answers[message[1]] = (message[2], message[3])
            elif message[0] == NOTIFICATION and message[1] == "redraw":
                for event in message[2]:
                    self._draw(event[0], event[1:])

    @property
    def text(self) -> str:
        return "\n".join("".join(row).rstrip() for row in self._cells)

    def close(self) -> None:
        self._send([NOTIFICATION, "nvim_command", ["qall!"]])
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, message: list[Any]) -> None:
        os.write(self._in, msgpack.packb(message))

    def _draw(self, name: str, calls: Sequence[Any]) -> None:
        if name == "flush":
            self.flushed_at = time.perf_counter()
            self.flushes += 1
        elif name == "grid_line":
            for _, row, column, cells, *_ in calls:
                self._write(self._cells[row], column, cells)
        elif name == "grid_cursor_goto":
            self._cursor = (calls[-1][1], calls[-1][2])
        elif name == "grid_scroll":
            for _, top, bottom, left, right, rows, _ in calls:
                self._scroll(range(top, bottom), slice(left, right), rows)
        elif name == "grid_clear":
            self._cells = [[" "] * COLUMNS for _ in range(ROWS)]

    def _write(self, row: list[str], column: int, cells: Sequence[Any]) -> None:
        for cell in cells:
            times = cell[2] if len(cell) > 2 else 1
            row[column : column + times] = [cell[0]] * times
            column += times

    def _scroll(self, rows: range, columns: slice, by: int) -> None:
        for row in rows if by > 0 else reversed(rows):
            if row + by in rows:
                self._cells[row][columns] = self._cells[row + by][columns]
