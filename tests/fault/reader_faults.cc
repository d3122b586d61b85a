// Readers that are slow, and readers that stop: in the program that reads, and on the network
// before it. Another client streams beside them.
#include <absl/strings/str_cat.h>

#include <chrono>
#include <string>

#include "tests/fault/checked_stream.h"
#include "tests/fault/faults.h"
#include "tests/fault/restartable_server.h"
#include "tests/fault/tcp_proxy.h"

namespace sinew::testing {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLonger{1600};  // than the server waits

class Readers {
 public:
  Readers(Suite& suite, Undisturbed& undisturbed)
      : suite_(suite),
        dice_(suite.Dice("readers")),
        motion_(undisturbed.Get(Size::kHuge, "lbs")),  // 960 kB a frame
        beside_(undisturbed.Get(Size::kMedium, "ddm")),
        server_(suite, {}, {"--max-stall-seconds", "1"}),
        proxy_(server_.address()) {}

  void Run() {
    const std::string bytes = LabelledRig(beside_.rig, "beside");
    StreamPump pump(suite_, beside_, bytes, Patient(server_.address()), suite_.Dice("pump"));
    for (std::uint64_t i = 0; i < 4 * suite_.SlowRepeats() && suite_.MayContinue(); ++i) {
      switch (i % 4) {
        case 0:
          StopReading();
          break;
        case 1:
          StopNetwork();
          break;
        case 2:
          ReadSlowly();
          break;
        default:
          SlowNetwork();
      }
      if (!pump.Await(pump.frames() + 100)) suite_.Violated("the stream beside them has stopped");
    }
    pump.Stop();
    if (pump.resumed() > 0) suite_.Violated("the stream beside them was broken");
    suite_.Checked("frames of a stream beside them", pump.frames());
  }

 private:
  CheckedStream Open(const std::string& address, std::uint32_t window) {
    const client::Client client = Connected(suite_, Direct(address));
    const auto character =
        suite_.Need(client::Character::Create(client, motion_.rig, motion_.recipe), "character");
    client::StreamOptions options = CheckedOptions(window, dice_.Below(2) == 1);
    options.max_queued = 8;
    return {suite_, motion_, suite_.Need(character.OpenStream(options), "OpenStream")};
  }

  void StopReading() {
    suite_.Step("a reader stops");
    CheckedStream stream = Open(server_.address(), 1 + dice_.Below(8));
    suite_.CheckEnd(stream.Advance(1 + dice_.Below(20)), "before it stops", {});
    suite_.Injected("readers that stop");
    if (!stream.AwaitEnd()) suite_.Violated("a stopped reader keeps its stream");
    const absl::Status status = stream.TakeRest();
    suite_.CheckEnd(status, "streams of stopped readers", {absl::StatusCode::kResourceExhausted});
    if (client::Details(status).reason != "WINDOW_STALLED") {
      suite_.Violated(
          absl::StrCat("a stopped reader: need WINDOW_STALLED, got ", status.ToString()));
    }
  }

  // Nothing is read from the server for longer than it waits; then the connection continues.
  void StopNetwork() {
    suite_.Step("the network before a reader stops");
    CheckedStream stream = Open(proxy_.address(), 64);
    suite_.CheckEnd(stream.Advance(1 + dice_.Below(20)), "before it stops", {});
    proxy_.HoldReplies(true);
    stream.Fill();
    suite_.Injected("connections without reads");
    Pass(kLonger);
    proxy_.HoldReplies(false);
    suite_.CheckEnd(stream.Finish(), "streams on connections without reads",
                    {absl::StatusCode::kResourceExhausted, absl::StatusCode::kUnavailable});
  }

  void ReadSlowly() {
    suite_.Step("a reader is slow");
    CheckedStream stream = Open(server_.address(), 1 + dice_.Below(8));
    for (std::uint64_t frame = 1; frame <= 30 && suite_.MayContinue(); ++frame) {
      suite_.Need(stream.Advance(frame), "a slow reader");
      Pass(milliseconds(dice_.Below(40)));
    }
    suite_.Injected("slow readers");
    suite_.CheckEnd(stream.Finish(), "streams of slow readers", {});
  }

  void SlowNetwork() {
    suite_.Step("the network before a reader is slow");
    CheckedStream stream = Open(proxy_.address(), 8);
    proxy_.Throttle(30'000'000);
    suite_.Injected("slow connections");
    suite_.CheckEnd(stream.Advance(20), "before the end", {});
    suite_.CheckEnd(stream.Finish(), "streams on slow connections", {});
    proxy_.Throttle(0);
  }

  Suite& suite_;
  Random dice_;
  const Motion& motion_;
  const Motion& beside_;
  RestartableServer server_;
  TcpProxy proxy_;
};

}  // namespace

void InjectSlowReaders(Suite& suite, Undisturbed& undisturbed) {
  Readers(suite, undisturbed).Run();
}

}  // namespace sinew::testing
