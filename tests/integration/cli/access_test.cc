// `sinew` and a server that wants TLS and a token or a certificate, or logs traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "server/access/tokens.h"
#include "server/process/server.h"
#include "tests/integration/cli/process.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_keys.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CliAccess : public ::testing::Test {
 protected:
  CliAccess() {
    const TestAuthority authority("authority");
    const TestCertificate certificate = authority.Issue("server", "IP:127.0.0.1");
    const auto made = server::MakeToken("alice");
    token = made->token;
    WriteAll(folder / "tokens", made->line);
    WriteAll(folder / "token", token);
    WriteAll(folder / "wrong", "wrong");
    WriteAll(folder / "ca", authority.pem());
    WriteAll(folder / "other", TestAuthority("other").pem());
    WriteAll(folder / "cert", certificate.pem);
    WriteAll(folder / "key", certificate.key_pem);
    server::Config config;
    config.network.listen = {"127.0.0.1:0"};
    config.network.http = "off";
    config.log.level = "off";
    config.access.tls_cert = folder / "cert";
    config.access.tls_key = folder / "key";
    config.access.token_file = folder / "tokens";
    running = server::Server::Start(config).value();
  }
  Finished Stats(std::vector<std::string> options, std::vector<std::string> environment = {}) {
    options.insert(options.begin(), {"stats", "--server", running->addresses().front()});
    return Sinew(std::move(options), {}, environment);
  }

  const TemporaryFolder folder;
  std::string token;
  std::unique_ptr<server::Server> running;
};

TEST_F(CliAccess, OptionsAndEnvironmentNameCredentials) {
  const std::string ca = folder / "ca", file = folder / "token";
  const Finished options = Stats({"--tls-ca", ca, "--token-file", file});
  EXPECT_EQ(options.exit_code, 0) << options.err;
  EXPECT_THAT(options.out, HasSubstr("not shown: needs a token with the scope admin"));
  EXPECT_THAT(options.out, Not(HasSubstr("frames sent")));
  EXPECT_EQ(Stats({}, {"SINEW_TLS_CA=" + ca, "SINEW_TOKEN_FILE=" + file}).exit_code, 0);
  EXPECT_EQ(Stats({}, {"SINEW_TLS_CA=" + ca, "SINEW_TOKEN=" + token}).exit_code, 0);
}

TEST_F(CliAccess, ErrorsAreOneLineAndAHint) {
  const std::string ca = folder / "ca";
  const auto expect = [](const Finished& finished, int code, const std::string& text) {
    EXPECT_EQ(finished.exit_code, code) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(text));
    EXPECT_LE(std::count(finished.err.begin(), finished.err.end(), '\n'), 2) << finished.err;
  };
  expect(Stats({"--tls-ca", ca}), 77, "--token-file");
  expect(Stats({"--tls-ca", ca, "--token-file", folder / "wrong"}), 77, "valid token");
  expect(Stats({"--tls-ca", ca, "--token-file", folder / "missing"}), 65, "No such file");
  expect(Stats({"--tls-ca", folder / "missing"}), 65, "No such file");
  expect(Stats({"--tls-ca", folder / "other", "--token-file", folder / "token"}), 69,
         "with --tls-ca");
  expect(Stats({"--token-file", folder / "token"}), 69, "add --tls-ca");
  const std::string key = folder / "key", cert = folder / "cert";
  const auto names = [&](const std::string& given, const Finished& finished) {
    expect(finished, 65, "sinew: " + given + ": ");
    EXPECT_THAT(finished.err, Not(HasSubstr("_file")));
  };
  names("--tls-ca", Stats({"--tls-ca", key}));
  names("$SINEW_TLS_CA", Stats({}, {"SINEW_TLS_CA=" + key}));
  names("--tls-cert", Stats({"--tls-ca", ca, "--tls-cert", key, "--tls-key", key}));
  names("$SINEW_TLS_KEY",
        Stats({"--tls-ca", ca}, {"SINEW_TLS_CERT=" + cert, "SINEW_TLS_KEY=" + cert}));
  names("$SINEW_TOKEN", Stats({"--tls-ca", ca}, {"SINEW_TOKEN=two words"}));
  names("--token-file", Stats({"--tls-ca", ca, "--token-file", key}));
  const Finished remote =
      Sinew({"stats", "--server", "farm.example", "--token-file", folder / "token"});
  expect(remote, 65, "need TLS");
  EXPECT_THAT(remote.err, HasSubstr("sinew: --token-file: "));
  EXPECT_THAT(remote.err, Not(HasSubstr(token)));
}

