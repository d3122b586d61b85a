// request.cc - every request message without a server: fields are counted, bytes parsed, unknown
// fields refused and what it names converted for a small rig. The first byte selects the message.
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <array>

#include "core/deform/engine/recipe_text.h"
#include "server/convert/field_count.h"
#include "server/convert/fit.h"
#include "server/convert/pose.h"
#include "server/convert/recipe.h"
#include "server/convert/rig.h"
#include "server/convert/unknown_fields.h"
#include "server/convert/weights.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/messages.h"
#include "tests/fuzz/requests.h"
#include "tests/support/test_rig.h"

namespace {

using namespace sinew;

const server::Config kConfig;

// A tube with a control.
v1::Rig SmallRig() {
  v1::Rig rig = sinew::testing::TubeRig({.rings = 3, .segments = 3});
  rig.add_controls()->set_name("bulge");
  return rig;
}

void CheckTarget(const v1::Target& target) {
  if (!target.has_source()) return;
  const absl::StatusOr<Recipe> recipe = server::RecipeOf(target.source(), kConfig.sessions);
  if (!recipe.ok()) {
    fuzz::RequireClientError(recipe.status());
    return;
  }
  const absl::StatusOr<Recipe> again = server::ToRecipe(server::ToProto(*recipe));
  fuzz::Require(again.ok() && FormatRecipe(*again) == FormatRecipe(*recipe),
                "a recipe that is read back");
}

void CheckOutput(const v1::OutputOptions& options) {
  const absl::StatusOr<server::Output> output = server::ToOutput(options, kConfig.streams);
  if (!output.ok()) {
    fuzz::RequireClientError(output.status());
    return;
  }
  fuzz::Require(output->ChunkVertices() % 16 == 0 &&
                    output->ChunkVertices() * output->BytesPerVertex() <= output->chunk_bytes,
                "pieces of at most chunk_bytes");
}

class SmallCharacter {
 public:
  // The poses as this layout reads them.
  void CheckPoses(const v1::PoseLayout& layout, const auto& poses) const {
    const absl::StatusOr<PoseFormat> format = server::ToPoseFormat(layout, *rig_);
    if (!format.ok()) {
      fuzz::RequireClientError(format.status());
      return;
    }
    std::vector<Affine> joints;
    std::vector<float> controls;
    for (const v1::Pose& pose : poses) {
      const absl::Status read =
          format->Read(*rig_, pose.joint_transforms(), pose.controls(), joints, controls);
      if (!read.ok()) {
        fuzz::RequireClientError(read);
        continue;
      }
      fuzz::Require(joints.size() == rig_->joints() && controls.size() == rig_->controls().size(),
                    "every joint and control");
      for (const Affine& joint : joints) fuzz::Require(fuzz::AllFinite(joint.m), "finite joints");
      fuzz::Require(fuzz::AllFinite(controls), "finite controls");
    }
  }
  void CheckBlock(const v1::PoseLayout& layout, const v1::PoseBlock& block) const {
    const absl::Status checked = server::CheckPoseBlock(block, 100, "max-clip-poses");
    if (!checked.ok()) {
      fuzz::RequireClientError(checked);
      return;
    }
    CheckPoses(layout, block.poses());
  }
  void CheckWeights(const v1::ComputeWeightsRequest& request) const {
    const absl::StatusOr<WeightOptions> options =
        server::ReadWeightOptions(request, kConfig.weights, kConfig.rigs);
    if (!options.ok()) fuzz::RequireClientError(options.status());
    const absl::StatusOr<RigWeightsInput> input =
        server::ReadWeightsInput(message_, request, kConfig.rigs);
    if (!input.ok()) fuzz::RequireClientError(input.status());
  }

 private:
  const v1::Rig message_ = SmallRig();
  const std::shared_ptr<const Rig> rig_ =
      server::ConvertRig(message_.SerializeAsString(), kConfig.rigs)->rig;
};

void Convert(const google::protobuf::Message& message) {
  static const SmallCharacter character;
  if (const auto* deform = dynamic_cast<const v1::DeformRequest*>(&message)) {
    CheckTarget(deform->target());
    CheckOutput(deform->output());
    character.CheckPoses(deform->layout(), std::array{deform->pose()});
  } else if (const auto* stream = dynamic_cast<const v1::StreamDeformRequest*>(&message)) {
    CheckTarget(stream->open().target());
    CheckOutput(stream->open().output());
    character.CheckPoses(stream->open().layout(), stream->poses());
  } else if (const auto* clip = dynamic_cast<const v1::DeformClipRequest*>(&message)) {
    CheckTarget(clip->target());
    CheckOutput(clip->output());
    character.CheckBlock(clip->layout(), clip->poses());
  } else if (const auto* compare = dynamic_cast<const v1::CompareDeformersRequest*>(&message)) {
    for (const v1::Target& target : compare->targets()) CheckTarget(target);
    character.CheckBlock(compare->layout(), compare->poses());
  } else if (const auto* create = dynamic_cast<const v1::CreateSessionRequest*>(&message)) {
    v1::Target target;
    *target.mutable_source() = create->source();
    CheckTarget(target);
  } else if (const auto* weights = dynamic_cast<const v1::ComputeWeightsRequest*>(&message)) {
    character.CheckWeights(*weights);
  } else if (const auto* fit = dynamic_cast<const v1::FitSkeletonRequest*>(&message)) {
    const absl::StatusOr<server::FitRequest> read = server::ReadFitRequest(*fit, kConfig.weights);
    if (!read.ok()) return fuzz::RequireClientError(read.status());
    const std::size_t joints = read->skeleton.joints.size();
    fuzz::Require(joints >= 2 && joints <= fit::kMaxTemplateJoints, "2 to 64 joints");
    fuzz::Require(read->options.hints.size() <= joints, "a hint for each joint at most");
  }
}

}  // namespace

std::unique_ptr<google::protobuf::Message> fuzz::EmptyMessage(std::string_view& bytes) {
  return std::unique_ptr<google::protobuf::Message>(TakeRequestType(bytes).empty->New());
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes = fuzz::Text(data, size);
  const auto message = fuzz::EmptyMessage(bytes);
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  const std::uint64_t most = kConfig.network.message_fields;
  const std::uint64_t fields = server::CountFields(*message->GetDescriptor(), stream, most);
  fuzz::Require(fields <= bytes.size(), "no more fields than bytes");
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return 0;
  fuzz::RequireCounted(*message, bytes);
  const absl::Status known = server::RefuseUnknownFields(*message, "");
  if (!known.ok()) fuzz::RequireClientError(known);
  Convert(*message);
  return 0;
}
