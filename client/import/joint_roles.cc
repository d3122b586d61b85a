#include "client/import/joint_roles.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace sinew::client {
namespace {

constexpr const char* kSides[] = {"", "left ", "right "};

// Words that say nothing of the joint's place.
constexpr const char* kFiller[] = {"b",         "base", "bind", "bip",      "bn",   "bone",  "c",
                                   "cc",        "char", "def",  "j",        "jnt",  "joint", "mch",
                                   "mixamorig", "org",  "rig",  "skeleton", "valve"};

// Which of the joints that share a name, in the order of the chain.
enum Which { kFirst, kOnly, k1st, k2nd, k3rd, k4th, kLast };  // from k1st on: of several

struct Word {
  const char* stem;
  Which which = kFirst;
};

struct Role {
  const char* name;
  bool sided, is_limb;
  std::array<Word, 8> words;  // the best first
};

// Earlier roles choose before later ones.
constexpr Role kRoles[] = {
    {"head", false, false, {{{"head"}, {"neck", kLast}}}},
    {"neck", false, false, {{{"neck"}}}},
    {"chest",
     false,
     false,
     {{{"upperchest"}, {"chest"}, {"spine", kLast}, {"torso", k3rd}, {"spine", kOnly}}}},
    {"hips", false, false, {{{"hips"}, {"hip"}, {"pelvis"}, {"torso", k1st}, {"root"}}}},
    {"back", false, false, {{{"back"}, {"waist"}, {"abdomen"}, {"spine"}, {"torso", k2nd}}}},
    {"thigh",
     true,
     true,
     {{{"thigh"}, {"upleg"}, {"upperleg"}, {"legupper"}, {"hip"}, {"leg", k1st}}}},
    {"knee",
     true,
     true,
     {{{"knee"}, {"calf"}, {"shin"}, {"lowerleg"}, {"leglower"}, {"leg", k2nd}, {"leg", kOnly}}}},
    {"ankle", true, false, {{{"ankle"}, {"foot"}, {"leg", k3rd}}}},
    {"foot", true, false, {{{"toebase"}, {"toe"}, {"toes"}, {"ball"}, {"foot"}, {"leg", k4th}}}},
    {"shoulder",
     true,
     true,
     {{{"upperarm"}, {"uparm"}, {"armupper"}, {"arm", kOnly}, {"arm", k1st}, {"shoulder"}}}},
    {"elbow", true, true, {{{"elbow"}, {"forearm"}, {"lowerarm"}, {"armlower"}, {"arm", k2nd}}}},
    {"hand", true, false, {{{"hand"}, {"wrist"}, {"arm", k3rd}}}},
};

// The words of a name in lower case: "mixamorig:LeftUpLeg" is mixamorig, left, up, leg.
std::vector<std::string> WordsOf(const std::string& name) {
  std::vector<std::string> words(1);
  for (std::size_t k = 0; k < name.size(); ++k) {
    const char c = name[k];
    const bool begins =
        absl::ascii_isupper(c) && (k == 0 || !absl::ascii_isupper(name[k - 1]) ||
                                   (k + 1 < name.size() && absl::ascii_islower(name[k + 1])));
    if (begins || !absl::ascii_isalpha(c)) words.emplace_back();
    if (absl::ascii_isalpha(c)) words.back().push_back(absl::ascii_tolower(c));
  }
  std::erase(words, "");
  return words;
}

// The side, as an index of kSides, and what is left of the name.
using Stem = std::pair<std::size_t, std::string>;

Stem StemOf(const std::string& name) {
  Stem stem;
  for (const std::string& word : WordsOf(name)) {
    if (word == "l" || word == "left") {
      stem.first = 1;
    } else if (word == "r" || word == "right") {
      stem.first = 2;
    } else if (std::ranges::find(kFiller, word) == std::end(kFiller)) {
      stem.second += word;
    }
  }
  return stem;
}

}  // namespace

std::vector<JointRole> JointRoles(std::span<const std::string> names) {
  std::map<Stem, std::vector<std::size_t>> joints;
  for (std::size_t j = 0; j < names.size(); ++j) joints[StemOf(names[j])].push_back(j);
  std::vector<JointRole> roles(names.size());
  // The joint that a word means; names.size() if there is none, or it has a role.
  const auto find = [&](std::size_t side, const Word& word) {
    const auto found = joints.find({side, word.stem});
    if (found == joints.end()) return names.size();
    const std::vector<std::size_t>& list = found->second;
    if (word.which == kOnly && list.size() > 1) return names.size();
    std::size_t at = 0;
    if (word.which >= k1st) {
      if (list.size() < 2) return names.size();
      at = word.which == kLast ? list.size() - 1 : static_cast<std::size_t>(word.which - k1st);
    }
    return at < list.size() && roles[list[at]].name.empty() ? list[at] : names.size();
  };
  for (const Role& role : kRoles) {
    for (std::size_t side = role.sided ? 1 : 0; side < (role.sided ? 3 : 1); ++side) {
      for (const Word& word : role.words) {
        if (word.stem == nullptr) break;
        const std::size_t joint = find(side, word);
        if (joint == names.size()) continue;
        roles[joint] = {absl::StrCat(kSides[side], role.name), role.is_limb};
        break;
      }
    }
  }
  return roles;
}

}  // namespace sinew::client
