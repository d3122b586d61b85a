"""Bakes a clip with Direct Delta Mush to a point cache, and a picture of its middle frame.

usage: bake_clip.py [CHARACTER [OUT]]       default: model:hand hand.pc2
"""
import sys
import zlib

import sinew


def write_png(path, image):
    """An (H, W, 3) uint8 array as a PNG, without a library for pictures."""
    height, width, _ = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)

    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) +
                   chunk(b"IEND", b""))


path = sys.argv[1] if len(sys.argv) > 1 else "model:hand"
out = sys.argv[2] if len(sys.argv) > 2 else "hand.pc2"
rig = sinew.load(path)
poses = next(iter(rig.clips.values())).poses(fps=24)
with sinew.local() as client:  # or sinew.connect("host:50051")
    character = client.character(rig, "ddm")
    written, = character.bake(poses, out)
    middle = character.deform(poses[len(poses) // 2])
write_png(written + ".png", sinew.render(rig, {"ddm": middle}))
print(f"{len(poses)} frames of {rig.num_vertices} vertices in {written}, a picture in {written}.png")
