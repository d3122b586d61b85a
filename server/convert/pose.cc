#include "server/convert/pose.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <google/protobuf/generated_enum_reflection.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "core/deform/method/vertex_status.h"
#include "core/rig/layout.h"
#include "server/base/status.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

constexpr std::uint32_t kMinChunkBytes = 4096;

// States go over the wire as the core writes them.
static_assert(static_cast<int>(VertexStatus::kNotDisplaced) == v1::VERTEX_STATUS_NOT_DISPLACED &&
              static_cast<int>(VertexStatus::kFitted) == v1::VERTEX_STATUS_FITTED &&
              static_cast<int>(VertexStatus::kGradientDivergence) ==
                  v1::VERTEX_STATUS_GRADIENT_DIVERGENCE &&
              static_cast<int>(VertexStatus::kPotentialPit) == v1::VERTEX_STATUS_POTENTIAL_PIT &&
              static_cast<int>(VertexStatus::kIterationLimit) ==
                  v1::VERTEX_STATUS_ITERATION_LIMIT &&
              static_cast<int>(VertexStatus::kZeroGradient) == v1::VERTEX_STATUS_ZERO_GRADIENT &&
              static_cast<int>(VertexStatus::kExcluded) == v1::VERTEX_STATUS_EXCLUDED &&
              static_cast<int>(VertexStatus::kUnmoved) == v1::VERTEX_STATUS_UNMOVED &&
              static_cast<int>(VertexStatus::kAtRestLevel) == v1::VERTEX_STATUS_AT_REST_LEVEL &&
              static_cast<int>(VertexStatus::kContact) == v1::VERTEX_STATUS_CONTACT &&
              static_cast<int>(VertexStatus::kMoveLimit) == v1::VERTEX_STATUS_MOVE_LIMIT);

// Encodings and rules as well.
static_assert(static_cast<int>(Encoding::kFloat32) == v1::ENCODING_FLOAT32 &&
              static_cast<int>(Encoding::kQ16) == v1::ENCODING_Q16 &&
              static_cast<int>(Encoding::kOct8) == v1::ENCODING_OCT8 &&
              static_cast<int>(Encoding::kOct16) == v1::ENCODING_OCT16 &&
              static_cast<int>(NormalRule::kCarried) == v1::NORMAL_RULE_CARRIED &&
              static_cast<int>(NormalRule::kRecomputed) == v1::NORMAL_RULE_RECOMPUTED);

// Lists of what a client accepts may hold values of later versions, but not any number of them.
constexpr int kListed = 64;

absl::Status CheckListed(int size, const char* field) {
  if (size <= kListed) return absl::OkStatus();
  return InvalidField(field, absl::StrCat("got ", size, " entries, need at most ", kListed));
}

absl::Status CheckLists(const v1::OutputOptions& options) {
  SINEW_RETURN_IF_ERROR(CheckListed(options.attributes_size(), "output.attributes"));
  SINEW_RETURN_IF_ERROR(CheckListed(options.encodings_size(), "output.encodings"));
  SINEW_RETURN_IF_ERROR(CheckListed(options.normal_encodings_size(), "output.normal_encodings"));
  return CheckListed(options.compressions_size(), "output.compressions");
}

absl::Status CheckAttributes(const v1::OutputOptions& options, Output& output) {
  bool positions = options.attributes_size() == 0;
  for (int i = 0; i < options.attributes_size(); ++i) {
    switch (options.attributes(i)) {
      case v1::ATTRIBUTE_POSITIONS:
        positions = true;
        break;
      case v1::ATTRIBUTE_NORMALS:
        output.normals = true;
        break;
      case v1::ATTRIBUTE_TANGENTS:
        output.tangents = true;
        break;
      case v1::ATTRIBUTE_VERTEX_STATUS:
        output.vertex_status = true;
        break;
      default:
        return InvalidField(absl::StrCat("output.attributes[", i, "]"),
                            absl::StrCat("got ", static_cast<int>(options.attributes(i)),
                                         ", need ATTRIBUTE_POSITIONS, ATTRIBUTE_NORMALS, "
                                         "ATTRIBUTE_TANGENTS or ATTRIBUTE_VERTEX_STATUS"));
    }
  }
  return positions ? absl::OkStatus()
                   : InvalidField("output.attributes", "lacks ATTRIBUTE_POSITIONS");
}

// The first of what the client accepts that is supported; if it says nothing, the first of those.
template <class Enum>
absl::StatusOr<Enum> Choose(const google::protobuf::RepeatedField<int>& acceptable,
                            std::span<const Enum> supported, const char* field) {
  if (acceptable.empty()) return supported.front();
  for (const int value : acceptable) {
    if (std::ranges::count(supported, value) > 0) return static_cast<Enum>(value);
  }
  const auto name = [](std::string* out, Enum value) {
    out->append(google::protobuf::GetEnumDescriptor<Enum>()->FindValueByNumber(value)->name());
  };
  return InvalidField(field, absl::StrCat("none of them is supported, need ",
                                          absl::StrJoin(supported, " or ", name)));
}

