#include "server/base/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/base/config_options.h"

namespace sinew::server {
namespace {

CommandLine Parse(std::vector<std::string> arguments, Config& config) {
  std::vector<const char*> argv{"sinewd"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return ParseCommandLine(static_cast<int>(argv.size()), argv.data(), config);
}

class ConfigFile : public ::testing::Test {
 protected:
  std::string Write(const std::string& text) {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(::testing::TempDir()) / (std::string(info->name()) + ".yaml");
    std::ofstream(path_) << text;
    return path_.string();
  }
  ~ConfigFile() override {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::filesystem::path path_;
};

TEST(Config, DefaultsAreValid) {
  EXPECT_TRUE(Config().Validate().ok());
}

TEST(Config, OptionsHaveUniqueNamesAndHelp) {
  Config config;
  std::set<std::string_view> names;
  VisitOptions(config, [&](const Option& option, auto&) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    EXPECT_EQ(option.name.find('_'), std::string_view::npos) << option.name;
  });
}

TEST(Config, FlagsSetValues) {
  Config config;
  const CommandLine line =
      Parse({"--listen", "127.0.0.1:0", "--listen", "unix:/tmp/100%x", "--threads", "3",
             "--drain-seconds=1.5", "--log-format", "json", "--set", "channelz=true"},
            config);
  EXPECT_TRUE(line.run) << line.text;
  EXPECT_EQ(config.network.listen, (std::vector<std::string>{"127.0.0.1:0", "unix:/tmp/100%x"}));
  EXPECT_EQ(config.compute.threads, 3u);
  EXPECT_EQ(config.network.drain_seconds, 1.5);
  EXPECT_EQ(config.log.format, "json");
  EXPECT_TRUE(config.network.channelz);
}

TEST(Config, WrongFlagsAreUsageErrors) {
  const std::vector<std::vector<std::string>> table = {
      {"--no-such-flag"},
      {"positional"},
      {"--threads", "many"},
      {"--threads", "-1"},
      {"--threads", "1.5"},
      {"--threads"},
      {"--drain-seconds", "nan"},
      {"--set", "isa=mmx"},
      {"--log-format", "xml"},
      {"--listen", "no-port"},
      {"--listen", "host:70000"},
      {"--listen", ":50051"},
      {"--listen", "::1:50051"},
      {"--listen", "unix:relative"},
      {"--listen", "unix:/" + std::string(107, 'x')},
      {"--listen", "unix:/a,b"},
      {"--listen", "unix:/a?b"},
      {"--listen", "unix:/a#b"},
      {"--listen", "unix:/%a%2fb"},
      {"--http", "somewhere"},
      {"--max-window", "0"},
      {"--session-ttl-seconds", "100000"},
      {"--set", "isa"},
      {"--set", "threads=2"},
      {"--max-bind-bytes", "1000000000"},
  };
  for (const auto& arguments : table) {
    Config config;
    const CommandLine line = Parse(arguments, config);
    EXPECT_FALSE(line.run) << arguments[0] << " " << arguments.back();
    EXPECT_EQ(line.exit_code, 64) << arguments[0] << " " << arguments.back();
    EXPECT_NE(line.text.find("sinewd: "), std::string::npos);
  }
}

TEST(Config, InternalLimitsAreSetByNameAlone) {
  Config config;
  EXPECT_TRUE(Parse({"--set", "max-backlog=3", "--set", "max-rig-meshes=9"}, config).run);
  EXPECT_EQ(config.streams.backlog, 3u);
  EXPECT_NE(Parse({"--max-backlog", "3"}, config).text.find("no such option; it is fixed"),
            std::string::npos);
  EXPECT_NE(Parse({"--max-bind-bytes", "9"}, config).text.find("it is 12 % of memory-bytes"),
            std::string::npos);
  EXPECT_EQ(Parse({"--help"}, config).text.find("max-backlog"), std::string::npos);
}

constexpr std::uint64_t kGiga = std::uint64_t{1} << 30;

Machine MachineOf(std::uint64_t cores, std::uint64_t bytes) {
  Machine machine;
  machine.cores = cores;
  machine.memory_bytes = bytes;
  return machine;
}

TEST(Config, BudgetsAreSharesOfTheMachine) {
  std::uint64_t percent = 0;
  Config config;
  VisitOptions(config, [&](const Option& option, const auto&) {
    const bool thrice = option.name == "max-bind-bytes";  // short, long, and an estimate
    percent += option.percent * (thrice ? 3 : 1);
  });
  EXPECT_EQ(percent, 100u);
  ASSERT_TRUE(config.FitTo(MachineOf(3, 24 * kGiga)).ok());
  EXPECT_EQ(config.compute.threads, 3u);
  EXPECT_EQ(config.compute.memory_bytes, 24 * kGiga / 100 * 60);
  EXPECT_EQ(config.binds.memory_bytes, config.compute.memory_bytes / 100 * 12);
  EXPECT_EQ(config.rigs.bytes, RigConfig().bytes);
}

TEST(Config, WhatIsSetIsNotReplaced) {
  Config config;
  config.compute.threads = 7;
  config.compute.memory_bytes = 4 * kGiga;
  config.binds.memory_bytes = 5 * kGiga;
  ASSERT_TRUE(config.FitTo(MachineOf(2, 16 * kGiga)).ok());
  EXPECT_EQ(config.compute.threads, 7u);
  EXPECT_EQ(config.compute.frame_bytes, 4 * kGiga / 100 * 10);
  EXPECT_EQ(config.binds.memory_bytes, 5 * kGiga);
}

TEST(Config, LargestRigFitsASmallMachine) {
  for (const char* folder : {"", "/data"}) {
    Config small;
    small.rigs.data_dir = folder;
    ASSERT_TRUE(small.FitTo(MachineOf(1, kGiga / 4)).ok());
    const RigConfig& rigs = small.rigs;
    EXPECT_LE(rigs.bytes, std::min(rigs.stored_bytes, rigs.upload_bytes));
    EXPECT_GT(rigs.bytes, 2'000'000u);
    EXPECT_EQ(small.binds.memory_bytes, kGiga / 8);
    // What parsing it takes.
    EXPECT_LE(10 * rigs.bytes + 176 * rigs.fields + 8 * rigs.map_values,
              small.compute.memory_bytes / 3);
  }
  Config wanted;
  wanted.rigs.bytes = kGiga / 8;
  EXPECT_EQ(wanted.FitTo(MachineOf(1, kGiga / 4)).code(), absl::StatusCode::kInvalidArgument);
  Config on_disk;
  on_disk.rigs.data_dir = "/data";
  ASSERT_TRUE(on_disk.FitTo(MachineOf(1, kGiga / 4)).ok());
  EXPECT_EQ(on_disk.rigs.stored_bytes, 4 * kGiga);
}

TEST(Config, OtherMachinesNeedTlsAndAuthentication) {
  const auto code = [](std::vector<std::string> arguments) {
    Config config;
    const CommandLine line = Parse(std::move(arguments), config);
    return line.run ? 0 : line.exit_code;
  };
  const std::vector<std::string> tls = {"--tls-cert", "c", "--tls-key", "k"};
  const auto with = [&](std::vector<std::string> arguments, bool use_tls) {
    if (use_tls) arguments.insert(arguments.end(), tls.begin(), tls.end());
    return code(std::move(arguments));
  };
  for (const char* local : {"127.0.0.1:1", "127.8.9.1:1", "[::1]:1", "localhost:1", "unix:/s"}) {
    EXPECT_EQ(code({"--listen", local}), 0) << local;
  }
  for (const char* open : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "128.0.0.1:1", "host:1",
                           "[::ffff:127.0.0.1]:1", "127.0.0.1.example.org:1"}) {
    EXPECT_EQ(code({"--listen", open}), 78) << open;
    EXPECT_EQ(with({"--listen", open}, true), 78) << open;
    EXPECT_EQ(code({"--listen", open, "--token-file", "t"}), 78) << open;
    EXPECT_EQ(code({"--listen", "127.0.0.1:1", "--listen", open}), 78) << open;
    EXPECT_EQ(code({"--listen", open, "--insecure"}), 0) << open;
    EXPECT_EQ(with({"--listen", open, "--token-file", "t"}, true), 0) << open;
    EXPECT_EQ(with({"--listen", open, "--tls-client-ca", "a"}, true), 0) << open;
    EXPECT_EQ(with({"--listen", open, "--jwks-file", "j", "--jwt-audience", "a"}, true), 0);
  }
}

TEST(Config, AccessOptionsNeedEachOther) {
  const std::vector<std::vector<std::string>> table = {{"--tls-cert", "c"},
                                                       {"--tls-key", "k"},
                                                       {"--tls-client-ca", "a"},
                                                       {"--jwks-file", "j"},
                                                       {"--jwt-audience", "a"},
                                                       {"--jwt-issuer", "i"},
                                                       {"--tls-tenant-pattern", "(a)"},
                                                       {"--redis", "redis://localhost"}};
  for (const auto& arguments : table) {
    Config config;
    EXPECT_EQ(Parse(arguments, config).exit_code, 64) << arguments[0];
  }
}

TEST(Config, OptionsWithoutEffectAreRefused) {
  const std::vector<std::vector<std::string>> table = {
      {"--store-endpoint", "https://host"},
      {"--store", "file:///s", "--store-endpoint", "https://host"},
      {"--store", "file:///s", "--store-ca", "a"},
      {"--store", "file:///s", "--store-credentials", "c"},
      {"--store", "file:///s", "--store-path-style"},
      {"--redis-password-file", "p"},
      {"--store", "file:///s", "--redis", "redis://host", "--redis-user", "me"},
      {"--store", "file:///s", "--redis", "redis://host", "--redis-ca", "a"},
      {"--store", "file:///s", "--data-dir", "/s"},
      {"--store", "file:///s/", "--data-dir", "/s"},
      {"--web", "http"},
      {"--web", "65536"},
      {"--web-host", "page.example"},
      {"--web", "0", "--insecure", "--web-host", "https://page.example"},
      {"--web", "0", "--tls-client-ca", "c", "--tls-cert", "a", "--tls-key", "b"},
      {"--store", "file:///s", "--data-dir", "/x/../s/."}};
  for (const auto& arguments : table) {
    Config config;
    EXPECT_EQ(Parse(arguments, config).exit_code, 64) << arguments.back();
  }
}

TEST(Config, AProbeNeedsNoValidServer) {
  Config config;
  const CommandLine line = Parse({"--trusted-proxy", "10.0.0.1", "--probe", "localhost:1"}, config);
  EXPECT_TRUE(line.run);
  EXPECT_EQ(line.probe, "localhost:1");
}

TEST(Config, RejectsRepeatedFlag) {
  Config config;
  VisitOptions(config, [&](const Option& option, auto& member) {
    using Member = std::decay_t<decltype(member)>;
    if constexpr (std::is_same_v<Member, std::vector<std::string>>) return;
    const std::string flag = "--" + std::string(option.name);
    std::string value = "1";
    if constexpr (std::is_same_v<Member, bool>) value = "true";
    if constexpr (std::is_same_v<Member, std::string>) {
      value = option.choices.empty() ? "127.0.0.1:1" : std::string(option.choices.front());
    }
    Config fresh;
    const CommandLine line = Parse({flag, value, flag, value}, fresh);
    EXPECT_FALSE(line.run) << flag;
    EXPECT_EQ(line.exit_code, 64) << flag;
    EXPECT_EQ(line.text.rfind("sinewd: " + flag + ": ", 0), 0u) << line.text;
  });
  const CommandLine line = Parse({"--config", "a.yaml", "--config", "b.yaml"}, config);
  EXPECT_EQ(line.exit_code, 64) << line.text;
}

TEST(Config, HelpAndVersionExitCleanly) {
  Config config;
  const CommandLine help = Parse({"--help"}, config);
  EXPECT_FALSE(help.run);
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.text.find("--max-rig-bytes"), std::string::npos);
  const CommandLine version = Parse({"--version"}, config);
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.text.rfind("sinewd ", 0), 0u) << version.text;
}

