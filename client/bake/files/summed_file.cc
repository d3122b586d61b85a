#include "client/bake/files/summed_file.h"

#include <utility>

#include "core/base/status.h"

namespace sinew::bake {

absl::StatusOr<SummedFile> SummedFile::Create(const std::string& path, std::string name,
                                              bool overwrite) {
  SINEW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path, overwrite));
  return SummedFile(std::move(name), std::move(file));
}

absl::Status SummedFile::Write(std::string_view bytes) {
  hash_.Update(bytes);
  bytes_ += bytes.size();
  return file_.Write(bytes);
}

}  // namespace sinew::bake
