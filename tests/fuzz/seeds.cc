// seeds.cc - writes the valid inputs that the corpora begin with: fuzz_seeds FOLDER, one folder a
// target. What fuzzing found is beside them in tests/fuzz/corpus and is not written by this.
#include <absl/strings/escaping.h>
#include <zstd.h>

#include <cstdio>
#include <filesystem>
#include <map>

#include "client/bake/formats/obj.h"
#include "client/bake/formats/point_cache.h"
#include "client/lib/codec/recipe_json.h"
#include "core/base/vertex_deltas.h"
#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/engine/registry.h"
#include "core/parallel/task.h"
#include "server/base/config_options.h"
#include "server/convert/recipe.h"
#include "server/convert/rig.h"
#include "sinew/v1/deform_service.pb.h"
#include "sinew/v1/info_service.pb.h"
#include "tests/fuzz/bound_data.h"
#include "tests/fuzz/jwt_keys.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/test_keys.h"
#include "tests/support/test_rig.h"

namespace {

using namespace sinew;
using sinew::fuzz::Corpus;
using sinew::testing::FloatArray;
using sinew::testing::IntArray;

// A rig with one of everything.
v1::Rig FullRig() {
  v1::Rig rig = sinew::testing::TubeRig({.rings = 3, .segments = 4, .tangents = true});
  v1::Mesh& mesh = *rig.mutable_meshes(0);
  std::vector<float> normals, values;
  std::vector<std::uint32_t> weld;
  for (std::uint32_t v = 0; v < 12; ++v) {
    sinew::testing::Append(normals, {1, 0, 0});
    values.push_back(static_cast<float>(v) / 12);
    weld.push_back(v);
  }
  *mesh.mutable_normals() = FloatArray(normals, 3);
  *mesh.mutable_weld() = IntArray(weld);
  v1::VertexMap& map = *mesh.add_maps();
  map.set_name("mask");
  *map.mutable_values() = FloatArray(values, 1);
  mesh.mutable_skin()->set_fallback_joint(0);
  *mesh.mutable_skin()->mutable_geometry_bind() = FloatArray(sinew::testing::Lift(0), 12);
  v1::Shape& shape = *mesh.add_shapes();
  shape.set_control("bulge");
  v1::ShapeTarget& target = *shape.add_targets();
  target.set_weight(1);
  *target.mutable_vertices() = IntArray({1, 2});
  *target.mutable_offsets() = FloatArray({0.1f, 0, 0, 0, 0, 0.1f}, 3);
  *target.mutable_normal_offsets() = FloatArray({0, 0, 0, 0.1f, 0, 0}, 3);
  rig.add_controls()->set_name("bulge");
  v1::Control& tense = *rig.add_controls();
  tense.set_name("tense");
  tense.set_minimum(0);
  tense.set_maximum(1);
  rig.mutable_joints(2)->set_scale_inheritance(v1::SCALE_INHERITANCE_COMPENSATE);
  for (const bool wraps : {false, true}) {
    v1::Muscle& muscle = *rig.add_muscles();
    muscle.set_name(wraps ? "triceps" : "biceps");
    for (auto* point : {muscle.mutable_origin(), muscle.mutable_insertion()}) {
      const bool first = point == &muscle.origin();
      point->set_joint(first ? 0 : 1);
      for (const float x : {wraps ? -0.1f : 0.1f, first ? 0.2f : 0.3f, 0.0f}) point->add_at(x);
    }
    muscle.set_width(0.05f);
    muscle.set_depth(0.05f);
    muscle.set_activation("tense");
    muscle.set_origin_tendon(0.02f);
    if (wraps) {
      v1::MuscleWrap& wrap = *muscle.mutable_wrap();
      wrap.set_shape(v1::WRAP_SHAPE_CYLINDER);
      wrap.set_joint(1);
      for (const float x : {0.0f, 0.0f, 0.0f}) wrap.add_centre(x);
      for (const float x : {0.0f, 0.0f, 1.0f}) wrap.add_axis(x);
      wrap.set_radius(0.05f);
      muscle.set_profile(v1::MUSCLE_PROFILE_SINE);
      muscle.set_warp(1.5f);
    } else {
      v1::MusclePoint& via = *muscle.add_via();
      via.set_joint(0);
      for (const float x : {0.12f, 0.9f, 0.0f}) via.add_at(x);
      muscle.set_fat(0.01f);
      for (const float x : {1.0f, 0.0f, 0.0f}) muscle.add_width_direction(x);
    }
  }
  return rig;
}

v1::Rig TwoMeshes() {
  v1::Rig rig = sinew::testing::TubeRig({.rings = 2, .segments = 3, .joints = 2});
  *rig.add_meshes() = rig.meshes(0);
  rig.mutable_meshes(1)->set_name("copy");
  rig.mutable_meshes(1)->clear_skin();
  return rig;
}

void AddRigs(const Corpus& corpus) {
  corpus.Add("rig", "tube",
             sinew::testing::TubeRig({.rings = 3, .segments = 3}).SerializeAsString());
  corpus.Add("rig", "one_joint",
             sinew::testing::TubeRig({.rings = 2, .segments = 3, .joints = 1}).SerializeAsString());
  corpus.Add("rig", "everything", FullRig().SerializeAsString());
  corpus.Add("rig", "without_skin", TwoMeshes().SerializeAsString());
}

// The rig that server.cc uploads.
std::string RigName() {
  return sinew::testing::RigNameOf(
      sinew::testing::TubeRig({.rings = 3, .segments = 3}).SerializeAsString());
}

v1::Target RecipeTarget(const std::string& text) {
  v1::Target target;
  target.mutable_source()->set_rig(RigName());
  if (text.empty()) {
    *target.mutable_source()->mutable_recipe() =
        server::ToProto(ParseRecipe("ddm | relax").value());
  } else {
    target.mutable_source()->set_recipe_text(text);
  }
  return target;
}

v1::OutputOptions AllOutput() {
  v1::OutputOptions output;
  output.add_attributes(v1::ATTRIBUTE_POSITIONS);
  output.add_attributes(v1::ATTRIBUTE_NORMALS);
  output.add_encodings(v1::ENCODING_FLOAT32);
  output.add_compressions(v1::COMPRESSION_ZSTD);
  output.set_chunk_bytes(4096);
  output.set_muscles(true);
  return output;
}

v1::PoseLayout LocalLayout() {
  v1::PoseLayout layout;
  layout.set_joint_format(v1::JOINT_FORMAT_TRS);
  layout.set_space(v1::SPACE_LOCAL);
  layout.add_joints("joint1");
  layout.add_controls("bulge");
  return layout;
}

v1::Pose LocalPose(std::uint64_t frame) {
  v1::Pose pose;
  pose.set_frame(frame);
  pose.set_joint_transforms(sinew::testing::FloatBytes({0, 1, 0, 0, 0, 0, 1, 1, 1, 1}));
  pose.set_controls(sinew::testing::FloatBytes({0.5f}));
  pose.set_time(1);
  return pose;
}

// The first byte is the place of the message in requests.h.
void AddRequests(const Corpus& corpus) {
  const auto add = [&](char selector, const std::string& name,
                       const google::protobuf::Message& message) {
    const std::string bytes = std::string(1, selector) + message.SerializeAsString();
    corpus.Add("request", name, bytes);
    corpus.Add("server", name, bytes);
  };
  v1::DeformRequest deform;
  deform.mutable_target()->set_session("sessions/0123456789abcdef");
  *deform.mutable_pose() = sinew::testing::TubePose(1);
  *deform.mutable_output() = AllOutput();
  add(0, "deform", deform);
  *deform.mutable_target() = RecipeTarget("");
  *deform.mutable_layout() = LocalLayout();
  *deform.mutable_pose() = LocalPose(1);
  deform.set_max_response_bytes(1 << 20);
  add(0, "deform_recipe", deform);
  v1::StreamDeformRequest stream;
  *stream.mutable_open()->mutable_target() = RecipeTarget("shapes | dqs");
  *stream.mutable_open()->mutable_output() = AllOutput();
  stream.mutable_open()->set_mode(v1::ORDER_MODE_LATEST);
  stream.mutable_open()->set_window(4);
  *stream.add_poses() = sinew::testing::TubePose(1);
  stream.set_received(0);
  add(1, "stream", stream);
  v1::DeformClipRequest clip;
  *clip.mutable_target() = RecipeTarget("lbs");
  *clip.mutable_layout() = LocalLayout();
  for (const std::uint64_t frame : {1u, 2u}) *clip.mutable_poses()->add_poses() = LocalPose(frame);
  add(2, "clip", clip);
  v1::CompareDeformersRequest compare;
  *compare.add_targets() = RecipeTarget("lbs");
  *compare.add_targets() = RecipeTarget("dqs | bulge_free");
  *compare.mutable_poses()->add_poses() = sinew::testing::TubePose(1);
  compare.set_frames_per_second(24);
  compare.set_preroll(1);
  compare.set_self_intersections(true);
  add(3, "compare", compare);
  v1::CreateSessionRequest create;
  *create.mutable_source() = RecipeTarget("").source();
  create.mutable_ttl()->set_seconds(60);
  create.set_request_id("request");
  create.set_validate_only(true);
  add(4, "create", create);
  v1::ComputeWeightsRequest weights;
  weights.set_rig(RigName());
  weights.set_method(v1::WEIGHT_METHOD_CAPSULE);
  weights.set_max_influences(4);
  weights.set_prune(0.01f);
  weights.set_smooth(2);
  weights.mutable_capsule()->set_inner(0.5f);
  weights.add_joints("joint1");
  add(5, "weights", weights);
  weights.clear_capsule();
  weights.clear_joints();
  weights.set_method(v1::WEIGHT_METHOD_GEODESIC);
  weights.mutable_geodesic()->set_resolution(64);
  add(5, "weights_geodesic", weights);
  v1::FitSkeletonRequest fit;
  fit.set_rig(RigName());
  fit.set_built_in("human");
  fit.set_resolution(96);
  fit.set_scale(0.9);
  fit.set_faces_forward(true);
  v1::JointHint& hint = *fit.add_hints();
  hint.set_joint("left_knee");
  hint.set_y(0.5);
  add(19, "fit", fit);
  for (const char* name : {"root", "left", "right"}) {
    v1::TemplateJoint& joint = *fit.mutable_skeleton()->add_joints();
    joint.set_name(name);
    const int k = fit.skeleton().joints_size();
    if (k > 1) joint.set_parent(0);
    if (k > 1) joint.set_partner(k == 2 ? 2 : 1);
    joint.set_x(0.3 * (k == 3 ? -1 : k - 1));
    joint.set_foot(k > 1);
    joint.set_wide(k == 1);
  }
  fit.mutable_hints(0)->set_joint("left");
  add(19, "fit_template", fit);
  v1::UploadRigRequest upload;
  upload.mutable_header()->set_sha256(std::string(64, 'a'));
  upload.mutable_header()->set_size_bytes(3);
  upload.set_data("abc");
  add(6, "upload", upload);
  v1::RenewSessionRequest renew;
  renew.set_name("sessions/0123456789abcdef");
  renew.mutable_ttl()->set_seconds(60);
  add(10, "renew", renew);
  v1::GetRigRequest get;
  get.set_name(RigName());
  add(12, "get", get);
  v1::DownloadRigRequest download;
  download.set_name(RigName());
  download.set_offset(3);
  add(13, "download", download);
  v1::ListRigsRequest list;
  list.set_page_size(10);
  list.set_page_token(RigName());
  add(14, "list", list);
}

// Recipe text by name: the example of each method, and a recipe that binds other tables.
std::map<std::string, std::string> Examples() {
  std::map<std::string, std::string> texts = {
      {"implicit_march", "dqs | implicit(projection=march)"}};
  for (const MethodInfo& method : ListMethods()) texts[method.name] = method.example;
  return texts;
}

void AddRecipes(const Corpus& corpus) {
  std::map<std::string, std::string> texts = Examples();
  for (const PresetInfo& preset : ListPresets()) {
    texts["preset_" + std::string(preset.name)] = preset.recipe_text;
  }
  for (const auto& [name, text] : texts) {
    const Recipe recipe = ParseRecipe(text).value();
    corpus.Add("recipe_text", name, text);
    corpus.Add("recipe_text", name + "_resolved", FormatRecipe(recipe));
    corpus.Add("recipe_json", name, client::RecipeJson(server::ToProto(recipe)));
  }
  corpus.Add("recipe_text", "quoted", R"( lbs | relax ( mask = "mask" , iterations=8 ) )");
}

void AddBoundData(const Corpus& corpus) {
  const server::ConvertedRig converted =
      server::ConvertRig(FullRig().SerializeAsString(), {}).value();
  for (const auto& [name, text] : Examples()) {
    Task task;
    const Recipe recipe = ParseRecipe(text).value();
    const absl::StatusOr<Deformer> deformer = Deformer::Bind(*converted.rig, recipe, task);
    if (!deformer.ok()) {
      std::printf("bound_data/%s: %s\n", name.c_str(), deformer.status().ToString().c_str());
      continue;
    }
    TableWriter tables;
    deformer->Save(tables);
    const std::string bytes = tables.Finish();
    std::string packed;
    const TableReader reader = TableReader::Open(bytes).value();
    for (const TableReader::Table& table : reader.Tables()) packed += fuzz::PackTable(table);
    corpus.Add("bound_data", name, packed);
    if (name == "lbs") corpus.Add("bound_data", "lbs_file", bytes);
  }
}

// Numbers as COMPRESSION_ZSTD has them.
template <class Number>
std::string Zstd(const std::vector<Number>& numbers, const std::vector<Number>& base,
                 std::size_t each) {
  std::vector<std::byte> planes(numbers.size() * sizeof(Number));
  ToPlanes<Number>(numbers, base, each, planes.data());
  std::string out(ZSTD_compressBound(planes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), planes.data(), planes.size(), 1));
  return out;
}

