"""The pytest fixture of sinew.testing, as the test of a user has it. Run by pytest."""

import numpy as np
import sinew
import sinew.testing
from sinew.testing import sinew_server  # noqa: F401


def test_frames_are_those_of_the_process(sinew_server):  # noqa: F811
    hand = sinew.load("model:hand")
    poses = hand.clips["fist"].poses(fps=24, first=10, last=12)
    with sinew.connect(sinew_server.address) as client, sinew.local() as local:
        frames = client.character(hand, "lbs").clip(poses)
        assert sinew.testing.digest(frames) == sinew.testing.digest(local.character(hand, "lbs").clip(poses))
    assert frames.shape == (3, 9140, 3) and np.isfinite(frames).all()


def test_all_tests_share_the_server(sinew_server):  # noqa: F811
    with sinew.connect(sinew_server.address) as client:
        assert client.stats().frames_sent == 3
