#!/usr/bin/env python3
"""The lint finds what it should: each bad snippet is flagged, and the good one beside it is not."""

import unittest

import file_rules
import include_rules
import sources

# (file, line that must be flagged, line that must not)
INCLUDES = (
    # core knows no server, no client and no wire.
    ("core/rig/rig.cc", "#include <grpcpp/grpcpp.h>", "#include <absl/status/status.h>"),
    ("core/rig/rig.cc", '#include "sinew/v1/rig.pb.h"', '#include "core/rig/rig.h"'),
    ("core/rig/rig.cc", "#include <google/protobuf/message.h>", "#include <vector>"),
    ("core/rig/rig.cc", '#include "server/process/server.h"', '#include "core/mesh/mesh.h"'),
    ("core/rig/rig.cc", '#include "sinew/client.h"', '#include "core/base/types.h"'),
    # Upward inside core.
    ("core/base/types.h", '#include "core/rig/rig.h"', "#include <array>"),
    ("core/mesh/mesh.cc", '#include "core/rig/rig.h"', '#include "core/base/types.h"'),
    ("core/rig/rig.cc", '#include "core/surface/adjacency.h"', '#include "core/solve/rotation.h"'),
    ("core/surface/normals.cc", '#include "core/deform/method/method.h"', '#include "core/rig/rig.h"'),
    ("core/deform/method/stretch.cc", '#include "core/deform/engine/deformer.h"', '#include "core/rig/posed_rig.h"'),
    ("core/deform/dqs/dqs.cc", '#include "core/deform/engine/registry.h"', '#include "core/deform/method/method.h"'),
    ("core/deform/implicit/hrbf.cc", '#include "core/deform/implicit/project/projection.h"',
     '#include "core/deform/implicit/hrbf.h"'),
    ("client/bake/formats/npy.cc", '#include "core/rig/rig.h"', "#include <nlohmann/json.hpp>"),
    # Methods do not know each other; the registry knows them all.
    ("core/deform/dqs/dqs.cc", '#include "core/deform/lbs/lbs.h"', "#include <span>"),
    ("core/deform/engine/registry.cc", '#include "client/bake/formats/npy.h"', '#include "core/deform/lbs/lbs.h"'),
    # Libraries in their place; Eigen never in a header.
    ("core/solve/rotation.h", "#include <Eigen/Dense>", "#include <span>"),
    ("core/solve/rotation.h", "  #  include  <Eigen/Core>", "#include <sys/mman.h>"),
    ("core/mesh/mesh.h", "#include <tbb/parallel_for.h>", "#include <cstdint>"),
    ("core/parallel/task.h", "#include <oneapi/tbb/task_arena.h>", "#include <stop_token>"),
    # Kernels.
    ("core/deform/dqs/dqs_kernel.cc", "#include <Eigen/Core>", "#include <hwy/highway.h>"),
    ("core/deform/dqs/dqs_kernel.cc", "#include <absl/status/status.h>", '#include "core/base/types.h"'),
    ("core/deform/dqs/dqs_kernel.cc", '#include "core/rig/rig.h"', '#include "core/simd/rotation-inl.h"'),
    ("core/deform/dqs/dqs_kernel.cc", '#include "core/deform/lbs/lbs_kernel.h"',
     '#include "core/deform/dqs/dqs_kernel.h"'),
    # The server: upward, sideways, and no geometry.
    ("server/base/config.cc", '#include "server/store/rig_store.h"', '#include "server/base/address.h"'),
    ("server/store/rig_store.cc", '#include "server/calls/call.h"', '#include "server/threads/timers.h"'),
    ("server/frames/evaluator.cc", '#include "server/runtime.h"', '#include "server/convert/pose.h"'),
    ("server/calls/stream.cc", "#include <tbb/task_arena.h>", '#include "server/frames/outbox.h"'),
    ("server/services/rig_service.cc", '#include "core/mesh/mesh.h"', '#include "server/calls/call.h"'),
    ("server/process/server.cc", '#include "core/deform/lbs/lbs.h"', "#include <grpcpp/server.h>"),
    ("server/process/server.cc", '#include "sinew/client.h"', '#include "server/base/config.h"'),
    ("server/process/server.cc", '#include "tests/support/tube.h"', "#include <csignal>"),
    ("server/process/server.cc", '#include "config.h"', "#include <unistd.h>"),
    ("server/process/server.cc", '#include "../core/rig/rig.h"', "#include <csignal>"),
    ("server/process/server.cc", "#include <boost/asio.hpp>", "#include <csignal>"),
    # The client: installed headers need no library, the library no server, commands no gRPC.
    ("client/lib/include/sinew/client.h", "#include <grpcpp/channel.h>", "#include <absl/status/statusor.h>"),
    ("client/lib/include/sinew/client.h", '#include "client/lib/stream/stream_core.h"', '#include "sinew/rig_data.h"'),
    ("client/lib/codec/message_codec.cc", '#include "client/lib/stream/stream_core.h"', '#include "sinew/v1/rig.pb.h"'),
    ("client/import/gltf_reader.cc", "#include <grpcpp/grpcpp.h>", "#include <tiny_gltf.h>"),
    ("client/models/tube.cc", '#include "client/import/motion.h"', '#include "sinew/rig_data.h"'),
    ("client/rig/rig_lint.cc", '#include "client/cli/commands/commands.h"', '#include "sinew/rig_data.h"'),
    ("client/render/render.cc", '#include "core/surface/normals.h"', "#include <embree3/rtcore.h>"),
    ("client/cli/commands/bake.cc", '#include "server/process/server.h"', '#include "client/cli/run/context.h"'),
    ("client/cli/commands/bake.cc", "#include <grpcpp/grpcpp.h>", '#include "sinew/client.h"'),
    ("core/news/thing.cc", "#include <vector>", None),
)

