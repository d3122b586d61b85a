// conformance_cases.cc - writes the conformance cases, as README.md describes them.
//
//   conformance_cases FOLDER [EXPECTED]
//
// FOLDER: for the rigs, poses, results and index.json. EXPECTED: where to write expected.json,
// which is in the repository; default: into FOLDER.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/bake/formats/npy.h"
#include "core/base/digest.h"
#include "core/base/math_library.h"
#include "core/base/status.h"
#include "tests/conformance/cases.h"

namespace sinew::conformance {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

absl::Status Write(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnknownError(absl::StrCat(path.string(), ": cannot be written"));
}

template <class T>
std::string_view BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// A float64 array of numpy, of three dimensions.
std::string EncodeNpy64(const std::array<std::size_t, 3>& shape,
                        const std::vector<double>& values) {
  std::string header = absl::StrCat("{'descr': '<f8', 'fortran_order': False, 'shape': (", shape[0],
                                    ", ", shape[1], ", ", shape[2], "), }");
  const std::size_t length = (10 + header.size() + 1 + 63) / 64 * 64 - 10;
  header.resize(length - 1, ' ');
  static_assert(std::endian::native == std::endian::little);
  return absl::StrCat(std::string("\x93NUMPY\x01\x00", 8),
                      std::string{static_cast<char>(length & 0xff), static_cast<char>(length >> 8)},
                      header, "\n", AbslView(BytesOf(values)));
}

std::vector<float> JointsOf(const CaseRig& rig) {
  std::vector<float> joints;
  for (const CasePose& pose : rig.poses) {
    for (const Affine& joint : pose.joints) {
      joints.insert(joints.end(), joint.m.begin(), joint.m.end());
    }
  }
  return joints;
}

std::vector<float> ControlsOf(const CaseRig& rig) {
  std::vector<float> controls;
  for (const CasePose& pose : rig.poses) {
    controls.insert(controls.end(), pose.controls.begin(), pose.controls.end());
  }
  return controls;
}

// Writes what Blender's shape keys are made from: for each control the offsets of all vertices.
absl::StatusOr<Json> WriteShapes(const fs::path& folder, const CaseRig& rig) {
  Json files = Json::object();
  const std::uint64_t vertices = rig.rig.vertices();
  for (const Shape& shape : rig.rig.shapes()) {
    std::vector<float> offsets(3 * vertices);
    const ShapeTarget& target = shape.targets[0];
    for (std::size_t k = 0; k < target.vertices.size(); ++k) {
      const Vec3f& offset = target.offsets[k];
      const std::array<float, 3> values = {offset.x, offset.y, offset.z};
      std::ranges::copy(values, offsets.begin() + 3 * std::ptrdiff_t{target.vertices[k]});
    }
    const std::string file = absl::StrCat(rig.name, ".shape", files.size(), ".npy");
    SINEW_RETURN_IF_ERROR(
        Write(folder / file, bake::EncodeNpy(std::array{vertices, std::uint64_t{3}}, offsets)));
    files[rig.rig.controls()[shape.control].name] = file;
  }
  return files;
}

// Writes a rig and its poses. Returns its entry of index.json.
absl::StatusOr<Json> WriteRig(const fs::path& folder, const CaseRig& rig) {
  const std::uint64_t frames = rig.poses.size(), joints = rig.rig.joints();
  const std::uint64_t controls = rig.rig.controls().size();
  const std::string bytes = rig.name + ".sinewrig", poses = rig.name + ".poses.npy";
  Json entry = {{"rig", bytes},
                {"poses", poses},
                {"vertices", rig.rig.vertices()},
                {"frames", Json::array()}};
  for (const CasePose& pose : rig.poses) entry["frames"].push_back(pose.name);
  SINEW_RETURN_IF_ERROR(Write(folder / bytes, rig.bytes));
  SINEW_RETURN_IF_ERROR(
      Write(folder / poses,
            bake::EncodeNpy(std::array{frames, joints, std::uint64_t{12}}, JointsOf(rig))));
  if (controls > 0) {
    const std::string values = rig.name + ".controls.npy";
    entry["controls"] = values;
    SINEW_RETURN_IF_ERROR(
        Write(folder / values, bake::EncodeNpy(std::array{frames, controls}, ControlsOf(rig))));
  }
  if (rig.not_in_blender.empty()) {
    SINEW_ASSIGN_OR_RETURN(entry["shapes"], WriteShapes(folder, rig));
  } else {
    entry["not_in_blender"] = rig.not_in_blender;
  }
  return entry;
}

// Writes the results in double. Returns its entry of index.json.
absl::StatusOr<Json> WriteCase(const fs::path& folder, const Case& c) {
  Json entry = {{"name", c.name}, {"rig", c.rig->name}, {"recipe", c.recipe}};
  if (!c.no_reference.empty()) {
    entry["no_reference"] = c.no_reference;
    return entry;
  }
  std::vector<double> values;
  for (const CaseFrame& frame : c.frames) {
    for (const Vec3d& p : *frame.expected) values.insert(values.end(), {p.x, p.y, p.z});
  }
  const std::string file = c.name + ".npy";
  SINEW_RETURN_IF_ERROR(
      Write(folder / file, EncodeNpy64({c.frames.size(), c.rig->rig.vertices(), 3}, values)));
  entry["reference"] = {{"positions", file},
                        {"sources", c.sources},
                        {"distance", c.nearness.distance},
                        {"share", c.nearness.share},
                        {"origin", c.nearness.origin}};
  return entry;
}

// What clients must reproduce bit by bit, and the input that it belongs to.
Json ExpectedOf(const Case& c) {
  Json frames = Json::array();
  for (const CaseFrame& frame : c.frames) frames.push_back(Sha256Hex(BytesOf(frame.positions)));
  Sha256 input;
  input.Update(c.rig->bytes);
  input.Update(BytesOf(JointsOf(*c.rig)));
  input.Update(BytesOf(ControlsOf(*c.rig)));
  return {{"recipe", c.recipe},
          {"input", input.Hex()},
          {"determinism_digest", c.determinism_digest},
          {"positions", std::move(frames)}};
}

absl::Status Run(const fs::path& folder, const fs::path& expected_path) {
  SINEW_ASSIGN_OR_RETURN(const std::vector<CaseRig> rigs, MakeCaseRigs());
  SINEW_ASSIGN_OR_RETURN(const std::vector<Case> cases, MakeCases(rigs));
  fs::create_directories(folder);
  Json index = {{"rigs", Json::object()}, {"cases", Json::array()}};
  Json expected = {{"math_library", MathLibraryDigest()}, {"cases", Json::object()}};
  for (const CaseRig& rig : rigs) {
    SINEW_ASSIGN_OR_RETURN(index["rigs"][rig.name], WriteRig(folder, rig));
  }
  std::printf("%-36s %9s %9s\n", "case", "measured", "allowed");
  for (const Case& c : cases) {
    SINEW_ASSIGN_OR_RETURN(Json entry, WriteCase(folder, c));
    index["cases"].push_back(std::move(entry));
    expected["cases"][c.name] = ExpectedOf(c);
    if (c.no_reference.empty()) {
      std::printf("%-36s %9.2g %9.2g\n", c.name.c_str(), c.measured, c.nearness.distance);
    } else {
      std::printf("%-36s %s\n", c.name.c_str(), c.no_reference.c_str());
    }
  }
  SINEW_RETURN_IF_ERROR(Write(folder / "index.json", index.dump(1) + "\n"));
  return Write(expected_path, expected.dump(1) + "\n");
}

}  // namespace
}  // namespace sinew::conformance

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: %s FOLDER [EXPECTED]\n", argv[0]);
    return 64;
  }
  const std::filesystem::path folder = argv[1];
  const absl::Status status =
      sinew::conformance::Run(folder, argc == 3 ? argv[2] : folder / "expected.json");
  if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 70;
}
