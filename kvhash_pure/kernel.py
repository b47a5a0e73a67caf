"""Which form of XXH3-64 runs here, chosen once at import by what the interpreter has.

Here: the narrow interface that the rest of the package hashes through. Not here: any arithmetic.
All forms give the results of `xxh3.py`, which is the specification.
"""

from __future__ import annotations

try:
    import __pypy__.intop  # noqa: F401 - asked for before a form that could not run is compiled

    from .kernel_pypy import chain, chain_blocks, hash_and_chain, hash_blocks, xxh3_64
except ImportError:
    from .kernel_cpython import chain, chain_blocks, hash_and_chain, hash_blocks, xxh3_64

__all__ = ["chain", "chain_blocks", "hash_and_chain", "hash_blocks", "xxh3_64"]
