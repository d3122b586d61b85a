#include "client/import/collada_animation.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "client/import/collada_curve.h"
#include "client/import/collada_target.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

// What AddClips takes as a problem of a clip.
constexpr char kAnimationsPath[] = "animations";

struct ColladaChannel {
  std::size_t transform = 0;
  std::vector<std::size_t> numbers;  // [curve.width]
  ColladaCurve curve;
};

struct AnimatedNode {
  pugi::xml_node element;
  std::vector<std::uint32_t> nodes;  // of the scene; several if it is instanced
  std::vector<ColladaTransform> rest;
  std::vector<ColladaChannel> channels;
};

// Channels by node. A clip runs from `start` to `end` of the file's time.
class ColladaMotion final : public Motion {
 public:
  ColladaMotion(std::vector<AnimatedNode> nodes, double start, double end)
      : nodes_(std::move(nodes)), start_(start), end_(end) {}

  absl::Status Evaluate(const AnimatedScene& scene, double seconds,
                        ScenePose& pose) const override {
    const double t = std::min(start_ + seconds, end_);
    std::vector<double> values;
    for (const AnimatedNode& animated : nodes_) {
      std::vector<ColladaTransform> transforms = animated.rest;
      for (const ColladaChannel& channel : animated.channels) {
        values.resize(channel.curve.width);
        EvaluateColladaCurve(channel.curve, t, values);
        for (std::size_t i = 0; i < values.size(); ++i) {
          transforms[channel.transform].numbers[channel.numbers[i]] = values[i];
        }
      }
      const absl::StatusOr<AffineD> local = ComposeColladaTransforms(transforms);
      if (!local.ok()) {
        return InvalidArgument(scene.nodes[animated.nodes[0]].path, " at ", seconds,
                               " s: ", local.status().message());
      }
      for (const std::uint32_t node : animated.nodes) pose.local[node] = *local;
    }
    ComposeGlobals(scene, pose);
    return absl::OkStatus();
  }

 private:
  const std::vector<AnimatedNode> nodes_;
  const double start_, end_;
};

std::string NameOf(pugi::xml_node element) {
  const std::string name = element.attribute("name").value();
  return name.empty() ? element.attribute("id").value() : name;
}

// What a clip plays, before its channels are read.
struct ClipSource {
  std::string name, path;
  std::vector<pugi::xml_node> animations{};
  std::optional<double> start{}, end{};
};

std::string ClipPath(pugi::xml_node element) {
  return absl::StrCat(kAnimationsPath, ": ", element.name(), " '", ShownText(NameOf(element)), "'");
}

absl::Status ChannelError(pugi::xml_node channel, const absl::Status& status) {
  return InvalidArgument("channel '", ShownText(channel.attribute("target").value()),
                         "': ", status.message());
}

// The channels of an animation and of those in it.
std::vector<pugi::xml_node> ChannelsOf(pugi::xml_node animation) {
  std::vector<pugi::xml_node> channels, open = {animation};
  while (!open.empty()) {
    const pugi::xml_node each = open.back();
    open.pop_back();
    for (const pugi::xml_node channel : each.children("channel")) channels.push_back(channel);
    for (pugi::xml_node child = each.last_child(); child; child = child.previous_sibling()) {
      if (std::string_view(child.name()) == "animation") open.push_back(child);
    }
  }
  return channels;
}

class ColladaClipReader {
 public:
  ColladaClipReader(const ColladaDocument& document, const std::vector<ColladaNode>& nodes,
                    bool every_node, SceneBuilder& builder)
      : document_(document), builder_(builder) {
    for (std::uint32_t n = 0; n < nodes.size(); ++n) nodes_of_[nodes[n].element].push_back(n);
    in_clip_.resize(nodes.size(), every_node);
    for (const std::uint32_t joint : builder.scene->joint_nodes) {
      for (auto n = static_cast<std::int32_t>(joint);
           n >= 0 && !in_clip_[static_cast<std::size_t>(n)];
           n = nodes[static_cast<std::size_t>(n)].parent) {
        in_clip_[static_cast<std::size_t>(n)] = true;
      }
    }
    for (const pugi::xml_node library : document.root().children("library_animations")) {
      for (const pugi::xml_node animation : library.children("animation")) {
        animations_.push_back(animation);
      }
    }
  }