TEST_F(ConfigFile, EveryOptionHasAKey) {
  Config config;
  VisitOptions(config, [&](const Option& option, auto& member) {
    using Member = std::decay_t<decltype(member)>;
    std::string value;
    if constexpr (std::is_same_v<Member, std::vector<std::string>>) {
      value = "[127.0.0.1:0]";
    } else if constexpr (std::is_same_v<Member, bool>) {
      value = "true";
    } else if constexpr (std::is_same_v<Member, std::string>) {
      value = option.choices.empty() ? "127.0.0.1:1" : std::string(option.choices.front());
    } else {
      value = std::to_string(static_cast<std::uint64_t>(member) + 1);
    }
    Config loaded;
    const std::string name(option.name);
    const std::string path =
        Write(option.internal ? "set: [" + name + "=" + value + "]\n" : name + ": " + value + "\n");
    EXPECT_TRUE(LoadConfigFile(path, loaded).ok()) << option.name;
  });
}

TEST_F(ConfigFile, FlagsOverrideFile) {
  const std::string path = Write("threads: 2\nlisten: ['127.0.0.1:0']\nmax_window: 17\n");
  Config config;
  const CommandLine line = Parse({"--config", path, "--threads", "5"}, config);
  ASSERT_TRUE(line.run) << line.text;
  EXPECT_EQ(config.compute.threads, 5u);
  EXPECT_EQ(config.streams.window, 17u);
  EXPECT_EQ(config.network.listen.front(), "127.0.0.1:0");
}

