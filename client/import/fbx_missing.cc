// Stands in for fbx_reader.cc in a build without ufbx.
#include "client/import/fbx_reader.h"
#include "core/base/status.h"

namespace sinew::client {

absl::StatusOr<ImportedScene> ReadFbx(const std::string&, const ImportOptions&) {
  return InvalidArgument(
      "FBX: this program was built without ufbx, which reads it; run `deploy/install-deps.sh "
      "build`,"
      " then configure and build again, or save the file as glTF");
}

}  // namespace sinew::client