  absl::Status Read() {
    SINEW_ASSIGN_OR_RETURN(const std::vector<ClipSource> clips, FindClips());
    for (const ClipSource& clip : clips) SINEW_RETURN_IF_ERROR(ReadClip(clip));
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<std::vector<ClipSource>> FindClips() {
    std::vector<ClipSource> clips;
    for (const pugi::xml_node library : document_.root().children("library_animation_clips")) {
      for (const pugi::xml_node element : library.children("animation_clip")) {
        SINEW_ASSIGN_OR_RETURN(clips.emplace_back(), ReadClipElement(element));
      }
    }
    if (!clips.empty()) {
      ReportUnplayed(clips);
    } else if (!AnyNumberTwice()) {
      clips.push_back({.name = "animation", .path = kAnimationsPath, .animations = animations_});
    } else {
      for (const pugi::xml_node animation : animations_) {
        clips.push_back(
            {.name = NameOf(animation), .path = ClipPath(animation), .animations = {animation}});
      }
    }
    return clips;
  }

  absl::StatusOr<ClipSource> ReadClipElement(pugi::xml_node element) const {
    ClipSource clip{.name = NameOf(element), .path = ClipPath(element)};
    if (element.child("instance_formula")) {
      return InvalidArgument(clip.path, ": formulas are not supported");
    }
    for (const auto& [name, time] : {std::pair("start", &clip.start), {"end", &clip.end}}) {
      const pugi::xml_attribute attribute = element.attribute(name);
      if (!attribute) continue;
      double seconds = 0;
      if (!absl::SimpleAtod(attribute.value(), &seconds) || !std::isfinite(seconds)) {
        return InvalidArgument(clip.path, ": ", name, " is '", ShownText(attribute.value()),
                               "', need seconds");
      }
      *time = seconds;
    }
    for (const pugi::xml_node instance : element.children("instance_animation")) {
      const char* url = instance.attribute("url").value();
      const pugi::xml_node animation = document_.Follow(url);
      if (std::string_view(animation.name()) != "animation") {
        return InvalidArgument(clip.path, ": no animation '", ShownText(url), "' in the file");
      }
      clip.animations.push_back(animation);
    }
    return clip;
  }

  void ReportUnplayed(const std::vector<ClipSource>& clips) {
    std::set<pugi::xml_node> played, all;
    for (const ClipSource& clip : clips) {
      for (const pugi::xml_node animation : clip.animations) {
        for (const pugi::xml_node channel : ChannelsOf(animation)) played.insert(channel);
      }
    }
    std::size_t lost = 0;
    for (const pugi::xml_node animation : animations_) {
      for (const pugi::xml_node channel : ChannelsOf(animation)) lost += !played.contains(channel);
    }
    if (lost == 0) return;
    builder_.out.problems.push_back(
        Lost(absl::StrCat(CountedText(lost, "channel"), " that no animation clip plays"),
             kAnimationsPath));
  }

  // Whether two animations at the top drive the same number, so that they cannot run together.
  bool AnyNumberTwice() const {
    std::map<std::tuple<pugi::xml_node, std::size_t, std::size_t>, pugi::xml_node> owners;
    for (const pugi::xml_node animation : animations_) {
      for (const pugi::xml_node channel : ChannelsOf(animation)) {
        const ColladaTarget target = TargetOf(channel);
        for (const std::size_t number : target.numbers) {
          const auto [owner, added] =
              owners.try_emplace(std::tuple(target.node, target.transform, number), animation);
          if (owner->second != animation) return true;
        }
      }
    }
    return false;
  }

  ColladaTarget TargetOf(pugi::xml_node channel) const {
    return ResolveColladaTarget(document_, channel.attribute("target").value());
  }

  absl::StatusOr<ColladaCurve> ReadCurve(pugi::xml_node channel,
                                         const ColladaTarget& target) const {
    SINEW_RETURN_IF_ERROR(target.status);
    const char* source = channel.attribute("source").value();
    const pugi::xml_node sampler = document_.Follow(source, channel.parent());
    if (std::string_view(sampler.name()) != "sampler") {
      return InvalidArgument("no sampler '", ShownText(source), "'");
    }
    SINEW_ASSIGN_OR_RETURN(ColladaCurve curve, ReadColladaCurve(document_, sampler));
    if (curve.width == target.numbers.size()) return curve;
    return InvalidArgument("keys of ", CountedText(curve.width, "number"), ", its target has ",
                           target.numbers.size());
  }

  bool IsInClip(const std::vector<std::uint32_t>& nodes) const {
    return std::ranges::any_of(nodes, [&](std::uint32_t n) { return in_clip_[n]; });
  }

  absl::Status ReadClip(const ClipSource& clip) {
    ClipInfo info{.name = clip.name};
    double first = std::numeric_limits<double>::max(), last = -first;
    std::map<std::uint32_t, AnimatedNode> animated;  // by the first node of the scene
    std::set<std::tuple<std::uint32_t, std::size_t, std::size_t>> driven;
    std::size_t lost = 0, blended = 0;
    for (const pugi::xml_node animation : clip.animations) {
      for (const pugi::xml_node channel : ChannelsOf(animation)) {
        const ColladaTarget target = TargetOf(channel);
        const auto nodes = nodes_of_.find(target.node);
        if (nodes == nodes_of_.end()) {
          ++lost;
          continue;
        }
        const std::uint32_t first_node = nodes->second.front();
        const bool in_clip = IsInClip(nodes->second);
        absl::StatusOr<ColladaCurve> curve = ReadCurve(channel, target);
        if (!curve.ok() && in_clip) return ChannelError(channel, curve.status());
        if (!curve.ok()) {
          ++lost;
          continue;
        }
        ++info.channels;
        blended += curve->width == 16 && curve->times.size() > 1 &&
                   std::ranges::count(curve->kinds, ColladaInterpolation::kStep) == 0;
        info.keys = std::max(info.keys, curve->times.size());
        first = std::min(first, curve->times.front());
        last = std::max(last, curve->times.back());
        if (!in_clip) continue;
        for (const std::size_t number : target.numbers) {
          if (driven.emplace(first_node, target.transform, number).second) continue;
          return ChannelError(channel, InvalidArgument("another channel drives the same number"));
        }
        AnimatedNode& node = animated[first_node];
        node.element = target.node;
        node.nodes = nodes->second;
        node.channels.push_back({target.transform, target.numbers, *std::move(curve)});
      }
    }
    if (lost > 0) {
      builder_.out.problems.push_back(
          Lost(absl::StrCat(CountedText(lost, "channel that moves", "channels that move"),
                            " nothing of the rig and cannot be read"),
               clip.path));
    }
    if (blended > 0) {
      builder_.out.problems.push_back(
          {Severity::kInfo,
           absl::StrCat(CountedText(blended, "channel drives", "channels drive"),
                        " matrices, whose numbers are interpolated one by one: "
                        "joints shrink between keys that are far apart"),
           clip.path});
    }
    if (info.channels == 0) return absl::OkStatus();
    return AddClip(clip, std::move(info), first, last, std::move(animated));
  }

  absl::Status AddClip(const ClipSource& clip, ClipInfo info, double first, double last,
                       std::map<std::uint32_t, AnimatedNode> animated) {
    std::vector<AnimatedNode> nodes;
    for (auto& [first_node, node] : animated) {
      SINEW_ASSIGN_OR_RETURN(node.rest, ReadColladaTransforms(node.element));
      nodes.push_back(std::move(node));
    }
    info.start = first;
    info.end = last;
    double start = 0, end = std::numeric_limits<double>::max();
    if (clip.start || clip.end) {
      start = clip.start.value_or(0);
      end = clip.end.value_or(last);
      if (end < start || !std::isfinite(end - start)) {
        return InvalidArgument(clip.path, ": begins at ", start, " s and ends at ", end, " s");
      }
      info.start = 0;
      info.end = end - start;
    }
    builder_.AddClip(std::move(info),
                     std::make_shared<ColladaMotion>(std::move(nodes), start, end));
    return absl::OkStatus();
  }

  const ColladaDocument& document_;
  SceneBuilder& builder_;
  std::vector<pugi::xml_node> animations_;                         // at the top of the libraries
  std::map<pugi::xml_node, std::vector<std::uint32_t>> nodes_of_;  // of the scene, by element
  std::vector<bool> in_clip_;                                      // [nodes] its channels count
};

}  // namespace