// A variable of the environment while it exists.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST_F(ConfigFile, FlagsOverrideEnvironmentOverridesFile) {
  const std::string path = Write("threads: 2\nmax_window: 17\nmax-queued-binds: 9\n");
  const Variable file("SINEWD_CONFIG", path.c_str()), threads("SINEWD_THREADS", "3"),
      window("SINEWD_MAX_WINDOW", "18"), listen("SINEWD_LISTEN", "127.0.0.1:1,127.0.0.1:2"),
      empty("SINEWD_MAX_QUEUED_BINDS", "");
  Config config;
  const CommandLine line = Parse({"--threads", "4"}, config);
  ASSERT_TRUE(line.run) << line.text;
  EXPECT_EQ(config.compute.threads, 4u);
  EXPECT_EQ(config.streams.window, 18u);
  EXPECT_EQ(config.binds.queued, 9u) << "an empty number is as good as none";
  EXPECT_EQ(config.network.listen, (std::vector<std::string>{"127.0.0.1:1", "127.0.0.1:2"}));
}

// A variable that was not set must not switch authentication off.
TEST(Config, EmptyTextsAreErrors) {
  for (const char* flag : {"--token-file", "--listen", "--config", "--probe", "--make-token"}) {
    Config config;
    const CommandLine line = Parse({flag, ""}, config);
    EXPECT_FALSE(line.run) << flag;
    EXPECT_EQ(line.exit_code, 64) << flag;
    EXPECT_NE(line.text.find(flag + 2), std::string::npos) << line.text;
  }
  for (const auto& [name, option] : {std::pair{"SINEWD_TOKEN_FILE", "token-file"},
                                     {"SINEWD_LISTEN", "listen"},
                                     {"SINEWD_CONFIG", "config"}}) {
    const Variable empty(name, "");
    Config config;
    const CommandLine line = Parse({}, config);
    EXPECT_EQ(line.exit_code, 78) << name;
    EXPECT_EQ(line.text, std::string("sinewd: environment: ") + option +
                             ": is empty; leave it out, or give a value");
  }
}

