#include "client/render/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <cmath>
#include <limits>

#include "tests/unit/client/render/shapes.h"

namespace sinew::client {
namespace {

using testing::Cube;
using ::testing::HasSubstr;
using testing::Sphere;
using testing::TestMesh;

constexpr Rgb kGreen = {0, 255, 0};  // a background that no surface has

// Small pictures without ground before green, so that what is not green is the mesh.
RenderOptions Plain(std::uint32_t width = 96, std::uint32_t height = 96) {
  RenderOptions options;
  options.width = width;
  options.height = height;
  options.background = kGreen;
  options.ground = false;
  return options;
}

Camera Frame(const TestMesh& mesh, double azimuth = 0, double elevation = 0, double aspect = 1) {
  const std::span<const float> meshes[] = {mesh.positions};
  return *FrameMeshes(meshes, {.azimuth = azimuth, .elevation = elevation, .aspect = aspect});
}

Image MustRender(const MeshView& mesh, const Camera& camera, const RenderOptions& options) {
  auto image = Render(mesh, camera, options);
  EXPECT_TRUE(image.ok()) << image.status();
  return image.ok() ? *image : Image(options.width, options.height, {0, 0, 0});
}

bool Covered(const Image& image, std::uint32_t x, std::uint32_t y) {
  return image.At(x, y) != kGreen;
}

std::size_t CountCovered(const Image& image) {
  std::size_t covered = 0;
  for (std::uint32_t y = 0; y < image.height; ++y) {
    for (std::uint32_t x = 0; x < image.width; ++x) covered += Covered(image, x, y) ? 1 : 0;
  }
  return covered;
}

bool HasWrongSideColour(Rgb c) {
  return c[1] > 2 * c[0] && c[2] > 2 * c[0];
}

TEST(Render, ThreadsDoNotChangeBytes) {
  const TestMesh mesh = Sphere();
  RenderOptions options;
  options.width = 160;
  options.height = 150;  // more than one band
  const Camera camera = Frame(mesh, 35, 17);
  const Image first = MustRender(mesh.View(), camera, options);
  for (int threads : {1, 3, 8}) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism,
                                      static_cast<std::size_t>(threads));
    tbb::task_arena(threads).execute(
        [&] { EXPECT_EQ(MustRender(mesh.View(), camera, options).rgb, first.rgb) << threads; });
  }
}

TEST(Render, LeavesThreadLimitUnchanged) {
  const auto allowed = [] {
    return tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  };
  const std::size_t before = allowed();
  const TestMesh mesh = Cube();
  MustRender(mesh.View(), Frame(mesh), Plain(8, 8));
  EXPECT_EQ(allowed(), before);
}

TEST(Render, DrawsASphereAsADisk) {
  const TestMesh mesh = Sphere();
  const Image image = MustRender(mesh.View(), Frame(mesh), Plain());
  const double radius = 48 * (1 - 2 * kMargin);
  for (std::uint32_t y = 0; y < 96; ++y) {
    for (std::uint32_t x = 0; x < 96; ++x) {
      const double off = std::hypot(x + 0.5 - 48, y + 0.5 - 48);
      if (std::abs(off - radius) < 1.5) continue;
      EXPECT_EQ(Covered(image, x, y), off < radius) << x << ' ' << y;
    }
  }
}

TEST(Render, MirrorsTheSilhouetteWithTheCamera) {
  TestMesh mesh = Cube();
  for (std::size_t k = 0; k < mesh.positions.size(); k += 3) mesh.positions[k + 1] *= 1.7f;
  const Image left = MustRender(mesh.View(), Frame(mesh, -28.65, 17.19), Plain());
  const Image right = MustRender(mesh.View(), Frame(mesh, 28.65, 17.19), Plain());
  std::size_t different = 0;
  for (std::uint32_t y = 0; y < 96; ++y) {
    for (std::uint32_t x = 0; x < 96; ++x) {
      different += Covered(left, x, y) != Covered(right, 95 - x, y) ? 1 : 0;
    }
  }
  EXPECT_GT(CountCovered(left), 1000u);
  // The places of samples in a pixel are not mirrored: a pixel that only one sample touches may
  // differ.
  EXPECT_LE(different, 20u);
}

