#include "client/cli/commands/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "client/cli/character/muscle_help.h"

namespace sinew::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

CommandLine Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "sinew");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

constexpr const char* kCommands[] = {
    "inspect", "methods",  "upload", "bind",  "bake",    "render", "compare", "verify", "bench",
    "rigs",    "sessions", "delete", "stats", "weights", "join",   "repair",  "export", "doctor"};

TEST(CommandLine, HelpListsEveryCommandAndAQuickStart) {
  const CommandLine line = Parse({"--help"});
  EXPECT_EQ(line.exit_code, 0);
  EXPECT_FALSE(line.command);
  EXPECT_THAT(line.errors, IsEmpty());
  EXPECT_THAT(line.output, HasSubstr("Quick start"));
  for (const char* command : kCommands) EXPECT_THAT(line.output, HasSubstr(command));
}

TEST(CommandLine, EveryCommandHasExamples) {
  for (const char* command : kCommands) {
    const CommandLine line = Parse({command, "--help"});
    EXPECT_EQ(line.exit_code, 0) << command;
    EXPECT_THAT(line.output, HasSubstr("Examples:")) << command;
    EXPECT_THAT(line.output, HasSubstr("See also:")) << command;
    EXPECT_THAT(line.output, HasSubstr(std::string("sinew ") + command)) << command;
  }
}

TEST(CommandLine, HelpIsAlsoACommand) {
  EXPECT_EQ(Parse({"help"}).output, Parse({"--help"}).output);
  for (const char* command : kCommands) {
    EXPECT_EQ(Parse({"help", command}).exit_code, 0) << command;
    EXPECT_EQ(Parse({"help", command}).output, Parse({command, "--help"}).output) << command;
  }
  EXPECT_EQ(Parse({"help", "dance"}).exit_code, 64);
  EXPECT_EQ(Parse({"help", "muscles"}).exit_code, 0);
  EXPECT_EQ(Parse({"help", "muscles"}).output, MuscleHelp());
  EXPECT_THAT(Parse({"help", "render"}).output, HasSubstr("sinew help muscles"));
}

TEST(CommandLine, HelpFollowsGlobalOptions) {
  const std::string render = Parse({"render", "--help"}).output;
  EXPECT_EQ(Parse({"--local", "help", "render"}).output, render);
  EXPECT_EQ(Parse({"help", "--local", "render"}).output, render);
  EXPECT_EQ(Parse({"--server", "a:1", "-q", "help", "render"}).output, render);
  EXPECT_EQ(Parse({"--local", "--local-cache", "bake", "help", "render"}).output, render);
  EXPECT_EQ(Parse({"--json", "help"}).output, Parse({"--help"}).output);
  EXPECT_EQ(Parse({"--local", "help", "muscles"}).output, MuscleHelp());
  EXPECT_EQ(Parse({"--server"}).exit_code, 64);
  EXPECT_TRUE(Parse({"--server", "help", "rigs"}).command) << "help is a name of a server here";
}

TEST(CommandLine, MistakesAreReportedAsProgressAsks) {
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"bake", "--progress", "json", "--fps", "nan"},
        std::vector<const char*>{"--progress=json", "stats", "--server", ""}}) {
    const CommandLine line = Parse(words);
    EXPECT_EQ(line.exit_code, 64);
    EXPECT_TRUE(line.errors.starts_with("{\"event\":\"error\",\"exit_code\":64,\"text\":\"sinew: "))
        << line.errors;
    EXPECT_EQ(line.errors.find('\n'), line.errors.size() - 1) << "one line";
  }
  const CommandLine openjd = Parse({"bake", "--progress", "openjd"});
  EXPECT_NE(openjd.errors.find("\nopenjd_fail: sinew: "), std::string::npos) << openjd.errors;
}

