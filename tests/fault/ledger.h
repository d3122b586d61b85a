// ledger.h - what must be true of the rigs of a server: which were acknowledged, which were
// deleted, and of which the answer never arrived.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sinew/client.h"
#include "tests/fault/suite.h"
#include "tests/support/random.h"

namespace sinew::testing {

class Ledger {
 public:
  explicit Ledger(Suite& suite) : suite_(suite) {}

  // Before a call: its rig may exist or not until the call is answered. Uploading a stored rig
  // again leaves it stored. Returns the rig's name.
  std::string Uploading(const std::string& bytes);
  void Deleting(const std::string& name);
  // After an answer.
  void Stored(const std::string& name) { rigs_.at(name).state = State::kStored; }
  void Absent(const std::string& name);  // deleted, or refused
  // The file of this rig was changed: the rig may be lost, but not wrong.
  void Damaged(const std::string& name) { rigs_.at(name).state = State::kDamaged; }

  // UploadRig and DeleteRig with their entries, for a server that keeps running: what fails must
  // leave nothing.
  absl::Status Upload(const client::Client& client, const std::string& bytes);
  absl::Status Delete(const client::Client& client, const std::string& name);

  // Compares what the server lists, and the bytes of all rigs, with the ledger. What was open is
  // then known.
  void Check(const client::Client& client);

  // Stored rigs, and one of them. Pinned rigs are never chosen.
  std::vector<std::string> StoredRigs() const;
  std::string Choose(Random& dice) const;
  void Pin(const std::string& name) { rigs_.at(name).pinned = true; }
  bool IsStored(const std::string& name) const;
  const std::string& Bytes(const std::string& name) const { return rigs_.at(name).bytes; }

 private:
  enum class State { kOpen, kStored, kAbsent, kDamaged };
  struct Rig {
    State state = State::kOpen;
    bool pinned = false;
    std::string bytes = {};  // unless absent
  };
  void CheckBytes(const client::Client& client, const std::string& name, Rig& rig);

  Suite& suite_;
  std::map<std::string, Rig> rigs_;
};

}  // namespace sinew::testing
