// cast.h - the characters of the soak: small rigs, several recipes, and sessions that share binds.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "sinew/client.h"
#include "tests/load/report.h"
#include "tests/support/motion.h"

namespace sinew::testing {

// A tube of 2,000 or 502 vertices, poses that bend and twist it, no checksums. The radius makes
// rigs different.
Motion LoadMotion(bool large, double radius, const std::string& recipe);

struct LoadSession {
  std::string name, rig;
  const Motion* motion = nullptr;

  std::size_t vertices() const { return motion->rig.vertices(); }
};

// Uploads, binds and records checksums, before there is load.
class Cast {
 public:
  // Sessions take turns: each uses the next pair of rig and recipe.
  Cast(Report& report, const client::Client& client, std::size_t sessions);

  const std::vector<LoadSession>& sessions() const { return sessions_; }
  std::size_t rigs() const { return rig_names_.size(); }
  std::size_t pairs() const { return motions_.size(); }

  // Deletes all sessions and rigs.
  void Remove(Report& report, const client::Client& client) const;

 private:
  void AddPair(Report& report, const client::Client& client, std::size_t rig, bool large,
               const std::string& recipe);

  std::vector<std::string> rig_names_;
  std::deque<Motion> motions_;                 // sessions point to them
  std::vector<LoadSession> first_, sessions_;  // first of each pair; all
};

// One pose without a stream, with the recorded checksum.
void CheckDeform(Report& report, const client::Client& client, const std::string& session,
                 const LoadSession& like, std::uint64_t frame);

}  // namespace sinew::testing
