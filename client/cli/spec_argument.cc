#include "client/cli/spec_argument.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <filesystem>

#include "client/cli/exit_code.h"
#include "client/cli/input_file.h"
#include "client/cli/json_text.h"
#include "client/cpp/status_macros.h"

namespace sinew::cli {
namespace {

constexpr std::uint64_t kMaxSpecBytes = 64 << 10;

// The library reads JSON of recipes, and takes the stages of both where that key stands twice.
absl::Status RefuseKeysTwice(const std::string& text, const std::string& place) {
  const absl::Status read =
      absl::StartsWith(text, "{") ? ParseJson(text).status() : absl::OkStatus();
  return absl::IsAlreadyExists(read) ? Prefixed("deformer", Prefixed(place, read))
                                     : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadSpec(const std::string& argument) {
  if (argument.empty() || argument == "@") {
    return UsageError(
        "--deformer: got nothing, need a spec such as ddm, JSON of a recipe, or @FILE");
  }
  if (argument[0] != '@') {
    SINEW_RETURN_IF_ERROR(RefuseKeysTwice(argument, "JSON"));
    return argument;
  }
  const std::string path = argument.substr(1);
  SINEW_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path, kMaxSpecBytes));
  std::string text(absl::StripAsciiWhitespace({file.text().data(), file.text().size()}));
  if (text.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("deformer: ", path, " is empty, need a spec or JSON of a recipe"));
  }
  SINEW_RETURN_IF_ERROR(RefuseKeysTwice(text, path));
  return text;
}

std::string SpecLabel(const std::string& argument) {
  if (argument.empty() || argument[0] != '@') return argument;
  return std::filesystem::path(argument.substr(1)).stem().string();
}

}  // namespace sinew::cli
