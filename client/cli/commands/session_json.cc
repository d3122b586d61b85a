#include "client/cli/commands/session_json.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <nlohmann/json.hpp>

#include "client/bake/base/quantity.h"
#include "client/cli/base/exit_code.h"

namespace sinew::cli {

const char* StateName(client::SessionState state) {
  switch (state) {
    case client::SessionState::kBinding:
      return "BINDING";
    case client::SessionState::kReady:
      return "READY";
    case client::SessionState::kFailed:
      return "FAILED";
    case client::SessionState::kUnspecified:
      break;
  }
  return "UNSPECIFIED";
}

nlohmann::ordered_json SessionJson(const client::Session& session) {
  nlohmann::ordered_json json = {
      {"session", session.name},
      {"rig", session.rig},
      {"recipe_text", session.recipe_text},
      {"recipe",
       nlohmann::ordered_json::parse(session.recipe_json, nullptr, /*allow_exceptions=*/false)},
      {"determinism_digest", session.determinism_digest},
      {"state", StateName(session.state)},
      {"progress", session.progress},
      {"bound_bytes", session.bound_bytes},
      {"ttl_seconds", absl::ToDoubleSeconds(session.ttl)},
      {"estimate",
       {{"bound_bytes", session.estimate.bound_bytes},
        {"peak_bytes", session.estimate.peak_bytes},
        {"bind_seconds", absl::ToDoubleSeconds(session.estimate.bind_time)},
        {"frame_seconds", absl::ToDoubleSeconds(session.estimate.frame_time)}}}};
  json["warnings"] = nlohmann::ordered_json::array();
  for (const client::Problem& warning : session.warnings) {
    json["warnings"].push_back(warning.message);
  }
  json["statistics"] = nlohmann::ordered_json::array();
  for (const client::BindStatistic& statistic : session.statistics) {
    json["statistics"].push_back({{"stage", statistic.stage},
                                  {"name", statistic.name},
                                  {"value", statistic.value},
                                  {"unit", statistic.unit},
                                  {"description", statistic.description}});
  }
  if (json["recipe"].is_discarded()) json["recipe"] = nullptr;
  if (session.expire_time != absl::InfinitePast()) {
    json["expire_time"] =
        absl::FormatTime(absl::RFC3339_sec, session.expire_time, absl::UTCTimeZone());
  }
  if (session.problem.code != absl::StatusCode::kOk) json["problem"] = session.problem.message;
  return json;
}

absl::Status CheckName(const std::string& name, const std::vector<std::string>& collections) {
  for (const std::string& collection : collections) {
    if (absl::StartsWith(name, collection)) return absl::OkStatus();
  }
  return UsageError(absl::StrCat("NAME: got \"", name, "\", need ",
                                 absl::StrJoin(collections, "... or "), "..."));
}

std::string ExpiresIn(const client::Session& session) {
  if (session.expire_time == absl::InfinitePast()) return "";
  const absl::Duration left = session.expire_time - absl::Now();
  return left <= absl::ZeroDuration() ? "expired" : bake::DurationText(left);
}

}  // namespace sinew::cli
