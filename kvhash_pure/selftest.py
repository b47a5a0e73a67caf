"""Known answers that travel with the package: is this interpreter computing the right bits?

Absolute numbers: XXH3 from the values published with xxHash 0.8, PLHs from an independent
computation on the C library that agrees with Dynamo's released binaries. `run` takes about 20 ms.
"""

from __future__ import annotations

from collections.abc import Iterator

from .contract import CONTRACTS
from .kernel import xxh3_64
from .lineage import PositionalLineageHash
from .multimodal import RequestMmObjectInfo
from .request import Request
from .xxh3 import xxh3_64 as plain_xxh3_64

TYPE_CHECKING = False  # as mypy knows it; importing typing would cost more than the rest
if TYPE_CHECKING:
    from typing import Optional

    _Runs = tuple[tuple[int, int, int], ...]
    _Row = tuple[range, int, Optional[str], Optional[str], _Runs]

PRIME64_1 = 0x9E3779B185EBCA8D

# Bytes of the published sanity buffer, hash under seed 0, hash under seed PRIME64_1.
_XXH3 = (
    (0, 0x2D06800538D394C2, 0xA8A6B918B2F0364A),
    (1, 0xC44BDFF4074EECDB, 0x032BE332DD766EF8),
    (6, 0x27B56A84CD2D7325, 0x84589C116AB59AB9),
    (12, 0xA713DAF0DFBB77E7, 0xE7303E1B2336DE0E),
    (24, 0xA3FE70BF9D3510EB, 0x850E80FC35BDD690),
    (48, 0x397DA259ECBA1F11, 0xADC2CBAA44ACC616),
    (80, 0xBCDEFBBB2C47C90A, 0xC6DD0CB699532E73),
    (195, 0xCD94217EE362EC3A, 0xBA68003D370CB3D9),
    (403, 0xCDEB804D65C6DEA4, 0x6259F6ECFD6443FD),
    (512, 0x617E49599013CB6B, 0x3CE457DE14C27708),
    (2048, 0xDD59E2C3A5F038E0, 0x66F81670669ABABC),
    (2099, 0xC6B9D9B3FC9AC765, 0x184F316843663974),
    (2240, 0x6E73A90539CF2948, 0x757BA8487D1B5247),
    (2367, 0xCB37AEB9E5D361ED, 0xD2DB3415B942B42A),
)

_ESCAPES = 'a"b\\c\n\t\x01\x7f/é中😀'

# Tokens, block size, salt, lora_name, runs.
_REQUESTS: tuple[_Row, ...] = (
    (range(1, 13), 4, None, None, ()),
    (range(1, 13), 4, None, "lora-x", ()),
    (range(1, 13), 4, "tenant-a", None, ()),
    (range(1, 13), 4, "tenant-a", "lora-x", ()),
    (range(1, 13), 4, "", "", ()),
    (range(1, 13), 4, _ESCAPES, None, ()),
    (range(1, 13), 4, None, None, ((0xDEADBEEF, 2, 4),)),
    (range(80), 16, None, None, ((0xCAFE, 16, 40),)),
    (range(40), 8, None, None, ((0x7, 20, 5), (0x9, 3, 2))),
    (range(300), 128, "model-arch-tag", None, ()),
)

# The last block's PLH of each of those requests, under each of CONTRACTS.
_LAST_PLH = (
    (0x00BC027F3C17E59E1F4F710107ED361E, 0x00ABA8799E9B2033E122B2379D6D3C3D),
    (0x00A296DBE4F31A0C29F0D4F58E505EB8, 0x009299E9F873210E8DEBFAECC85CFEC6),
    (0x00BDDA24229DCFD328A8C09E273391C8, 0x00B171CC4E2E0283532F8D1BC8240AFF),
    (0x00A25EBF004C6F022D7D18DDD6C04CEE, 0x00B50DDC6DC0A2238A610F71F9ACDAF2),
    (0x00BC027F3C17E59E1F4F710107ED361E, 0x00ABA8799E9B2033E122B2379D6D3C3D),
    (0x009E83C0B0CE1F3B7B14C72D1D1BE285, 0x008345DCB4CC813CFF615782B10BFFE6),
    (0x00A3D7BFF7912AA663685BA0343603FA, 0x00A2C7302E5D0449AC73EE7F4C2D2E19),
    (0x010FA42EB245E6597C05B389470BC721, 0x013891ED6FB09C917AD6DE828AA581FC),
    (0x0137710B3ABF7D9DA4BF4E9DE78C74D9, 0x013C351C93CCEC1942D1B03E7CC3E108),
    (0x0067E9FEB8D8DE4426D7F9BEAA829429, 0x005C553DA77DF978D46DF50D5860F802),
)

# Position, and the PLH of sequence hash 0x123456789abcdef0 under parent 0xfedcba9876543210.
_LAYOUT = (
    (255, 0x3FC48D159E26AF37BC1CBA9876543210),
    (256, 0x4040048D159E26AF37BC3A9876543210),
    (65_535, 0x7FFFC48D159E26AF37BC3A9876543210),
    (65_536, 0x804000048D159E26AF37BC1876543210),
    (16_777_215, 0xBFFFFFC48D159E26AF37BC1876543210),
)


def sanity_buffer(length: int) -> bytes:
    """The first bytes of the buffer that xxHash's published values are over."""
    generator = 2654435761
    out = bytearray()
    for _ in range(length):
        out.append(generator >> 56)
        generator = generator * 11400714785074694797 & 0xFFFFFFFFFFFFFFFF
    return bytes(out)


def _checks() -> Iterator[tuple[str, int, int]]:
    """What is checked, what this interpreter says, what is right."""
    for length, *answers in _XXH3:
        data = sanity_buffer(length)
        for seed, right in zip((0, PRIME64_1), answers):
            what = f"XXH3 of {length} bytes, seed {seed:#x}"
            yield what, xxh3_64(data, seed), right
            yield f"{what}, plain form", plain_xxh3_64(data, seed), right
    for row, plhs in zip(_REQUESTS, _LAST_PLH):
        tokens, block_size, salt, lora_name, runs = row
        mm_info = [RequestMmObjectInfo(*run) for run in runs]
        for contract, right in zip(CONTRACTS, plhs):
            request = Request(
                tokens, salt=salt, lora_name=lora_name, mm_info=mm_info, contract=contract
            )
            last = request.positional_lineage_hashes(block_size)[-1]
            yield f"last PLH of {row} under {contract.name}", int(last), right
    for position, right in _LAYOUT:
        plh = PositionalLineageHash.new(0x123456789ABCDEF0, 0xFEDCBA9876543210, position)
        yield f"PLH layout at {position}", int(plh), right
        yield f"PLH text at {position}", int(PositionalLineageHash.parse(str(plh))), right


def run() -> tuple[int, list[str]]:
    """Number of checks, and a line for each that failed."""
    checks = list(_checks())
    wrong = (
        f"{what}: {got:#x}; right is {right:#x}" for what, got, right in checks if got != right
    )
    return len(checks), list(wrong)
