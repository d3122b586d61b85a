#include "core/deform/implicit/track/tracking.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/deform/implicit/track/arap_kernel.h"
#include "core/deform/implicit/track/tracking_buffers.h"
#include "core/deform/implicit/track/tracking_status.h"
#include "core/simd/vec4.h"
#include "core/solve/rotation.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 16;     // blocks of 16 points: about 100 microseconds per round
constexpr int kNewtonSteps = 2;        // per round
constexpr float kNewton = 0.9f;        // fraction of a Newton step
constexpr float kRelax = 0.5f;         // fraction of the relaxation
constexpr float kStill = 1e-5f;        // of U: smaller moves are skipped, which keeps the bits
constexpr float kNoDirection = 1e-5f;  // |gradient| U below which the direction is undefined
constexpr float kPressed = 0.3f;       // of a neighbourhood's rest area: below, it is flattened
constexpr float kTrust = 0.06f;  // of U from the surface: skinned positions farther off do not pull
constexpr float kLost = 0.25f;   // field of the carrying parts below which a point is lost
constexpr float kFollows = 0.98f;  // minimum projection weight of tracked skin

Vec4 Turned(const Affine& by, Vec4 v) {
  const auto& m = by.m;
  return Vec4{m[0] * v[0] + m[1] * v[1] + m[2] * v[2], m[4] * v[0] + m[5] * v[1] + m[6] * v[2],
              m[8] * v[0] + m[9] * v[1] + m[10] * v[2], 0};
}

Vec4 Moved(const Affine& by, Vec4 p) {
  return Turned(by, p) + Vec4{by.m[3], by.m[7], by.m[11], 0};
}

// Binding of the point's strongest joint.
std::uint16_t HoldingBinding(const BlockLayout& layout, const SkinSurface& skin, std::size_t p) {
  return layout.pivot[skin.point_lane[p] / kLanes];
}

void Keep(const StageFrame& frame, std::size_t p, Vec4 at) {
  for (int c = 0; c < 3; ++c) frame.state[p * 3 + static_cast<std::size_t>(c)] = at[c];
}

class Step {
 public:
  Step(const SkinSurface& skin, const PosedField& before, const PosedField& now,
       const TrackingOptions& options, const StageFrame& frame)
      : skin_(skin),
        before_(before),
        now_(now),
        options_(options),
        unit_(options.unit * now.Scale()),
        contact_(options.contact ? Contact::kSurface : Contact::kCrease),
        frame_(frame),
        buffers_(frame.scratch, skin.points()) {
    SetScales();
    SetMotions();
  }

  void Run();