GOOD_HEADER = "// rig.h - a rig.\n#pragma once\n"
# (file, text that must be flagged, words the finding contains, text that must not be flagged or None)
FILES = (
    ("docs/readme.md", "text\n", "top-level", None),
    ("core/rig/rig_utils.cc", "int x;\n", "says nothing", None),
    ("core/helpers/rig.cc", "int x;\n", "says nothing", None),
    ("core/common/rig.cc", "int x;\n", "says nothing", None),
    ("server/session_manager.cc", "int x;\n", "says nothing", None),
    ("core/rig/rig.h", "#pragma once\n", "first line", GOOD_HEADER),
    ("core/README.md", "[a](rig/none.h)\n", "rig/none.h, which is not there", "[a](rig/rig.h) [b](https://none.test/)\n"),
    ("core/README.md", "[a](#none)\n", "#none, a heading", "# The rig, and more\n[a](#the-rig-and-more)\n"),
    ("core/README.md", "[a](../README.md#none)\n", "#none, a heading", "[a](../README.md#on-a-network)\n"),
    ("core/rig/rig.h", "// mesh.h - a mesh.\n#pragma once\n", "first line", GOOD_HEADER),
    ("core/rig/rig.h", "// rig.h - a rig.\nint x;\n", "#pragma once", GOOD_HEADER),
    ("core/rig/rig.h", GOOD_HEADER + "\n" * 198 + "int x;\n", "201 lines", GOOD_HEADER + "\n" * 197 + "int x;\n"),
    ("core/simd/pack-inl.h", "// pack-inl.h - packs.\n" + "int x;\n" * 800, "801 lines",
     "// pack-inl.h - packs.\n" + "int x;\n" * 799),
    ("core/rig/rig.cc", "int x;\n" * 801, "801 lines", "int x;\n" * 800),
    ("core/rig/rig.cc", "\tint x;\n", "a tab", "  int x;\n"),
    ("core/rig/rig.cc", "int x; \n", "spaces at the end", "int x;\n"),
    ("core/rig/rig.cc", "int x;", "line end", "int x;\n"),
    ("core/rig/rig.cc", "int x;\n\n", "line end", "int x;\n"),
    ("core/rig/rig.cc", "int x;  // TO" + "DO later\n", "unfinished", "int todos;\n"),
    ("deploy/demo.sh", "echo \tx\n", "a tab", "echo\n"),
    ("tests/unit/rig/rig_test.cc", "int x;\n", "mirrors the code", None),
    ("tests/unit/rig_test.cc", "int x;\n", "mirrors the code", None),
)



class Lint(unittest.TestCase):
    def test_flags_each_forbidden_include(self):
        for path, bad, good in INCLUDES:
            with self.subTest(path=path, line=bad):
                findings = include_rules.check(path, "// name - what\n" + bad + "\n")
                self.assertEqual(len(findings), 1, findings)
                if good is not None:
                    self.assertTrue(findings[0].startswith(f"{path}:2: "), findings)
                    self.assertEqual(include_rules.check(path, good + "\n"), [])

    def test_flags_a_cycle_in_the_table(self):
        rows = include_rules.FOLDERS
        try:
            include_rules.FOLDERS = (("core/base", "core/rig", "", ""), *rows)
            self.assertEqual(len(include_rules.order()), 1)
        finally:
            include_rules.FOLDERS = rows
        self.assertEqual(include_rules.order(), [])

    def test_flags_each_bad_file(self):
        for path, bad, words, good in FILES:
            with self.subTest(path=path, text=bad[:40]):
                findings = file_rules.check(path, bad)
                self.assertEqual(len(findings), 1, findings)
                self.assertIn(words, findings[0])
                if good is not None:
                    self.assertEqual(file_rules.check(path, good), [])

    def test_sees_the_tree(self):
        listed = sources.files()
        for path in ("CMakeLists.txt", "core/deform/engine/deformer.h", "tests/lint/sources.py"):
            self.assertIn(path, listed)
        self.assertFalse([path for path in listed if path.startswith((".git/", "build/"))])


if __name__ == "__main__":
    unittest.main()
