#include "server/calls/session_proto.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/util/time_util.h>

#include <string>
#include <utility>
#include <variant>

#include "core/base/counted_text.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

using google::protobuf::util::TimeUtil;

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

google::protobuf::Duration ToDuration(double seconds) {
  return TimeUtil::NanosecondsToDuration(
      static_cast<std::int64_t>(seconds * static_cast<double>(kNanosecondsPerSecond)));
}

v1::Session::State ToState(BoundDeformer::State state) {
  switch (state) {
    case BoundDeformer::State::kBinding:
      return v1::Session::STATE_BINDING;
    case BoundDeformer::State::kReady:
      return v1::Session::STATE_READY;
    case BoundDeformer::State::kFailed:
      return v1::Session::STATE_FAILED;
  }
  return v1::Session::STATE_UNSPECIFIED;
}

// `used`: how many of the rig's `muscles` the bind of the stage found under the skin.
void AddUnusedMuscles(const Recipe& recipe, std::size_t stage, std::size_t muscles, double used,
                      v1::Session& session) {
  const double unused = static_cast<double>(muscles) - used;
  if (!(unused > 0)) return;
  const auto* pushing = std::get_if<MuscleParams>(&recipe[stage]);
  if (pushing != nullptr && pushing->strength == 0) return;
  const char* const why = pushing != nullptr
                              ? "they lie outside the skin or far below it"
                              : "they lie outside the skin, or no joint at or above their origin "
                                "has a field";
  *session.add_warnings() = server::ToProto(
      Problem{.field = absl::StrCat("stages[", stage, "]"),
              .message = absl::StrCat(unused, " of ", CountedText(muscles, "muscle"),
                                      unused == 1 ? " has" : " have", " no effect: ", why)},
      "source.recipe");
}

}  // namespace

void SetForecast(const Forecast& forecast, v1::Session& session) {
  v1::Estimate& proto = *session.mutable_estimate();
  proto.set_bound_bytes(forecast.estimate.bound_bytes);
  proto.set_peak_bytes(forecast.estimate.peak_bytes);
  *proto.mutable_bind_time() = ToDuration(forecast.estimate.bind_seconds);
  *proto.mutable_frame_time() = ToDuration(forecast.estimate.frame_seconds);
  *session.mutable_warnings() = forecast.warnings;
}

v1::Session ToProto(const SessionTable::Lease& lease, const Clock& clock) {
  const Session& session = *lease.session;
  const BoundDeformer::Snapshot now = session.bound->snapshot();
  v1::Session proto;
  proto.set_name(session.name);
  *proto.mutable_source() = session.source;
  *proto.mutable_recipe() = session.recipe;
  proto.set_determinism_digest(session.determinism_digest);
  proto.set_state(ToState(now.state));
  proto.set_progress(static_cast<float>(now.progress));
  SetForecast(session.bound->forecast(), proto);
  if (now.state == BoundDeformer::State::kFailed) *proto.mutable_problem() = ToProblem(now.error);
  // Leases follow the steady clock, the message names a time of day.
  const std::chrono::nanoseconds expires =
      clock.WallNow().time_since_epoch() + (lease.expires - clock.Now());
  *proto.mutable_ttl() = TimeUtil::NanosecondsToDuration(lease.ttl.count());
  *proto.mutable_expire_time() = TimeUtil::NanosecondsToTimestamp(expires.count());
  if (const auto deformer = session.bound->deformer()) {
    proto.set_bound_bytes(deformer->bytes());
    const std::size_t muscles = session.bound->rig().muscles().size();
    for (const BindStatistic& from : deformer->Statistics()) {
      if (from.name == "muscles") {
        AddUnusedMuscles(session.bound->recipe(), from.stage, muscles, from.value, proto);
      }
      v1::BindStatistic& statistic = *proto.add_statistics();
      statistic.set_stage(static_cast<std::uint32_t>(from.stage));
      statistic.set_name(std::string(from.name));
      statistic.set_value(from.value);
      statistic.set_unit(std::string(from.unit));
      statistic.set_description(std::string(from.description));
    }
  }
  return proto;
}

absl::StatusOr<std::chrono::nanoseconds> ReadTtl(const google::protobuf::Duration& ttl,
                                                 double longest_seconds) {
  const bool valid = ttl.nanos() >= 0 && ttl.nanos() < kNanosecondsPerSecond && ttl.seconds() >= 1;
  if (!valid) {
    return InvalidField("ttl", absl::StrCat("got ", ttl.seconds(), " s and ", ttl.nanos(),
                                            " ns, need 1 s or more"));
  }
  const double seconds = static_cast<double>(ttl.seconds()) + 1e-9 * ttl.nanos();
  if (seconds > longest_seconds) {
    return TimeExceeded("ttl", seconds, longest_seconds, "max-session-ttl-seconds");
  }
  return std::chrono::nanoseconds(ttl.seconds() * kNanosecondsPerSecond + ttl.nanos());
}

}  // namespace sinew::server