 private:
  using Body = void (Step::*)(std::size_t block);
  void ForBlocks(Body body) {
    frame_.task.For(WholeBlocks(skin_.points()), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t b = begin; b < end; ++b) (this->*body)(b);
    });
  }
  void SetScales();
  void SetMotions();
  void Gather(std::size_t block);
  void Predict(std::size_t block);
  void Rotate(std::size_t block);
  void Move(std::size_t begin, std::size_t end);
  void GiveUp(std::size_t block);

  bool OnSkin(std::size_t p) const { return skin_.IsSkin(p); }
  // Other points keep their projected position.
  bool Follows(std::size_t p) const { return OnSkin(p) && skin_.WayOf(p) >= kFollows; }
  std::size_t Lanes(std::size_t block) const {
    return std::min(kLanes, skin_.points() - block * kLanes);
  }
  float LengthScale(std::size_t p) const {
    return scales_[HoldingBinding(frame_.layout, skin_, p)];
  }
  static PointBlock Load(const float* packed, std::size_t block) {
    return PackedBlock(packed + block * kLanes * 4, kLanes);
  }
  Vec4 InwardAtRest(std::size_t p) const {
    const float* d = options_.inward.data() + p * 3;
    return Vec4{d[0], d[1], d[2], 0};
  }
  Vec4 Held(std::size_t p) const;
  void Evaluate(std::size_t block, const PointBlock& points);
  FieldBlock FieldOf(std::size_t block) const;
  bool Carries(std::size_t part, std::size_t p) const;
  bool Wakes(std::size_t p) const;
  Vec4 Facing(std::size_t p, const Vec4 (&rows)[3], float size) const;
  Vec4 Relaxed(std::size_t p) const;
  Vec4 Pulled(std::size_t p, Vec4 gradient) const;
  bool Slide(std::size_t p, const FieldBlock& field, Vec4& at) const;
  void Land(std::span<const std::uint32_t> points, const float* at);
  void Approach(std::span<const std::uint32_t> points, const FieldBlock& field,
                PointBlock& at) const;
  float Newton(std::size_t p, float value, float slope) const;

  const SkinSurface& skin_;
  const PosedField& before_;
  const PosedField& now_;
  const TrackingOptions options_;
  const float unit_;  // in this pose
  const Contact contact_;
  const StageFrame& frame_;
  TrackingBuffers buffers_;
  std::vector<float> scales_;    // [bindings] length scale from bind to pose
  std::vector<Affine> motions_;  // [parts] motion since the previous pose, minus the identity
  bool first_ = true;            // first round: all points active
  bool last_ = false;            // last round: field not queried again
};

void Step::SetScales() {
  for (const Affine& skin : frame_.posed.skin) {
    const double scale = std::cbrt(std::abs(Determinant(Linear(ToDouble(skin)))));
    // Suppresses rounding, so that points that do not move keep their bits.
    scales_.push_back(std::abs(scale - 1) < 1e-5 ? 1.0f : static_cast<float>(scale));
  }
}

// Differences, so that points that do not move keep their bits.
void Step::SetMotions() {
  const auto from = before_.PartFrames(), to = now_.PartFrames();
  motions_.resize(from.size());
  for (std::size_t b = 0; b < from.size(); ++b) {
    const AffineD start = ToDouble(from[b]), end = ToDouble(to[b]);
    AffineD motion{};
    if (Determinant(Linear(start)) != 0) motion = Compose(end, Inverse(start));
    for (const std::size_t i : {0, 5, 10}) motion.m[i] -= 1;
    // A part scaled to zero carries nothing.
    const bool finite = std::ranges::all_of(motion.m, [](double v) { return std::abs(v) < 1e30; });
    motions_[b] = finite ? ToFloat(motion) : Affine{.m = {}};
  }
}

void Step::Gather(std::size_t block) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::size_t slot = block * kLanes + i;
    const std::size_t p = std::min(slot, skin_.points() - 1);  // padding repeats the last point
    const float* at = frame_.state.data() + p * 3;
    Store4(Vec4{at[0], at[1], at[2], 0}, buffers_.at, slot);
    Vec4 rest = ToVec4(skin_.PointOf(frame_.rest, p));
    rest[3] = LengthScale(p);
    Store4(rest, buffers_.rest, slot);
    const std::span<const PointBlock> placed = skin_.GoesPartly(p) ? frame_.out : frame_.in;
    Store4(ToVec4(skin_.PointOf(placed, p)), buffers_.placed, slot);
    Store4(Held(p), buffers_.held, slot);
    buffers_.awake[slot] = buffers_.moved[slot] = 0;
  }
}

Vec4 Step::Held(std::size_t p) const {
  const Affine& by = frame_.posed.skin[HoldingBinding(frame_.layout, skin_, p)];
  const Vec4 held = Turned(by, InwardAtRest(p));
  const float size = Length3(held);
  return OnSkin(p) && size > 0 ? held / size : Vec4{0, 0, 0, 0};
}

// Stores the field at `points` for the next round.
void Step::Evaluate(std::size_t block, const PointBlock& points) {
  FieldBlock field;
  now_.Evaluate(points, contact_, field);
  std::memcpy(buffers_.field + block * kLanes * 4, &field, sizeof(field));
}

