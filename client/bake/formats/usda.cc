#include "client/bake/formats/usda.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace sinew::bake {
namespace {

bool IsPrimName(std::string_view name) {
  return !name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
         });
}

template <class T>
void AppendExact(T value, std::string& out) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  out.append(text, result.ptr);
}

}  // namespace

std::vector<std::string> UsdPrimNames(std::span<const std::string> names) {
  std::set<std::string> used;
  std::vector<std::string> prims;
  for (const std::string& name : names) {
    std::string safe = name.empty() ? "mesh" : name;
    for (char& c : safe) {
      if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
    }
    if (absl::ascii_isdigit(static_cast<unsigned char>(safe[0]))) safe = absl::StrCat("_", safe);
    std::string prim = safe;
    for (int k = 2; !used.insert(prim).second; ++k) prim = absl::StrCat(safe, "_", k);
    prims.push_back(std::move(prim));
  }
  return prims;
}

bool IsUsdPrimPath(std::string_view path) {
  if (path.size() < 2 || path[0] != '/') return false;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (!IsPrimName(path.substr(at, end - at))) return false;
    at = end + 1;
  }
  return path.back() != '/';
}

std::string UsdQuoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "\"";
}

std::string UsdAsset(std::string_view name) {
  // @@@ delimits names that contain @.
  const char* const quote = name.find('@') == name.npos ? "@" : "@@@";
  return absl::StrCat(quote, "./", std::string(name), quote);
}

void AppendUsdNumber(double value, std::string& out) {
  AppendExact(value + 0.0, out);  // -0 is 0
}

void AppendUsdTuples(std::span<const float> values, std::size_t width, std::string& out) {
  out += '[';
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (k % width == 0) out += k == 0 ? "(" : ", (";
    AppendExact(values[k], out);
    out += k % width == width - 1 ? ")" : ", ";
  }
  out += ']';
}

void AppendUsdIndices(std::span<const std::uint32_t> values, std::string& out) {
  out += '[';
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (k > 0) out += ", ";
    AppendExact(values[k], out);
  }
  out += ']';
}

void AppendUsdExtent(std::span<const float> points, std::string& out) {
  float bounds[6] = {};
  for (std::size_t k = 0; k < points.size(); ++k) {
    float &low = bounds[k % 3], &high = bounds[3 + k % 3];
    low = k < 3 ? points[k] : std::min(low, points[k]);
    high = k < 3 ? points[k] : std::max(high, points[k]);
  }
  AppendUsdTuples(bounds, 3, out);
}

std::string UsdLayerHeader(const UsdLayerInfo& info) {
  std::string out = "#usda 1.0\n(\n";
  const auto number = [&](const char* name, double value) {
    absl::StrAppend(&out, "    ", name, " = ");
    AppendUsdNumber(value, out);
    out += '\n';
  };
  absl::StrAppend(&out, "    defaultPrim = ", UsdQuoted(info.default_prim), "\n");
  if (!info.comment.empty()) absl::StrAppend(&out, "    doc = ", UsdQuoted(info.comment), "\n");
  number("endTimeCode", info.end);
  number("framesPerSecond", info.fps);
  number("metersPerUnit", info.meters_per_unit);
  number("startTimeCode", info.start);
  if (!info.sublayers.empty()) {
    out += "    subLayers = [\n";
    for (std::size_t k = 0; k < info.sublayers.size(); ++k) {
      absl::StrAppend(&out, "        ", UsdAsset(info.sublayers[k]),
                      k + 1 < info.sublayers.size() ? ",\n" : "\n");
    }
    out += "    ]\n";
  }
  number("timeCodesPerSecond", info.fps);
  absl::StrAppend(&out, "    upAxis = ", UsdQuoted(info.up_axis), "\n)\n\n");
  return out;
}

}  // namespace sinew::bake
