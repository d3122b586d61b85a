// level_skin.h - what projection needs to know of each skin point: the limb it belongs to, its
// level of that limb's field, the direction inward, and the other limbs near it.
//
// Lengths are relative to the size of the owner (PosedField::Size), directions in the bind pose. f
// is the signed distance of a part, see limb_field.h.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/deform/implicit/field/posed_field.h"
#include "core/deform/implicit/surface/skin_surface.h"
#include "core/deform/method/method.h"

namespace sinew {

inline constexpr std::uint16_t kNoOwner = 0xffff;
// Width of trust: see Trust. At half of it folds close better and the skin beside them moves more
// abruptly; at double, folds of slender limbs stay open by some percent of their radius.
inline constexpr float kTrustWidth = 0.1f;
// How far the field of an untrusted part is pushed out of its surface; any length that takes it
// below other skin has the same effect.
inline constexpr float kUntrusted = 0.5f;
// Lead of the owner up to which rays lean towards the other limb. Half or double of it changes no
// figure by more than a tenth.
inline constexpr float kLeanWidth = 0.6f;

// How far the field of a part at a point is skin of that part, 0 to 1, and not the cap by which the
// field is closed inside its neighbours: whether the part has the least f there, in the bind pose.
//
//    own, others  f of the part, and the least f of all others, at the point carried back to the
//                 bind pose with the part; relative to the size of the point's owner
float Trust(float own, float others);

inline constexpr float kFarLead = 100;
inline constexpr float kMostRoom = 1.5f;  // larger rooms are not distinguished

// f of a part beside a point's owner, relative to the owner's size. It rises before the part's
// support ends, so that a part stops mattering gradually; infinite beyond.
float Beside(float f, float reach);

// The neighbours of a point; where there are more, those with the smallest lead.
inline constexpr std::size_t kMostNeighbours = 12;

struct LevelSkin {
  // Another part near a point at bind.
  struct Neighbour {
    std::uint16_t part = 0;
    float lead = 0;     // f of the part - f of the owner; kFarLead beyond its support
    float weight = 0;   // skin weight of its joints
    float contact = 1;  // 0 where the skin bridges both limbs: no contact is possible there
    Vec3f towards;      // unit: the direction in which the part takes over from the owner
  };

  std::vector<std::uint16_t> owner;       // [P] part, or kNoOwner: not projected
  std::vector<float> level;               // [P] least trusted f
  std::vector<float> room;                // [P] way inward to where f of the owner is least, the
                                          // axis of a round limb
  std::vector<float> own_weight;          // [P] skin weight of the owner's joints
  std::vector<float> hold;                // [P] how much of a move is made: less where the field
                                          // does not fit the skin, or the owner hardly carries it
  std::vector<float> outward;             // [P] and of outward moves in addition: less where other
                                          // limbs or several joints share the skin
  std::vector<Vec3f> inward;              // [P] unit
  std::vector<std::uint32_t> neighbours;  // [P + 1] offsets into the tables below
  std::vector<std::uint16_t> part;        // [N] ascending for each point
  std::vector<float> lead, weight;        // [N]
  std::vector<float> contact;             // [N]
  std::vector<Vec3f> towards;             // [N]

  std::size_t points() const { return owner.size(); }
  // Upper limits in bytes for each point: of the tables, and of what binding holds in addition.
  static constexpr std::size_t kBytes = 38 + 26 * kMostNeighbours,
                               kPassingBytes = 160 + 60 * kMostNeighbours;
  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    const std::size_t points = self.points(), count = self.part.size();
    visit("level_owner", self.owner, rule::Size(points), rule::Below(rule::FieldParts(), kNoOwner));
    visit("level", self.level, rule::Size(points), rule::Finite());
    visit("level_room", self.room, rule::Size(points), rule::Within{0, kMostRoom});
    visit("level_own_weight", self.own_weight, rule::Size(points), rule::Within{0, 1.001});
    visit("level_hold", self.hold, rule::Size(points), rule::Within{0, 1});
    visit("level_outward", self.outward, rule::Size(points), rule::Within{0, 1});
    visit("level_inward", self.inward, rule::Size(points), rule::Within{-1.001, 1.001});
    visit("level_neighbours", self.neighbours, rule::Offsets(points, count));
    visit("level_part", self.part, rule::Below(rule::FieldParts()));
    visit("level_lead", self.lead, rule::Size(count), rule::Finite());
    visit("level_weight", self.weight, rule::Size(count), rule::Within{0, 1.001});
    visit("level_contact", self.contact, rule::Size(count), rule::Within{0, 1});
    visit("level_towards", self.towards, rule::Size(count), rule::Within{-1.001, 1.001});
  }
};

//    part_of_binding  [E] part of each binding's joint, -1 = none
//    parents          [parts] parent part, -1 = none
//    bind_pose        the field in the bind pose, with its muscles
//    bare             the same without muscles: trust asks for the limb, not for what lies in it
//
// kCancelled.
absl::StatusOr<LevelSkin> BindLevelSkin(const BindInput& input,
                                        std::span<const std::int32_t> part_of_binding,
                                        std::span<const std::int32_t> parents,
                                        const PosedField& bind_pose, const PosedField& bare,
                                        const SkinSurface& skin, const Task& task);

}  // namespace sinew
