// What the command line says about recipes, in the words of who typed them.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/integration/cli/process.h"
#include "tests/unit/cli/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Finished Bind(const std::string& deformer, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"bind", "model:tube", "--deformer", deformer, "--local"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return Sinew(std::move(arguments));
}

TEST(Messages, ErrorsNameWhatWasTyped) {
  const std::pair<const char*, const char*> rows[] = {
      {"ddm(radius=5)", "sinew: --deformer (ddm), radius: got 5, need 0 to 1"},
      {"dance", "sinew: --deformer: got method 'dance'"},
      {"lbs | lbs", "sinew: --deformer stage 2: lbs reads rest positions"},
      {"{\"stages\": [{\"lbs\": {}}, {\"delta_mush\": {\"step\": 7}}]}",
       "sinew: --deformer stage 2 (delta_mush), step: got 7, need 0 to 1"},
      {"ddm(iterations=-3)", "got '-3', need a whole number from 1 to 1000"},
      {"ddm(iterations=2.5)", "got '2.5', need a whole number from 1 to 1000"},
      {"ddm(radius=inf)", "got 'inf', need a number from 0 to 1"},
      {"dqs(blend=nan)", "got 'nan', need a number from 0 to 1"},
  };
  for (const auto& [deformer, need] : rows) {
    const Finished finished = Bind(deformer);
    EXPECT_EQ(finished.exit_code, 65) << deformer;
    EXPECT_THAT(finished.err, AllOf(HasSubstr(need), Not(HasSubstr("spec.")))) << deformer;
  }
}

TEST(Messages, BytesThatAreNoUtf8Exit65) {
  const TemporaryFolder folder;
  WriteAll(folder / "bad.json", "{\"stages\": [{\"lbs\xff\": {}}]}");
  for (const std::string& deformer :
       {std::string("lbs\xff"), std::string("\xc0\x80"), absl::StrCat("@", folder / "bad.json")}) {
    const Finished finished = Bind(deformer);
    EXPECT_EQ(finished.exit_code, 65) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("--deformer: byte"));
  }
}

TEST(Messages, ParametersWithoutEffectAreSaid) {
  const std::pair<const char*, const char*> rows[] = {
      {"ddm(radius=0.05, lambda=2)", "warning: --deformer stage 1 (ddm), lambda: got 2"},
      {"dqs | bulge_free(method=bisector, sharpness=3)",
       "warning: --deformer stage 2 (bulge_free), sharpness: got 3"},
      {"lbs | delta_mush(radius=0.05, iterations=3)",
       "warning: --deformer stage 2 (delta_mush), iterations: got 3"},
  };
  for (const auto& [deformer, warning] : rows) {
    for (const auto& more : {std::vector<std::string>{}, {"--dry-run"}}) {
      const Finished finished = Bind(deformer, more);
      EXPECT_EQ(finished.exit_code, 0) << finished.err;
      EXPECT_THAT(finished.err, HasSubstr(warning)) << deformer;
    }
  }
  EXPECT_THAT(Bind("ddm(radius=0.05)").err, Not(HasSubstr("warning")));
}

TEST(Messages, AnEstimateIsCalledAnUpperBound) {
  const Finished finished = Bind("ddm", {"--dry-run"});
  EXPECT_THAT(finished.out, AllOf(HasSubstr("bound data at most"), HasSubstr("upper bound"),
                                  HasSubstr("peak memory at most")));
}

}  // namespace
}  // namespace sinew::testing
