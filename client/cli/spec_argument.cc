#include "client/cli/spec_argument.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <filesystem>

#include "client/cli/exit_code.h"
#include "client/cli/input_file.h"
#include "client/cpp/status_macros.h"

namespace sinew::cli {
namespace {

constexpr std::uint64_t kMaxSpecBytes = 64 << 10;

}  // namespace

absl::StatusOr<std::string> ReadSpec(const std::string& argument) {
  if (argument.empty() || argument == "@") {
    return UsageError(
        "--deformer: got nothing, need a spec such as ddm, JSON of a recipe, or @FILE");
  }
  if (argument[0] != '@') return argument;
  const std::string path = argument.substr(1);
  SINEW_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path, kMaxSpecBytes));
  std::string text(absl::StripAsciiWhitespace({file.text().data(), file.text().size()}));
  if (text.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("deformer: ", path, " is empty, need a spec or JSON of a recipe"));
  }
  return text;
}

std::string SpecLabel(const std::string& argument) {
  if (argument.empty() || argument[0] != '@') return argument;
  return std::filesystem::path(argument.substr(1)).stem().string();
}

}  // namespace sinew::cli
