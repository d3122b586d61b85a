// Connections that are reset, cut in the middle of a frame, delayed, slow or half-open, and calls
// that are cancelled, while frames are streamed: until the total of frames is reached.
#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/fault/checked_stream.h"
#include "tests/fault/faults.h"
#include "tests/fault/restartable_server.h"
#include "tests/fault/tcp_proxy.h"

namespace sinew::testing {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// After a break a clip continues with the frame after its last one.
constexpr char kClipRecipe[] = "implicit_skinning";

// A client that notices a silent connection after one to two seconds.
client::ClientOptions Alert(const std::string& address) {
  client::ClientOptions options = Patient(address);
  options.keepalive_time = absl::Seconds(1);
  options.keepalive_timeout = absl::Milliseconds(500);
  return options;
}

class Connections {
 public:
  Connections(Suite& suite, Undisturbed& undisturbed)
      : suite_(suite),
        undisturbed_(undisturbed),
        dice_(suite.Dice("connections")),
        server_(suite, {}),
        proxy_(server_.address()) {}

  void Run() {
    std::list<StreamPump> pumps;
    AddPump(pumps, Size::kSmall, "lbs");
    AddPump(pumps, Size::kMedium, "ddm");
    std::thread clips = suite_.Thread([this] { Clips(); });
    for (std::uint64_t i = 0; suite_.MayContinue() && !Done(i); ++i) {
      Step();
      for (const StreamPump& pump : pumps) {
        if (!pump.Await(pump.frames() + 100)) suite_.Violated("a stream does not recover");
      }
    }
    proxy_.Delay(microseconds(0));
    proxy_.ResetFrozen();
    stop_ = true;
    clips.join();
    for (StreamPump& pump : pumps) pump.Stop();
    for (const int socket : silent_) ::close(socket);
    // Nothing of all this is left to hold up a new client.
    const Motion& motion = undisturbed_.Get(Size::kSmall, "lbs");
    const auto character = suite_.Need(
        client::Character::Create(server_.Client(), motion.rig, motion.recipe), "a new client");
    CheckDeform(suite_, server_.Client(), {.session = character.session().name}, motion, 1);
    suite_.Checked("connections through the proxy", proxy_.accepted());
  }

 private:
  bool Done(std::uint64_t steps) const {
    return steps >= 10 * suite_.Repeats() && suite_.frames >= suite_.options().frames;
  }

  void AddPump(std::list<StreamPump>& pumps, Size size, const std::string& recipe) {
    const Motion& motion = undisturbed_.Get(size, recipe);
    pumps.emplace_back(suite_, motion, LabelledRig(motion.rig, "pumped"), Alert(proxy_.address()),
                       suite_.Dice(recipe), absl::StatusCode::kNotFound);
  }