TEST(Render, SmoothsEdgesBetweenMeshAndBackground) {
  const TestMesh mesh = Sphere();
  const Image image = MustRender(mesh.View(), Frame(mesh), Plain());
  std::size_t between = 0;
  for (std::uint32_t x = 0; x < 96; ++x) {
    const Rgb c = image.At(x, 20);
    between += c != kGreen && c[1] > c[0] + 12 ? 1 : 0;  // partly green
  }
  EXPECT_GE(between, 2u);
  EXPECT_LE(between, 6u);
}

TEST(Render, LightsFromTheUpperLeft) {
  const TestMesh mesh = Sphere();
  const Image image = MustRender(mesh.View(), Frame(mesh), Plain());
  EXPECT_GT(image.At(35, 30)[0], image.At(61, 66)[0] + 40);
}

TEST(Render, TintsBackFaces) {
  TestMesh mesh = Sphere();
  const Camera camera = Frame(mesh);
  const Image front = MustRender(mesh.View(), camera, Plain());
  for (std::size_t k = 0; k < mesh.face_vertices.size(); k += 4) {
    std::swap(mesh.face_vertices[k + 1], mesh.face_vertices[k + 3]);
  }
  const Image back = MustRender(mesh.View(), camera, Plain());
  EXPECT_FALSE(HasWrongSideColour(front.At(48, 48)));
  EXPECT_TRUE(HasWrongSideColour(back.At(48, 48)));
  EXPECT_EQ(CountCovered(front), CountCovered(back));
}

TEST(Render, TintsGivenNormalsThatPointInwards) {
  const TestMesh mesh = Sphere();
  std::vector<float> outward = mesh.positions, inward = mesh.positions;
  for (float& n : inward) n = -n;
  MeshView view = mesh.View();
  view.normals = outward;
  EXPECT_FALSE(HasWrongSideColour(MustRender(view, Frame(mesh), Plain()).At(48, 48)));
  view.normals = inward;
  EXPECT_TRUE(HasWrongSideColour(MustRender(view, Frame(mesh), Plain()).At(48, 48)));
}

// A heat map says something on a mesh that is inside out, too.
TEST(Render, ShowsColoursOnBothSides) {
  TestMesh mesh = Sphere();
  for (std::size_t k = 0; k < mesh.face_vertices.size(); k += 4) {
    std::swap(mesh.face_vertices[k + 1], mesh.face_vertices[k + 3]);
  }
  std::vector<float> red;
  for (std::size_t k = 0; k < mesh.positions.size(); ++k) red.push_back(k % 3 == 0 ? 1 : 0);
  MeshView view = mesh.View();
  view.colours = red;
  RenderOptions options = Plain();
  bool seen = true;
  options.wrong_side_seen = &seen;
  const Rgb c = MustRender(view, Frame(mesh), options).At(48, 48);
  EXPECT_GT(c[0], 2 * c[1]);
  EXPECT_FALSE(seen);
}

TEST(Render, SmoothsNormalsAcrossSeams) {
  // `loose` is the sphere in single quads, as a file with a seam at every edge would have it.
  const TestMesh whole = Sphere();
  TestMesh loose;
  loose.face_sizes = whole.face_sizes;
  for (std::uint32_t v : whole.face_vertices) {
    loose.face_vertices.push_back(static_cast<std::uint32_t>(loose.face_vertices.size()));
    for (std::size_t c = 0; c < 3; ++c) loose.positions.push_back(whole.positions[v * 3 + c]);
  }
  const Camera camera = Frame(whole, 17, 12);
  const Image a = MustRender(whole.View(), camera, Plain());
  const Image b = MustRender(loose.View(), camera, Plain());
  int largest = 0;
  for (std::size_t k = 0; k < a.rgb.size(); ++k) {
    largest = std::max(largest, std::abs(a.rgb[k] - b.rgb[k]));
  }
  EXPECT_LE(largest, 2);
}

