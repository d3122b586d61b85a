#include "client/bake/files/usd_file.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "client/bake/base/quantity.h"
#include "client/bake/files/usd_layer.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr std::uint64_t kMaxClips = 500;  // files that are open at once

// Time codes of whole frames, where there are samples of motion blur around them.
UsdLayerInfo LayerInfoOf(const UsdScene& scene, double first, double last, double fps) {
  UsdLayerInfo info = {.default_prim = scene.root[0],
                       .comment = "Baked by sinew",
                       .start = first,
                       .end = last,
                       .fps = fps,
                       .meters_per_unit = scene.meshes.meters_per_unit};
  if (std::ceil(first) <= std::floor(last)) {
    info.start = std::ceil(first);
    info.end = std::floor(last);
  }
  if (!scene.meshes.up_axis.empty()) info.up_axis = scene.meshes.up_axis;
  return info;
}

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// One layer with meshes, or with overs for them.
class UsdLayerFile : public CacheFile {
 public:
  UsdLayerFile(UsdContent content, CacheInfo info, SummedFile file,
               std::unique_ptr<const UsdScene> scene, UsdSamples samples)
      : content_(content),
        info_(std::move(info)),
        file_(std::move(file)),
        scene_(std::move(scene)),
        samples_(std::move(samples)) {}

  absl::Status Append(const FrameArrays& frame) override {
    return samples_.Append(info_.FrameNumber(next_++), frame);
  }
  absl::Status Close() override {
    const UsdLayerInfo layer =
        LayerInfoOf(*scene_, info_.FrameNumber(0), info_.FrameNumber(info_.frames - 1), info_.fps);
    SINEW_RETURN_IF_ERROR(WriteUsdLayer(*scene_, layer, content_, &samples_, file_));
    return file_.Close();
  }
  absl::Status Commit() override { return file_.Commit(); }
  std::uint64_t bytes() const override { return file_.bytes(); }
  std::vector<ManifestFile> files() const override { return {file_.Described()}; }

 private:
  const UsdContent content_;
  const CacheInfo info_;
  SummedFile file_;
  const std::unique_ptr<const UsdScene> scene_;
  UsdSamples samples_;
  std::uint32_t next_ = 0;
};

// Value clips: the root layer, one with the faces, one that names what the clips have, and the
// clips.
class UsdClipsFile : public CacheFile {
 public:
  static absl::StatusOr<std::unique_ptr<UsdClipsFile>> Create(
      const CacheFiles& files, const CacheInfo& info, std::unique_ptr<const UsdScene> scene) {
    const std::string folder = ClipsFolder(files.path);
    std::error_code error;
    const bool is_new = std::filesystem::create_directory(folder, error);
    if (error) return CannotWrite(folder, error.value());
    SINEW_ASSIGN_OR_RETURN(SummedFile root,
                           SummedFile::Create(files.path, FileName(files.path), files.overwrite));
    std::unique_ptr<UsdClipsFile> file(
        new UsdClipsFile(files, info, std::move(scene), std::move(root), is_new));
    for (const char* name : {kTopology, kAttributes}) {
      SINEW_ASSIGN_OR_RETURN(SummedFile layer, file->CreateLayer(name));
      file->layers_.push_back(std::move(layer));
    }
    return file;
  }

  ~UsdClipsFile() override {
    layers_.clear();                                                // removes what is not committed
    if (folder_is_new_) ::rmdir(ClipsFolder(files_.path).c_str());  // fails unless it is empty
  }

  absl::Status Append(const FrameArrays& frame) override {
    const double time = info_.FrameNumber(next_);
    if (next_ % files_.usd.clip_samples == 0) {
      if (samples_) {
        SINEW_RETURN_IF_ERROR(samples_->Append(time, frame));
        SINEW_RETURN_IF_ERROR(FinishClip(next_ - 1));
      }
      SINEW_ASSIGN_OR_RETURN(UsdSamples samples, UsdSamples::Create(files_.path, *scene_));
      samples_.emplace(std::move(samples));
      first_ = next_;
    }
    ++next_;
    return samples_->Append(time, frame);
  }

  absl::Status Close() override {
    SINEW_RETURN_IF_ERROR(FinishClip(next_ - 1));
    const UsdLayerInfo whole =
        LayerInfoOf(*scene_, info_.FrameNumber(0), info_.FrameNumber(info_.frames - 1), info_.fps);
    SINEW_RETURN_IF_ERROR(
        WriteUsdLayer(*scene_, whole, UsdContent::kTopology, nullptr, layers_[0]));
    SINEW_RETURN_IF_ERROR(
        WriteUsdLayer(*scene_, whole, UsdContent::kAttributes, nullptr, layers_[1]));
    UsdLayerInfo info = whole;
    info.sublayers = {LayerName(kTopology)};
    SINEW_RETURN_IF_ERROR(root_.Write(UsdLayerHeader(info)));
    SINEW_RETURN_IF_ERROR(root_.Write(UsdRootPrims(*scene_, "over", ClipsText(), "")));
    for (SummedFile& layer : layers_) SINEW_RETURN_IF_ERROR(layer.Close());
    return root_.Close();
  }

  absl::Status Commit() override {
    for (SummedFile& layer : layers_) SINEW_RETURN_IF_ERROR(layer.Commit());
    folder_is_new_ = false;
    return root_.Commit();
  }

  std::uint64_t bytes() const override {
    std::uint64_t bytes = root_.bytes();
    for (const SummedFile& layer : layers_) bytes += layer.bytes();
    return bytes;
  }

  std::vector<ManifestFile> files() const override {
    std::vector<ManifestFile> files = {root_.Described()};
    for (const SummedFile& layer : layers_) files.push_back(layer.Described());
    return files;
  }

