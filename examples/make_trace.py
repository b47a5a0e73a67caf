"""Makes trace.jsonl, a small trace of our own in the Mooncake format.

    python3 examples/make_trace.py > examples/trace.jsonl

One hour of a service with two tenants. Users talk in turns: each request carries the whole talk
so far, so its ids begin with those of the turn before. Talks open with one of a few system
prompts; sometimes an answer is asked for again; some requests are long documents that come once
or twice. The ids of the second tenant are those of the first plus 2^32: a reader that keeps 32
bits of an id merges the two and reports hit rates that are too high.
"""

from __future__ import annotations

import json
import random
import sys
from typing import NamedTuple

BLOCK = 512
REQUESTS = 800


class Request(NamedTuple):
    timestamp: int
    input_length: int
    output_length: int
    hash_ids: list[int]


class Tenant:
    """Gives out ids; equal prefixes of talks get equal ids, everything else a new one."""

    def __init__(self, first_id: int) -> None:
        self.next_id = first_id
        self.prompts = [self.fresh(blocks) for blocks in (9, 4, 6, 2)]

    def fresh(self, count: int) -> list[int]:
        ids = list(range(self.next_id, self.next_id + count))
        self.next_id += count
        return ids

    def extended(self, full: list[int], length: int) -> list[int]:
        """`full` blocks kept, new ids up to `length` tokens; the last may be partly filled."""
        return full + self.fresh(-(-length // BLOCK) - len(full))


def talk(dice: random.Random, tenant: Tenant, start: float) -> list[Request]:
    """The requests of one talk, from its first turn to its last."""
    prompt = dice.choices(tenant.prompts, (8, 4, 2, 1))[0]
    full, length, time, rows = list(prompt), len(prompt) * BLOCK, start, []
    for _ in range(1 + int(dice.expovariate(0.28))):
        length += 40 + int(dice.expovariate(1 / 420))
        ids = tenant.extended(full, length)
        output = 8 + int(dice.expovariate(1 / 280))
        rows.append(Request(round(time), length, output, ids))
        if dice.random() < 0.12:  # asked again: the same input once more, a little later
            rows.append(Request(round(time + 4000), length, output, ids))
        length += output
        full = ids[: rows[-1].input_length // BLOCK]
        full = tenant.extended(full, length)[: length // BLOCK]
        time += 9000 + dice.expovariate(1 / 50000)
    return rows


def document(dice: random.Random, tenant: Tenant, start: float) -> list[Request]:
    """A long text, read once or asked about again soon."""
    length = 8000 + int(dice.expovariate(1 / 16000))
    ids = tenant.extended([], length)
    again = (0.0, 30000.0 + dice.expovariate(1 / 90000))[: 1 + (dice.random() < 0.35)]
    return [Request(round(start + wait), length, 64, ids) for wait in again]


def main() -> int:
    dice = random.Random(512)
    tenants = (Tenant(1), Tenant(1 + (1 << 32)))
    rows: list[Request] = []
    while len(rows) < REQUESTS:
        kind = document if dice.random() < 0.1 else talk
        rows += kind(dice, tenants[dice.random() < 0.4], dice.uniform(0, 3_300_000))
    for row in sorted(rows, key=lambda row: row.timestamp)[:REQUESTS]:
        print(json.dumps(row._asdict(), separators=(",", ":")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
