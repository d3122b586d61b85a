#include "client/lib/codec/message_codec.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "client/lib/codec/recipe_json.h"
#include "client/lib/codec/rig_codec.h"
#include "client/lib/codec/status_codec.h"
#include "client/lib/codec/utf8.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

template <class To, class From>
std::vector<To> ToEnums(const From& values) {
  std::vector<To> result;
  for (const int value : values) result.push_back(static_cast<To>(value));
  return result;
}

std::string FromFloats(std::span<const float> floats) {
  const std::span<const std::byte> bytes = std::as_bytes(floats);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

ServerInfo ToServerInfo(const v1::GetServerInfoResponse& response) {
  ServerInfo info{.version = response.version(),
                  .simd = response.simd(),
                  .threads = response.threads(),
                  .limits = {},
                  .encodings = ToEnums<Encoding>(response.encodings()),
                  .normal_encodings = ToEnums<Encoding>(response.normal_encodings()),
                  .compressions = ToEnums<Compression>(response.compressions()),
                  .attributes = ToEnums<Attribute>(response.attributes()),
                  .stats = {}};
  for (const v1::Limit& limit : response.limits()) {
    info.limits.push_back({limit.name(), limit.value(), limit.unit(), limit.description()});
  }
  const v1::ServerStats& stats = response.stats();
  info.stats = {.rigs = stats.rigs(),
                .rig_bytes = stats.rig_bytes(),
                .sessions = stats.sessions(),
                .bound_entries = stats.bound_entries(),
                .bound_bytes = stats.bound_bytes(),
                .streams = stats.streams(),
                .frames_sent = stats.frames_sent(),
                .uptime_seconds = stats.uptime_seconds(),
                .binds_running = stats.binds_running(),
                .binds_queued = stats.binds_queued(),
                .tenant_only = stats.tenant_only()};
  return info;
}

Method ToMethod(const v1::Method& method) {
  Method result{.name = method.name(),
                .summary = method.summary(),
                .reads = method.reads(),
                .paper = method.paper(),
                .cost_class = method.cost_class(),
                .example = method.example(),
                .version = method.version(),
                .parameters = {}};
  for (const v1::Parameter& from : method.parameters()) {
    Parameter& to = result.parameters.emplace_back();
    to.name = from.name();
    to.type = from.type();
    to.unit = from.unit();
    to.default_value = from.default_value();
    if (from.has_minimum()) to.minimum = from.minimum();
    if (from.has_maximum()) to.maximum = from.maximum();
    to.choices = {from.choices().begin(), from.choices().end()};
    to.description = from.description();
  }
  return result;
}

Preset ToPreset(const v1::Preset& preset) {
  return {.name = preset.name(), .recipe_text = preset.recipe_text(), .summary = preset.summary()};
}

RigSummary ToRigSummary(const v1::RigSummary& summary) {
  RigSummary result;
  result.name = summary.name();
  result.size_bytes = summary.size_bytes();
  result.vertices = summary.vertices();
  result.faces = summary.faces();
  for (const v1::Joint& joint : summary.joints()) result.joints.push_back(ToJoint(joint));
  for (const v1::Control& control : summary.controls())
    result.controls.push_back(ToControl(control));
  for (const v1::MeshRange& mesh : summary.meshes()) {
    result.meshes.push_back(
        {mesh.name(), mesh.vertex_offset(), mesh.vertex_count(), mesh.face_count()});
  }
  const v1::Bounds& bounds = summary.bounds();
  if (bounds.minimum_size() == 3 && bounds.maximum_size() == 3) {
    std::copy(bounds.minimum().begin(), bounds.minimum().end(), result.bounds.begin());
    std::copy(bounds.maximum().begin(), bounds.maximum().end(), result.bounds.begin() + 3);
  }
  result.without_weights = summary.without_weights();
  if (summary.has_create_time()) result.create_time = ToTime(summary.create_time());
  return result;
}

Session ToSession(const v1::Session& session) {
  Session result;
  result.name = session.name();
  result.rig = session.source().rig();
  result.recipe_text = session.source().recipe_text();
  if (session.has_recipe()) result.recipe_json = RecipeJson(session.recipe());
  result.determinism_digest = session.determinism_digest();
  result.state = static_cast<SessionState>(session.state());
  result.progress = session.progress();
  result.estimate = {.bound_bytes = session.estimate().bound_bytes(),
                     .peak_bytes = session.estimate().peak_bytes(),
                     .bind_time = ToDuration(session.estimate().bind_time()),
                     .frame_time = ToDuration(session.estimate().frame_time())};
  if (session.has_problem()) result.problem = ToProblem(session.problem());
  result.ttl = ToDuration(session.ttl());
  if (session.has_expire_time()) result.expire_time = ToTime(session.expire_time());
  result.bound_bytes = session.bound_bytes();
  result.warnings = ToProblems(session.warnings());
  for (const v1::BindStatistic& statistic : session.statistics()) {
    result.statistics.push_back({statistic.stage(), statistic.name(), statistic.value(),
                                 statistic.unit(), statistic.description()});
  }
  return result;
}

absl::StatusOr<v1::SessionSource> FromRecipe(const std::string& rig, const std::string& recipe,
                                             const std::string& determinism_digest) {
  if (rig.empty()) return InvalidField("rig", "got \"\", need rigs/sha256-<hex>");
  SINEW_RETURN_IF_ERROR(CheckUtf8("rig", rig));
  SINEW_RETURN_IF_ERROR(CheckUtf8("recipe", recipe));
  SINEW_RETURN_IF_ERROR(CheckUtf8("determinism_digest", determinism_digest));
  const std::size_t first = recipe.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) {
    return InvalidField("recipe", "got \"\", need text such as \"ddm\" or JSON");
  }
  v1::SessionSource source;
  source.set_rig(rig);
  source.set_determinism_digest(determinism_digest);
  if (recipe[first] != '{') {
    source.set_recipe_text(recipe);
    return source;
  }
  SINEW_RETURN_IF_ERROR(SetRecipe(recipe, source));
  return source;
}

