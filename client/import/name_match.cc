#include "client/import/name_match.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace sinew::client {
namespace {

// Longer names are not searched for prefixes, which costs the square of their length.
constexpr std::size_t kLongestPrefixedName = 255;

using Keys = std::vector<std::string>;  // of each node; empty: none
using NodesOfKey = std::unordered_map<std::string, std::vector<std::uint32_t>>;

std::string WithoutNamespace(const std::string& name) {
  const std::size_t end = name.find_last_of(":|");
  return end == std::string::npos ? name : name.substr(end + 1);
}

NodesOfKey Index(const Keys& keys) {
  NodesOfKey index;
  for (std::uint32_t n = 0; n < keys.size(); ++n) {
    if (!keys[n].empty()) index[keys[n]].push_back(n);
  }
  return index;
}

// The one that is meant: the only node, or the only joint.
std::optional<std::uint32_t> Only(const std::vector<std::uint32_t>& nodes,
                                  std::span<const NamedNode> named) {
  if (nodes.size() == 1) return nodes.front();
  std::optional<std::uint32_t> joint;
  for (const std::uint32_t n : nodes) {
    if (!named[n].joint) continue;
    if (joint) return std::nullopt;
    joint = n;
  }
  return joint;
}

class Matcher {
 public:
  Matcher(std::span<const NamedNode> wanted, std::span<const NamedNode> found)
      : wanted_(wanted), found_(found), taken_(found.size()) {
    match_.source.assign(wanted.size(), -1);
  }

  NameMatch Match() {
    const auto name = [](const NamedNode& node) { return node.name; };
    const auto bare = [](const NamedNode& node) { return WithoutNamespace(node.name); };
    Pair(KeysOf(wanted_, name), KeysOf(found_, name));
    const Keys wanted = KeysOf(wanted_, bare), found = KeysOf(found_, bare);
    if (Pair(wanted, found) > 0) match_.rule = "namespaces";
    if (matched_joints_ == 0 && ambiguous_.empty()) PairWithoutPrefixes(wanted, found);
    match_.ambiguous.assign(ambiguous_.begin(), ambiguous_.end());
    return std::move(match_);
  }

 private:
  template <class KeyOf>
  static Keys KeysOf(std::span<const NamedNode> nodes, KeyOf key) {
    Keys keys;
    for (const NamedNode& node : nodes) keys.push_back(key(node));
    return keys;
  }

  // Returns how many joints it has paired.
  std::size_t Pair(const Keys& wanted, const Keys& found) {
    const NodesOfKey by_wanted = Index(wanted), by_found = Index(found);
    std::size_t joints = 0;
    for (std::uint32_t w = 0; w < wanted.size(); ++w) {
      const auto candidates = by_found.find(wanted[w]);
      if (match_.source[w] >= 0 || candidates == by_found.end()) continue;
      const auto source = Only(candidates->second, found_);
      if (source && !taken_[*source] && Only(by_wanted.at(wanted[w]), wanted_) == w) {
        match_.source[w] = static_cast<std::int32_t>(*source);
        taken_[*source] = true;
        ambiguous_.erase(w);
        joints += wanted_[w].joint ? 1 : 0;
      } else if (wanted_[w].joint) {
        ambiguous_.insert(w);
      }
    }
    matched_joints_ += joints;
    return joints;
  }

  // "rig_" of joints "rig_hip" and "rig_knee".
  std::string CommonPrefix(const Keys& names) const {
    std::optional<std::string> prefix;
    std::size_t joints = 0;
    for (std::size_t w = 0; w < names.size(); ++w) {
      if (!wanted_[w].joint) continue;
      ++joints;
      if (!prefix) prefix = names[w];
      const auto differs = std::ranges::mismatch(*prefix, names[w]).in1;
      prefix->erase(differs, prefix->end());
    }
    if (joints < 2) return {};  // all of a single name would be common
    return prefix->substr(0, prefix->rfind('_') + 1);
  }

  void PairWithoutPrefixes(Keys wanted, Keys found) {
    const std::string own = CommonPrefix(wanted);
    std::size_t joints = 0;
    for (std::size_t w = 0; w < wanted.size(); ++w) {
      wanted[w] = wanted_[w].joint ? wanted[w].substr(own.size()) : std::string();
      joints += wanted_[w].joint ? 1 : 0;
    }
    const std::optional<std::string> other = BestPrefix(wanted, found, joints);
    if (!other) return;
    for (std::string& name : found) {
      name = absl::StartsWith(name, *other) ? name.substr(other->size()) : std::string();
    }
    if (Pair(wanted, found) == 0) return;
    match_.rule = own.empty() || other->empty()
                      ? absl::StrCat("the prefix '", own, *other, "'")
                      : absl::StrCat("the prefixes '", own, "' and '", *other, "'");
  }

  // The one that pairs the most joints, if it is the only one and they are more than half.
  static std::optional<std::string> BestPrefix(const Keys& wanted, const Keys& found,
                                               std::size_t joints) {
    const NodesOfKey by_wanted = Index(wanted);
    std::map<std::string, std::set<std::string>> pairs;  // by prefix, the rests of the names
    for (const std::string& name : found) {
      if (name.size() > kLongestPrefixedName) continue;
      for (std::size_t at = 0; at < name.size(); ++at) {
        if (at > 0 && name[at - 1] != '_') continue;
        const std::string rest = name.substr(at);
        if (by_wanted.contains(rest)) pairs[name.substr(0, at)].insert(rest);
      }
    }
    std::optional<std::string> best;
    std::size_t most = joints / 2;
    for (const auto& [prefix, rests] : pairs) {
      if (rests.size() > most) {
        best = prefix;
        most = rests.size();
      } else if (best && rests.size() == most) {
        best.reset();  // a tie, which only a larger number decides
      }
    }
    return best;
  }

  const std::span<const NamedNode> wanted_, found_;
  std::vector<bool> taken_;  // [found]
  std::set<std::uint32_t> ambiguous_;
  std::size_t matched_joints_ = 0;
  NameMatch match_;
};

}  // namespace

NameMatch MatchNames(std::span<const NamedNode> wanted, std::span<const NamedNode> found) {
  return Matcher(wanted, found).Match();
}

}  // namespace sinew::client