FieldBlock Step::FieldOf(std::size_t block) const {
  FieldBlock field;
  std::memcpy(&field, buffers_.field + block * kLanes * 4, sizeof(field));
  return field;
}

void Step::Predict(std::size_t block) {
  const PartBlocks parts = before_.EvaluateParts(Load(buffers_.at, block));
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::size_t slot = block * kLanes + i;
    const std::size_t p = std::min(slot, skin_.points() - 1);
    const Vec4 at = Load4(buffers_.at, slot);
    Vec4 sum = {0, 0, 0, 0};
    float total = 0;
    for (const PartBlock& part : parts) {
      const float f = part.value[i], squared = f * f, w = squared * squared;
      if (!(w > 0) || !Carries(part.part, p)) continue;
      sum += w * Moved(motions_[part.part], at);
      total += w;
    }
    // Beyond the reach of its carrying parts a point uses the previous stage's position.
    const bool follows = Follows(p) && total > 0;
    Store4(follows ? at + sum / total : Load4(buffers_.placed, slot), buffers_.next, slot);
  }
  Evaluate(block, Load(buffers_.next, block));
}

// A part carries its own skin and that of its parent, children and siblings. Another part that
// presses on the skin must not drag it along when sliding past.
bool Step::Carries(std::size_t part, std::size_t p) const {
  if (options_.parents.empty()) return true;
  const std::uint16_t binding = HoldingBinding(frame_.layout, skin_, p);
  const auto other = static_cast<std::int32_t>(part), own = options_.part_of_binding[binding];
  if (own < 0 || other == own) return true;
  const std::int32_t above = options_.parents[static_cast<std::size_t>(own)];
  const std::int32_t above_other = options_.parents[part];
  return above == other || above_other == own || (above >= 0 && above == above_other);
}

// Whether a point near p moved in the last round.
bool Step::Wakes(std::size_t p) const {
  if (first_ || buffers_.moved[p] > 0) return true;
  for (std::size_t k = skin_.rows.begin(p); k < skin_.rows.end(p); ++k) {
    if (buffers_.moved[skin_.rows.At(p, k)] > 0) return true;
  }
  return false;
}

// The field's contribution to the fit of point p's neighbourhood; rows of the fit and its trace at
// rest. Edge lengths do not distinguish a flat neighbourhood from its mirror image, so flattened
// skin would fold. Where the area has shrunk or inverted, the rest inward direction is aligned with
// the field's. Gradients are opposite on the two sides of a contact; a point near it uses the
// direction of its strongest joint.
Vec4 Step::Facing(std::size_t p, const Vec4 (&rows)[3], float size) const {
  const float* field = buffers_.field + p / kLanes * kLanes * 4 + p % kLanes;
  const Vec4 gradient = {field[kLanes], field[2 * kLanes], field[3 * kLanes], 0};
  const float slope = Length3(gradient);
  if (!(slope * unit_ > kNoDirection) || !(size > 0)) return Vec4{0, 0, 0, 0};
  const float cosine = Dot3(gradient, Load4(buffers_.held, p)) / slope;
  const Vec4 inward = std::copysign(1 / slope, cosine) * gradient;
  const Vec4 turned = inward[0] * Cross3(rows[1], rows[2]) + inward[1] * Cross3(rows[2], rows[0]) +
                      inward[2] * Cross3(rows[0], rows[1]);
  // Signed area relative to rest; NaN if the neighbourhood is too small for a square.
  const float area = 4 * Dot3(turned, InwardAtRest(p)) / (size * size);
  const float pressed = area > 0 ? std::max(1 - area / kPressed, 0.0f) : 1.0f;
  return pressed * size * cosine * cosine * inward;
}

