"""`python -IS fork_shim.py SOCKET ARGUMENTS...` is `tark-lsp ARGUMENTS...`, forked by the server at the socket.

It gives its own standard streams away, ends as the process ends, and if it is killed, so is the process. It starts in
0.02 seconds, because it imports only what is built into Python.
"""

import _socket
import marshal
import os
import sys
from array import array


def main(path: str, *arguments: str) -> None:
    connection = _socket.socket(_socket.AF_UNIX)
    connection.connect(path)
    request = marshal.dumps((list(arguments), os.getcwd(), dict(os.environ), False))  # noqa: PTH109  pathlib is slow to import
    streams = array("i", (0, 1, 2))
    connection.sendmsg([len(request).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    connection.sendall(request)
    for stream in streams:
        os.close(stream)
    answer = b""
    while answer.count(b"\n") < 2:
        if not (more := connection.recv(64)):
            os._exit(1)
        answer += more
    code = int(answer.split()[1])
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


main(*sys.argv[1:])
