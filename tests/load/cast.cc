#include "tests/load/cast.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "client/models/models.h"

namespace sinew::testing {
namespace {

// Not a multiple of the poses in flight, so that a frame of the wrong pose has other bits.
constexpr std::uint32_t kPoses = 61;
constexpr std::size_t kMostRigs = 20;
constexpr std::size_t kSessionsPerRig = 50;

// Recipes whose frames take less than a few milliseconds.
constexpr const char* kRecipes[] = {
    "lbs", "dqs", "cor", "ddm", "delta_mush", "enhanced_ddm", "spherical_blend", "bulge_free_dqs"};
constexpr const char* kSlowRecipes[] = {"implicit_skinning", "dqs | implicit"};

// Longer than any run, so that sessions end when they are deleted.
const absl::Duration kLease = absl::Hours(12);

}  // namespace

Motion LoadMotion(bool large, double radius, const std::string& recipe) {
  client::TubeOptions tube = {.rings = 20, .segments = 25, .joints = 4, .radius = radius};
  if (large) {
    tube.rings = 54;
    tube.segments = 37;
  }
  tube.frames = kPoses;
  return MotionOf(client::Tube(tube), recipe);
}

Cast::Cast(Report& report, const client::Client& client, std::size_t sessions) {
  const std::size_t rigs = std::clamp<std::size_t>(sessions / kSessionsPerRig, 2, kMostRigs);
  for (std::size_t rig = 0; rig < rigs; ++rig) {
    const bool large = rig % 2 == 0;
    for (const char* recipe : kRecipes) AddPair(report, client, rig, large, recipe);
    if (large) continue;
    for (const char* recipe : kSlowRecipes) AddPair(report, client, rig, large, recipe);
  }
  for (std::size_t i = 0; i < sessions; ++i) {
    LoadSession session = first_[i % first_.size()];
    if (i >= first_.size()) {
      session.name =
          report
              .Need(client.CreateSession(
                        {.rig = session.rig, .recipe = session.motion->recipe, .ttl = kLease}),
                    "CreateSession")
              .name;
    }
    sessions_.push_back(std::move(session));
  }
  for (std::size_t i = sessions; i < first_.size(); ++i) {
    report.Need(client.DeleteSession(first_[i].name), "DeleteSession");
  }
}

void Cast::AddPair(Report& report, const client::Client& client, std::size_t rig, bool large,
                   const std::string& recipe) {
  const double radius = 0.2 + 0.005 * static_cast<double>(rig);
  Motion& motion = motions_.emplace_back(LoadMotion(large, radius, recipe));
  if (rig == rig_names_.size()) {
    rig_names_.push_back(report.Need(client.UploadRig(motion.rig), "UploadRig").rig.name);
  }
  const auto session =
      report.Need(client.CreateSession({.rig = rig_names_[rig], .recipe = recipe, .ttl = kLease}),
                  "CreateSession");
  report.Need(client.WaitSession(session.name), absl::StrCat("WaitSession of ", recipe));
  report.Need(RecordSums(client, session.name, motion), absl::StrCat("DeformClip of ", recipe));
  first_.push_back({.name = session.name, .rig = rig_names_[rig], .motion = &motion});
}

void Cast::Remove(Report& report, const client::Client& client) const {
  for (const LoadSession& session : sessions_) {
    report.Check(client.DeleteSession(session.name), "DeleteSession");
  }
  for (const std::string& rig : rig_names_) report.Check(client.DeleteRig(rig), "DeleteRig");
}

void CheckDeform(Report& report, const client::Client& client, const std::string& session,
                 const LoadSession& like, std::uint64_t frame) {
  const Motion& motion = *like.motion;
  const auto view = client.Deform({.session = session}, {},
                                  {.joint_transforms = motion.Pose(frame)}, CheckedOutput());
  if (!report.Check(view.status(), absl::StrCat("Deform of ", motion.recipe))) return;
  if (SumOf(*view) != motion.Sum(frame)) {
    report.Error(absl::StrCat("Deform of pose ", frame, " (", motion.recipe,
                              "): other bits than without load"));
  }
}

}  // namespace sinew::testing
