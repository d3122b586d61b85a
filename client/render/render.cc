#include "client/render/render.h"

#include <absl/strings/str_cat.h>
#include <tbb/parallel_for.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "client/render/light_buffer.h"
#include "client/render/studio.h"
#include "client/render/surface.h"
#include "client/render/tracer.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

using Eigen::Vector3f;

constexpr std::int64_t kBandRows = 128;  // rows processed at a time
constexpr float kKeySpread = 0.16f;      // radius of the key light over its distance: soft shadows
constexpr float kOcclusionReach =
    0.55f;                          // local units; more distant surfaces do not occlude the sky
constexpr double kSeenPart = 1e-4;  // of a picture; single rays slip through at edges
constexpr float kTwoPi = 6.2831853f;

// A well-mixed number for a pixel (the finaliser of MurmurHash3).
std::uint32_t Mix(std::uint32_t h) {
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

float Unit(std::uint32_t h) {
  return static_cast<float>(h >> 8) * 0x1p-24f;
}

float Fraction(float value) {
  return value - std::floor(value);
}

// Bits of k reversed after the binary point: van der Corput's sequence.
float Mirrored(std::uint32_t k) {
  std::uint32_t bits = 0;
  for (int b = 0; b < 32; ++b) bits |= (k >> b & 1u) << (31 - b);
  return Unit(bits);
}

// An orthonormal basis around `up`.
struct Frame {
  Vector3f side, across, up;
  explicit Frame(const Vector3f& axis)
      : side(axis.unitOrthogonal()), across(axis.cross(side)), up(axis) {}
  Vector3f Direction(float x, float y, float z) const {
    return (x * side + y * across + z * up).normalized();
  }
};

// Sample i of a pixel: its position in the pixel, and in the even pattern of points on light and
// sky.
struct Pattern {
  float x, y;          // [0, 1)
  float step;          // [0, 1): squared radius on the unit disk
  float cosine, sine;  // of the angle on the disk
  float length;        // [0, 1): of the sky ray
};

// One for each ray of a packet, which is a pixel.
std::array<Pattern, kPacket> MakePattern() {
  std::array<Pattern, kPacket> pattern;
  for (std::uint32_t i = 0; i < kPacket; ++i) {
    const float even = (static_cast<float>(i) + 0.5f) / kPacket;
    const float mirrored = Mirrored(i), turn = kTwoPi * mirrored;
    pattern[i] = {even,           mirrored + 0.5f / kPacket,
                  even,           std::cos(turn),
                  std::sin(turn), Fraction(0.618034f * static_cast<float>(i))};
  }
  return pattern;
}

// Shift and rotation of the pattern in one pixel, so that neighbours differ.
struct Turn {
  float step, cosine, sine, length;
  Turn(std::uint32_t x, std::uint32_t y) {
    const std::uint32_t seed = Mix(x * 0x9e3779b9u ^ Mix(y));
    const float turn = kTwoPi * Unit(Mix(seed + 1));
    step = Unit(seed);
    cosine = std::cos(turn);
    sine = std::sin(turn);
    length = Unit(Mix(seed + 2));
  }
};

// Hits of a packet on one kind of surface, and the share of each ray's light.
struct Met {
  std::array<std::optional<Sample>, kPacket> samples;
  std::array<float, kPacket> shares{};
};

// Fills the pixels of one picture; shared by all threads.
class Painter {
 public:
  // inside: null = the mesh is solid.
  Painter(const Studio& studio, const Tracer& mesh, const Tracer* inside)
      : studio_(studio), mesh_(mesh), inside_(inside), key_(studio.key_direction()) {}

  LitPixel Paint(std::uint32_t x, std::uint32_t y) const {
    LitPixel light;
    AddPixel(static_cast<float>(x), static_cast<float>(y), Turn(x, y), light);
    constexpr float kPart = 1.0f / kPacket;
    light.plain *= kPart;
    light.footprint /=
        std::max(1.0f, light.mesh.samples + light.inside.samples + light.ground.samples);
    for (Layer* layer : {&light.mesh, &light.inside, &light.ground}) {
      layer->key *= kPart;
      layer->ambient *= kPart;
      layer->point /= std::max(1.0f, layer->samples);
      layer->normal.stableNormalize();
    }
    return light;
  }

  // Number of samples that hit a wrong side.
  std::uint64_t wrong_side() const { return wrong_side_.load(std::memory_order_relaxed); }

 private:
  // Adds the samples of one pixel to the sums in `light`.
  void AddPixel(float x, float y, const Turn& turn, LitPixel& light) const {
    Rays rays;
    for (std::size_t k = 0; k < kPacket; ++k) {
      rays[k] = studio_.CameraRay(x + pattern_[k].x, y + pattern_[k].y);
    }
    const auto hits = mesh_.Nearest(rays);
    std::array<std::optional<Hit>, kPacket> inner;
    if (inside_ != nullptr) inner = inside_->Nearest(rays);
    Met mesh, inside, ground;
    const float centre_y = y + 0.5f;
    for (std::size_t k = 0; k < kPacket; ++k) {
      float share = 1;  // of the ray's light not yet absorbed
      const bool first = hits[k] && !(inner[k] && inner[k]->distance < hits[k]->distance);
      if (first) {
        mesh.samples[k] = studio_.AtHit(mesh_.surface(), *rays[k], *hits[k]);
        mesh.shares[k] = inside_ == nullptr ? 1 : studio_.Opacity(*rays[k], *mesh.samples[k]);
        share -= mesh.shares[k];
      }
      if (share <= 0) continue;
      if (inner[k]) {
        inside.samples[k] = studio_.AtHit(inside_->surface(), *rays[k], *inner[k]);
        inside.shares[k] = share;
        continue;
      }
      ground.samples[k] = studio_.AtGround(*rays[k], centre_y);
      ground.shares[k] = share;
      if (!ground.samples[k]) light.plain += share * studio_.Background(centre_y);
    }
    AddMet(mesh, mesh_, rays, turn, light.mesh, light);
    if (inside_ != nullptr) AddMet(inside, *inside_, rays, turn, light.inside, light);
    AddMet(ground, mesh_, rays, turn, light.ground, light);
  }

  // Traces the shadow rays of the hits against `blocker` and adds their light to `layer`.
  void AddMet(const Met& met, const Tracer& blocker, const Rays& rays, const Turn& turn,
              Layer& layer, LitPixel& light) const {
    Rays key_rays, sky_rays;
    bool any = false;
    for (std::size_t k = 0; k < kPacket; ++k) {
      if (!met.samples[k]) continue;
      any = true;
      AimRays(*met.samples[k], pattern_[k], turn, key_rays[k], sky_rays[k]);
    }
    if (!any) return;
    const std::uint32_t shadowed = blocker.Blocked(key_rays);
    const std::uint32_t covered = blocker.Blocked(sky_rays);
    for (std::size_t k = 0; k < kPacket; ++k) {
      if (!met.samples[k]) continue;
      const Sample& sample = *met.samples[k];
      light.plain += met.shares[k] * sample.plain;
      light.footprint += studio_.Footprint((sample.point - rays[k]->origin).norm());
      const bool open = (covered >> k & 1u) == 0 && !studio_.MeetsGround(*sky_rays[k]);
      AddSample(sample, met.shares[k], (shadowed >> k & 1u) == 0, open, layer);
      if (sample.wrong_side) wrong_side_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  static void AddSample(const Sample& sample, float share, bool visible, bool open, Layer& layer) {
    layer.key += share * sample.key;
    layer.ambient += share * sample.ambient;
    layer.point += sample.point;
    layer.normal += sample.normal;
    layer.visible += visible ? 1.0f : 0.0f;
    layer.open += open ? 1.0f : 0.0f;
    layer.samples += 1;
  }

  // One ray to a point of the key light, and one into the sky of varying length: near surfaces
  // occlude more of the sky than distant ones.
  void AimRays(const Sample& sample, const Pattern& pattern, const Turn& turn,
               std::optional<Ray>& key, std::optional<Ray>& sky) const {
    const float step = Fraction(pattern.step + turn.step), radius = std::sqrt(step);
    const float x = radius * (pattern.cosine * turn.cosine - pattern.sine * turn.sine);
    const float y = radius * (pattern.cosine * turn.sine + pattern.sine * turn.cosine);
    const float length = kOcclusionReach * Fraction(pattern.length + turn.length);
    key = Ray{sample.origin, key_.Direction(kKeySpread * x, kKeySpread * y, 1)};
    sky = Ray{sample.origin,
              Frame(sample.normal).Direction(x, y, std::sqrt(std::max(0.0f, 1 - step))), length};
  }

  const Studio& studio_;
  const Tracer& mesh_;
  const Tracer* const inside_;
  Frame key_;
  const std::array<Pattern, kPacket> pattern_ = MakePattern();
  mutable std::atomic<std::uint64_t> wrong_side_{0};
};

std::uint8_t ToByte(float linear) {
  return static_cast<std::uint8_t>(std::lround(255 * ToSrgb(std::clamp(linear, 0.0f, 1.0f))));
}

// Rows [first, last) of the image, with the rows around them that smoothing looks at.
void PaintBand(const Painter& painter, std::int64_t first, std::int64_t last, Image& image) {
  const std::int64_t low = std::max<std::int64_t>(0, first - kSmoothingRadius);
  const std::int64_t high = std::min<std::int64_t>(image.height, last + kSmoothingRadius);
  LightBuffer buffer{image.width, high - low, {}};
  buffer.pixels.resize(static_cast<std::size_t>(buffer.width * buffer.height));
  tbb::parallel_for(low, high, [&](std::int64_t y) {
    for (std::int64_t x = 0; x < buffer.width; ++x) {
      buffer.At(x, y - low) =
          painter.Paint(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
    }
  });
  tbb::parallel_for(first, last, [&](std::int64_t y) {
    for (std::int64_t x = 0; x < buffer.width; ++x) {
      const Vector3f colour = Resolve(buffer, x, y - low);
      image.Set(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                {ToByte(colour.x()), ToByte(colour.y()), ToByte(colour.z())});
    }
  });
}

}  // namespace

absl::StatusOr<Image> Render(const MeshView& mesh, const Camera& camera,
                             const RenderOptions& options) {
  if (options.width < 1 || options.width > kMaxRenderSide || options.height < 1 ||
      options.height > kMaxRenderSide) {
    return absl::InvalidArgumentError(absl::StrCat("render: ", options.width, " x ", options.height,
                                                   " pixels, need 1 to ", kMaxRenderSide));
  }
  SINEW_ASSIGN_OR_RETURN(Surface surface, MakeSurface(mesh));
  SINEW_ASSIGN_OR_RETURN(const Studio studio, Studio::Create(surface, camera, options));
  SINEW_ASSIGN_OR_RETURN(const Tracer solid, Tracer::Create(std::move(surface)));
  std::optional<Tracer> inner;
  if (!options.inside.positions.empty()) {
    SINEW_ASSIGN_OR_RETURN(Surface inside, MakeSurface(options.inside, &solid.surface()));
    SINEW_ASSIGN_OR_RETURN(inner, Tracer::Create(std::move(inside)));
  }
  const Painter painter(studio, solid, inner ? &*inner : nullptr);
  Image image(options.width, options.height, {0, 0, 0});
  for (std::int64_t first = 0; first < options.height; first += kBandRows) {
    const std::int64_t last = std::min<std::int64_t>(options.height, first + kBandRows);
    PaintBand(painter, first, last, image);
    if (options.progress &&
        !options.progress(static_cast<double>(last) / static_cast<double>(options.height))) {
      return absl::CancelledError("render: stopped");
    }
  }
  if (options.wrong_side_seen != nullptr) {
    const double samples = double{kPacket} * options.width * options.height;
    *options.wrong_side_seen = static_cast<double>(painter.wrong_side()) > kSeenPart * samples;
  }
  return image;
}

}  // namespace sinew::client