absl::Status PlaceColladaNodes(const std::vector<ColladaNode>& nodes, AnimatedScene& scene) {
  const auto differs = [&](std::size_t n) {
    const pugi::xml_node element = nodes[n].element;
    std::string_view name = element.attribute("id").value();
    if (name.empty()) name = element.attribute("sid").value();
    return nodes[n].parent != scene.nodes[n].parent ||
           (!name.empty() && name != scene.nodes[n].name);
  };
  for (std::size_t n = 0; n < std::min(nodes.size(), scene.nodes.size()); ++n) {
    if (differs(n)) return InvalidArgument(scene.nodes[n].path, ": Assimp reads other nodes");
  }
  if (nodes.size() != scene.nodes.size()) {
    return InvalidArgument("nodes: the scene has ", nodes.size(), ", Assimp reads ",
                           scene.nodes.size());
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const absl::StatusOr<std::vector<ColladaTransform>> transforms =
        ReadColladaTransforms(nodes[n].element);
    const absl::StatusOr<AffineD> local =
        transforms.ok() ? ComposeColladaTransforms(*transforms) : transforms.status();
    if (!local.ok()) return InvalidArgument(scene.nodes[n].path, ": ", local.status().message());
    scene.nodes[n].matrix = *local;
  }
  return absl::OkStatus();
}

absl::Status AddColladaClips(const ColladaDocument& document, const std::vector<ColladaNode>& nodes,
                             bool every_node, SceneBuilder& builder) {
  return ColladaClipReader(document, nodes, every_node, builder).Read();
}

}  // namespace sinew::client