 private:
  static constexpr char kTopology[] = "topology", kAttributes[] = "manifest";

  struct Clip {
    std::string name;
    double first = 0;
  };

  UsdClipsFile(CacheFiles files, CacheInfo info, std::unique_ptr<const UsdScene> scene,
               SummedFile root, bool folder_is_new)
      : files_(std::move(files)),
        info_(std::move(info)),
        scene_(std::move(scene)),
        root_(std::move(root)),
        folder_is_new_(folder_is_new) {}

  std::string LayerName(const std::string& name) const {
    return absl::StrCat(FileName(ClipsFolder(files_.path)), "/", name, ".usda");
  }

  absl::StatusOr<SummedFile> CreateLayer(const std::string& name) const {
    return SummedFile::Create(absl::StrCat(ClipsFolder(files_.path), "/", name, ".usda"),
                              LayerName(name), files_.overwrite);
  }

  // Writes the layer of samples `first_` to `last`.
  absl::Status FinishClip(std::uint32_t last) {
    const double begin = info_.FrameNumber(first_), end = info_.FrameNumber(last);
    const std::string name = absl::StrCat(ExactText(begin), "-", ExactText(end));
    SINEW_ASSIGN_OR_RETURN(SummedFile layer, CreateLayer(name));
    SINEW_RETURN_IF_ERROR(WriteUsdLayer(*scene_, LayerInfoOf(*scene_, begin, end, info_.fps),
                                        UsdContent::kOver, &*samples_, layer));
    layers_.push_back(std::move(layer));
    clips_.push_back({LayerName(name), begin});
    return absl::OkStatus();
  }

  std::string ClipsText() const {
    const std::string indent(scene_->root.size() * 4, ' ');
    std::string active, paths;
    for (std::size_t k = 0; k < clips_.size(); ++k) {
      absl::StrAppend(&active, k == 0 ? "(" : ", (", ExactText(clips_[k].first), ", ", k, ")");
      absl::StrAppend(&paths, k == 0 ? "" : ", ", UsdAsset(clips_[k].name));
    }
    const std::string first = ExactText(info_.FrameNumber(0)),
                      last = ExactText(info_.FrameNumber(info_.frames - 1));
    std::string text = indent + "clips = {\n" + indent + "    dictionary default = {\n";
    const auto entry = [&](const std::string& line) {
      absl::StrAppend(&text, indent, "        ", line, "\n");
    };
    entry(absl::StrCat("double2[] active = [", active, "]"));
    entry(absl::StrCat("asset[] assetPaths = [", paths, "]"));
    entry(absl::StrCat("asset manifestAssetPath = ", UsdAsset(LayerName(kAttributes))));
    entry(absl::StrCat("string primPath = ", UsdQuoted(scene_->RootPath())));
    entry(absl::StrCat("double2[] times = [(", first, ", ", first, ")",
                       first == last ? "" : absl::StrCat(", (", last, ", ", last, ")"), "]"));
    return text + indent + "    }\n" + indent + "}\n";
  }

  const CacheFiles files_;
  const CacheInfo info_;
  const std::unique_ptr<const UsdScene> scene_;
  SummedFile root_;
  bool folder_is_new_;
  std::vector<SummedFile> layers_;  // faces, attributes, clips
  std::vector<Clip> clips_;
  std::optional<UsdSamples> samples_;  // of the clip that is written now
  std::uint32_t first_ = 0, next_ = 0;
};

}  // namespace

std::string ClipsFolder(const std::string& cache) {
  return std::filesystem::path(cache).replace_extension(".clips").string();
}

absl::Status CheckUsdFile(const CacheFiles& files, const CacheInfo& info) {
  SINEW_RETURN_IF_ERROR(CheckCacheInfo(info));
  if (files.usd.layout != kUsdClips) return absl::OkStatus();
  const std::uint64_t clips = (info.frames + files.usd.clip_samples - 1) / files.usd.clip_samples;
  if (clips <= kMaxClips) return absl::OkStatus();
  return InvalidArgument("chunk: got ", CountedText(files.usd.clip_samples, "sample"),
                         " for each of ", clips, " value clips, need at most ", kMaxClips,
                         " clips");
}

std::uint64_t EstimateUsdFile(const CacheFiles& files, const CacheInfo& info,
                              const FrameArrays& frame) {
  const UsdScene scene = UsdSceneOf(*files.scene, files.attributes, files.usd.root);
  const std::uint64_t faces = files.usd.layout == kUsdOver ? 0 : UsdFaceBytes(scene);
  return faces + info.frames * UsdSampleBytes(scene, info.FrameNumber(info.frames - 1), frame);
}

absl::StatusOr<std::unique_ptr<CacheFile>> CreateUsdFile(const CacheFiles& files,
                                                         const CacheInfo& info) {
  SINEW_RETURN_IF_ERROR(CheckUsdFile(files, info));
  auto scene =
      std::make_unique<const UsdScene>(UsdSceneOf(*files.scene, files.attributes, files.usd.root));
  if (files.usd.layout == kUsdClips) {
    SINEW_ASSIGN_OR_RETURN(std::unique_ptr<UsdClipsFile> clips_file,
                           UsdClipsFile::Create(files, info, std::move(scene)));
    return clips_file;
  }
  SINEW_ASSIGN_OR_RETURN(SummedFile file,
                         SummedFile::Create(files.path, FileName(files.path), files.overwrite));
  SINEW_ASSIGN_OR_RETURN(UsdSamples samples, UsdSamples::Create(files.path, *scene));
  const UsdContent content = files.usd.layout == kUsdOver ? UsdContent::kOver : UsdContent::kMesh;
  return std::make_unique<UsdLayerFile>(content, info, std::move(file), std::move(scene),
                                        std::move(samples));
}

}  // namespace sinew::bake
