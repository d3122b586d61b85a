#!/usr/bin/env python3
"""Who may include what: core knows no server, kernels know only lanes of floats, methods do not know each other.

CMake cannot enforce this, because Debian's headers are on the include path of every target. Each file belongs to the
first ring of RINGS that matches it and may include only what that ring allows; includes are written from the
repository root, so the first part of a path shows the ring.
"""

import functools
import re
import sys

import sources

# What an include is: the first prefix that fits. What fits none and looks like STANDARD is C++, C or POSIX.
LIBRARIES = (
    ("absl", ("absl/",)),
    ("grpc", ("grpcpp/", "grpc/")),
    ("proto", ("google/protobuf/",)),
    ("tbb", ("tbb/", "oneapi/tbb", "oneapi/tbb.h")),
    ("eigen", ("Eigen/", "unsupported/Eigen/")),
    ("nanoflann", ("nanoflann.hpp",)),
    ("highway", ("hwy/",)),
    ("json", ("nlohmann/",)),
    ("xxhash", ("xxhash.h", "xxh_x86dispatch.h")),
    ("openssl", ("openssl/",)),
    ("embree", ("embree3/", "embree4/")),
    ("png", ("png.h",)),
    ("freetype", ("ft2build.h", "freetype/")),
    ("assimp", ("assimp/",)),
    ("tinygltf", ("tiny_gltf.h", "stb_image")),
    ("tinyobjloader", ("tiny_obj_loader.h",)),
    ("cli11", ("CLI/",)),
    ("spdlog", ("spdlog/",)),
    ("prometheus", ("prometheus/",)),
    ("httplib", ("httplib.h",)),
    ("yaml", ("yaml-cpp/",)),
    ("gtest", ("gtest/", "gmock/")),
)

# Files that need more than their ring, each for one reason: (file, further includes).
EXTRA = (
    ("core/parallel/tbb_task.cc", ("tbb",)),  # the one scheduler
    ("core/deform/registry.cc", ("core/deform/*/*.h",)),  # the one list of methods
    ("server/arena.cc", ("tbb",)),  # where frames and binds are computed
    ("client/cli/command_line.cc", ("client/lib/rpc/address.h",)),  # --server takes what Connect takes
    # --local: the server and a client on one in-process channel
    ("client/cli/local.*", ("grpc", "server/process/server.h", "server/base/config.h", "client/lib/rpc/channel.h")),
)

STD = ("std", "absl")
CORE_HEADERS = STD + ("core/base/*.h", "core/parallel/*.h", "core/geometry/*.h", "core/solve/*.h", "core/rig/*.h")
CORE_SOURCES = CORE_HEADERS + ("eigen", "nanoflann", "core/simd/*.h")

