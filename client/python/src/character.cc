// Characters: one pose, a clip, a stream.
#include "client/python/src/character.h"

#include <absl/strings/str_cat.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "client/bake/files/cache_parts.h"
#include "client/bake/files/cache_writer.h"
#include "client/bake/passes/bake_manifest.h"
#include "client/bake/passes/bake_targets.h"
#include "client/bake/passes/bound_character.h"
#include "client/bake/passes/pass_runner.h"
#include "client/python/src/arrays.h"
#include "client/python/src/blocking.h"
#include "client/python/src/errors.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace py = pybind11;
using namespace py::literals;

namespace sinew::python {

namespace {

void CheckJoints(const BoundCharacter& character, const client::ClipData& clip) {
  const std::size_t joints = character.rig.data().joints.size();
  if (clip.joint_transforms.size() != clip.frames * joints * 12) {
    Raise(absl::InvalidArgumentError(absl::StrCat(
        "poses: got ", CountedText(clip.joint_transforms.size() / clip.frames / 12, "joint"),
        " a frame, the rig has ", joints)));
  }
}

}  // namespace

client::ClipPoses SentClip(const BoundCharacter& character, const client::ClipData& clip,
                           std::vector<double>& times) {
  CheckJoints(character, clip);
  for (std::size_t k = 0; k < clip.frames; ++k) {
    const auto frame = clip.first_frame + static_cast<std::int64_t>(k) * clip.step;
    times.push_back(static_cast<double>(frame) / clip.fps);
  }
  return {.joint_transforms = clip.joint_transforms,
          .controls = clip.controls,
          .frames = clip.frames,
          .times = times};
}

namespace {

using CharacterPointer = std::shared_ptr<BoundCharacter>;

// One pose, with what keeps its values.
struct SentPose {
  FloatArray joints;
  std::optional<FloatArray> controls;