TEST(CommandLine, MistakesExit64WithAdvice) {
  const std::vector<std::vector<const char*>> rows = {
      {},
      {"dance"},
      {"compare", "a.glb"},
      {"bake"},
      {"bake", "a.glb", "--out", "a.pc2"},
      {"bake", "a.glb", "--deformer", "lbs"},
      {"bake", "a.glb", "--deformer", "lbs", "--out", "a.pc2", "--fps", "0"},
      {"bake", "a.glb", "--deformer", "lbs", "--out", "a.pc2", "--fps", "nan"},
      {"bake", "a.glb", "--deformer", "lbs", "--out", "a.pc2", "--clip", "0", "--poses", "p.npy"},
      {"render", "a.glb", "--deformer", "lbs", "--frame", "-1", "--out", "a.png"},
      {"render", "a.glb", "--deformer", "lbs", "--frame", "nan", "--out", "a.png"},
      {"render", "a.glb", "--deformer", "lbs", "--zoom", "0", "--out", "a.png"},
      {"render", "a.glb", "--deformer", "lbs", "--weights", "all", "--out", "a.png"},
      {"render", "a.glb", "--weights", "all", "--vertex-status", "--out", "a.png"},
      {"compare", "a.glb", "--deformers", "lbs", "--zoom", "2"},
      {"compare", "a.glb", "--deformers", "lbs", "--wire"},
      {"bench", "--deformer", "lbs", "--streams", "0"},
      {"bench", "--deformer", "lbs", "--encoding", "float16"},
      {"stats", "--server", "127.0.0.1:99999"},
      {"stats", "--server", "127.0.0.1:0"},
      {"stats", "--server", ""},
      {"stats", "--server", "http://127.0.0.1"},
      {"bench", "a.glb", "--deformer", "lbs", "--vertices", "1000"},
      {"delete"},
      {"distil", "a.glb", "--deformer", "ddm", "--out", "b.glb"},
      {"distil", "a.glb", "--deformer", "ddm", "--to", "vat", "--out", "b.glb"},
      {"distil", "a.glb", "--deformer", "ddm", "--to", "lbs", "--influences", "9", "--out",
       "b.glb"},
      {"weights", "a.glb"},
      {"weights", "--method", "heat"},
      {"weights", "a.glb", "--method", "heat", "--max-influences", "many"},
      {"weights", "a.glb", "--method", "heat", "--joints", "hip", "--all-joints"},
      {"decompose", "a.pc2", "--rest", "a.obj"},
      {"decompose", "a.pc2", "--out", "a.sinewrig"},
      {"decompose", "a.pc2", "--rest", "a.obj", "--joints", "0", "--out", "a.sinewrig"},
      {"verify"},
      {"compare", "a.glb", "--deformers", "lbs", "--frame", "3"},
      {"methods", "--server", "a:1", "--local"},
      {"stats", "--colour"},
  };
  for (const auto& row : rows) {
    const CommandLine line = Parse(row);
    EXPECT_EQ(line.exit_code, 64) << (row.empty() ? "" : row.back());
    EXPECT_FALSE(line.command);
    EXPECT_THAT(line.output, IsEmpty());
    EXPECT_THAT(line.errors, HasSubstr("--help"));
  }
}

TEST(CommandLine, GlobalOptionsMayBeAnywhere) {
  for (const auto& line : {Parse({"--json", "-q", "--server", "h:1", "rigs"}),
                           Parse({"rigs", "--json", "-q", "--server", "h:1"})}) {
    ASSERT_TRUE(line.command) << line.errors;
    EXPECT_EQ(line.name, "rigs");
    EXPECT_EQ(line.globals.server, "h:1");
    EXPECT_TRUE(line.globals.json && line.globals.quiet);
  }
}

TEST(CommandLine, ServerDefaultsToEnvironment) {
  setenv("SINEW_SERVER", "farm:7", 1);
  EXPECT_EQ(Parse({"rigs"}).globals.server, "farm:7");
  EXPECT_EQ(Parse({"rigs", "--server", "h:1"}).globals.server, "h:1");
  EXPECT_TRUE(Parse({"rigs", "--local"}).command)
      << "the environment does not conflict with --local";
  setenv("SINEW_SERVER", "", 1);
  EXPECT_EQ(Parse({"rigs"}).globals.server, "127.0.0.1:50051");
  unsetenv("SINEW_SERVER");
  EXPECT_EQ(Parse({"rigs"}).globals.server, "127.0.0.1:50051");
}