TEST_F(CliAccess, TokensHaveAtMost16Kilobytes) {
  const std::string ca = folder / "ca", file = folder / "long";
  const std::size_t most = (16 << 10) - std::string("Bearer ").size();
  for (const std::size_t bytes : {std::size_t{15'000}, most}) {
    const std::string long_token(bytes, 'x');
    WriteAll(file, long_token);
    WriteAll(folder / "tokens",
             R"({"name": "long", "sha256": ")" + Sha256Hex(long_token) + "\"}\n");
    WaitUntil([&] { return Stats({"--tls-ca", ca, "--token-file", file}).exit_code == 0; });
  }
  WriteAll(file, std::string(most + 1, 'x'));
  const Finished refused = Stats({"--tls-ca", ca, "--token-file", file});
  EXPECT_EQ(refused.exit_code, 65);
  EXPECT_THAT(refused.err, HasSubstr("got a token of 16378 bytes, need at most 16377"));
  EXPECT_THAT(refused.err, HasSubstr("max-token-bytes"));
  EXPECT_THAT(refused.err, Not(HasSubstr("try again")));
}

TEST(CliToken, ServerWithASmallerLimitIsNamed) {
  const TemporaryFolder folder;
  server::Config config;
  config.network.listen = {"127.0.0.1:0"};
  config.network.http = "off";
  config.log.level = "off";
  config.access.token_file = folder / "tokens";
  config.access.token_bytes = 1024;
  WriteAll(folder / "tokens", server::MakeToken("alice")->line);
  const auto running = server::Server::Start(config).value();
  for (const std::size_t bytes : {5'000, 15'000}) {  // refused by the server, and by gRPC
    WriteAll(folder / "token", std::string(bytes, 'x'));
    const Finished refused = Sinew(
        {"stats", "--server", running->addresses().front(), "--token-file", folder / "token"});
    EXPECT_EQ(refused.exit_code, 65) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("max-token-bytes"));
    EXPECT_THAT(refused.err, Not(HasSubstr("try again")));
  }
}

TEST(CliClientCertificate, OptionsAndEnvironmentNameIt) {
  const TemporaryFolder folder;
  const TestAuthority servers("servers"), clients("clients");
  const TestCertificate server = servers.Issue("server", "IP:127.0.0.1");
  const TestCertificate mine = clients.Issue("me", "DNS:me");
  WriteAll(folder / "ca", servers.pem());
  WriteAll(folder / "server", server.pem);
  WriteAll(folder / "server key", server.key_pem);
  WriteAll(folder / "clients", clients.pem());
  const std::string cert = folder / "mine", key = folder / "my key";
  WriteAll(cert, mine.pem);
  WriteAll(key, mine.key_pem);
  const Daemon daemon("127.0.0.1:0",
                      {"--tls-cert", folder / "server", "--tls-key", folder / "server key",
                       "--tls-client-ca", folder / "clients"});
  const auto stats = [&](std::vector<std::string> options,
                         const std::vector<std::string>& environment) {
    options.insert(options.begin(),
                   {"stats", "--server", daemon.address(), "--tls-ca", folder / "ca"});
    return Sinew(std::move(options), {}, environment);
  };
  const Finished named = stats({"--tls-cert", cert, "--tls-key", key}, {});
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_THAT(named.out, HasSubstr("sinewd"));
  EXPECT_EQ(stats({}, {"SINEW_TLS_CERT=" + cert, "SINEW_TLS_KEY=" + key}).exit_code, 0);
  EXPECT_EQ(stats({}, {}).exit_code, 69) << "the server wants a certificate";
}

TEST(CliTrace, ServerLogsTheTraceOfTheEnvironment) {
  const TemporaryFolder folder;
  const std::string trace = "0af7651916cd43dd8448eb211c80319c", log = folder / "audit";
  Daemon daemon("127.0.0.1:0", {"--audit-log", log});
  const auto remove = [&](const std::string& name, const std::string& traceparent) {
    return Sinew({"delete", name, "--server", daemon.address()}, {},
                 {"TRACEPARENT=" + traceparent});
  };
  EXPECT_EQ(remove("sessions/a", "00-" + trace + "-b7ad6b7169203331-01").exit_code, 65);
  const Finished wrong = remove("sessions/b", "00-" + trace + "\n");
  EXPECT_EQ(wrong.exit_code, 65) << "as without a trace";
  EXPECT_THAT(wrong.err, HasSubstr("sinew: warning: $TRACEPARENT is not sent: got \"00-" + trace +
                                   "?\", need "));
  daemon.process().Signal(SIGTERM);
  EXPECT_EQ(daemon.process().Wait().exit_code, 0);  // the log is complete
  const std::string audited = ReadAll(log);
  EXPECT_THAT(audited, HasSubstr("\"trace\":\"" + trace + "\""));
  const std::string untraced = audited.substr(audited.find("sessions/b"));
  EXPECT_THAT(untraced, Not(HasSubstr("trace")));
}

}  // namespace
}  // namespace sinew::testing
