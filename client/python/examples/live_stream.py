"""Streams poses as a live tool does: only the newest matters, and a frame must come within a deadline.

usage: live_stream.py [ADDRESS]             default: a server in this process
"""
import sys
import time

import sinew

hand = sinew.load("model:hand")
poses = hand.clips["fist"].poses(fps=60)
client = sinew.connect(sys.argv[1]) if len(sys.argv) > 1 else sinew.local()
character = client.character(hand, "ddm")
shown = dropped = 0
with character.stream(latest=True) as stream:
    for pose in poses:
        stream.send(pose)  # never waits; replaces a pose that has not begun
        time.sleep(1 / 60)
        try:
            frame = stream.next(timeout=0)
        except sinew.Timeout:  # not there yet: the tool keeps the last shape
            continue
        shown += 1
        dropped += frame.skipped
    stream.finish()
    for frame in stream:
        shown += 1
        dropped += frame.skipped
print(f"{len(poses)} poses: {shown} frames shown, {dropped} poses dropped for newer ones")
