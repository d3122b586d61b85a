#!/usr/bin/env python3
"""Which folder may include which: dependencies point downward, kernels see only lanes of floats, methods do not know
each other.

Includes are written from the repository root, so a path names its folder. FOLDERS lists every folder from the bottom
up with the folders and libraries it may include; a folder may only name folders earlier in the list, so the list
itself cannot contain a cycle. Debian's headers are on the include path of every target, so only this check sees a
library in the wrong place.
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
    ("zstd", ("zstd.h",)),
    ("openssl", ("openssl/",)),
    ("embree", ("embree3/", "embree4/")),
    ("png", ("png.h",)),
    ("freetype", ("ft2build.h", "freetype/")),
    ("assimp", ("assimp/",)),
    ("tinygltf", ("tiny_gltf.h", "stb_image")),
    ("ufbx", ("ufbx.h",)),
    ("draco", ("draco/",)),
    ("meshoptimizer", ("meshoptimizer.h",)),
    ("utfcpp", ("utf8.h", "utf8cpp/", "utf8/")),
    ("cli11", ("CLI/",)),
    ("spdlog", ("spdlog/",)),
    ("prometheus", ("prometheus/",)),
    ("httplib", ("httplib.h",)),
    ("pybind11", ("pybind11/",)),
    ("yaml", ("yaml-cpp/",)),
    ("curl", ("curl/",)),
    ("re2", ("re2/",)),
    ("hiredis", ("hiredis/",)),
    ("pugixml", ("pugixml.hpp",)),
    ("gtest", ("gtest/", "gmock/")),
    ("benchmark", ("benchmark/",)),
)

# (folder, folders below that it may include, libraries, libraries that only its sources may include).
# The C++ standard library and Abseil are free everywhere. `sinew` stands for the client's installed headers.
FOLDERS = (
    # The deformation core: no gRPC, no protobuf, no files.
    ("core/base", "", "xxhash", "openssl"),
    ("core/parallel", "", "", "tbb"),
    ("core/mesh", "core/base core/parallel", "", ""),
    ("core/simd", "core/base", "highway", ""),
    ("core/solve", "core/base core/simd", "", "eigen"),
    ("core/deform/kernels", "core/simd", "", ""),
    ("core/muscle", "core/base core/simd", "", ""),
    ("core/rig", "core/base core/mesh core/muscle core/parallel core/solve", "", ""),
    ("core/surface", "core/base core/mesh core/muscle core/parallel core/rig core/simd core/solve", "", ""),
    ("core/deform/method", "core/base core/parallel core/rig core/simd core/surface", "", ""),
    ("core/weights", "core/base core/mesh core/parallel core/rig core/surface", "", "eigen embree"),
    ("core/fit", "core/base core/mesh core/parallel core/rig core/surface core/weights", "", "eigen embree"),
    ("core/examples", "core/base core/parallel core/solve", "", ""),
    ("core/distil", "core/base core/parallel core/rig core/solve", "", "eigen"),
    ("core/deform/animation_space", "core/base core/deform/method core/rig core/simd", "", ""),
    ("core/decompose", "core/base core/examples core/mesh core/parallel core/solve core/surface", "", ""),
    ("core/deform/bulge_free", "core/base core/deform/method core/rig core/simd core/surface", "", ""),
    ("core/deform/cor", "core/base core/deform/kernels core/deform/method core/parallel core/rig core/simd", "", ""),
    ("core/deform/ddm",
     "core/base core/deform/kernels core/deform/method core/rig core/simd core/solve core/surface",
     "", ""),
    ("core/deform/delta_mush", "core/base core/deform/method core/rig core/simd core/surface", "", ""),
    ("core/deform/dqs", "core/base core/deform/kernels core/deform/method core/rig core/simd core/solve", "", ""),
    ("core/deform/lbs", "core/base core/deform/kernels core/deform/method core/rig", "", ""),
    ("core/deform/multi_weight", "core/base core/deform/kernels core/deform/method core/rig core/simd", "", ""),
    ("core/deform/muscle", "core/base core/deform/method core/muscle core/surface", "", ""),
    ("core/deform/relax", "core/base core/deform/method core/simd core/surface", "", ""),
    ("core/deform/shapes", "core/base core/deform/method core/simd", "", ""),
    ("core/deform/spherical_blend", "core/base core/deform/method core/parallel core/rig core/simd", "", "eigen"),
    ("core/deform/implicit",
     "core/base core/deform/method core/muscle core/parallel core/rig core/simd core/solve core/surface",
     "", "nanoflann"),
    ("core/deform/implicit/march",
     "core/base core/deform/implicit core/deform/method core/parallel core/rig core/simd core/surface", "", ""),
    ("core/deform/implicit/project",
     "core/base core/deform/implicit core/deform/method core/parallel core/rig core/simd core/solve core/surface",
     "", ""),
    ("core/deform/engine",
     "core/base core/deform/animation_space core/deform/bulge_free core/deform/cor core/deform/ddm core/deform/delta_mush "
     "core/deform/dqs core/deform/implicit core/deform/kernels core/deform/lbs core/deform/method "
     "core/deform/multi_weight core/deform/muscle core/deform/relax core/deform/shapes core/deform/spherical_blend core/muscle "
     "core/parallel core/rig core/surface",
     "", ""),
    ("core/metrics", "core/base core/deform/engine core/parallel core/rig core/surface", "", "eigen"),
    # The client library. The installed headers need no library but Abseil. Its base is headers that the server has too.
    ("client/lib/base", "core/base", "openssl proto", ""),
    ("client/lib/include/sinew", "sinew", "", ""),
    ("client/lib/codec", "client/lib/base core/base sinew", "grpc proto", "json openssl utfcpp"),
    ("client/lib/rpc", "client/lib/base client/lib/codec core/base sinew", "grpc proto", ""),
    ("client/lib/stream", "client/lib/codec client/lib/rpc core/base sinew", "grpc proto", "zstd"),
    ("client/lib/testing", "core/base sinew", "", ""),
    # The server does no geometry: it converts, calls core and converts back.
    ("server/base", "client/lib/base core/base", "grpc prometheus proto spdlog", "cli11 json tbb utfcpp yaml"),
    ("server/access", "client/lib/base core/base server/base", "grpc openssl", "json re2"),
    ("server/threads", "core/base server/base", "prometheus", "tbb"),
    ("server/convert",
     "client/lib/base core/base core/deform/engine core/deform/method core/fit core/mesh core/metrics core/muscle core/rig "
     "core/weights server/base",
     "proto", ""),
    ("server/shared", "client/lib/base core/base server/base", "proto", "curl hiredis openssl pugixml"),
    ("server/store",
     "core/base core/deform/engine core/rig server/base server/convert server/shared server/threads",
     "proto", "openssl"),
    ("server/frames",
     "core/base core/deform/engine core/rig server/base server/convert server/store server/threads",
     "grpc proto", "zstd"),
    ("server",
     "core/base core/simd server/access server/base server/frames server/shared server/store server/threads",
     "", ""),
    ("server/calls",
     "core/base core/deform/engine core/fit core/metrics core/parallel core/rig core/weights server server/access server/base "
     "server/convert server/frames server/shared server/store server/threads",
     "grpc proto", ""),
    ("server/services",
     "core/base core/deform/engine core/simd server server/access server/base server/calls server/convert",
     "proto", ""),
    ("server/web", "client/lib/base core/base server/access server/base server/threads", "grpc httplib openssl", ""),
    ("server/process",
     "client/lib/base core/base core/simd server server/access server/base server/calls server/services server/shared "
     "server/store server/threads server/web",
     "grpc httplib", "json openssl"),
    # Importers, caches, pictures and the command line, which runs a server in its process for --local.
    ("client/rig", "core/base core/mesh core/rig sinew", "", ""),
    ("client/import", "client/rig core/base sinew", "assimp json pugixml tinygltf ufbx",
     "draco eigen meshoptimizer nanoflann utfcpp"),
    ("client/models", "core/base sinew", "eigen", "proto"),
    ("client/render", "core/base sinew", "eigen embree", "freetype png tbb"),
    ("client/bench", "client/render core/base sinew", "", ""),
    ("client/bake/base", "core/base sinew", "", ""),
    ("client/bake/formats", "core/base", "", "json"),
    ("client/bake/files", "client/bake/base client/bake/formats client/import client/render client/rig core/base core/mesh core/parallel "
     "core/surface sinew", "json", ""),
    ("client/bake/character",
     "client/bake/base client/bake/files client/bake/formats client/import client/models client/rig core/base sinew",
     "json", "utfcpp"),
    ("client/bake/passes",
     "client/bake/base client/bake/character client/bake/files client/bake/formats client/import client/rig "
     "core/base sinew", "", ""),
    ("client/bake/fit",
     "client/bake/base client/rig core/base core/examples core/mesh core/parallel core/surface sinew", "", ""),
    ("client/bake/distil",
     "client/bake/base client/bake/character client/bake/files client/bake/fit client/bake/passes client/rig core/base core/distil "
     "core/examples core/mesh core/parallel core/rig core/surface sinew", "json", ""),
    ("client/bake/pictures", "client/bake/base client/bake/character client/render client/rig core/base sinew",
     "json", ""),
    ("client/decompose",
     "client/bake/base client/bake/character client/bake/files client/rig core/base core/decompose core/mesh sinew", "", ""),
    ("client/cli/base", "client/bake/base client/bake/character client/bake/passes client/import core/base sinew", "json",
     "cli11 utfcpp"),
    ("client/cli/run",
     "client/bake/base client/bake/character client/bake/files client/cli/base client/lib/rpc core/base server/base "
     "server/process server/shared server/web sinew",
     "json", ""),
    ("client/cli/character",
     "client/bake/base client/bake/character client/bake/files client/bake/pictures client/cli/base client/cli/run "
     "client/import client/models client/render client/rig core/base sinew",
     "", ""),
    ("client/cli/commands",
     "client/bake/base client/bake/character client/bake/distil client/bake/files client/bake/fit client/bake/formats "
     "client/bake/passes client/bake/pictures client/bench client/cli/base client/cli/character client/cli/run client/decompose "
     "client/import client/lib/base client/lib/codec client/lib/rpc client/models client/render client/rig core/base sinew",
     "json", ""),
    ("client/cli", "client/cli/commands", "", ""),
    ("client/python/src",
     "client/bake/base client/bake/character client/bake/files client/bake/formats client/bake/passes "
     "client/bake/pictures client/cli/base client/cli/character client/cli/commands client/cli/run client/import "
     "client/lib/base client/render client/rig core/base server/base server/process sinew",
     "grpc pybind11 eigen", ""),
)

# Files that need more than their folder, each for one reason.
EXTRA = {
    # The stage, which joins the fields of its folder with their projections.
    "core/deform/implicit/implicit.h": ("core/deform/implicit/march/*.h", "core/deform/implicit/project/*.h"),
    "core/deform/implicit/implicit_params.h": ("core/deform/implicit/march/march_rules.h",),
    "core/deform/implicit/implicit.cc": ("core/deform/implicit/project/*.h",),
}

# A kernel is compiled once per instruction set: whatever else it included would be compiled that often too, and an
# inline function of a library could then run instructions that the processor lacks.
KERNELS = (
    ("core/**_kernel.cc", ("std", "highway", "core/base/types.h", "core/simd/*.h", "OWN/*_kernel.h", "OWN/*-inl.h")),
    ("core/**_kernel.h", ("std", "core/base/types.h", "core/simd/slope_args.h")),
    ("core/**-inl.h",
     ("std", "highway", "core/base/types.h", "core/simd/*.h", "OWN/*_kernel.h", "OWN/*-inl.h")),
)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
STANDARD = re.compile(r"\w+|(sys/|netinet/|arpa/)?\w+\.h")
OWN_FOLDERS = ("core/", "server/", "client/", "tests/", "sinew/", "google/rpc/")


@functools.cache
def glob(pattern):
    """A pattern with `*` (within a folder) and `**` (across folders) as a regular expression."""
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


@functools.cache
def rule(folder):
    """The row of FOLDERS for a folder, or None."""
    return next((row for row in FOLDERS if row[0] == folder), None)


def allowed(path, what):
    """Whether the file may include what `kind` said."""
    for pattern, includes in KERNELS:
        if matches(path, pattern):
            own = path.rsplit("/", 1)[0]
            return any(matches(what, include.replace("OWN", own)) for include in includes)
    folder, below, libraries, in_sources = rule(path.rsplit("/", 1)[0])
    if what in ("std", "absl") or what in libraries.split():
        return True
    if path.endswith(".cc") and what in in_sources.split():
        return True
    if what.startswith("sinew/"):
        return "sinew" in below.split()
    if "/" in what and what.rsplit("/", 1)[0] in (folder, *below.split()):
        return True
    return any(matches(what, extra) or what == extra for extra in EXTRA.get(path, ()))


def check(path, text):
    """The findings of one file, as 'path:line: what'."""
    if path.startswith("tests/"):
        return []
    folder = path.rsplit("/", 1)[0]
    if rule(folder) is None:
        return [f"{path}:1: FOLDERS in tests/lint/include_rules.py does not list {folder}"]
    findings = []
    for found in INCLUDE.finditer(text):
        quote, include = found.groups()
        line = text.count("\n", 0, found.start(1)) + 1
        what = kind(include, quote)
        if quote == '"' and what == include and not include.startswith(OWN_FOLDERS):
            findings.append(f'{path}:{line}: "{include}" is not written from the repository root')
        elif not allowed(path, what):
            findings.append(f"{path}:{line}: {folder} may not include {include}"
                            + ("" if what == include else f" ({what})") + ", see FOLDERS")
    return findings


def order():
    """Findings about FOLDERS itself: a folder may only name folders above it in the list."""
    findings = []
    seen = {"sinew"}
    for folder, below, _, _ in FOLDERS:
        findings += [f"tests/lint/include_rules.py:1: {folder} names {name}, which is not above it"
                     for name in below.split() if name not in seen]
        seen.add(folder)
    return findings


def main():
    findings = order()
    for path in sources.files():
        if path.endswith((".h", ".cc")):
            findings += check(path, (sources.ROOT / path).read_text(encoding="utf-8"))
    return sources.report(findings, "include rules")


if __name__ == "__main__":
    sys.exit(main())
