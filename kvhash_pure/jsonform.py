"""A request's JSON in, its hashes as JSON out (FORMAT.md, "JSON"): what the command line and the
page both speak. Only shapes live here; every number comes from `request` and `router`.
"""

from __future__ import annotations

from .contract import CONTRACTS
from .request import Request
from .strict_json import hex64, hex128, loads

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from typing import Any

DEFAULT_BLOCK_SIZE = 16
BLOCK_NAMES = ("position", "block_hash", "sequence_hash", "plh", "plh_text")


def load_request(text: str | bytes) -> tuple[Request, int | None]:
    """The request of a JSON text, and the block size that it names (None: it names none)."""
    value = loads(text)
    request = Request.from_dict(value)
    size = value.get("block_size") if isinstance(value, dict) else None
    return request, None if size is None else int(size)


def hash_report(
    request: Request, block_size: int | None, *, every_name: bool = False
) -> dict[str, Any]:
    """All hashes of a request, under its contract or with every name that Dynamo has for them:
    both contracts and the router. `block_size` None: 16, and the report says that it was chosen.
    """
    size = DEFAULT_BLOCK_SIZE if block_size is None else block_size
    report: dict[str, Any] = {} if every_name else {"contract": request.contract.name}
    report["block_size"] = size
    if block_size is None:
        report["block_size_is_default"] = True
    if every_name:
        from .router import representations  # not at the top: the page never asks for them

        names = {row.name: hex64(request.under(row).salt_hash()) for row in CONTRACTS}
        report["salt_hash"] = names
        report["blocks"] = [block.to_dict() for block in representations(request, size)]
    else:
        report["salt_hash"] = hex64(request.salt_hash())
        report["blocks"] = [
            {
                "position": block.position,
                "block_hash": hex64(block.block_hash),
                "sequence_hash": hex64(block.sequence_hash),
                "plh": hex128(int(block.plh)),
                "plh_text": str(block.plh),
            }
            for block in request.into_blocks(size)
        ]
    report["tail"] = request.total_tokens % size
    return report
