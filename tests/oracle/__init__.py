"""Dynamo's own binaries and crates against ours: needs the network once, and CPython.

Not part of the bare suite: `python3 -m tests --ring oracle`, or `pytest tests/oracle -s` for the
counts. What is missing is said loudly, and fails under `CI`. The answers that the suite checks in
every ring, without any of this, are written by `python3 -m tests.oracle.make_vectors`.
"""
