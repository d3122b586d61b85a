#include "core/geometry/normals.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/status.h"
#include "core/geometry/normals_kernel.h"
#include "core/geometry/surface_point.h"

namespace sinew {
namespace {

constexpr std::size_t kPointGrain = 4096;
constexpr std::size_t kPointBatch = 256;  // sums that stay in the nearest cache

// cof(A) n / |cof(A) n| for the linear part A of a skin matrix; n where that vanishes.
Vec3f MovedNormal(const Affine& skin, const Vec3f& normal) {
  const auto row = [&](std::size_t r) {
    return Vec3d{skin.m[r * 4], skin.m[r * 4 + 1], skin.m[r * 4 + 2]};
  };
  const Vec3d n = ToDouble(normal), a = row(0), b = row(1), c = row(2);
  const Vec3d moved = {Dot(Cross(b, c), n), Dot(Cross(c, a), n), Dot(Cross(a, b), n)};
  const double length = std::sqrt(Dot(moved, moved));
  const double size = Dot(a, a) + Dot(b, b) + Dot(c, c);
  return length > 1e-9 * size && std::isfinite(length) ? ToFloat((1 / length) * moved) : normal;
}

// -1 where a binding mirrors, else 1. Points that follow one another share their pivot as a rule.
class Sides {
 public:
  explicit Sides(std::span<const Affine> skin) : skin_(skin) {}
  float Of(std::uint16_t binding) {
    if (binding != last_) {
      last_ = binding;
      side_ = Determinant(Linear(ToDouble(skin_[binding]))) < 0 ? -1.0f : 1.0f;
    }
    return side_;
  }

 private:
  std::span<const Affine> skin_;
  std::int32_t last_ = -1;
  float side_ = 1;
};

struct PosedSurface {
  const NormalTables& tables;
  const BlockLayout& layout;
  std::span<const Affine> skin;
  const float* packed;
};

// Normals of all vertices of point p, whose faces sum up to `sum`.
void WritePoint(const PosedSurface& posed, std::size_t p, const float* sum, Sides& sides,
                std::byte* out) {
  const NormalTables& tables = posed.tables;
  const auto write = [&](std::uint32_t k, const Vec3f& normal) {
    std::memcpy(out + std::size_t{tables.vertices[k]} * sizeof(Vec3f), &normal, sizeof(Vec3f));
  };
  const std::uint32_t begin = tables.vertex_offset[p], end = tables.vertex_offset[p + 1];
  const std::uint16_t pivot = posed.layout.pivot[tables.point_lane[p] / kLanes];
  Vec3f n;
  if (!SurfaceNormal(tables, posed.packed, p, sum, n)) {
    for (std::uint32_t k = begin; k < end; ++k) {
      write(k, MovedNormal(posed.skin[pivot], tables.rest_normals[k]));
    }
    return;
  }
  SurfaceFrame frame;
  if (tables.neighbour_lane.empty() || tables.neighbour_lane[p] < 0 ||
      !MakeFrame(posed.packed, tables.point_lane[p],
                 static_cast<std::uint32_t>(tables.neighbour_lane[p]), n, frame)) {
    for (std::uint32_t k = begin; k < end; ++k) write(k, n);
    return;
  }
  // A mirror turns the normal over, not the tangents: -M n' needs them turned as well.
  const float side = sides.Of(pivot);
  const Vec3f& t = frame.tangent;
  const Vec3f& b = frame.bitangent;
  for (std::uint32_t k = begin; k < end; ++k) {
    const Vec3f& s = tables.shading[k];
    const float st = side * s.x, sb = side * s.y;
    write(k, {st * t.x + sb * b.x + s.z * n.x, st * t.y + sb * b.y + s.z * n.y,
              st * t.z + sb * b.z + s.z * n.z});
  }
}

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(absl::StrCat("bound data: normals: ", AbslView(what)));
}

bool Below(std::span<const std::uint32_t> values, std::size_t limit) {
  return std::ranges::all_of(values, [&](std::uint32_t value) { return value < limit; });
}

bool AreOffsets(std::span<const std::uint32_t> offsets, std::size_t rows, std::size_t total) {
  return offsets.size() == rows + 1 && offsets.front() == 0 && offsets.back() == total &&
         std::ranges::is_sorted(offsets);
}

bool AreUnit(std::span<const Vec3f> normals) {
  return std::ranges::all_of(normals, [](const Vec3f& n) {
    const double length2 = Dot(ToDouble(n), ToDouble(n));
    return length2 > 0.999 && length2 < 1.001;
  });
}

}  // namespace