// Rotation since rest of each active neighbourhood.
void Step::Rotate(std::size_t block) {
  alignas(64) float h[9 * kLanes] = {}, r[9 * kLanes];
  std::uint32_t awake = 0;
  for (std::size_t i = 0; i < Lanes(block); ++i) {
    const std::size_t p = block * kLanes + i;
    const bool wakes = Wakes(p);
    buffers_.awake[p] = wakes ? 1 : 0;
    if (!wakes) continue;
    awake |= 1u << i;
    const Vec4 at = Load4(buffers_.at, p), rest = Load4(buffers_.rest, p);
    Vec4 rows[3] = {}, squares = {};
    for (std::size_t k = skin_.rows.begin(p); k < skin_.rows.end(p); ++k) {
      const std::uint32_t q = skin_.rows.At(p, k);
      const Vec4 edge = skin_.cotangent[k] * (at - Load4(buffers_.at, q));
      const Vec4 rest_edge = rest - Load4(buffers_.rest, q);
      for (int c = 0; c < 3; ++c) rows[c] += edge[c] * rest_edge;
      squares += skin_.cotangent[k] * rest_edge * rest_edge;
    }
    const float size = rest[3] * (squares[0] + squares[1] + squares[2]);
    const Vec4 facing = Facing(p, rows, size), inward = InwardAtRest(p);
    for (int c = 0; c < 3; ++c) rows[c] += facing[c] * inward;
    for (std::size_t c = 0; c < 9; ++c) h[c * kLanes + i] = rows[c / 3][static_cast<int>(c % 3)];
  }
  if (awake == 0) return;
  const std::uint32_t unsharp = NearestRotationsKernel(h, r);
  for (std::uint32_t left = awake; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    bool found = true;
    if ((unsharp >> i & 1) != 0) {
      Mat3d matrix;
      for (std::size_t c = 0; c < 9; ++c) matrix.m[c] = h[c * kLanes + i];
      const NearestRotationResult nearest = NearestRotation(matrix);
      found = nearest.unique;
      for (std::size_t c = 0; c < 9; ++c) {
        r[c * kLanes + i] = found ? static_cast<float>(nearest.rotation.m[c]) : 0;
      }
    }
    float* columns = buffers_.rotation + (block * kLanes + i) * 12;
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t row = 0; row < 3; ++row)
        columns[c * 4 + row] = r[(row * 3 + c) * kLanes + i];
      columns[c * 4 + 3] = found ? 1 : 0;
    }
  }
}

Vec4 Step::Relaxed(std::size_t p) const {
  const Vec4 at = Load4(buffers_.at, p), rest = Load4(buffers_.rest, p);
  const float* own = buffers_.rotation + p * 12;
  Vec4 sum = {0, 0, 0, 0};
  if (!(own[3] > 0)) return sum;  // the neighbourhood is a line or a point
  const Vec4 columns[3] = {Load4(own, 0), Load4(own, 1), Load4(own, 2)};
  for (std::size_t k = skin_.rows.begin(p); k < skin_.rows.end(p); ++k) {
    const std::uint32_t q = skin_.rows.At(p, k);
    const float* its = buffers_.rotation + std::size_t{q} * 12;
    if (!(its[3] > 0)) its = own;
    const Vec4 its_rest = Load4(buffers_.rest, q);
    const Vec4 edge = (0.5f * (rest[3] + its_rest[3])) * (rest - its_rest);
    Vec4 turned = {0, 0, 0, 0};
    for (int c = 0; c < 3; ++c) {
      turned += edge[c] * (columns[c] + Load4(its, static_cast<std::size_t>(c)));
    }
    sum += skin_.cotangent[k] * ((Load4(buffers_.at, q) - at) + 0.5f * turned);
  }
  return sum;
}

// Signed length of a Newton step along the unit gradient.
float Step::Newton(std::size_t p, float value, float slope) const {
  const float reach = kTrackingReach * unit_;
  const float s = kNewton * (skin_.potential[p] - value) / slope;
  return std::min(std::max(s, -reach), reach);
}

