// stream.h - poses and the options of every deform call; the bidirectional stream.
//
// Included by sinew/client.h.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sinew/frame.h"
#include "sinew/rig_data.h"

namespace sinew::client {

// The floats of one joint: see PoseLayout.
enum class JointFormat : std::uint8_t { kMatrix3x4 = 1, kTrs = 2 };
// The space that the transform of a joint leads to.
enum class Space : std::uint8_t { kModel = 1, kLocal = 2 };
// kOrdered: a frame for each pose, in order. kLatest: a newer pose replaces one that waits.
enum class OrderMode : std::uint8_t { kOrdered = 1, kLatest = 2 };

// Layout of the floats of poses.
struct PoseLayout {
  JointFormat joint_format =
      JointFormat::kMatrix3x4;  // 12 floats a joint; kTrs: 10 (t xyz, q xyzw, s xyz)
  Space space = Space::kModel;  // kLocal: relative to the parent
  std::vector<std::string> joints =
      {};  // names in the order of the floats; empty = all, in rig order
  std::vector<std::string> controls = {};  // likewise
};

// One pose; borrowed during the call.
struct Pose {
  std::span<const float> joint_transforms;  // [joints of the layout * 12 or 10]
  std::span<const float> controls = {};     // [controls of the layout] or empty
  std::uint64_t frame = 0;                  // strictly rising within a stream; 0 = the next number
  std::optional<double> time = {};          // s, returned with the frame
};

// Pose `index`, below clip.frames, with its time. Borrows from the clip.
Pose PoseOf(const ClipData& clip, std::size_t index);

// What a frame contains.
struct OutputOptions {
  // A third of float32's bytes: positions within 1 / 128,000 of each side of the frame's box, and
  // the rounding of float32; normals within a degree. From a server that cannot send them: float32.
  void MakeCompact() {
    encodings = {Encoding::kQ16, Encoding::kFloat32};
    normal_encodings = {Encoding::kOct8, Encoding::kFloat32};
  }

  // A third to three quarters of the bytes and the same vertices, for about 2 ms of computing for
  // 50,000 vertices: for lines below 1 Gbit/s. Also together with MakeCompact.
  void MakeCompressed() { compressions = {Compression::kZstd, Compression::kNone}; }

  // MakeCompressed for slow lines only: a stream opens again, compressed, once 12 of its last 16
  // frames came at less than 1 Gbit/s (125 MB/s). Frames say which: FrameView::compression. Frames
  // below 64 kB are not measured. For one frame or a clip: no compression.
  void MakeCompressedIfSlow() { compressions = {Compression::kNone, Compression::kZstd}; }

