// The march of a hand that closes, on fitted fields, against the reference in double.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "client/models/models.h"
#include "core/deform/dqs/dqs.h"
#include "core/deform/implicit/field.h"
#include "core/rig/bind_pose.h"
#include "server/convert/rig.h"
#include "sinew/client.h"
#include "tests/reference/field_reference.h"
#include "tests/support/compare.h"
#include "tests/support/run_method.h"
#include "tests/unit/core/deform/implicit/march/march_limb.h"

namespace sinew {
namespace {

using testing::ValueOrDie;

// Vertices whose step lies on the edge of a condition may end it differently in float.
TEST(MarchHand, MatchesReference) {
  const client::Model model = ValueOrDie(client::Make("hand"));
  const Rig rig =
      *ValueOrDie(server::ConvertRig(ValueOrDie(client::EncodeRig(model.rig)), server::RigConfig{}))
           .rig;
  Task task;
  const LimbField field = ValueOrDie(LimbField::Bind(rig, Weld(rig), 50, task));
  const PosedLimbField rest(field);
  const testing::MarchLimb hand(rig, rest);
  std::vector<Affine> bind;
  for (const AffineD& joint : BindPose(rig)) bind.push_back(ToFloat(joint));
  for (const std::size_t frame : {9, 18}) {
    std::vector<Affine> pose(rig.joints());
    for (std::size_t j = 0; j < pose.size(); ++j) {
      std::copy_n(model.clip.joint_transforms.data() + (frame * pose.size() + j) * 12, 12,
                  pose[j].m.begin());
    }
    PosedRig posed;
    posed.joints = pose;
    const auto run = hand.Run<Dqs>(pose, PosedLimbField(field, posed));
    const auto distances = reference::DistancesOf(field, bind, pose);
    const reference::Marched want = hand.Reference(distances, run.start);
    std::size_t other = 0, far = 0;
    for (std::size_t v = 0; v < run.points.size(); ++v) {
      const double off = testing::Distance(run.points[v], want.points[v]) / field.unit();
      other += run.vertex_status[v] != static_cast<std::uint8_t>(want.status[v]) ? 1 : 0;
      far += off > 1e-3 ? 1 : 0;
    }
    EXPECT_LT(other, run.points.size() / 200) << frame;
    EXPECT_LE(far, run.points.size() / 2000) << frame;
    EXPECT_GT(run.Count(VertexStatus::kNotDisplaced) + run.Count(VertexStatus::kFitted),
              run.points.size() / 2)
        << frame;
    EXPECT_TRUE(frame < 18 || run.Count(VertexStatus::kGradientDivergence) > 20);
  }
}

}  // namespace
}  // namespace sinew