// Pull towards the skinned position, which fades with its distance from the surface: far off,
// skinning was folded or penetrated another part, and the pull would fold tracked skin.
Vec4 Step::Pulled(std::size_t p, Vec4 gradient) const {
  const Vec4 pull = Load4(buffers_.placed, p) - Load4(buffers_.at, p);
  const float slope = Length3(gradient);
  if (!(slope * unit_ > kNoDirection)) return options_.attraction * pull;
  const float off = std::abs(Dot3(pull, gradient)) / (slope * kTrust * unit_);
  return off < 1 ? (1 - off) * options_.attraction * pull : Vec4{0, 0, 0, 0};
}

// Relaxes active point p along the surface and pulls it to the skin. False: it rests, because the
// move is tiny and it is on its level.
bool Step::Slide(std::size_t p, const FieldBlock& field, Vec4& at) const {
  const std::size_t i = p % kLanes;
  const Vec4 gradient = {field.x[i], field.y[i], field.z[i], 0};
  Vec4 d = kRelax * Relaxed(p);
  if (options_.attraction > 0) d += Pulled(p, gradient);
  const float slope = Length3(gradient);
  float s = 0;
  if (slope * unit_ > kNoDirection) {
    const Vec4 normal = gradient / slope;
    d -= Dot3(d, normal) * normal;
    s = Newton(p, field.value[i], slope);
  }
  const float length = Length3(d), reach = kTrackingReach * unit_;
  if (!(std::max(length, std::abs(s)) > kStill * unit_)) return false;
  at = Load4(buffers_.at, p) + (length > reach ? reach / length : 1.0f) * d;
  return true;
}

// One Newton step of up to 16 points towards their levels.
void Step::Approach(std::span<const std::uint32_t> points, const FieldBlock& field,
                    PointBlock& at) const {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const float gx = field.x[i], gy = field.y[i], gz = field.z[i];
    const float slope = std::sqrt(gx * gx + gy * gy + gz * gz);
    if (!(slope * unit_ > kNoDirection)) continue;
    const float s = Newton(points[i], field.value[i], slope) / slope;
    at.x[i] += s * gx;
    at.y[i] += s * gy;
    at.z[i] += s * gz;
  }
}

// Moves up to 16 points onto their levels in two steps and stores them and the field for the next
// round.
void Step::Land(std::span<const std::uint32_t> points, const float* at) {
  PointBlock block = PackedBlock(at, points.size());
  FieldBlock field;
  for (int step = 0; step < kNewtonSteps; ++step) {
    now_.Evaluate(block, contact_, field);
    Approach(points, field, block);
  }
  if (!last_) now_.Evaluate(block, contact_, field);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t p = points[i];
    Store4(Vec4{block.x[i], block.y[i], block.z[i], 0}, buffers_.next, p);
    buffers_.moved[p] = 1;
    float* kept = buffers_.field + p / kLanes * kLanes * 4 + p % kLanes;
    kept[0] = field.value[i];
    kept[kLanes] = field.x[i];
    kept[2 * kLanes] = field.y[i];
    kept[3 * kLanes] = field.z[i];
  }
}

// One round of a chunk of blocks. The field is evaluated for 16 moving points at a time.
void Step::Move(std::size_t begin, std::size_t end) {
  std::copy_n(buffers_.at + begin * kLanes * 4, (end - begin) * kLanes * 4,
              buffers_.next + begin * kLanes * 4);
  std::array<std::uint32_t, kGrain * kLanes> moving;
  alignas(64) std::array<float, kGrain * kLanes * 4> at;  // [count][4]
  std::size_t count = 0;
  for (std::size_t block = begin; block < end; ++block) {
    const FieldBlock field = FieldOf(block);
    for (std::size_t i = 0; i < Lanes(block); ++i) {
      const std::size_t p = block * kLanes + i;
      buffers_.moved[p] = 0;
      Vec4 slid = {0, 0, 0, 0};
      if (!(buffers_.awake[p] > 0) || !Follows(p) || !Slide(p, field, slid)) continue;
      Store4(slid, at.data(), count);
      moving[count++] = static_cast<std::uint32_t>(p);
    }
  }
  for (std::size_t first = 0; first < count; first += kLanes) {
    const std::size_t some = std::min(kLanes, count - first);
    Land(std::span(moving).subspan(first, some), at.data() + first * 4);
  }
}