TEST(Config, UnknownVariablesAreListed) {
  const Variable threads("SINEWD_THREADS", "3"), window("SINEWD_MAX_WINDOW", "18"),
      misspelt("SINEWD_MAX_WINDOWS", "4"), other("SINEW_SERVER", "127.0.0.1:1"),
      kubernetes("SINEWD_PORT", "tcp://10.0.0.1:50051");
  Config config;
  EXPECT_TRUE(Parse({}, config).run);
  EXPECT_EQ(config.unknown_variables,
            (std::vector<std::string>{"SINEWD_MAX_WINDOWS", "SINEWD_PORT"}));
}

TEST_F(ConfigFile, NeedsOneDocumentAndAnAddress) {
  const std::pair<const char*, const char*> table[] = {
      {"max-window: 30\n---\nmax-window: 4\n", "got several documents, need one"},
      {"---\nmax-window: 30\n---\n", "got several documents, need one"},
      {"listen: []\n", "listen: got no address, need one or more"}};
  for (const auto& [text, said] : table) {
    Config config;
    const CommandLine line = Parse({"--config", Write(text)}, config);
    EXPECT_EQ(line.exit_code, 78) << text;
    EXPECT_NE(line.text.find(said), std::string::npos) << line.text;
  }
  Config config;
  EXPECT_TRUE(Parse({"--config", Write("")}, config).run) << "empty";
  EXPECT_TRUE(Parse({"--config", Write("# ours\n%YAML 1.2\n---\nmax-window: 30\n")}, config).run);
  EXPECT_TRUE(Parse({"--config", Write("trusted-proxy: []\n")}, config).run);
}