  std::vector<Attribute> attributes = {};       // empty = positions
  std::vector<Encoding> encodings = {};         // of positions, preferred first; empty = float32
  std::vector<Encoding> normal_encodings = {};  // empty = float32
  std::vector<Compression> compressions = {};   // preferred first; empty = none
  std::uint32_t chunk_bytes = 0;                // vertex data per message; 0 = the server's 1 MiB
  bool muscles = false;                         // also the rig's muscles in each pose
  NormalRule normal_rule = NormalRule::kAuto;
  bool checksums = true;  // false: the server omits them and the client verifies nothing
};

// What a deform call works on: a session, or a rig and a recipe (the server then keeps a
// short-lived session).
struct Target {
  std::string session = {};             // sessions/...; empty = use the fields below
  std::string rig = {};                 // rigs/sha256-...
  std::string recipe = {};              // text, or JSON of sinew.v1.Recipe (starts with "{")
  std::string determinism_digest = {};  // required digest, or empty
};

// Options of OpenStream.
struct StreamOptions {
  PoseLayout layout = {};
  OutputOptions output = {};
  OrderMode mode = OrderMode::kOrdered;
  std::uint32_t window = 0;     // frames the server may send ahead of Next; 0 = 8 ordered, 2 latest
  std::size_t max_queued = 64;  // ordered: poses that Send queues besides those already sent
  // Name under which Client::WatchStream follows the stream while it is open: 1 to 64 of A-Z a-z
  // 0-9 . _ -; empty = none. Compressed frames are then larger, since each is decoded by itself.
  std::string publish = {};
};

// The result of one pose: a frame, or the error that prevented it.
struct StreamItem {
  std::uint64_t frame = 0;
  absl::Status problem;  // not ok: this pose could not be used; the stream continues
  FrameView view;        // empty if problem is not ok
};

// What the server has agreed to when the stream was opened last.
struct StreamInfo {
  std::string session, determinism_digest;
  std::uint64_t vertices = 0;
  std::uint32_t window = 0, chunk_bytes = 0;
  std::uint32_t resumed = 0;  // how often the library has opened the stream again, for any reason
};

// What a watched stream shows.
struct WatchInfo {
  std::string session, determinism_digest;
  std::string rig;     // rigs/sha256-...
  std::string recipe;  // of the publisher: text or JSON
  std::uint64_t vertices = 0;
};

class StreamCore;  // private to the library
class WatchCore;   // private to the library

// A stream of poses and frames, from Client::OpenStream or Character::OpenStream. The first one of
// a process makes glibc keep up to 64 MB of freed memory instead of returning it to the system,
// unless the program has chosen a limit (mallopt). The destructor cancels it.
//
// A thread of its own receives, or Next does while at most one pose is in flight. Frames that Next
// has returned are acknowledged to the server, so that a caller that stops calling Next gets at
// most `window` further frames. When the connection breaks or the server drains, the stream opens
// again, with backoff, behind the last frame that arrived: an ordered stream repeats the poses that
// have no frame yet, a latest stream only the newest. Frames of an ordered stream arrive in order,
// each once. If the new server has another determinism digest, the stream ends with
// FAILED_PRECONDITION. Send and Next may be called from two threads, but neither from two at once.
class Stream {
 public:
  // Private to the library.
  explicit Stream(std::shared_ptr<StreamCore> core);
  Stream(Stream&&) noexcept = default;   // only assigning to `other` or destroying it is left
  Stream& operator=(Stream&&) noexcept;  // cancels its own stream first
  ~Stream();                             // as Cancel

  // Queues a copy of the pose and returns its frame number. Never blocks.
  //   kResourceExhausted: ordered, and `max_queued` poses are queued: call Next. A latest stream
  //   drops an older pose instead. kInvalidArgument: the frame number is not above the last one.
  //   kFailedPrecondition: after Finish. Any other code: the stream has ended with it.
  absl::StatusOr<std::uint64_t> Send(const Pose& pose);

  // Number of poses that Send would accept now. Only Send makes it smaller, and the stream's end.
  std::size_t room() const;

  // Waits for the next frame. nullopt: Finish was called and all frames were returned.
  //   kDeadlineExceeded: nothing within `timeout`; the stream continues. Any other code: the stream
  //   has ended with it.
  absl::StatusOr<std::optional<StreamItem>> Next(absl::Duration timeout = absl::InfiniteDuration());

  // Ends the sending side: no pose follows.
  void Finish();

  // Ends the stream from any thread; Next returns kCancelled.
  void Cancel();

  StreamInfo info() const;  // as of the last opening

 private:
  std::shared_ptr<StreamCore> core_;
};

// A stream of another client, from Client::WatchStream. The destructor ends the watch. One thread
// at a time calls Next.
class Watch {
 public:
  // Private to the library.
  explicit Watch(std::unique_ptr<WatchCore> core);
  Watch(Watch&&) noexcept;             // only assigning to `other` or destroying it is left
  Watch& operator=(Watch&&) noexcept;  // ends its own watch first
  ~Watch();

  // Waits for a frame that was not returned yet, and returns the newest one that has arrived.
  // FrameView::skipped counts those that were left out since the last one.
  //   kDeadlineExceeded: nothing within `timeout`; the watch continues. kUnavailable with reason
  //   PUBLISHER_ENDED: the stream has ended, watch again. Any other code: the watch has ended with
  //   it.
  absl::StatusOr<FrameView> Next(absl::Duration timeout = absl::InfiniteDuration());

  // Ends the watch from any thread; Next returns kCancelled.
  void Cancel();

  const WatchInfo& info() const;  // as of the opening

 private:
  std::unique_ptr<WatchCore> core_;
};

}  // namespace sinew::client