  client::Pose pose() const {
    return {.joint_transforms = Floats(joints),
            .controls = controls ? Floats(*controls) : std::span<const float>()};
  }
};

// pose: an array, or Poses of one frame, whose controls count unless others are given.
SentPose PoseOf(const BoundCharacter& character, py::object pose, py::object controls) {
  if (py::isinstance<Poses>(pose)) {
    const client::ClipData& clip = *py::cast<const Poses&>(pose).clip;
    if (clip.frames != 1) {
      Raise(absl::InvalidArgumentError(
          absl::StrCat("pose: got Poses of ", CountedText(clip.frames, "frame"),
                       ", need one frame, such as poses[0]; clip() takes all of them")));
    }
    if (controls.is_none() && !clip.controls.empty()) controls = pose.attr("controls")[py::int_(0)];
    pose = pose.attr("matrices")[py::int_(0)];
  }
  const client::RigData& rig = character.rig.data();
  SentPose sent{ToMatrices<FloatArray>({pose, "pose"}, {Size(rig.joints.size())}), {}};
  if (!controls.is_none()) {
    sent.controls = OfShape<FloatArray>({controls, "controls"}, {Size(rig.controls.size())});
  }
  return sent;
}

using Compressed = std::variant<bool, std::string>;  // or "auto"

client::OutputOptions OutputOf(bool normals, bool tangents, bool vertex_status, bool compact,
                               const Compressed& compressed) {
  client::OutputOptions output;
  output.attributes.push_back(client::Attribute::kPositions);
  if (normals) output.attributes.push_back(client::Attribute::kNormals);
  if (tangents) output.attributes.push_back(client::Attribute::kTangents);
  if (vertex_status) output.attributes.push_back(client::Attribute::kVertexStatus);
  if (compact) output.MakeCompact();
  if (compressed == Compressed(true)) output.MakeCompressed();
  if (const auto* const text = std::get_if<std::string>(&compressed)) {
    if (*text != "auto") {
      Raise(absl::InvalidArgumentError(
          absl::StrCat("compressed: got \"", *text, "\", need True, False or \"auto\"")));
    }
    output.MakeCompressedIfSlow();
  }
  return output;
}

client::FrameView Deform(const CharacterPointer& character, const py::object& pose,
                         const py::object& controls, bool normals, bool tangents,
                         bool vertex_status, bool compact, bool compressed,
                         std::optional<double> deadline) {
  const SentPose sent = PoseOf(*character, pose, controls);
  const client::OutputOptions output =
      OutputOf(normals, tangents, vertex_status, compact, compressed);
  const auto service = character->connection->Get();
  const absl::Duration limit = Deadline(deadline, absl::ZeroDuration());
  return Value(Blocked([&](const std::stop_token& stop) {
    return character->bound.Deform({}, sent.pose(), output, {.deadline = limit, .stop = stop});
  }));
}

// What may be wrong with a clip, as Python warnings, once for each name.
void WarnOnce(BoundCharacter& character, const client::ClipData& clip) {
  if (character.warned_clips.contains(clip.name)) return;
  for (const std::string& warning :
       bake::ClipWarnings(character.rig.data(), character.bound, clip)) {
    if (PyErr_WarnEx(PyExc_UserWarning, warning.c_str(), 2) != 0) throw py::error_already_set();
  }
  character.warned_clips.insert(clip.name);
}

using FrameSink = std::function<absl::Status(std::size_t index, const client::FrameView& frame)>;

// Calls `sink` with every frame, without the GIL. deadline: of the whole clip.
void RunClip(const BoundCharacter& character, const Poses& poses, py::object progress,
             std::optional<double> deadline, const FrameSink& sink) {
  const auto service = character.connection->Get();
  const absl::Duration limit = Deadline(deadline, absl::InfiniteDuration());
  std::vector<double> times;
  const client::ClipPoses sent = SentClip(character, *poses.clip, times);
  std::stop_source stop;
  Callback report(std::move(progress), stop);
  client::ClipOptions options;
  if (report) {
    options.progress = [&](std::size_t done, std::size_t total) {
      report(static_cast<double>(done) / static_cast<double>(total));
    };
  }
  const auto take = [&](const client::StreamItem& item) -> absl::Status {
    return item.problem.ok() ? sink(item.frame - 1, item.view) : item.problem;
  };
  const absl::Status status = Blocked(
      [&](const std::stop_token& token) {
        return character.bound.DeformClip(sent, options, take, {.deadline = limit, .stop = token});
      },
      stop);
  report.Rethrow();
  Check(status);
}

// [F, V, 3]. poses: Poses, or an array, whose frames need no rate.
py::array DeformClip(const CharacterPointer& character, const py::object& given,
                     py::object progress, std::optional<double> deadline) {
  const Poses poses = py::isinstance<Poses>(given)
                          ? py::cast<Poses>(given)
                          : Poses{std::make_shared<const client::ClipData>(
                                PosesOf({given, "poses"}, py::none(), /*fps=*/24))};
  CheckJoints(*character, *poses.clip);
  WarnOnce(*character, *poses.clip);
  const std::size_t stride = character->rig.data().vertices() * 3;
  py::array_t<float> result({Size(poses.clip->frames), Size(stride / 3), py::ssize_t{3}});
  float* const out = result.mutable_data();
  RunClip(*character, poses, std::move(progress), deadline,
          [&](std::size_t index, const client::FrameView& frame) {
            return frame.CopyPositions({out + index * stride, stride});
          });
  return result;
}

using Spaces = std::map<std::string, py::object>;  // matrices by the name of a mesh

// Each cache holds one mesh, in the space that is given for it.
void SetSpaces(const Spaces& spaces, const client::RigData& rig,
               std::span<bake::CacheTarget> targets) {
  std::size_t used = 0;
  for (bake::CacheTarget& target : targets) {
    for (const std::size_t mesh : target.meshes) {
      const auto found = spaces.find(rig.meshes[mesh].name);
      if (found == spaces.end()) continue;
      if (target.meshes.size() > 1 || target.up != client::UpAxis::kUnspecified) {
        Raise(absl::InvalidArgumentError("spaces: need split=True or one mesh, and axes=\"file\""));
      }
      target.space = Values(ToMatrices<FloatArray>(
          {found->second, absl::StrCat("spaces[\"", found->first, "\"]")}, {}));
      target.space_name = "custom";
      ++used;
    }
  }
  if (used != spaces.size()) {
    Raise(absl::InvalidArgumentError("spaces: need names of meshes that are baked"));
  }
}

// Passes the progress of a bake on to Python, and ends it when Python asks for that.
class BakeMonitor : public bake::Monitor {
 public:
  BakeMonitor(Callback& report, client::CallOptions call) : report_(report), call_(call) {}

