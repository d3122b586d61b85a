#include "tests/load/churn.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <chrono>
#include <utility>

#include "tests/load/pace.h"

namespace sinew::testing {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kUploadPeriod{1000}, kBindPeriod{1000}, kWeightsPeriod{10'000},
    kLookUpPeriod{50};
constexpr std::size_t kKeptUploads = 10;

// A recipe that no session has had; its bind takes some to some hundred milliseconds.
std::string NewRecipe(std::uint64_t number) {
  const double shift = 1e-5 * static_cast<double>(number);
  switch (number % 4) {
    case 0:
      return absl::StrFormat("ddm(lambda=%.5f)", 10 + shift);
    case 1:
      return absl::StrFormat("dqs(blend=%.5f) | bulge_free | implicit | relax", 0.5 + shift);
    case 2:
      return absl::StrFormat("cor(sigma=%.5f)", 0.1 + shift);
    default:
      return absl::StrFormat("lbs | delta_mush(step=%.5f)", 0.3 + shift);
  }
}

}  // namespace

Churn::Churn(Report& report, const std::string& address, const Cast& cast, std::uint32_t seed)
    : report_(report), address_(address), cast_(cast), seed_(seed) {}

void Churn::BindNow(std::size_t count) {
  const client::Client client = Connected();
  Random dice(seed_ * 31 + 30);
  for (std::size_t i = 0; i < count; ++i) BindOne(client, dice);
}

void Churn::Start() {
  using Step = void (Churn::*)(const client::Client&, Random&);
  const auto repeat = [&](milliseconds period, Step step) {
    const auto number = static_cast<std::uint32_t>(threads_.size());
    threads_.emplace_back([this, period, step, number](const std::stop_token& stop) {
      const client::Client client = Connected();
      Random dice(seed_ * 31 + number);
      Repeat(period, stop, [&] { (this->*step)(client, dice); });
    });
  };
  repeat(kUploadPeriod, &Churn::UploadOne);
  repeat(kBindPeriod, &Churn::BindOne);
  repeat(kWeightsPeriod, &Churn::ComputeOne);
  repeat(kLookUpPeriod, &Churn::LookUpOne);
}

void Churn::Stop() {
  if (threads_.empty()) return;
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
  const client::Client client = Connected();
  while (!uploaded_.empty()) DeleteOldest(client);
}

client::Client Churn::Connected() const {
  return *client::Client::Connect(Direct(address_));  // does not wait for the server
}

const LoadSession& Churn::Choose(Random& dice) const {
  return cast_.sessions()[dice.Below(static_cast<std::uint32_t>(cast_.sessions().size()))];
}

std::string Churn::Bound(const client::Client& client, const std::string& rig,
                         const std::string& recipe) {
  const auto session = client.CreateSession({.rig = rig, .recipe = recipe});
  if (!report_.Check(session.status(), absl::StrCat("CreateSession of ", recipe))) return "";
  const auto ready = client.WaitSession(session->name);
  if (!report_.Check(ready.status(), absl::StrCat("WaitSession of ", recipe))) return "";
  return session->name;
}

// A rig of the cast under another name: a bind of its own, the same frames.
void Churn::UploadOne(const client::Client& client, Random& dice) {
  const LoadSession& like = Choose(dice);
  const Motion& motion = *like.motion;
  const auto rig =
      client.UploadRig(LabelledRig(motion.rig, absl::StrCat("load ", counts_.uploads.load())));
  if (!report_.Check(rig.status(), "UploadRig")) return;
  ++counts_.uploads;
  uploaded_.push_back(rig->rig.name);
  const std::string session = Bound(client, rig->rig.name, motion.recipe);
  if (!session.empty()) {
    CheckDeform(report_, client, session, like, 1 + dice.Below(1000));
    report_.Check(client.DeleteSession(session), "DeleteSession");
  }
  while (uploaded_.size() > kKeptUploads) DeleteOldest(client);
}

void Churn::DeleteOldest(const client::Client& client) {
  if (report_.Check(client.DeleteRig(uploaded_.front()), "DeleteRig")) ++counts_.deletes;
  uploaded_.pop_front();
}

void Churn::ComputeOne(const client::Client& client, Random& dice) {
  constexpr client::WeightMethod kMethods[] = {
      client::WeightMethod::kCapsule, client::WeightMethod::kHeat, client::WeightMethod::kGeodesic};
  client::WeightsRequest request = {.rig = Choose(dice).rig,
                                    .method = kMethods[counts_.weights % 3]};
  if (request.method == client::WeightMethod::kGeodesic) request.resolution = 64;
  const auto weighted = client.ComputeWeights(request);
  if (!report_.Check(weighted.status(), "ComputeWeights")) return;
  ++counts_.weights;
  report_.Check(client.DeleteRig(weighted->rig.name), "DeleteRig of computed weights");
}

void Churn::BindOne(const client::Client& client, Random& dice) {
  const LoadSession& like = Choose(dice);
  const std::string session = Bound(client, like.rig, NewRecipe(counts_.binds));
  if (session.empty()) return;
  ++counts_.binds;
  const auto view = client.Deform({.session = session}, {},
                                  {.joint_transforms = like.motion->Pose(1 + dice.Below(1000))});
  report_.Check(view.status(), "Deform of a new recipe");
  report_.Check(client.DeleteSession(session), "DeleteSession");
}

void Churn::LookUpOne(const client::Client& client, Random& dice) {
  const LoadSession& session = Choose(dice);
  switch (counts_.look_ups++ % 8) {
    case 0:
      report_.Check(client.GetRig(session.rig).status(), "GetRig");
      break;
    case 1:
      report_.Check(client.RenewSession(session.name).status(), "RenewSession");
      break;
    default:
      CheckDeform(report_, client, session.name, session, 1 + dice.Below(1000));
  }
}

}  // namespace sinew::testing