TEST(Render, KeepsSharpEdgesSharp) {
  // Each side of a cube has one normal: brightness along its middle row is even, up to occlusion.
  const TestMesh mesh = Cube();
  const Image image = MustRender(mesh.View(), Frame(mesh), Plain());
  const int middle = image.At(48, 48)[0];
  for (std::uint32_t x = 20; x < 76; ++x) EXPECT_NEAR(image.At(x, 48)[0], middle, 6) << x;
}

TEST(Render, ReportsVisibleBackFaces) {
  TestMesh mesh = Cube();
  RenderOptions options = Plain();
  bool seen = true;
  options.wrong_side_seen = &seen;
  MustRender(mesh.View(), Frame(mesh, 30, 17), options);
  EXPECT_FALSE(seen);
  mesh.face_sizes.pop_back();
  mesh.face_vertices.resize(20);  // a lid is off: one looks into the cube
  MustRender(mesh.View(), Frame(mesh, 0, 17), options);
  EXPECT_TRUE(seen);
}

TEST(Render, ShowsContentOfTranslucentMesh) {
  const TestMesh skin = Sphere();
  TestMesh core = Sphere();
  for (float& x : core.positions) x *= 0.3f;
  std::vector<float> blue(core.positions.size(), 0.0f);
  for (std::size_t k = 2; k < blue.size(); k += 3) blue[k] = 1;
  MeshView inside = core.View();
  inside.colours = blue;
  const Camera camera = Frame(skin);
  const Image solid = MustRender(skin.View(), camera, Plain());
  RenderOptions options = Plain();
  options.inside = inside;
  const Image glass = MustRender(skin.View(), camera, options);
  const auto blueness = [](Rgb c) { return c[2] - (c[0] + c[1]) / 2; };
  EXPECT_LT(blueness(solid.At(48, 48)), 10);
  EXPECT_GT(blueness(glass.At(48, 48)), 40) << "the core";
  const Rgb beside = glass.At(48, 30);
  EXPECT_GT(beside[1], beside[0] + 20) << "the green background behind the skin";
  EXPECT_TRUE(Covered(glass, 48, 30));
  // What pokes out of the skin is not veiled.
  for (float& x : core.positions) x *= 4;
  options.inside = core.View();
  options.inside.colours = blue;
  EXPECT_GT(blueness(MustRender(skin.View(), camera, options).At(48, 48)),
            blueness(glass.At(48, 48)) + 20);
  options.inside.positions = options.inside.positions.first(7);
  EXPECT_EQ(Render(skin.View(), camera, options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Render, ShowsGivenColours) {
  const TestMesh mesh = Sphere();
  std::vector<float> colours;
  for (std::size_t k = 0; k < mesh.positions.size(); k += 3) {
    colours.insert(colours.end(), {0.1f, 0.1f, mesh.positions[k] < 0 ? 0.9f : 0.1f});
  }
  MeshView view = mesh.View();
  view.colours = colours;
  const Image image = MustRender(view, Frame(mesh), Plain());
  EXPECT_GT(image.At(30, 48)[2], 2 * image.At(30, 48)[0]);
  EXPECT_NEAR(image.At(66, 48)[2], image.At(66, 48)[0], 30);
}

TEST(Render, DrawsFaceEdgesButNotTriangleEdges) {
  const TestMesh mesh = Cube();
  const Camera camera = Frame(mesh, 0, 0);
  RenderOptions options = Plain();
  const Image without = MustRender(mesh.View(), camera, options);
  options.wire = true;
  const Image with = MustRender(mesh.View(), camera, options);
  // The outline is darkened, the quad's diagonal is not.
  EXPECT_NE(with.rgb, without.rgb);
  for (std::uint32_t k = 20; k < 76; ++k) {
    EXPECT_EQ(with.At(k, k), without.At(k, k)) << k;
    EXPECT_EQ(with.At(k, 95 - k), without.At(k, 95 - k)) << k;
  }
}

TEST(Render, ShadesTheGroundUnderTheMesh) {
  const TestMesh mesh = Sphere();
  RenderOptions options = Plain(160, 96);
  options.background = Rgb{200, 200, 200};
  const Camera camera = Frame(mesh, 0, 17, 160.0 / 96);
  const Image without = MustRender(mesh.View(), camera, options);
  options.ground = true;
  const Image with = MustRender(mesh.View(), camera, options);
  // Under the sphere, away from the light, it is darker; at the corner nothing changes.
  const std::uint32_t x = 110, y = 84;
  EXPECT_EQ(without.At(x, y), (Rgb{200, 200, 200}));
  EXPECT_LT(with.At(x, y)[0], 185);
  EXPECT_NEAR(with.At(0, 0)[0], 200, 1);
  Camera below = camera;
  below.eye[1] = -3;
  EXPECT_EQ(MustRender(mesh.View(), below, options).At(0, 95), (Rgb{200, 200, 200}));
}

TEST(Render, ScaleAndPositionDoNotMatter) {
  const TestMesh mesh = Cube();
  const Image here = MustRender(mesh.View(), Frame(mesh, 30, 17), Plain());
  for (const auto& [scale, offset] : {std::pair{1e-20f, 0.0f}, {1e30f, 0.0f}, {1.0f, 65536.0f}}) {
    TestMesh moved = mesh;
    for (float& p : moved.positions) p = p * scale + offset;
    const Image there = MustRender(moved.View(), Frame(moved, 30, 17), Plain());
    std::size_t different = 0;
    for (std::uint32_t y = 0; y < 96; ++y) {
      for (std::uint32_t x = 0; x < 96; ++x) {
        different += Covered(here, x, y) != Covered(there, x, y) ? 1 : 0;
      }
    }
    EXPECT_LE(different, 10u) << scale;
    EXPECT_NEAR(here.At(48, 48)[0], there.At(48, 48)[0], 3) << scale;
  }
}

// Float32 has no room for the shape of a mesh so far away.
TEST(Render, RefusesPointsFarFromTheOrigin) {
  TestMesh mesh = Cube();
  for (float& p : mesh.positions) p = 1e30f;
  const auto image = Render(mesh.View(), Frame(mesh, 12, 12), Plain());
  EXPECT_EQ(image.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Render, SurvivesFlatAndCollapsedMeshes) {
  TestMesh point = Cube(), line = Cube(), plane = Cube();
  for (std::size_t k = 0; k < point.positions.size(); ++k) {
    point.positions[k] = 2;
    if (k % 3 != 0) line.positions[k] = 0;
    if (k % 3 == 2) plane.positions[k] = 0;
  }
  for (const TestMesh& mesh : {point, line, plane}) {
    const Image image = MustRender(mesh.View(), Frame(mesh, 12, 12), Plain());
    EXPECT_EQ(CountCovered(image) > 100, mesh.positions == plane.positions);
  }
}

TEST(Render, DrawsHugeFan) {
  // All faces share one vertex: pairwise work at it would take hours.
  constexpr std::uint32_t kRim = 200000;
  TestMesh fan;
  fan.positions = {0, 0, 0};
  for (std::uint32_t k = 0; k < kRim; ++k) {
    const float turn = 6.2831853f * static_cast<float>(k) / kRim;
    fan.positions.insert(fan.positions.end(), {std::cos(turn), std::sin(turn), 0});
    fan.face_vertices.insert(fan.face_vertices.end(), {0, 1 + k, 1 + (k + 1) % kRim});
  }
  EXPECT_GT(CountCovered(MustRender(fan.View(), Frame(fan), Plain())), 1000u);
}

TEST(Render, RefusesBadMeshes) {
  const TestMesh good = Cube();
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  std::vector<float> with_nan = good.positions, with_infinity = good.positions, bright(24, 0.5f);
  with_nan[4] = nan;
  with_infinity[23] = infinity;
  bright[2] = 1.5f;
  const std::vector<float> ragged(good.positions.begin(), good.positions.end() - 1);
  std::vector<std::uint32_t> outside = good.face_vertices, small = good.face_sizes,
                             large = good.face_sizes, huge = good.face_sizes, few = small;
  outside[5] = 8;
  small[2] = 2;
  large[5] = 5;
  huge[0] = 0xffffffffu;
  few.pop_back();
  const struct {
    MeshView mesh;
    const char* says;
  } table[] = {
      {{}, "mesh.positions: 0"},
      {{ragged, {}, good.face_sizes, good.face_vertices, {}}, "mesh.positions: 23"},
      {{with_nan, {}, good.face_sizes, good.face_vertices, {}}, "mesh.positions[4]: nan"},
      {{with_infinity, {}, good.face_sizes, good.face_vertices, {}}, "mesh.positions[23]: inf"},
      {{good.positions, with_nan, good.face_sizes, good.face_vertices, {}}, "mesh.normals[4]"},
      {{good.positions, ragged, good.face_sizes, good.face_vertices, {}}, "mesh.normals: 23"},
      {{good.positions, {}, good.face_sizes, good.face_vertices, bright}, "mesh.colours[2]: 1.5"},
      {{good.positions, {}, good.face_sizes, good.face_vertices, with_nan}, "mesh.colours[0]"},
      {{good.positions, {}, {}, {}, {}}, "no faces, need at least one"},
      {{good.positions, {}, {}, {outside.data(), 4}, {}}, "4 corners"},
      {{good.positions, {}, good.face_sizes, outside, {}}, "mesh.face_vertices[5]: 8"},
      {{good.positions, {}, small, good.face_vertices, {}}, "mesh.face_sizes[2]: 2"},
      {{good.positions, {}, large, good.face_vertices, {}}, "mesh.face_sizes[5]: 5"},
      {{good.positions, {}, huge, good.face_vertices, {}}, "mesh.face_sizes[0]"},
      {{good.positions, {}, few, good.face_vertices, {}}, "24 corners"},
  };
  for (const auto& row : table) {
    const auto image = Render(row.mesh, Frame(good), Plain());
    ASSERT_EQ(image.status().code(), absl::StatusCode::kInvalidArgument) << row.says;
    EXPECT_THAT(std::string(image.status().message()), HasSubstr(row.says));
  }
}

TEST(Render, RefusesBadOptionsAndCameras) {
  const TestMesh mesh = Cube();
  const Camera good = Frame(mesh);
  const auto code = [&](const Camera& camera, const RenderOptions& options) {
    return Render(mesh.View(), camera, options).status().code();
  };
  constexpr auto kBad = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code(good, Plain(0, 10)), kBad);
  EXPECT_EQ(code(good, Plain(10, 0)), kBad);
  EXPECT_EQ(code(good, Plain(kMaxRenderSide + 1, 10)), kBad);
  EXPECT_EQ(code(good, Plain(10, kMaxRenderSide + 1)), kBad);
  EXPECT_EQ(code(good, Plain(kMaxRenderSide, 1)), absl::StatusCode::kOk);
  Camera camera = good;
  camera.eye = camera.target;
  EXPECT_EQ(code(camera, Plain(4, 4)), kBad);
  camera = good;
  camera.up = {0, 0, 1};  // along the view
  EXPECT_EQ(code(camera, Plain(4, 4)), kBad);
  camera = good;
  camera.eye[0] = std::nan("");
  EXPECT_EQ(code(camera, Plain(4, 4)), kBad);
  camera = good;
  camera.eye[2] = 1e300;
  EXPECT_EQ(code(camera, Plain(4, 4)), kBad);
  camera = good;
  camera.ground = std::nan("");
  EXPECT_EQ(code(camera, Plain(4, 4)), kBad);
}

}  // namespace
}  // namespace sinew::client
