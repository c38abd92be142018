"""How long a test waits for what is to come at once.

A busy machine may take twenty times as long as an idle one, so no test says how quick a thing is: what would be waited
for by mistake (a peer, a process, a question) takes twice as long as this, or never ends.
"""

AT_ONCE = 30.0
"""Seconds; also of the processor, where what is wrong would take minutes of it."""
HANGS = 60.0
"""Seconds that what must not be waited for takes, at least."""
