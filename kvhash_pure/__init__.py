"""Request → one 128-bit PositionalLineageHash per KV-cache block, in pure Python.

Public names only; the rules live in the modules named below and in docs/FORMAT.md. Withheld, as
in the original: async, networking, event formats, metrics, runtime traits.
"""

from __future__ import annotations

from .blocks import UniversalBlock, compute_block_hash, compute_next_sequence_hash
from .compare import compare
from .contract import (
    CONTRACTS,
    DOCUMENTED,
    DYNAMO_1_3,
    Contract,
    compute_salt_hash,
    compute_salt_hash_from_bytes,
)
from .encoding import MM_SLOT_TAG_PLACEHOLDER, MM_SLOT_TAG_TOKEN, compute_block_bytes_with_mm
from .errors import (
    ContractMismatchError,
    EmptyRunError,
    FieldTypeError,
    FieldValueError,
    InvalidJsonError,
    KvHashingError,
    OffsetOverflowError,
    OutOfBoundsError,
    OverlappingError,
    PositionOverflowError,
    UnknownFieldError,
)
from .identify import identify
from .kernel import xxh3_64
from .lineage import PositionalLineageHash
from .multimodal import RequestMmObjectInfo, TokenBlockMmInfo, validate_and_sort_mm_info
from .prefix_tree import prefix_groups
from .radix_tree import PositionalRadixTree
from .request import Request, RequestBuilder
from .sequence import TokenBlockSequence

__version__ = "0.1.0"

compute_hash_v2 = xxh3_64
"""The original's name for seeded XXH3-64."""

__all__ = [
    "CONTRACTS",
    "DOCUMENTED",
    "DYNAMO_1_3",
    "MM_SLOT_TAG_PLACEHOLDER",
    "MM_SLOT_TAG_TOKEN",
    "Contract",
    "ContractMismatchError",
    "EmptyRunError",
    "FieldTypeError",
    "FieldValueError",
    "InvalidJsonError",
    "KvHashingError",
    "OffsetOverflowError",
    "OutOfBoundsError",
    "OverlappingError",
    "PositionOverflowError",
    "PositionalLineageHash",
    "PositionalRadixTree",
    "Request",
    "RequestBuilder",
    "RequestMmObjectInfo",
    "TokenBlockMmInfo",
    "TokenBlockSequence",
    "UniversalBlock",
    "UnknownFieldError",
    "__version__",
    "compare",
    "compute_block_bytes_with_mm",
    "compute_block_hash",
    "compute_hash_v2",
    "compute_next_sequence_hash",
    "compute_salt_hash",
    "compute_salt_hash_from_bytes",
    "identify",
    "prefix_groups",
    "validate_and_sort_mm_info",
    "xxh3_64",
]