  void Step() {
    Pass(microseconds(dice_.Below(40'000)));
    switch (dice_.Below(12)) {
      case 0:
      case 1:
      case 2:
        suite_.Step("reset");
        proxy_.Reset();
        suite_.Injected("resets");
        break;
      case 3:
      case 4:
      case 5: {
        const std::size_t bytes = 1 + dice_.Below(1u << (4 + dice_.Below(14)));
        suite_.Step(absl::StrCat("reset after ", bytes, " bytes"));
        proxy_.ResetAfter(bytes);
        suite_.Injected("resets in the middle of replies");
        break;
      }
      case 6:
      case 7: {
        const microseconds delay(dice_.Below(5'000));
        suite_.Step(absl::StrCat("delay of ", delay.count(), " us each way"));
        proxy_.Delay(delay);
        suite_.Injected("delays");
        Pass(milliseconds(dice_.Below(100)));
        proxy_.Delay(microseconds(0));
        break;
      }
      case 8:
        suite_.Step("slow connection");
        proxy_.Throttle(100'000 + dice_.Below(1'000'000));
        suite_.Injected("slow connections");
        Pass(milliseconds(dice_.Below(100)));
        proxy_.Throttle(0);
        break;
      case 9:
        HalfOpen();
        break;
      default:
        CancelStream();
    }
  }

  // The client's connection falls silent, and silent connections without a client appear.
  void HalfOpen() {
    if (half_open_++ >= suite_.SlowRepeats()) return;  // each costs seconds
    suite_.Step("half-open connections");
    proxy_.ResetFrozen();
    proxy_.Freeze();
    suite_.Injected("half-open connections");
    sockaddr_in name{};
    name.sin_family = AF_INET;
    const std::string& address = server_.address();
    const std::size_t colon = address.rfind(':');
    ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &name.sin_addr);
    name.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
    for (int i = 0; i < 10; ++i) {
      const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      ::connect(socket, reinterpret_cast<const sockaddr*>(&name), sizeof name);
      silent_.push_back(socket);
    }
    suite_.Injected("silent connections", 10);
  }

  // RST_STREAM in the middle of a stream, beside others on the same connection.
  void CancelStream() {
    const std::uint64_t frames = dice_.Below(200);
    suite_.Step(absl::StrCat("cancellation after ", frames, " frames"));
    const Motion& motion = undisturbed_.Get(Size::kMedium, "lbs");
    const client::Client client = Connected(suite_, Alert(proxy_.address()));
    const auto character = suite_.Need(client::Character::Create(client, motion.rig, motion.recipe),
                                       "character to cancel");
    CheckedStream stream(
        suite_, motion,
        suite_.Need(character.OpenStream(CheckedOptions(32, true)), "stream to cancel"));
    CheckedStream other(suite_, motion,
                        suite_.Need(character.OpenStream(CheckedOptions()), "stream beside"));
    suite_.Need(other.Advance(1), "stream beside");
    suite_.Need(stream.Advance(frames), "stream to cancel");
    stream.Fill();
    stream.stream().Cancel();
    suite_.Injected("cancelled streams");
    const absl::Status status = stream.TakeRest();
    if (!absl::IsCancelled(status)) {
      suite_.Violated(absl::StrCat("a cancelled stream: need CANCELLED, got ", status.ToString()));
    }
    suite_.Need(other.Advance(50), "stream beside a cancelled one");
    suite_.CheckEnd(other.Finish(), "streams beside cancelled ones", {});
  }

  void Clips() {
    const Motion& motion = undisturbed_.Get(Size::kSmall, kClipRecipe);
    const client::Client client = Connected(suite_, Alert(proxy_.address()));
    const std::string bytes = LabelledRig(motion.rig, "clips");
    while (!stop_ && !suite_.failed()) {
      std::uint64_t frames = 0;
      absl::Status status;
      const auto character = client::Character::Create(client, bytes, kClipRecipe);
      status = character.status();
      if (status.ok()) {
        status = character->DeformClip(
            motion.Clip(), {.output = CheckedOutput()}, [&](const client::StreamItem& item) {
              ++frames;
              if (item.frame != frames) suite_.Violated("a clip repeats or omits a frame");
              if (!item.problem.ok()) return item.problem;
              if (SumOf(item.view) != motion.Sum(frames)) {
                suite_.Violated(absl::StrCat("frame ", frames, " of a clip differs"));
              }
              ++suite_.frames;
              return absl::OkStatus();
            });
      }
      suite_.CheckEnd(status, "clips",
                      {absl::StatusCode::kUnavailable, absl::StatusCode::kNotFound});
      if (status.ok() && frames != motion.poses) {
        suite_.Violated(absl::StrCat("a clip: got ", frames, " frames, need ", motion.poses));
      }
    }
  }

  Suite& suite_;
  Undisturbed& undisturbed_;
  Random dice_;
  RestartableServer server_;
  TcpProxy proxy_;
  std::atomic<bool> stop_{false};
  std::vector<int> silent_;
  std::uint64_t half_open_ = 0;
};

}  // namespace

void InjectBrokenConnections(Suite& suite, Undisturbed& undisturbed) {
  Connections(suite, undisturbed).Run();
}

}  // namespace sinew::testing
