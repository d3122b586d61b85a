// usda.h - pieces of OpenUSD's text format: names, numbers, arrays and the header of a layer.
//
// Numbers are the shortest that parse back to the same value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::bake {

// Names of prims for these names: letters, digits and underscores, not beginning with a digit, each
// once. Other characters become '_'; empty names become "mesh".
std::vector<std::string> UsdPrimNames(std::span<const std::string> names);

// Whether `path` is an absolute path of prims, such as "/Hero/geo".
bool IsUsdPrimPath(std::string_view path);

// `text` in double quotes, with what the format needs escaped.
std::string UsdQuoted(std::string_view text);

// @./NAME@: a file beside the layer, or in a folder beside it.
std::string UsdAsset(std::string_view name);

void AppendUsdNumber(double value, std::string& out);

// "[(x, y, z), ...]" of rows with `width` values.
void AppendUsdTuples(std::span<const float> values, std::size_t width, std::string& out);

// "[3, 4, ...]".
void AppendUsdIndices(std::span<const std::uint32_t> values, std::string& out);

// "[(x0, y0, z0), (x1, y1, z1)]": the bounds of points [V * 3].
void AppendUsdExtent(std::span<const float> points, std::string& out);

struct UsdLayerInfo {
  std::string default_prim;
  std::string comment;
  double start = 0, end = 0;  // time codes
  double fps = 24;            // time codes per second
  double meters_per_unit = 1;
  std::string up_axis = "Y";                // "Y" or "Z"
  std::vector<std::string> sublayers = {};  // names, see UsdAsset
};

// "#usda 1.0" and the metadata of a layer.
std::string UsdLayerHeader(const UsdLayerInfo& info);

}  // namespace sinew::bake