TEST_F(ConfigFile, SourcesCompleteEachOther) {
  const std::string path = Write("tls-cert: cert.pem\njwks-file: keys\n");
  const Variable key("SINEWD_TLS_KEY", "key.pem");
  Config config;
  const CommandLine line = Parse({"--config", path, "--jwt-audience", "sinew"}, config);
  EXPECT_TRUE(line.run) << line.text;
  EXPECT_EQ(Parse({"--config", path}, config = {}).exit_code, 64) << "needs jwt-audience";
}

TEST(Config, ProxyNeedsAuthentication) {
  Config config;
  EXPECT_EQ(Parse({"--trusted-proxy", "127.0.0.1"}, config).exit_code, 78);
  EXPECT_TRUE(Parse({"--trusted-proxy", "127.0.0.1", "--insecure"}, config).run);
  Config other;
  EXPECT_TRUE(Parse({"--trusted-proxy", "127.0.0.1", "--token-file", "tokens"}, other).run);
}

TEST(Config, WrongEnvironmentIsAConfigurationError) {
  const Variable threads("SINEWD_THREADS", "many");
  Config config;
  const CommandLine line = Parse({}, config);
  EXPECT_EQ(line.exit_code, 78);
  EXPECT_EQ(line.text,
            "sinewd: environment: threads: got \"many\", need a whole number from 0 to 1024");
}

TEST(Config, CheckIsForValidConfigurations) {
  Config config;
  const CommandLine good = Parse({"--check"}, config),
                    bad = Parse({"--check", "--set", "isa=mmx"}, config);
  EXPECT_TRUE(good.run);
  EXPECT_TRUE(good.check);
  EXPECT_FALSE(bad.run);
  EXPECT_EQ(bad.exit_code, 64);
}

TEST(Config, NamesChangedOptions) {
  Config before, after;
  EXPECT_TRUE(ChangedOptions(before, after).empty());
  after.log.level = "debug";
  after.network.listen.push_back("127.0.0.1:1");
  EXPECT_EQ(ChangedOptions(before, after), (std::vector<std::string>{"listen", "log-level"}));
}

TEST_F(ConfigFile, AcceptsJson) {
  Config config;
  const auto status = LoadConfigFile(Write(R"({"listen": ["127.0.0.1:0"], "threads": 2})"), config);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(config.compute.threads, 2u);
}

TEST_F(ConfigFile, WrongFilesAreConfigurationErrors) {
  const std::vector<std::string> table = {
      "no_such_key: 1\n",
      "threads: many\n",
      "threads: [1, 2]\n",
      "threads: {a: 1}\n",
      "threads: 1\nthreads: 2\n",
      "log_format: xml\n",
      "max-window: 1\nmax_window: 2\n",
      "- a\n- b\n",
      "threads: 'unclosed\n",
      "channelz: maybe\n",
      "token-file: \"\"\n",
      "listen: [\"\"]\n",
      "drain-seconds: -1\n",
      "http: nowhere\n",
  };
  for (const std::string& text : table) {
    Config config;
    const CommandLine line = Parse({"--config", Write(text)}, config);
    EXPECT_FALSE(line.run) << text;
    EXPECT_EQ(line.exit_code, 78) << text << line.text;
  }
  Config config;
  EXPECT_EQ(Parse({"--config", "/no/such/file"}, config).exit_code, 78);
}

TEST_F(ConfigFile, UnknownKeyErrorNamesKeyAndTheNearestOne) {
  Config config;
  const auto status = LoadConfigFile(Write("thraeds: 1\n"), config);
  EXPECT_NE(status.message().find("thraeds: unknown key; did you mean threads?"),
            absl::string_view::npos)
      << status;
}

}  // namespace
}  // namespace sinew::server
