"""Draws the two pictures of image.json and image_other.json: a harbour, by day and by night.

    python3 examples/make_images.py

512 x 384 pixels, a PNG with a palette. The night picture has the same pixels and another palette:
to a prefix cache it is another object, because it is another file. The bytes depend on the zlib
at hand, so the shipped files are the reference: the requests carry their SHA-256.
"""

from __future__ import annotations

import math
import struct
import sys
import zlib
from pathlib import Path

WIDTH, HEIGHT, HORIZON = 512, 384, 216
SKY, SEA, GLINT, LAND, TOWER, BAND, LAMP, SAIL, HULL = 0, 24, 40, 41, 42, 43, 44, 45, 46

Colour = tuple[int, ...]


def palette(night: bool) -> bytes:
    """47 colours: 24 of the sky from the top down, 16 of the sea, and seven of things."""

    def fade(top: Colour, low: Colour, count: int) -> list[Colour]:
        return [
            tuple(round(a + (b - a) * i / (count - 1)) for a, b in zip(top, low))
            for i in range(count)
        ]

    if night:
        rows = fade((9, 12, 34), (52, 44, 84), 24) + fade((24, 34, 66), (6, 10, 26), 16)
        rows += [(214, 200, 130), (12, 14, 20), (150, 150, 160), (96, 24, 34), (255, 236, 150)]
        rows += [(70, 74, 96), (30, 22, 26)]
    else:
        rows = fade((88, 158, 214), (248, 222, 184), 24) + fade((72, 148, 176), (16, 66, 104), 16)
        rows += [(250, 246, 224), (58, 84, 58), (244, 240, 232), (190, 50, 48), (255, 214, 92)]
        rows += [(252, 250, 244), (92, 58, 40)]
    return bytes(channel for row in rows for channel in row)


def pixel(x: int, y: int) -> int:
    """Which of the colours stands at (x, y)."""
    if (x - 396) ** 2 + (y - 92) ** 2 < 11**2:
        return LAMP
    half = 13 + (y - 104) / 14  # the tower widens towards its foot
    if 104 <= y < 256 and abs(x - 396) < half:
        return BAND if (y - 104) // 38 % 2 else TOWER
    if y >= 248 - 30 * math.exp(-(((x - 400) / 74) ** 2)) and x > 270 and y < 262:
        return LAND
    for mast, foot, size in ((118, 292, 74), (214, 250, 40), (52, 244, 26)):
        up = foot - y
        if 4 <= up < size and 0 <= x - mast < (size - up) * 0.62:
            return SAIL
        if 4 <= up < size * 0.8 and 0 < mast - x < (size * 0.8 - up) * 0.4:
            return SAIL
        if -size * 0.13 <= up < 3 and abs(x - mast - 4) < size * 0.5 + up * 0.9:
            return HULL
    if y < HORIZON:
        return SKY + y * 24 // HORIZON
    depth = (y - HORIZON) / (HEIGHT - HORIZON)
    wave = math.sin(x / (6 + 26 * depth) + 3 * math.sin(y / 5.0)) + math.sin(y * 1.7)
    if wave > 1.72 and abs(x - 396) < 20 + 90 * depth:
        return GLINT
    return SEA + min(15, int(depth * 15 + (wave > 1.1)))


def png(colours: bytes, rows: list[bytes]) -> bytes:
    """A PNG file of one-byte palette indices (PNG specification, colour type 3)."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        check = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    chunks = chunk(b"IHDR", header) + chunk(b"PLTE", colours) + chunk(b"IDAT", body)
    return b"\x89PNG\r\n\x1a\n" + chunks + chunk(b"IEND", b"")


def main() -> int:
    folder = Path(__file__).parent / "images"
    folder.mkdir(exist_ok=True)
    rows = [bytes(pixel(x, y) for x in range(WIDTH)) for y in range(HEIGHT)]
    for name, night in (("harbour_day.png", False), ("harbour_night.png", True)):
        data = png(palette(night), rows)
        (folder / name).write_bytes(data)
        print(f"{folder / name}: {len(data)} bytes", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