absl::Status CheckNames(int names, std::size_t has, const char* what) {
  if (static_cast<std::size_t>(names) <= has) return absl::OkStatus();
  return InvalidField(absl::StrCat("layout.", what),
                      absl::StrCat("got ", CountedText(static_cast<std::uint64_t>(names), "name"),
                                   ", the rig has ", has, " ", what));
}

}  // namespace

absl::StatusOr<PoseFormat> ToPoseFormat(const v1::PoseLayout& layout, const Rig& rig) {
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(layout, "layout"));
  if (!v1::JointFormat_IsValid(layout.joint_format())) {
    return InvalidField("layout.joint_format",
                        absl::StrCat("got ", static_cast<int>(layout.joint_format()),
                                     ", need JOINT_FORMAT_MATRIX_3X4 or JOINT_FORMAT_TRS"));
  }
  if (!v1::Space_IsValid(layout.space())) {
    return InvalidField("layout.space", absl::StrCat("got ", static_cast<int>(layout.space()),
                                                     ", need SPACE_MODEL or SPACE_LOCAL"));
  }
  SINEW_RETURN_IF_ERROR(CheckNames(layout.joints_size(), rig.joints(), "joints"));
  SINEW_RETURN_IF_ERROR(CheckNames(layout.controls_size(), rig.controls().size(), "controls"));
  const std::vector<std::string> joints(layout.joints().begin(), layout.joints().end());
  const std::vector<std::string> controls(layout.controls().begin(), layout.controls().end());
  absl::StatusOr<PoseFormat> format = PoseFormat::Create(
      rig,
      layout.joint_format() == v1::JOINT_FORMAT_TRS ? JointFormat::kTrs : JointFormat::kMatrix3x4,
      layout.space() == v1::SPACE_LOCAL ? PoseSpace::kLocal : PoseSpace::kModel, joints, controls);
  return format.ok() ? format : WithDetails(format.status());
}

std::uint32_t Output::ChunkVertices() const {
  const std::size_t vertices = chunk_bytes / BytesPerVertex() / kLanes * kLanes;
  return static_cast<std::uint32_t>(std::max(vertices, kLanes));
}

absl::StatusOr<Output> ToOutput(const v1::OutputOptions& options, const StreamConfig& limits) {
  SINEW_RETURN_IF_ERROR(CheckLists(options));
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(options, "output"));
  Output output;
  SINEW_RETURN_IF_ERROR(CheckAttributes(options, output));
  SINEW_ASSIGN_OR_RETURN(const v1::Encoding encoding,
                         Choose<v1::Encoding>(options.encodings(), kEncodings, "output.encodings"));
  SINEW_ASSIGN_OR_RETURN(const v1::Encoding normal_encoding,
                         Choose<v1::Encoding>(options.normal_encodings(), kNormalEncodings,
                                              "output.normal_encodings"));
  SINEW_ASSIGN_OR_RETURN(
      const v1::Compression compression,
      Choose<v1::Compression>(options.compressions(), kCompressions, "output.compressions"));
  output.encoding = static_cast<Encoding>(encoding);
  output.normal_encoding = static_cast<Encoding>(normal_encoding);
  output.zstd = compression == v1::COMPRESSION_ZSTD;
  if (options.chunk_bytes() != 0) {
    SINEW_RETURN_IF_ERROR(CheckLimit("output.chunk_bytes", options.chunk_bytes(),
                                     limits.chunk_bytes, "bytes", "max-chunk-bytes"));
    if (options.chunk_bytes() < kMinChunkBytes) {
      return InvalidField("output.chunk_bytes",
                          absl::StrCat("got ", options.chunk_bytes(), ", need ", kMinChunkBytes,
                                       " or more, or 0 = 1 MiB"));
    }
    output.chunk_bytes = options.chunk_bytes();
  }
  if (!v1::NormalRule_IsValid(options.normal_rule())) {
    return InvalidField(
        "output.normal_rule",
        absl::StrCat("got ", static_cast<int>(options.normal_rule()),
                     ", need NORMAL_RULE_CARRIED or NORMAL_RULE_RECOMPUTED, or none"));
  }
  output.normal_rule = static_cast<NormalRule>(options.normal_rule());
  output.checksums = !options.omit_checksums();
  output.muscles = options.muscles();
  return output;
}

absl::Status CheckPoseBlock(const v1::PoseBlock& block, std::uint64_t limit,
                            std::string_view limit_name) {
  const auto count = static_cast<std::uint64_t>(block.poses_size());
  SINEW_RETURN_IF_ERROR(CheckLimit("poses", count, limit, "poses", limit_name));
  if (count == 0) return InvalidField("poses", "got none, need one or more");
  std::uint64_t last = 0;
  for (int i = 0; i < block.poses_size(); ++i) {
    if (block.poses(i).frame() <= last) {
      return InvalidField(absl::StrCat("poses.poses[", i, "].frame"),
                          absl::StrCat("got ", block.poses(i).frame(), ", need more than ", last,
                                       " (frames start at 1 and rise)"));
    }
    last = block.poses(i).frame();
  }
  return absl::OkStatus();
}

}  // namespace sinew::server
