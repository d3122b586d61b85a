#include "tests/fault/ledger.h"

#include <absl/strings/str_cat.h>

#include <utility>

namespace sinew::testing {

std::string Ledger::Uploading(const std::string& bytes) {
  std::string name = client::RigName(bytes);
  Rig& rig = rigs_[name];
  rig.bytes = bytes;
  if (rig.state != State::kStored) rig.state = State::kOpen;
  return name;
}

void Ledger::Deleting(const std::string& name) {
  rigs_.at(name).state = State::kOpen;
}

void Ledger::Absent(const std::string& name) {
  rigs_.at(name) = {.state = State::kAbsent};
}

absl::Status Ledger::Upload(const client::Client& client, const std::string& bytes) {
  const std::string name = Uploading(bytes);
  const absl::Status status = client.UploadRig(bytes).status();
  if (status.ok()) {
    Stored(name);
  } else if (!IsStored(name)) {
    Absent(name);
  }
  return status;
}

absl::Status Ledger::Delete(const client::Client& client, const std::string& name) {
  Deleting(name);
  const absl::Status status = client.DeleteRig(name);
  if (status.ok()) Absent(name);
  return status;
}

std::vector<std::string> Ledger::StoredRigs() const {
  std::vector<std::string> names;
  for (const auto& [name, rig] : rigs_) {
    if (rig.state == State::kStored && !rig.pinned) names.push_back(name);
  }
  return names;
}

std::string Ledger::Choose(Random& dice) const {
  const std::vector<std::string> names = StoredRigs();
  return names.empty() ? "" : names[dice.Below(static_cast<std::uint32_t>(names.size()))];
}

bool Ledger::IsStored(const std::string& name) const {
  const auto found = rigs_.find(name);
  return found != rigs_.end() && found->second.state == State::kStored;
}

void Ledger::Check(const client::Client& client) {
  std::map<std::string, std::uint64_t> listed;
  suite_.Need(client.ForEachRig([&](const client::RigSummary& rig) {
    listed[rig.name] = rig.size_bytes;
    return true;
  }),
              "ListRigs");
  for (auto& [name, rig] : rigs_) {
    const bool is_listed = listed.contains(name);
    switch (rig.state) {
      case State::kStored:
        if (!is_listed) suite_.Violated(absl::StrCat("acknowledged rig ", name, " is missing"));
        break;
      case State::kAbsent:
        if (is_listed) {
          suite_.Violated(absl::StrCat("deleted or refused rig ", name, " is listed"));
        }
        suite_.Checked("deleted and refused rigs: absent");
        break;
      case State::kOpen:
        suite_.Checked(is_listed ? "rigs without an answer: whole"
                                 : "rigs without an answer: absent");
        if (!is_listed) Absent(name);
        break;
      case State::kDamaged:
        break;
    }
    if (is_listed && rig.state != State::kAbsent) {
      if (listed[name] != rig.bytes.size() && rig.state != State::kDamaged) {
        suite_.Violated(
            absl::StrCat(name, ": listed with ", listed[name], " bytes, need ", rig.bytes.size()));
      }
      CheckBytes(client, name, rig);
    } else if (rig.state == State::kDamaged) {
      suite_.Checked("damaged rigs: gone");
      Absent(name);
    }
    listed.erase(name);
    if (suite_.failed()) return;
  }
  for (const auto& [name, size] : listed) {
    suite_.Violated(absl::StrCat("the server lists ", name, ", which no client has uploaded"));
  }
}

void Ledger::CheckBytes(const client::Client& client, const std::string& name, Rig& rig) {
  const absl::StatusOr<std::string> bytes = client.DownloadRig(name);
  if (bytes.ok() && *bytes == rig.bytes) {
    suite_.Checked(rig.state == State::kDamaged ? "damaged rigs: right all the same"
                                                : "acknowledged rigs: byte-identical");
    rig.state = State::kStored;
  } else if (bytes.ok()) {
    suite_.Violated(absl::StrCat(name, ": other bytes"));
  } else if (rig.state == State::kDamaged && absl::IsDataLoss(bytes.status())) {
    suite_.Checked("damaged rigs: reported (DATA_LOSS)");
    Absent(name);
  } else {
    suite_.Violated(absl::StrCat("download of ", name, ": ", bytes.status().ToString()));
  }
}

}  // namespace sinew::testing