TEST(CommandLine, CredentialsComeFromOptionsOrEnvironment) {
  const auto given =
      Parse({"--tls-ca", "ca", "--tls-cert", "c", "--tls-key", "k", "--token-file", "t", "rigs"});
  ASSERT_TRUE(given.command) << given.errors;
  EXPECT_EQ(given.globals.tls_ca + given.globals.tls_cert + given.globals.tls_key, "cack");
  EXPECT_EQ(given.globals.token_file, "t");
  setenv("SINEW_TLS_CA", "system", 1);
  setenv("SINEW_TOKEN_FILE", "file", 1);
  EXPECT_EQ(Parse({"rigs"}).globals.tls_ca, "system");
  EXPECT_EQ(Parse({"rigs"}).globals.token_file, "file");
  setenv("SINEW_TOKEN", "token", 1);
  EXPECT_EQ(Parse({"rigs"}).globals.token, "token");
  EXPECT_EQ(Parse({"rigs"}).globals.token_file, "");
  EXPECT_EQ(Parse({"rigs", "--token-file", "t"}).globals.token, "");
  EXPECT_EQ(Parse({"rigs", "--local"}).globals.token, "");
  for (const char* name : {"SINEW_TLS_CA", "SINEW_TOKEN_FILE", "SINEW_TOKEN"}) unsetenv(name);
  EXPECT_EQ(Parse({"--tls-cert", "c", "rigs"}).exit_code, 64);
  EXPECT_EQ(Parse({"--tls-cert", "c", "--tls-key", "k", "rigs"}).exit_code, 64);
  EXPECT_EQ(Parse({"--tls-ca", "ca", "help", "rigs"}).exit_code, 0);
}

TEST(CommandLine, TraceComesFromEnvironment) {
  const std::string valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  setenv("TRACEPARENT", valid.c_str(), 1);
  EXPECT_EQ(Parse({"rigs"}).globals.traceparent, valid);
  EXPECT_EQ(Parse({"rigs", "--local"}).globals.traceparent, "");
  EXPECT_THAT(Parse({"--help"}).output, HasSubstr("$TRACEPARENT"));
  unsetenv("TRACEPARENT");
  EXPECT_EQ(Parse({"rigs"}).globals.traceparent, "");
  EXPECT_TRUE(Parse({"rigs"}).command);
}

TEST(CommandLine, RenderAcceptsDeformersTogetherOrRepeated) {
  EXPECT_TRUE(Parse({"render", "a.glb", "--deformer", "lbs", "dqs | bulge_free", "--out", "a.png"})
                  .command);
  EXPECT_TRUE(Parse({"render", "a.glb", "--deformer", "lbs", "--deformer", "dqs", "--out", "a.png"})
                  .command);
  EXPECT_TRUE(Parse({"render", "--deformer", "lbs", "--out", "a.png", "a.glb"}).command);
}

TEST(CommandLine, CompareAlsoAcceptsDeformerOption) {
  EXPECT_TRUE(Parse({"compare", "a.glb", "--deformer", "lbs", "--deformer", "dqs"}).command);
  EXPECT_TRUE(Parse({"compare", "a.glb", "--deformers", "lbs", "dqs"}).command);
}

