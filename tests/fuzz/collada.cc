// collada.cc - nodes and clips of COLLADA files, and how meshes and skins are prepared for Assimp.
#include "client/import/collada_animation.h"
#include "client/import/collada_mesh.h"
#include "client/import/collada_skin.h"
#include "client/import/scene_graph.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace sinew;

constexpr std::size_t kMaxNodes = 256;  // instances of instances grow exponentially

// A scene of these nodes, all of which are joints.
absl::Status ReadScene(const client::ColladaDocument& document, client::SceneBuilder& builder) {
  const absl::StatusOr<std::vector<client::ColladaNode>> nodes =
      client::ReadColladaNodes(document, kMaxNodes, builder.out.problems);
  if (!nodes.ok()) return nodes.status();
  std::vector<std::uint32_t> joints;
  for (const client::ColladaNode& node : *nodes) {
    const std::string id = node.element.attribute("id").value();
    joints.push_back(static_cast<std::uint32_t>(joints.size()));
    builder.scene->nodes.push_back({.name = id.empty() ? node.element.attribute("sid").value() : id,
                                    .path = "node '" + id + "'",
                                    .parent = node.parent,
                                    .trs = {},
                                    .matrix = {}});
  }
  if (const absl::Status placed = client::PlaceColladaNodes(*nodes, *builder.scene); !placed.ok()) {
    return placed;
  }
  fuzz::Require(builder.OrderNodes().ok(), "a tree");
  builder.AddJoints(joints);
  return client::AddColladaClips(document, *nodes, /*every_node=*/false, builder);
}

// Clips do not depend on it.
void Prepare(client::ColladaDocument& document) {
  std::vector<client::Problem> problems;
  for (const absl::Status& ready :
       {client::PrepareColladaMeshes(document), client::PrepareColladaSkins(document, problems)}) {
    if (!ready.ok()) fuzz::RequireRefusal(ready);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  absl::StatusOr<client::ColladaDocument> document =
      client::ColladaDocument::Parse(std::string(fuzz::Text(data, size)));
  if (!document.ok()) {
    fuzz::RequireRefusal(document.status());
    return 0;
  }
  Prepare(*document);
  fuzz::Require(client::ColladaDocument::Parse(
                    document->TextWithout(std::vector<const char*>{"library_animations"}))
                    .ok(),
                "a file that is read back");
  client::SceneBuilder builder;
  if (const absl::Status read = ReadScene(*document, builder); !read.ok()) {
    fuzz::RequireRefusal(read);
    return 0;
  }
  for (std::size_t clip = 0; clip < builder.out.clips.size(); ++clip) {
    const client::ClipInfo& info = builder.out.clips[clip];
    fuzz::Require(std::isfinite(info.start) && std::isfinite(info.end), "finite times");
    const absl::StatusOr<client::ClipData> sampled =
        client::SampleClip(builder.out, clip, {.fps = 24, .last_frame = 24, .step = 5});
    if (!sampled.ok()) {
      fuzz::RequireRefusal(sampled.status());
      continue;
    }
    fuzz::Require(fuzz::AllFinite(sampled->joint_transforms), "finite poses");
  }
  return 0;
}