  std::shared_ptr<bake::ProgressLine> MakeProgress(const std::string& label,
                                                   Part part) const override {
    if (part != Part::kMain || !report_) return Monitor::MakeProgress(label, part);
    return std::make_shared<Line>(report_);
  }
  absl::Status CheckStop() const override {
    return call_.stop.stop_requested() ? absl::CancelledError("interrupted") : absl::OkStatus();
  }
  client::CallOptions call() const override { return call_; }

 private:
  class Line : public bake::ProgressLine {
   public:
    explicit Line(Callback& report) : report_(report) {}
    void Update(double fraction, const std::string&) override { report_(fraction); }

   private:
    Callback& report_;
  };

  Callback& report_;
  const client::CallOptions call_;
};

// The caches, or their parts, as Python has paths: with surrogates for bytes that are not UTF-8.
std::vector<py::object> PathsOf(const bake::BakePass& pass, const client::ClipData& clip,
                                bool part) {
  std::vector<double> numbers;
  for (std::size_t k = 0; k < clip.frames; ++k) numbers.push_back(clip.FrameNumber(k));
  std::vector<py::object> paths;
  for (const bake::CacheTarget& target : pass.targets) {
    paths.push_back(PathObject(part ? bake::PartPath(target.path, numbers) : target.path));
  }
  return paths;
}

// The poses, with the numbers of a clip that begins at `start`.
std::shared_ptr<const client::ClipData> Numbered(const Poses& poses, std::int64_t start) {
  if (start == 0) return poses.clip;
  const auto moved = std::make_shared<client::ClipData>(*poses.clip);
  bake::MoveFrames(start, *moved);
  return moved;
}

std::vector<py::object> Bake(const CharacterPointer& character, const Poses& poses,
                             const std::filesystem::path& out, const std::string& format,
                             bool split, const std::vector<std::string>& meshes,
                             const std::string& axes, bool overwrite, const Spaces& spaces,
                             bool normals, std::int64_t start_frame,
                             std::optional<std::int64_t> chunk, bool resume, bool part,
                             py::object progress, std::optional<double> deadline) {
  const bake::CharacterFile& file = *character->rig.file;
  if (start_frame < 0 || start_frame > bake::kMaxStartFrame) {
    Raise(absl::InvalidArgumentError(
        absl::StrCat("start_frame: got ", start_frame, ", need 0 to ", bake::kMaxStartFrame)));
  }
  const std::shared_ptr<const client::ClipData> numbered = Numbered(poses, start_frame);
  const client::ClipData& clip = *numbered;
  if (part && (!overwrite || chunk || resume)) {
    Raise(absl::InvalidArgumentError(absl::StrCat(
        !overwrite ? "overwrite: does not apply to parts, but to join()"
                   : "chunk, resume: are of a bake that joins its parts, need them without part")));
  }
  if (chunk && *chunk < 1) {
    Raise(absl::InvalidArgumentError(absl::StrCat("chunk: got ", *chunk, ", need 1 or more")));
  }
  const bake::BakeOutput output = {.out = out.string(),
                                   .format = format,
                                   .axes = axes,
                                   .meshes = meshes,
                                   .split = split,
                                   .no_clobber = !overwrite,
                                   .normals = normals};
  bake::CacheTarget common = Value(bake::CommonTarget(output));
  Check(bake::AddScene(output, file, /*clip_samples=*/0, common));
  std::vector<std::string> inputs = file.clip_files;
  inputs.push_back(character->rig.path);
  std::vector<bake::BakePass> passes = Value(bake::BakePasses(
      output, common, file.rig, {clip.name}, {character->bound.session().recipe_text}, inputs));
  SetSpaces(spaces, file.rig, passes[0].targets);
  CheckJoints(*character, clip);
  WarnOnce(*character, clip);
  const bake::SourceDigests digests = Value(bake::DigestsOf(file, {}));
  bake::MotionRequest motion;
  motion.frames.start = start_frame;
  const bake::PassInput in = {
      .character = file, .clip = clip, .motion = motion, .digests = digests, .pass = passes[0]};
  const bake::PartsRequest parts = {.frames = chunk, .resume = resume, .only = part};
  const auto service = character->connection->Get();
  std::stop_source stop;
  Callback report(std::move(progress), stop);
  const BakeMonitor monitor(
      report, {.deadline = Deadline(deadline, absl::InfiniteDuration()), .stop = stop.get_token()});
  bake::PassRunner runner(monitor, in, parts,
                          bake::ManifestOf(file, digests, clip, character->bound.session()),
                          [&] { return character->bound; });
  const absl::Status status = Blocked([&](const std::stop_token&) { return runner.Run(); }, stop);
  report.Rethrow();
  Check(status);
  return PathsOf(passes[0], clip, part);
}

// A stream keeps its character, which knows the sizes of poses, and a server in this process.
struct PoseStream {
  std::shared_ptr<void> service;
  CharacterPointer character;
  client::Stream stream;  // ends before the character
};

std::shared_ptr<PoseStream> OpenStream(const CharacterPointer& character, bool latest, bool normals,
                                       bool tangents, bool compact, const Compressed& compressed,
                                       std::size_t max_queued, const std::string& publish,
                                       std::optional<double> deadline) {
  const absl::Duration limit = Deadline(deadline, absl::ZeroDuration());
  const auto service = character->connection->Get();
  client::StreamOptions options;
  options.mode = latest ? client::OrderMode::kLatest : client::OrderMode::kOrdered;
  options.output = OutputOf(normals, tangents, false, compact, compressed);
  options.max_queued = max_queued;
  options.publish = publish;
  auto opened = Value(Blocked([&](const std::stop_token& stop) {
    return character->bound.OpenStream(options, {.deadline = limit, .stop = stop});
  }));
  return Shared(new PoseStream{service, character, std::move(opened)});
}

std::uint64_t Send(PoseStream& stream, const py::object& pose, const py::object& controls,
                   std::optional<double> time) {
  UseNetwork();
  const SentPose sent = PoseOf(*stream.character, pose, controls);
  client::Pose timed = sent.pose();
  timed.time = time;
  return Value(stream.stream.Send(timed));
}

// The next frame or the problem of its pose; nothing at the end.
std::optional<client::StreamItem> NextItem(PoseStream& stream, std::optional<double> timeout) {
  UseNetwork();
  const absl::Duration limit = timeout ? Seconds("timeout", *timeout) : absl::InfiniteDuration();
  return Value(Blocked(
      [&](const std::stop_token& stop) {
        const std::stop_callback cancel(stop, [&] { stream.stream.Cancel(); });
        return stream.stream.Next(limit);
      },
      std::stop_source(), limit == absl::ZeroDuration()));
}

std::optional<client::FrameView> Next(PoseStream& stream, std::optional<double> timeout) {
  std::optional<client::StreamItem> item = NextItem(stream, timeout);
  if (!item) return std::nullopt;
  Check(item->problem);
  return item->view;
}

void Cancel(PoseStream& stream) {
  if (!NetworkIsLost()) stream.stream.Cancel();
}

// For people.
std::string Text(const BoundCharacter& character) {
  return absl::StrCat("'", character.bound.session().recipe_text, "' on '",
                      character.rig.file->label, "'");
}

void BindPoseStream(py::module_& module) {
  py::class_<PoseStream, std::shared_ptr<PoseStream>> type(
      module, "Stream",
      R"(Poses in, frames out, with several poses in flight. From Character.stream().

with character.stream() as stream:
    for pose in poses.joints:
        while stream.room == 0:
            show(stream.next().positions)
        stream.send(pose)
    stream.finish()
    for frame in stream:
        show(frame.positions)

Reconnects by itself. send and next may be called from two threads. The end of `with` cancels it.)");
  OnlyFromFunctions(type);
  type.def("send", Send, "pose"_a, "controls"_a = py::none(), "time"_a = py::none(),
           "Queues a pose and returns its frame number. Never waits: RESOURCE_EXHAUSTED if "
           "max_queued poses of an ordered stream are queued.")
      .def("next", Next, "timeout"_a = py::none(),
           "Waits for the next frame; None after finish() and the last one. Raises Timeout "
           "after `timeout` seconds, and the error of a pose that could not be "
           "used; the stream continues after both.")
      .def(
          "_next_item",
          [](PoseStream& stream) -> py::object {
            const std::optional<client::StreamItem> item = NextItem(stream, std::nullopt);
            if (!item) return py::none();
            if (!item->problem.ok()) {
              return py::make_tuple(item->frame, py::none(), MakeError(item->problem));
            }
            return py::make_tuple(item->frame, item->view, py::none());
          },
          "Number, Frame and exception, one of them None; None at the end. Raises once the stream "
          "has ended.")
      .def(
          "finish",
          [](PoseStream& stream) {
            UseNetwork();
            stream.stream.Finish();
          },
          "No pose follows.")
      .def("cancel", Cancel, "Ends the stream at once, from any thread: next() raises.")
      .def_property_readonly(
          "room",
          [](const PoseStream& stream) {
            UseNetwork();
            return stream.stream.room();
          },
          "Number of poses that send() would accept now.")
      .def("__iter__", [](std::shared_ptr<PoseStream> stream) { return stream; })
      .def("__next__",
           [](PoseStream& stream) {
             std::optional<client::FrameView> frame = Next(stream, std::nullopt);
             if (!frame) throw py::stop_iteration();
             return *frame;
           })
      .def("__enter__", [](std::shared_ptr<PoseStream> stream) { return stream; })
      .def("__exit__", [](PoseStream& stream, const py::args&) { Cancel(stream); })
      .def("__repr__", [](const PoseStream& stream) {
        return absl::StrCat("<sinew.Stream of ", Text(*stream.character), ">");
      });
}

}  // namespace

void BindStream(py::module_& module) {
  BindPoseStream(module);
  py::class_<BoundCharacter, CharacterPointer> type(
      module, "Character",
      "A rig bound to a deformer, from Client.character(). If the server loses it, it is uploaded "
      "and bound again. Thread-safe.");
  OnlyFromFunctions(type);
  type.def(
          "deform", Deform, "pose"_a, "controls"_a = py::none(), py::kw_only(), "normals"_a = false,
          "tangents"_a = false, "vertex_status"_a = false, "compact"_a = false,
          "compressed"_a = false, "deadline"_a = py::none(),
          R"(One pose: (J, 3, 4), (J, 4, 4) or (J, 12), joint to model space in the order of the rig, or Poses of one
frame. controls: (K,), or None for those of the Poses or the defaults. compact, compressed: as for stream. deadline: seconds with all
retries; None: that of the client. Raises Timeout after it.)")
      .def("clip", DeformClip, "poses"_a, "progress"_a = py::none(), py::kw_only(),
           "deadline"_a = py::none(),
           "All frames of poses, or of an array (F, J, 3, 4) or (F, J, 4, 4): (F, V, 3) float32. "
           "progress: called with a number from 0 to 1. "
           "deadline: seconds for the whole clip with all retries; None: as long as it takes.")
      .def(
          "bake", Bake, "poses"_a, "out"_a, py::kw_only(), "format"_a = "", "split"_a = false,
          "meshes"_a = std::vector<std::string>(), "axes"_a = "file", "overwrite"_a = true,
          "spaces"_a = Spaces(), "normals"_a = false, "start_frame"_a = 0, "chunk"_a = py::none(),
          "resume"_a = false, "part"_a = false, "progress"_a = py::none(),
          "deadline"_a = py::none(),
          R"(Writes all frames as a cache, .pc2, .mdd, .npy, .usda, .obj or .glb, with a manifest beside it.

format: one of these without the dot, for an `out` with another ending.
split: one cache for each mesh; `out` contains {mesh}. meshes: only these. axes: file, blender (Z
up, and of glTF files the vertices that Blender imports), gltf or maya (Y up). spaces: by mesh, (3,
4) from model space to that of its cache; with split.
normals: also unit normals, beside the points. start_frame: the number of the clip's frame 0, such as
1001: files, the manifest and join() count from it. chunk: bake in parts of so many frames in the folder
OUT.parts, and join them; resume: keep the parts that an earlier call has finished.
part: write these frames as a part of the cache, for join(): several processes bake one cache.
deadline: as for clip. Returns the paths. Files appear complete or not at all.)")
      .def(
          "stream", OpenStream, py::kw_only(), "latest"_a = false, "normals"_a = false,
          "tangents"_a = false, "compact"_a = false, "compressed"_a = Compressed(false),
          "max_queued"_a = 64, "publish"_a = "", "deadline"_a = kOpeningSeconds,
          R"(Opens a stream. latest: an older pose that is still waiting is dropped for a newer one.
compact: a third of the bytes, for slow networks; positions are within 1 / 128,000 of each side
of the frame's box and the rounding of float32, normals within a degree. compressed: the same
vertices in fewer bytes, also together with compact, for about 2 ms of computing for 50,000 vertices; "auto": on slow lines only.
publish: a name by which Client.watch() of other clients follows the stream while it is open: 1 to 64 of A-Z a-z 0-9 . _ -
deadline: seconds until the server has accepted the stream, with all retries; None: that of the client. Raises Timeout after it.)")
      .def(
          "release",
          [](const CharacterPointer& character) {
            const auto service = character->connection->Get();
            Check(Blocked([&](const std::stop_token& stop) {
              return character->bound.Release({.stop = stop});
            }));
          },
          "Deletes the session now instead of letting it expire; the next call makes a new one.")
      .def_property_readonly(
          "rig", [](const BoundCharacter& character) { return character.rig; },
          "As given to character().")
      .def_property_readonly(
          "rig_name", [](const BoundCharacter& character) { return character.bound.rig_name(); },
          "rigs/sha256-...")
      .def_property_readonly(
          "session", [](const BoundCharacter& character) { return character.bound.session().name; },
          "sessions/...; another one after the character was bound again.")
      .def_property_readonly(
          "recipe",
          [](const BoundCharacter& character) { return character.bound.session().recipe_json; },
          "JSON of the recipe with every default; accepted as a deformer.")
      .def_property_readonly(
          "determinism_digest",
          [](const BoundCharacter& character) {
            return character.bound.session().determinism_digest;
          },
          "Equal rigs and digests give equal bits, on any server.")
      .def_property_readonly(
          "warnings",
          [](const BoundCharacter& character) {
            std::vector<std::string> warnings;
            for (const auto& warning : character.bound.session().warnings) {
              warnings.push_back(warning.message);
            }
            return warnings;
          },
          "What the server says of the recipe, e.g. parameters without effect.")
      .def("__repr__", [](const BoundCharacter& character) {
        return absl::StrCat("<sinew.Character ", Text(character), ">");
      });
}

}  // namespace sinew::python