TEST(CommandLine, UnknownOptionsComeWithSuggestions) {
  const struct {
    std::vector<const char*> arguments;
    const char* said;
  } rows[] = {
      {{"bake", "a.glb", "--deformers", "lbs", "--out", "a.pc2"},
       "sinew: --deformers: no such option; did you mean --deformer?\n"},
      {{"render", "a.glb", "--deformers", "lbs", "dqs", "--out", "a.png"},
       "sinew: --deformers: no such option; did you mean --deformer?\n"},
      {{"bake", "a.glb", "--deformer", "lbs", "--ot=a.pc2"},
       "sinew: --ot: no such option; did you mean --out?\n"},
      {{"stats", "--jsom"}, "sinew: --jsom: no such option; did you mean --json?\n"},
      {{"renderr", "a.glb"}, "sinew: renderr: no such command; did you mean render?\n"},
      {{"dance"}, "sinew: dance: no such command\n"},
      {{"stats", "--wheelbarrow"}, "sinew: --wheelbarrow: no such option\n"},
      {{"bake", "a.glb", "--deformer", "lbs"}, "sinew: --out is required\n"},
      {{"inspect", "-dash.glb"},
       "sinew: -dash.glb: no such option; a file of that name is ./-dash.glb\n"},
      {{"bake", "--", "-dash.glb"}, "sinew: --deformer is required\n"},
      {{"bake", "--", "-dash.glb", "--deformer", "lbs"},
       "sinew: --deformer: after `--` everything is a name of a file; put options before it\n"},
      {{"inspect", "a.glb", "b.glb"}, "sinew: got \"b.glb\", need no argument but FILE\n"},
      {{"compare", "a.glb", "lbs", "dqs"}, "sinew: got \"lbs\", need no argument but FILE\n"},
      {{"rigs", "all"}, "sinew: got \"all\", need no argument\n"},
      {{"compare", "--deformers", "lbs", "a.glb", "--json"},
       "sinew: FILE is required; --deformers took every word after it\n"},
      {{"inspect", ""}, "sinew: FILE: got \"\", need a value\n"},
      {{"verify", "a.pc2", ""}, "sinew: CACHE: got \"\", need a value\n"},
      {{"bake", "a.glb", "--deformer", "lbs", "--out", "a.pc2", "--poses", ""},
       "sinew: --poses: got \"\", need a value\n"},
      {{"decompose", "a.pc2", "--rest", "", "--out", "a.sinewrig"},
       "sinew: --rest: got \"\", need a value\n"},
      {{"bake", "a.glb", "--deformer", "lbs", "--out", "a.pc2", "--mesh", ""},
       "sinew: --mesh: got \"\", need a value\n"},
      {{"stats", "--server", "unix:"}, "sinew: --server: got \"unix:\", need host or host:port"},
      {{"--server", "-q", "stats"},
       "sinew: --server: got \"-q\", which is an option; need a value before it\n"},
      {{"bake", "a.glb", "--out", "--deformer", "lbs"},
       "sinew: --out: got \"--deformer\", which is an option; need a value before it\n"},
  };
  for (const auto& [arguments, said] : rows) {
    const CommandLine line = Parse(arguments);
    EXPECT_EQ(line.exit_code, 64) << said;
    EXPECT_THAT(line.errors, StartsWith(said));
  }
}

TEST(CommandLine, NamesMayBeginWithADash) {
  EXPECT_TRUE(Parse({"inspect", "--", "-dash.glb"}).command);
  EXPECT_TRUE(Parse({"bake", "--deformer", "lbs", "--out", "a.pc2", "--", "-dash.glb"}).command);
}

TEST(CommandLine, RejectsRepeatedOption) {
  const std::vector<std::vector<const char*>> rows = {
      {"inspect", "a.glb", "--fps", "24", "--fps", "25"},
      {"render", "a.glb", "--deformer", "lbs", "--out", "a.png", "--frame", "1", "--frame", "2"},
      {"bake", "a.glb", "--deformer", "lbs", "--out", "a.pc2", "--out", "b.pc2"},
      {"rigs", "--server", "a:1", "--server", "b:1"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Parse(row).exit_code, 64) << row[0];
    EXPECT_THAT(Parse(row).errors, HasSubstr(": got it 2 times, need it once")) << row[0];
  }
}

TEST(CommandLine, VersionGoesToStdout) {
  const CommandLine line = Parse({"--version"});
  EXPECT_EQ(line.exit_code, 0);
  EXPECT_THAT(line.output, HasSubstr("sinew 0."));
  EXPECT_THAT(line.output, Not(HasSubstr("Usage")));
}

}  // namespace
}  // namespace sinew::cli