// A frame, and one that builds on it.
void AddCompressedFrames(const Corpus& corpus) {
  v1::StreamDeformResponse reply;
  std::vector<std::uint16_t> q(48), q_before;
  std::vector<std::uint8_t> oct(32), oct_before;
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = static_cast<std::uint16_t>(1000 * i);
  for (std::size_t i = 0; i < oct.size(); ++i) oct[i] = static_cast<std::uint8_t>(9 * i);
  for (std::uint64_t number = 1; number <= 2; ++number) {
    v1::Frame& frame = *reply.add_frames();
    frame.set_frame(number);
    frame.set_base_frame(number - 1);
    frame.set_vertex_count(16);
    frame.set_last_chunk(true);
    frame.set_encoding(v1::ENCODING_Q16);
    frame.set_normal_encoding(v1::ENCODING_OCT8);
    frame.set_compression(v1::COMPRESSION_ZSTD);
    for (int c = 0; c < 3; ++c) {
      frame.mutable_quantisation()->add_origin(1);
      frame.mutable_quantisation()->add_step(0.5f);
    }
    frame.set_positions(Zstd(q, q_before, 3));
    frame.set_normals(Zstd(oct, oct_before, 2));
    q_before = q;
    oct_before = oct;
    ++q[7];
    --oct[5];
  }
  corpus.Add("frames", "zstd", std::string(1, 20) + reply.SerializeAsString());
  v1::Frame& last = *reply.mutable_frames(1);
  last.set_vertex_count(8);
  last.set_last_chunk(false);
  const std::vector<std::uint16_t> start(q_before.begin(), q_before.begin() + 24);
  const std::vector<std::uint8_t> oct_start(oct_before.begin(), oct_before.begin() + 16);
  last.set_positions(Zstd(start, start, 3));
  last.set_normals(Zstd(oct_start, oct_start, 2));
  *reply.add_frames() = last;
  reply.mutable_frames(2)->set_vertex_offset(8);
  reply.mutable_frames(2)->set_last_chunk(true);
  corpus.Add("frames", "zstd_parts", std::string(1, 120) + reply.SerializeAsString());
}

