"""A request's JSON in, its hashes as JSON out (FORMAT.md, "JSON"): what the command line and the
page both speak. Only shapes live here; every number comes from `request`.
"""

from __future__ import annotations

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


def report_head(block_size: int | None) -> dict[str, Any]:
    """How a report begins: its block size, and whether that is ours."""
    if block_size is None:
        return {"block_size": DEFAULT_BLOCK_SIZE, "block_size_is_default": True}
    return {"block_size": block_size}


def hash_report(request: Request, block_size: int | None) -> dict[str, Any]:
    """All hashes of a request. `block_size` None: 16, and the report says that it was chosen."""
    report = {"contract": request.contract.name, **report_head(block_size)}
    report["salt_hash"] = hex64(request.salt_hash())
    report["blocks"] = []
    for block in request.into_blocks(report["block_size"]):
        plh = block.plh
        hashes = (hex64(block.block_hash), hex64(block.sequence_hash), hex128(int(plh)), str(plh))
        report["blocks"].append(dict(zip(BLOCK_NAMES, (block.position, *hashes))))
    report["tail"] = request.total_tokens % report["block_size"]
    return report
