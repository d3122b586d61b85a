// New certificates, and damaged ones, while frames are streamed over TLS.
#include <absl/strings/str_cat.h>

#include <chrono>
#include <csignal>
#include <string>

#include "tests/fault/checked_stream.h"
#include "tests/fault/faults.h"
#include "tests/fault/restartable_server.h"
#include "tests/fault/tcp_proxy.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_keys.h"

namespace sinew::testing {
namespace {

constexpr char kServerName[] = "server.test";

class Certificates {
 public:
  Certificates(Suite& suite, Undisturbed& undisturbed)
      : suite_(suite), motion_(undisturbed.Get(Size::kSmall, "lbs")) {
    for (const TestAuthority* authority : {&authorities_[0], &authorities_[1]}) {
      WriteAll(CaFile(*authority), authority->pem());
    }
    WriteAll(folder_ / "both", authorities_[0].pem() + authorities_[1].pem());
    Install(authorities_[0]);
  }

  void Run() {
    RestartableServer server(suite_, {},
                             {"--tls-cert", folder_ / "cert", "--tls-key", folder_ / "key"});
    TcpProxy proxy(server.address());
    const std::string bytes = LabelledRig(motion_.rig, "tls");
    StreamPump steady(suite_, motion_, bytes, Tls(Patient(server.address()), folder_ / "both"),
                      suite_.Dice("steady"));
    StreamPump broken(suite_, motion_, bytes, Tls(Patient(proxy.address()), folder_ / "both"),
                      suite_.Dice("broken"));
    for (std::uint64_t i = 1; i <= 2 * suite_.SlowRepeats() && suite_.MayContinue(); ++i) {
      const TestAuthority& now = authorities_[i % 2];
      const TestAuthority& before = authorities_[1 - i % 2];
      suite_.Step("a damaged certificate, and SIGHUP");
      WriteAll(folder_ / "key", "damaged");
      server.process().Signal(SIGHUP);
      suite_.Injected("damaged certificates");
      Pass(std::chrono::milliseconds(100));
      suite_.Need(Call(server.address(), before), "with a damaged new certificate");
      suite_.Checked("connections with a damaged new certificate: by the old one");

      suite_.Step("a new certificate, and SIGHUP");
      Install(now);
      server.process().Signal(SIGHUP);
      suite_.Injected("new certificates");
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      absl::Status status = Call(server.address(), now);
      while (!status.ok() && std::chrono::steady_clock::now() < deadline) {
        Pass(std::chrono::milliseconds(10));
        status = Call(server.address(), now);
      }
      suite_.Need(status, "by the new certificate");
      if (Call(server.address(), before).ok()) {
        suite_.Violated("the old certificate is still in use");
      }
      suite_.Checked("connections by a new certificate");
      proxy.Reset();
      suite_.Injected("resets after a new certificate");
      const bool streams =
          steady.Await(steady.frames() + 200) && broken.Await(broken.frames() + 200);
      if (!streams) suite_.Violated("a stream has stopped after a new certificate");
    }
    steady.Stop();
    broken.Stop();
    if (steady.resumed() > 0) suite_.Violated("a new certificate has broken a stream");
    suite_.Checked("frames of a stream over all certificates", steady.frames());
  }

 private:
  std::string CaFile(const TestAuthority& authority) const {
    return folder_ / (&authority == &authorities_[0] ? "ca0" : "ca1");
  }
  void Install(const TestAuthority& authority) const {
    const TestCertificate certificate =
        authority.Issue("server", absl::StrCat("DNS:", kServerName));
    WriteAll(folder_ / "cert", certificate.pem);
    WriteAll(folder_ / "key", certificate.key_pem);
  }
  static client::ClientOptions Tls(client::ClientOptions options, const std::string& ca_file) {
    options.tls = client::TlsOptions{.ca_file = ca_file, .server_name = kServerName};
    return options;
  }
  // A call over a new connection to a server that this authority vouches for.
  absl::Status Call(const std::string& address, const TestAuthority& authority) const {
    const client::Client client = Connected(suite_, Tls(Direct(address), CaFile(authority)));
    return client.GetServerInfo().status();
  }

  Suite& suite_;
  const Motion& motion_;
  const TemporaryFolder folder_;
  const TestAuthority authorities_[2] = {TestAuthority("first"), TestAuthority("second")};
};

}  // namespace

void InjectNewCertificates(Suite& suite, Undisturbed& undisturbed) {
  Certificates(suite, undisturbed).Run();
}

}  // namespace sinew::testing
