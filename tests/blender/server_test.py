"""The add-on with servers that are absent, lost, frozen and back, in background Blender."""

import os
import signal
import sys
import time
import unittest

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from base import CharacterTest, outputs, preferences, run, sinew_blender, state  # noqa: E402
from characters import world_points  # noqa: E402
from sinew.testing import Server  # noqa: E402


class Servers(CharacterTest):

    def remote(self, address):
        preferences().address = address
        preferences().server = "REMOTE"
        preferences().render_deadline = 2

    def test_killed_and_restarted(self):
        armature, meshes = self.make()
        expected = self.at_frames(meshes)
        with Server() as server:
            self.remote(server.address)
            self.bind(armature, "shapes | lbs")
            self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)
            server.stop(signal.SIGKILL)
            last = world_points(outputs(armature)[0])
            self.scene.frame_set(4)  # no exception; the last shape stays
            np.testing.assert_array_equal(world_points(outputs(armature)[0]), last)
            self.assertNotEqual(state(armature).error, "")
            with Server(listen=server.address):
                self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)
                self.assertEqual(state(armature).error, "")

    def test_frozen_server_costs_the_deadline(self):
        armature, _ = self.make()
        with Server() as server:
            self.remote(server.address)
            self.bind(armature, "shapes | lbs")
            self.scene.frame_set(1)
            server.process.send_signal(signal.SIGSTOP)
            os.waitpid(server.process.pid, os.WUNTRACED)  # until all its threads have stopped
            try:
                start = time.monotonic()
                self.scene.frame_set(4)
                self.assertLess(time.monotonic() - start, 2 + 20)  # and the time that Blender needs on a busy machine
                self.assertNotEqual(state(armature).error, "")
            finally:
                server.process.send_signal(signal.SIGCONT)  # or it does not end
            self.scene.frame_set(7)
            self.assertEqual(state(armature).error, "")

    def test_nothing_listens(self):
        armature, _ = self.make()
        self.remote("127.0.0.1:1")
        self.bind(armature, "shapes | lbs")
        self.scene.frame_set(4)
        self.assertEqual(state(armature).error, "No server at 127.0.0.1:1 (connection refused)")

    def test_server_without_tls(self):
        armature, _ = self.make()
        with Server() as server:
            self.remote(server.address)
            preferences().tls_ca = "system"
            self.addCleanup(setattr, preferences(), "tls_ca", "")
            self.bind(armature, "shapes | lbs")
            self.assertEqual(state(armature).error, f"No server at {server.address} (wrong version number)")

    def test_shape_stays_until_the_first_frame(self):
        armature, meshes = self.make()
        meshes[0].modifiers.new("After", "SMOOTH")
        expected = self.at_frames(meshes, [7])
        self.remote("127.0.0.1:1")
        armature.sinew.compare, armature.sinew.offset = True, (0, 0, 0)
        self.bind(armature, "shapes | ddm")
        self.assertNotEqual(state(armature).error, "")
        seconds = [part.second for part in armature.sinew.parts]
        for shown in (outputs(armature), seconds):
            self.assert_close({7: [world_points(each) for each in shown]}, expected, 1e-6)
        preferences().server = "LOCAL"
        self.scene.frame_set(8)
        last = [world_points(each) for each in outputs(armature)]
        preferences().server = "REMOTE"
        self.bind(armature, "shapes | ddm")
        for each, points in zip(outputs(armature), last):
            np.testing.assert_array_equal(world_points(each), points)

    @unittest.skipUnless(hasattr(bpy.app, "online_access"), "this version of Blender has no such switch")
    def test_other_machines_only_with_online_access(self):
        armature, meshes = self.make()
        expected = self.at_frames(meshes)
        system = bpy.context.preferences.system
        before = system.use_online_access
        self.addCleanup(setattr, system, "use_online_access", before)
        system.use_online_access = False
        self.bind(armature, "shapes | lbs")  # the server in this process
        self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)
        with Server() as server:  # on this machine
            self.remote(server.address)
            self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)
        self.remote("sinew.invalid:50051")
        self.scene.frame_set(1)
        self.assertIn("Allow Online Access", state(armature).error)
        system.use_online_access = True
        sinew_blender.connection.client()  # connects with the first call

    def test_another_server_is_used_at_once(self):
        armature, meshes = self.make()
        expected = self.at_frames(meshes)
        self.bind(armature, "shapes | lbs")
        preferences().address, preferences().server = "127.0.0.1:1", "REMOTE"
        self.update_as_in_window(armature)
        self.assertIsNotNone(state(armature).job)  # binds, without end
        preferences().server = "LOCAL"
        self.update_as_in_window(armature)
        for _ in range(1000):
            if state(armature).job is None:
                break
            time.sleep(0.01)
            sinew_blender.live._poll_jobs()
        self.assertIsNone(state(armature).job)
        self.assertEqual(state(armature).error, "")
        self.assert_close(self.at_frames(outputs(armature)), expected, 2e-6)

    def update_as_in_window(self, armature):
        sinew_blender.live.update(armature, bpy.context.evaluated_depsgraph_get(), wait=False)


if __name__ == "__main__":
    run()