// Replies with frames; the first byte is the size of the slices that they are cut into.
void AddFrames(const Corpus& corpus) {
  v1::StreamDeformResponse reply;
  v1::Frame& frame = *reply.add_frames();
  frame.set_frame(1);
  frame.set_vertex_count(2);
  frame.set_last_chunk(true);
  frame.set_encoding(v1::ENCODING_Q16);
  frame.set_normal_encoding(v1::ENCODING_OCT8);
  frame.set_positions(std::string("\1\2\3\4\5\6\7\10\11\12\13\14", 12));
  frame.set_normals("abcd");
  for (int c = 0; c < 3; ++c) {
    frame.mutable_quantisation()->add_origin(1);
    frame.mutable_quantisation()->add_step(0.5f);
  }
  corpus.Add("frames", "q16_oct8", std::string(1, 4) + reply.SerializeAsString());
  frame.set_normal_encoding(v1::ENCODING_OCT16);
  frame.set_normals("abcdefgh");
  corpus.Add("frames", "q16_oct16", std::string(1, 0) + reply.SerializeAsString());
  frame.clear_quantisation();
  frame.set_encoding(v1::ENCODING_FLOAT32);
  frame.set_normal_encoding(v1::ENCODING_FLOAT32);
  frame.set_positions(std::string(24, 'p'));
  frame.set_normals(std::string(24, 'n'));
  v1::Channel& tangents = *frame.add_channels();
  tangents.set_attribute(v1::ATTRIBUTE_TANGENTS);
  tangents.set_encoding(v1::ENCODING_FLOAT32);
  tangents.set_data(std::string(32, 't'));
  v1::Frame& second = *reply.add_frames();
  second = frame;
  frame.set_last_chunk(false);
  second.set_vertex_offset(2);
  reply.add_problems()->set_frame(2);
  AddCompressedFrames(corpus);
  corpus.Add("frames", "pieces", std::string(1, 9) + reply.SerializeAsString());
}

