#include "tests/load/stream_load.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "tests/support/random.h"

namespace sinew::testing {
namespace {

constexpr std::uint64_t kInFlight = 2;
const absl::Duration kLongestWait = absl::Minutes(1);  // for a frame

// Which connection each stream uses: equally many each, in a random order, so that streams of one
// recipe are on several.
std::vector<std::size_t> Shuffled(std::size_t streams, std::size_t clients, std::uint32_t seed) {
  std::vector<std::size_t> order(streams);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random dice(seed);
  for (std::size_t i = streams; i > 1; --i) {
    std::swap(order[i - 1], order[dice.Below(static_cast<std::uint32_t>(i))]);
  }
  for (std::size_t& place : order) place %= clients;
  return order;
}

}  // namespace

StreamLoad::StreamLoad(Report& report, const std::vector<client::Client>& clients, const Cast& cast,
                       std::size_t streams, std::uint32_t seed)
    : report_(report) {
  const std::vector<std::size_t> places = Shuffled(streams, clients.size(), seed);
  for (std::size_t i = 0; i < streams; ++i) {
    Member& member = members_.emplace_back();
    member.session = &cast.sessions()[i % cast.sessions().size()];
    member.client = &clients[places[i]];
  }
  for (Member& member : members_) member.thread = std::thread([this, &member] { Run(member); });
}

void StreamLoad::Finish() {
  finishing_ = true;
  for (Member& member : members_) {
    if (member.thread.joinable()) member.thread.join();
  }
}

std::vector<double> StreamLoad::Frames() const {
  std::vector<double> frames;
  for (const Member& member : members_) frames.push_back(static_cast<double>(member.frames));
  return frames;
}

std::string StreamLoad::GroupOf(std::size_t stream) const {
  const LoadSession& session = *members_[stream].session;
  // In a cell of a Markdown table.
  return absl::StrCat(absl::StrReplaceAll(session.motion->recipe, {{"|", "\\|"}}), ", ",
                      session.vertices(), " vertices");
}

void StreamLoad::ForgetWaits() {
  for (Member& member : members_) member.longest_wait = 0;
}

double StreamLoad::LongestWait() const {
  double longest = 0;
  for (const Member& member : members_) longest = std::max(longest, member.longest_wait.load());
  return longest;
}

void StreamLoad::Run(Member& member) {
  auto opened =
      member.client->OpenStream({.session = member.session->name}, {.output = CheckedOutput()});
  if (!report_.Check(opened.status(), "OpenStream")) return;
  client::Stream stream = *std::move(opened);
  const Motion& motion = *member.session->motion;
  std::uint64_t sent = 0;
  while (!finishing_) {
    for (; sent < member.frames + kInFlight; ++sent) {
      const auto number = stream.Send({.joint_transforms = motion.Pose(sent + 1)});
      if (!report_.Check(number.status(), "Send")) return;
    }
    if (!Take(member, stream, sent)) return;
  }
  stream.Finish();
  while (member.frames < sent) {
    if (!Take(member, stream, sent)) return;
  }
  const auto end = stream.Next(kLongestWait);
  if (report_.Check(end.status(), "end of a stream") && end->has_value()) {
    report_.Error(absl::StrCat("got frame ", (*end)->frame, " after ", sent, " poses"));
  }
}

bool StreamLoad::Take(Member& member, client::Stream& stream, std::uint64_t sent) {
  const Motion& motion = *member.session->motion;
  const auto start = LoadClock::now();
  const auto next = stream.Next(kLongestWait);
  if (!report_.Check(next.status(), absl::StrCat("frame of ", motion.recipe))) return false;
  if (!next->has_value()) {
    report_.Error("a stream ended by itself");
    return false;
  }
  const client::StreamItem& item = **next;
  const double wait = 1e3 * SecondsSince(start);
  if (wait > member.longest_wait) member.longest_wait = wait;
  if (item.frame != member.frames + 1 || item.frame > sent) {
    report_.Error(absl::StrCat("got frame ", item.frame, ", need ", member.frames + 1));
    return false;
  }
  if (!report_.Check(item.problem, absl::StrCat("pose of ", motion.recipe))) return false;
  if (SumOf(item.view) != motion.Sum(item.frame)) {
    report_.Error(absl::StrCat("frame ", item.frame, " of ", motion.recipe,
                               ": other bits than without load"));
  }
  ++member.frames;
  return true;
}

}  // namespace sinew::testing
