#include "server/store/bound_data.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <vector>

#include "core/base/status.h"
#include "core/base/table_io.h"

namespace sinew::server {
namespace {

constexpr char kKeyTable[] = "key";

}  // namespace

std::string BoundKey(const RigKey& name, const Rig& rig, const std::string& determinism_digest) {
  return absl::StrCat(name.Text(), "/", rig.digest(), "/", determinism_digest);
}

RigKey RigOfBound(const std::string& key) {
  const std::vector<std::string> parts = absl::StrSplit(key, absl::MaxSplits('/', 2));
  return {parts[0], parts[1]};
}

std::string EncodeBound(const std::string& key, const Deformer& deformer) {
  TableWriter tables;
  tables.Add(kKeyTable, key);
  deformer.Save(tables);
  return tables.Finish();
}

absl::StatusOr<Deformer> DecodeBound(std::string_view bytes, const std::string& key,
                                     const Rig& rig) {
  SINEW_ASSIGN_OR_RETURN(const TableReader tables, TableReader::Open(bytes));
  std::string found;
  SINEW_RETURN_IF_ERROR(tables.Read(kKeyTable, found));
  if (found != key) return absl::DataLossError("bound data of another rig or recipe");
  SINEW_ASSIGN_OR_RETURN(Deformer deformer, Deformer::Load(tables));
  if (deformer.vertices() != rig.vertices() || deformer.joints() != rig.joints() ||
      deformer.controls() != rig.controls().size()) {
    return absl::DataLossError("bound data of another rig");
  }
  return deformer;
}

}  // namespace sinew::server