std::size_t NormalFinisher::scratch_floats() const {
  return 4 * (tables_.lanes + tables_.face_count());
}

void NormalFinisher::Run(const BlockLayout& layout, std::span<const Affine> skin,
                         std::span<const PointBlock> positions, std::span<float> scratch,
                         std::span<std::byte> out, const Task& task) const {
  const std::span<float> packed = scratch.first(std::size_t{tables_.lanes} * 4);
  const std::span<float> face_normals = scratch.subspan(packed.size(), tables_.face_count() * 4);
  FillFaceNormals(tables_, positions, packed, face_normals, task);
  const PosedSurface posed = {tables_, layout, skin, packed.data()};
  task.For(tables_.points(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    alignas(64) float sums[kPointBatch * 4];
    Sides sides(skin);
    for (std::size_t batch = begin; batch < end; batch += kPointBatch) {
      const std::size_t batch_end = std::min(end, batch + kPointBatch);
      PointSumsKernel(tables_.face_offset.data(), tables_.faces.data(), face_normals.data(), sums,
                      batch, batch_end);
      for (std::size_t p = batch; p < batch_end; ++p) {
        WritePoint(posed, p, sums + (p - batch) * 4, sides, out.data());
      }
    }
  });
}

absl::Status NormalFinisher::Check(const BlockLayout& layout) const {
  const NormalTables& t = tables_;
  if (t.lanes != layout.order.size() || t.triangles.size() % 3 != 0 || t.quads.size() % 4 != 0 ||
      t.polygon_offset.empty() ||
      !AreOffsets(t.polygon_offset, t.polygon_offset.size() - 1, t.polygons.size()) ||
      !AreOffsets(t.face_offset, t.points(), t.faces.size()) ||
      !AreOffsets(t.vertex_offset, t.points(), t.vertices.size()) ||
      t.vertices.size() != layout.vertices || t.rest_normals.size() != layout.vertices) {
    return Damaged("sizes disagree");
  }
  for (std::size_t f = 0; f + 1 < t.polygon_offset.size(); ++f) {
    if (t.polygon_offset[f + 1] - t.polygon_offset[f] < 3) return Damaged("a face too small");
  }
  if (!Below(t.triangles, t.lanes) || !Below(t.quads, t.lanes) || !Below(t.polygons, t.lanes) ||
      !Below(t.point_lane, t.lanes) || !Below(t.faces, t.face_count())) {
    return Damaged("an index out of range");
  }
  std::vector<bool> seen(layout.vertices);
  for (const std::uint32_t v : t.vertices) {
    if (v >= layout.vertices || seen[v]) return Damaged("vertices are not each there once");
    seen[v] = true;
  }
  if (!AreUnit(t.rest_normals) || !AreUnit(t.shading)) return Damaged("a normal is not a unit");
  if (t.neighbour_lane.empty() && t.shading.empty()) return absl::OkStatus();
  if (t.neighbour_lane.size() != t.points() || t.shading.size() != layout.vertices ||
      !std::ranges::all_of(t.neighbour_lane,
                           [&](std::int64_t lane) { return lane >= -1 && lane < t.lanes; })) {
    return Damaged("frames are out of range");
  }
  return absl::OkStatus();
}

std::size_t NormalFinisher::CostBytes(const Rig& rig) {
  const Mesh& mesh = rig.mesh();
  std::size_t offsets = 0;
  for (const Shape& shape : rig.shapes()) {
    for (const ShapeTarget& target : shape.targets) offsets += target.vertices.size();
  }
  // Kept: 8 bytes a corner, 4 a face, 44 a vertex. The rest is neighbours, welding and the rest
  // surface, for a while; blocks that are not full add up to one block per binding.
  return mesh.face_vertices().size() * 48 + mesh.faces() * 40 + rig.vertices() * 200 +
         offsets * 32 + rig.bindings().size() * kLanes * 28;
}

}  // namespace sinew