void AddFormats(const Corpus& corpus) {
  const std::vector<float> frame = {0, 1, 2, 3, 4, 5};
  std::string cache =
      bake::EncodeCacheHeader(bake::CacheFormat::kNpy, {.frames = 2, .vertices = 2}).value();
  for (int k = 0; k < 2; ++k) bake::AppendCacheFrame(bake::CacheFormat::kNpy, frame, cache);
  corpus.Add("npy", "cache", cache);
  const auto array = [](const std::string& type, const std::string& shape, std::size_t bytes) {
    const std::string text =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }\n";
    return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(text.size()) + '\0' + text +
           std::string(bytes, '\0');
  };
  corpus.Add("npy", "poses", array("<f4", "1, 1, 12", 48));
  corpus.Add("npy", "poses_double", array("<f8", "1, 1, 3, 4", 96));
  corpus.Add("npy", "empty", array("<f4", "0, 1, 12", 0));
  for (const auto& [first, format] : {std::pair('\0', bake::CacheFormat::kPc2),
                                      {'\1', bake::CacheFormat::kMdd},
                                      {'\2', bake::CacheFormat::kNpy}}) {
    std::string file =
        first + bake::EncodeCacheHeader(format, {.frames = 2, .vertices = 2}).value();
    for (int k = 0; k < 2; ++k) bake::AppendCacheFrame(format, frame, file);
    corpus.Add("animation", bake::CacheFormatName(format), file);
  }
  corpus.Add("animation", "usda",
             "\3point3f[] points.timeSamples = {\n    0: [(0, 1, 2), (3, 4, 5)],\n"
             "    1.5: [(0, 1e-3, -2), (3, 4, 5)],\n}\n");
  const std::vector<float> square = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 1e-3f};
  const std::vector<std::uint32_t> sizes = {3, 4}, corners = {0, 1, 2, 0, 1, 2, 3};
  const bake::ObjPart part{"square", square, sizes, corners};
  corpus.Add("obj", "square", bake::EncodeObj("square", std::span(&part, 1)).value());
  corpus.Add("obj", "relative",
             "o a\r\nv 0 0 0 1\r\nv 1e0 0 0\nv\t1 1 0\nvt 0 0\nvn 0 0 1\n"
             "f -3/1/1 -2//1 -1/1 # end\n");
}