absl::StatusOr<v1::Target> FromTarget(const Target& target) {
  v1::Target result;
  if (target.session.empty()) {
    SINEW_ASSIGN_OR_RETURN(*result.mutable_source(),
                           FromRecipe(target.rig, target.recipe, target.determinism_digest));
    return result;
  }
  if (!target.rig.empty() || !target.recipe.empty()) {
    return InvalidField("target", "got a session and a rig or recipe, need one of them");
  }
  result.set_session(target.session);
  return result;
}

v1::PoseLayout FromLayout(const PoseLayout& layout) {
  v1::PoseLayout result;
  result.set_joint_format(static_cast<v1::JointFormat>(layout.joint_format));
  result.set_space(static_cast<v1::Space>(layout.space));
  for (const std::string& joint : layout.joints) result.add_joints(joint);
  for (const std::string& control : layout.controls) result.add_controls(control);
  return result;
}

static_assert(static_cast<int>(NormalRule::kCarried) == v1::NORMAL_RULE_CARRIED &&
              static_cast<int>(NormalRule::kRecomputed) == v1::NORMAL_RULE_RECOMPUTED);

v1::OutputOptions FromOutput(const OutputOptions& output) {
  v1::OutputOptions result;
  for (const Attribute attribute : output.attributes) {
    result.add_attributes(static_cast<v1::Attribute>(attribute));
  }
  for (const Encoding encoding : output.encodings) {
    result.add_encodings(static_cast<v1::Encoding>(encoding));
  }
  for (const Encoding encoding : output.normal_encodings) {
    result.add_normal_encodings(static_cast<v1::Encoding>(encoding));
  }
  for (const Compression compression : output.compressions) {
    result.add_compressions(static_cast<v1::Compression>(compression));
  }
  result.set_chunk_bytes(output.chunk_bytes);
  result.set_omit_checksums(!output.checksums);
  result.set_muscles(output.muscles);
  result.set_normal_rule(static_cast<v1::NormalRule>(output.normal_rule));
  return result;
}

v1::Pose FromPose(const Pose& pose) {
  v1::Pose result;
  result.set_joint_transforms(FromFloats(pose.joint_transforms));
  result.set_controls(FromFloats(pose.controls));
  result.set_frame(pose.frame);
  if (pose.time) result.set_time(*pose.time);
  return result;
}

}  // namespace sinew::client