// A penetrating part drags the skin it touches. Points carried too far off their own limb are reset
// to their skinned position.
void Step::GiveUp(std::size_t block) {
  PartBlocks parts;
  for (std::size_t i = 0; i < Lanes(block); ++i) {
    const std::size_t p = block * kLanes + i;
    const Vec4 aside = Load4(buffers_.at, p) - Load4(buffers_.placed, p);
    if (!Follows(p) || !(Length3(aside) > kTrackingReach * unit_)) continue;
    if (parts.empty()) parts = now_.EvaluateParts(Load(buffers_.at, block));
    float most = 0;
    for (const PartBlock& part : parts) {
      if (Carries(part.part, p)) most = std::max(most, part.value[i]);
    }
    if (most < kLost) Store4(Load4(buffers_.placed, p), buffers_.at, p);
  }
}

void Step::Run() {
  ForBlocks(&Step::Gather);
  ForBlocks(&Step::Predict);
  std::swap(buffers_.at, buffers_.next);
  for (int round = 0; round < kTrackingRounds && !frame_.task.cancelled(); ++round) {
    first_ = round == 0;
    last_ = round + 1 == kTrackingRounds;
    ForBlocks(&Step::Rotate);
    frame_.task.For(WholeBlocks(skin_.points()), kGrain,
                    [&](std::size_t begin, std::size_t end) { Move(begin, end); });
    std::swap(buffers_.at, buffers_.next);
  }
  ForBlocks(&Step::GiveUp);
  if (!frame_.vertex_status.empty()) {
    for (std::size_t p = 0; p < skin_.points(); ++p)
      Store4(ToVec4(skin_.PointOf(frame_.in, p)), buffers_.placed, p);
    const std::vector<std::uint8_t> vertex_status = TrackedVertexStatus(
        skin_, now_, contact_, unit_, {buffers_.at, buffers_.placed}, frame_.task);
    for (std::size_t v = 0; v < frame_.vertex_status.size(); ++v) {
      const std::size_t p = skin_.lane_point[frame_.layout.lane[v]];
      if (!OnSkin(p) || Follows(p)) frame_.vertex_status[v] = vertex_status[p];
    }
  }
  for (std::size_t p = 0; p < skin_.points(); ++p) Keep(frame_, p, Load4(buffers_.at, p));
  ScatterPoints(skin_, frame_.in, {buffers_.at, skin_.points() * 4}, frame_.out, frame_.task);
}

// The rest pose by each point's strongest joint, in model space, because mesh parts may have their
// own bind spaces.
void Begin(const SkinSurface& skin, const StageFrame& frame) {
  for (std::size_t p = 0; p < skin.points(); ++p) {
    const Affine& to_pose = frame.before->skin[HoldingBinding(frame.layout, skin, p)];
    Keep(frame, p, Moved(to_pose, ToVec4(skin.PointOf(frame.rest, p))));
  }
}

}  // namespace

std::size_t TrackingState(std::size_t points) {
  return points * 3;
}

std::size_t TrackingScratch(std::size_t points) {
  return WholeBlocks(points) * kLanes * TrackingBuffers::kFloats;
}

void Track(const SkinSurface& skin, const PosedField& before, const PosedField& now,
           const TrackingOptions& options, const StageFrame& frame) {
  if (frame.begins) Begin(skin, frame);
  Step(skin, before, now, options, frame).Run();
}

}  // namespace sinew