void AddServerFiles(const Corpus& corpus) {
  std::string all;
  const server::Config defaults;
  server::VisitOptions(defaults, [&]<class T>(const server::Option& option, const T& value) {
    if (option.internal) return;
    if constexpr (std::is_same_v<T, std::string>) {
      if (value.empty()) return;  // not allowed in a file
    }
    all += std::string(option.name) + ": ";
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      all += "[]\n";
    } else if constexpr (std::is_same_v<T, std::string>) {
      all += "\"" + value + "\"\n";
    } else if constexpr (std::is_same_v<T, bool>) {
      all += value ? "true\n" : "false\n";
    } else {
      all += std::to_string(value) + "\n";
    }
  });
  corpus.Add("config", "defaults.yaml", all);
  corpus.Add("config", "internal.yaml", "set: [max-backlog=3, isa=scalar]\n");
  corpus.Add("config", "lists.yaml", "listen: [\"127.0.0.1:0\", 'unix:/tmp/s']\nmax_window: 8\n");
  corpus.Add("config", "open.json",
             R"({"listen": ["[::]:1"], "tls-cert": "c", "tls-key": "k", "token-file": "t"})");
  corpus.Add("config", "anchors.yaml", "a: &x {b: 1}\n? c\n: *x\nlisten:\n  - >\n   text\n...\n");
  // The token is "secret".
  const std::string hash = Sha256Hex("secret");
  corpus.Add("token_file", "one", R"({"name": "alice", "sha256": ")" + hash + "\"}\n");
  corpus.Add("token_file", "all",
             "# tokens\n\n"
             R"({"name": "bob", "sha256": ")" +
                 hash +
                 R"(", "tenant": "film", "scopes": ["rigs:read", "admin"], "expires": )"
                 R"("2030-01-31T00:00:00Z"})");
  corpus.Add("jwks", "three", fuzz::kTestJwks);
  corpus.Add("jwks", "other",
             R"({"keys": [{"kty": "oct", "k": "AAAA"}, {"kty": "OKP", "crv": "X25519"}]})");
  const std::string header = R"({"alg":"EdDSA","kid":"d"})";
  corpus.Add("jwt", "claims",
             header + "\n" +
                 R"({"sub":"alice","aud":"sinew","iss":"https://id","exp":1800000300,)"
                 R"("nbf":1800000000,"tenant":"film","scope":"openid rigs:read"})");
  corpus.Add("jwt", "audiences",
             header + "\n" + R"({"sub":"a","aud":["x","sinew"],"iss":"https://id","exp":1.8e9})");
  for (const auto& [alg, kid] : {std::pair("ES256", "e"), {"RS256", "r"}, {"EdDSA", "d"}}) {
    const std::string message = sinew::testing::Base64Url("{\"alg\":\"" + std::string(alg) +
                                                          "\",\"kid\":\"" + kid + "\"}") +
                                ".e30.";
    corpus.Add("jwt", std::string("unsigned_") + kid,
               message + sinew::testing::Base64Url(std::string(64, '\1')));
  }
  corpus.Add("jwt", "none", "eyJhbGciOiJub25lIn0.e30.");
}

