#include "client/cli/character/weights_text.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <vector>

#include "client/bake/base/quantity.h"
#include "client/bake/pictures/weights_table.h"
#include "client/cli/base/table.h"

namespace sinew::cli {

std::string WeightsText(const client::RigData& rig) {
  std::vector<bake::JointShare> shares = bake::JointShares(rig);
  std::stable_sort(
      shares.begin(), shares.end(),
      [](const bake::JointShare& a, const bake::JointShare& b) { return a.share > b.share; });
  Table table({{"joint"}, {"vertices"}, {"share"}, {"largest"}});
  for (const bake::JointShare& share : shares) {
    if (share.vertices == 0) break;
    table.Add({rig.joints[share.joint].name, share.vertices,
               Cell(share.share, absl::StrFormat("%.2f %%", share.share * 100)),
               Cell(share.largest, absl::StrFormat("%.3f", share.largest))});
  }
  return table.Text();
}

}  // namespace sinew::cli