# A ring: (its files, what they may include). `*` stays within a folder, `**` does not; OWN is the file's own folder.
RINGS = (
    # Kernels know lanes of floats and nothing else: they are compiled once per instruction set.
    ("core/**_kernel.cc", ("std", "highway", "core/base/types.h", "core/simd/*.h", "OWN/*_kernel.h", "OWN/*-inl.h")),
    ("core/**_kernel.h", ("std", "core/base/types.h")),
    ("core/**-inl.h", ("std", "highway", "core/base/types.h", "core/simd/*.h", "OWN/*-inl.h")),
    ("core/base/*.h", STD + ("core/base/*.h",)),
    ("core/base/*.cc", STD + ("openssl", "xxhash", "core/base/*.h")),
    ("core/simd/*", STD + ("highway", "core/base/*.h", "core/simd/*.h")),
    ("core/parallel/*", STD + ("core/base/*.h", "core/parallel/*.h")),
    ("core/formats/*", STD + ("json", "xxhash", "core/base/*.h", "core/formats/*.h")),
    ("core/geometry/*.h", CORE_HEADERS),
    ("core/geometry/*.cc", CORE_SOURCES),
    ("core/solve/*.h", CORE_HEADERS),
    ("core/solve/*.cc", CORE_SOURCES),
    ("core/rig/*.h", CORE_HEADERS),
    ("core/rig/*.cc", CORE_SOURCES),
    # Figures of deformed frames: they see positions and poses, no method.
    ("core/metrics/*.h", CORE_HEADERS + ("OWN/*.h",)),
    ("core/metrics/*.cc", CORE_SOURCES + ("OWN/*.h",)),
    # The scalar field of a character and its muscles; weights for a mesh that has none.
    ("core/field/*.h", CORE_HEADERS + ("OWN/*.h",)),
    ("core/field/*.cc", CORE_SOURCES + ("OWN/*.h",)),
    ("core/weights/*.h", CORE_HEADERS + ("OWN/*.h",)),
    ("core/weights/*.cc", CORE_SOURCES + ("embree", "OWN/*.h")),
    # Methods do not know each other: what they share lies below them or beside deformer.h.
    ("core/deform/*.h", CORE_HEADERS + ("core/deform/implicit/field/field_options.h", "core/deform/*.h", "core/deform/*/*_params.h")),
    ("core/deform/*.cc", CORE_HEADERS + ("core/simd/*.h", "core/deform/*.h")),
    ("core/deform/*/*.h", CORE_HEADERS + ("core/field/*.h", "core/deform/*.h", "OWN/*.h")),
    ("core/deform/*/*.cc", CORE_SOURCES + ("core/field/*.h", "core/deform/*.h", "OWN/*.h")),
    # The server does no mathematics: only convert sees meshes and messages together.
    ("server/convert/*", STD + ("proto", "grpc", "core/base/*.h", "core/parallel/task.h", "core/geometry/*.h",
                                "core/rig/*.h", "core/deform/*.h", "core/metrics/*.h", "core/weights/*.h",
                                "server/**.h")),
    ("server/**", STD + ("proto", "grpc", "json", "xxhash", "openssl", "cli11", "spdlog", "prometheus",
                         "httplib", "yaml", "core/base/*.h", "core/parallel/*.h", "core/simd/target.h",
                         "core/rig/*.h", "core/deform/*.h", "core/metrics/*.h", "core/weights/*.h", "server/**.h")),
    # The installed headers name no library but absl, so that users need none.
    ("client/cpp/include/**", STD + ("sinew/*.h",)),
    ("client/cpp/*", STD + ("proto", "grpc", "json", "xxhash", "openssl", "core/base/closest_names.h", "sinew/*.h",
                            "client/cpp/*.h")),
    ("client/import/*", STD + ("assimp", "tinygltf", "tinyobjloader", "json", "eigen", "sinew/*.h",
                               "client/lib/codec/status_macros.h", "OWN/*.h")),
    ("client/models/*", STD + ("eigen", "sinew/*.h", "client/lib/codec/status_macros.h", "OWN/*.h")),
    ("client/render/*", STD + ("embree", "png", "freetype", "tbb", "eigen", "sinew/*.h",
                               "client/lib/codec/status_macros.h", "OWN/*.h")),
    ("client/cli/*", STD + ("json", "cli11", "xxhash", "sinew/*.h", "client/lib/codec/status_macros.h",
                            "client/import/*.h", "client/models/*.h", "client/render/*.h", "core/formats/*.h",
                            "core/base/closest_names.h", "OWN/*.h")),
    ("tests/**", ("**",)),
)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
STANDARD = re.compile(r"\w+|(sys/|netinet/|arpa/)?\w+\.h")
OWN_FOLDERS = ("core/", "server/", "client/", "tests/", "sinew/", "google/rpc/")


@functools.cache
def glob(pattern):
    """A pattern of RINGS as a regular expression."""
    return re.compile(re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^/]*"))


def matches(path, pattern):
    return glob(pattern).fullmatch(path) is not None


def kind(include, quote):
    """'std', the name of a library, or for a file of this repository its path."""
    if include.endswith(".grpc.pb.h"):
        return "grpc"
    if include.endswith(".pb.h"):
        return "proto"
    for name, prefixes in LIBRARIES:
        if include.startswith(prefixes):
            return name
    return "std" if quote == "<" and STANDARD.fullmatch(include) else include


def check(path, text):
    """The findings of one file, as 'path:line: what'."""
    ring = next((ring for ring in RINGS if matches(path, ring[0])), None)
    if ring is None:
        return [f"{path}:1: no ring of tests/lint/include_rules.py covers this folder"]
    pattern, allowed = ring
    allowed += tuple(include for file, extra in EXTRA if matches(path, file) for include in extra)
    own = path.rsplit("/", 1)[0]
    allowed = [rule.replace("OWN/", own + "/") for rule in allowed]
    findings = []
    for found in INCLUDE.finditer(text):
        quote, include = found.groups()
        line = text.count("\n", 0, found.start(1)) + 1
        what = kind(include, quote)
        if quote == '"' and what == include and not include.startswith(OWN_FOLDERS):
            findings.append(f'{path}:{line}: "{include}" is not written from the repository root')
        elif not any(matches(what, rule) for rule in allowed):
            findings.append(f"{path}:{line}: {pattern} may not include {include} ({what}); allowed: "
                            + " ".join(allowed))
    return findings


def main():
    findings = []
    for path in sources.files():
        if path.endswith((".h", ".cc")):
            findings += check(path, (sources.ROOT / path).read_text(encoding="utf-8"))
    return sources.report(findings, "include rules")


if __name__ == "__main__":
    sys.exit(main())