void AddShared(const Corpus& corpus) {
  const auto add = [&](const char* name, char kind, const std::string& text) {
    corpus.Add("shared", name, std::string(1, kind) + text);
  };
  add("mark", 1, "deleted/" + std::string(64, '0'));
  add("mark_of_tenant", 1, "deleted/acme." + std::string(64, '0'));
  add("credentials", 2,
      "[other]\na = b\n[default]\naws_access_key_id = id\naws_secret_access_key = k/+=\n"
      "aws_session_token = t\n");
  add("redis", 3, "rediss://[::1]:7000/3");
  add("redis_socket", 3, "unix:/run/redis");
  add("endpoint", 4, "https://host:9000");
  add("prefix", 4, "art/farm_1/");
}

void AddMuscleFiles(const Corpus& corpus) {
  corpus.Add("muscle_file", "via", R"({"muscles": [{
  "name": "biceps", // of the upper arm
  "origin": {"joint": "joint_0", "at": [0.2, 0.1, 0]},
  "via": [{"joint": "joint_0", "at": [0.22, 0.8, 0]}],
  "insertion": {"joint": "joint_1", "at": [0.2, 0.4, 0]},
  "tendons": [0.05, 0.1], "width": 0.05, "depth": 0.04, "width_direction": [1, 0, 0],
  "tension": 1.5, "fat": 0.01, "activation": "tense"
}]})");
  corpus.Add("muscle_file", "wrap", R"({"muscles": [{
  "name": "a", "origin": {"joint": "joint_0", "at": [-0.2, 0.1, 0]},
  "insertion": {"joint": "joint_2", "at": [-0.2, -0.4, 0]},
  "wrap": {"shape": "cylinder", "joint": "joint_1", "centre": [0, 0, 0], "axis": [0, 0, 1], "radius": 0.1},
  "width": 5e-2, "depth": 0.05, "profile": "root_sine", "warp": 1.2
}, {
  "name": "b", "origin": {"joint": "joint_1", "at": [0, 0, 0.2]},
  "insertion": {"joint": "joint_2", "at": [0, -0.1, 0.2]},
  "wrap": {"shape": "sphere", "joint": "joint_1", "centre": [0, 0.5, 0], "radius": 0.1},
  "width": 0.05, "depth": 0.05, "profile": "parabola"
}]})");
  corpus.Add("muscle_file", "none", R"({"muscles": []})");
  corpus.Add("fit_template", "biped", R"({"joints": [
    {"name": "body", "at": [0, 0.5, 0], "wide": true},
    {"name": "left", "parent": "body", "at": [0.2, -0.8, 0], "foot": true, "partner": "right"},
    {"name": "right", "parent": "body", "at": [-0.2, -0.8, 0], "foot": true, "partner": "left"}
  ]})");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
    return 64;
  }
  const Corpus corpus(argv[1]);
  AddRigs(corpus);
  AddRequests(corpus);
  AddRecipes(corpus);
  AddBoundData(corpus);
  AddFormats(corpus);
  AddFrames(corpus);
  sinew::fuzz::AddCharacterFiles(corpus);
  AddServerFiles(corpus);
  AddShared(corpus);
  AddMuscleFiles(corpus);
  return 0;
}
