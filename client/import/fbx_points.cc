#include "client/import/fbx_points.h"

#include <zlib.h>

#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

namespace sinew::client {
namespace {

constexpr std::string_view kMagic("Kaydara FBX Binary  \0\x1a\0", 23);
constexpr std::uint32_t kFirstVersion = 7000;    // with ids and connections between objects
constexpr std::uint32_t kWideVersion = 7500;     // offsets have 64 bits
constexpr std::size_t kMaxDeflateRatio = 1032;   // of zlib
constexpr std::string_view kNameEnd("\0\1", 2);  // between the name of an object and its class

// An FBX file is little-endian.
static_assert(std::endian::native == std::endian::little);
template <class T>
T Load(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Reads values one after the other; `failed` once the bytes do not suffice.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T Read() {
    const std::string_view taken = Take(sizeof(T));
    return failed_ ? T() : Load<T>(taken);
  }
  std::string_view Take(std::uint64_t size) {
    failed_ |= size > bytes_.size() - at_;
    if (failed_) return {};
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::size_t at() const { return at_; }
  bool failed() const { return failed_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

struct Node {
  std::string_view name, properties, children;
};

struct Layout {
  std::string_view file;
  bool wide = false;
};

// Calls visit(node) for each node of a list, which ends with a record of zeros or with `list`. Ends
// where a record is damaged.
template <class Visit>
void ForEach(const Layout& layout, std::string_view list, Visit&& visit) {
  Cursor cursor(list);
  while (cursor.at() < list.size()) {
    const auto word = [&]() -> std::uint64_t {
      return layout.wide ? cursor.Read<std::uint64_t>() : cursor.Read<std::uint32_t>();
    };
    const std::uint64_t end = word();
    word();  // the number of properties
    const std::uint64_t property_bytes = word();
    const auto name_bytes = cursor.Read<std::uint8_t>();
    if (cursor.failed() || end == 0) return;
    Node node;
    node.name = cursor.Take(name_bytes);
    node.properties = cursor.Take(property_bytes);
    const auto start = static_cast<std::uint64_t>(list.data() - layout.file.data()) + cursor.at();
    if (cursor.failed() || end < start) return;
    node.children = cursor.Take(end - start);
    if (cursor.failed()) return;
    visit(node);
  }
}

struct Property {
  char type = 0;
  std::int64_t number = 0;      // of whole numbers
  std::string_view bytes = {};  // of strings
};

// A property that is neither an array nor a fraction.
std::optional<Property> ReadProperty(Cursor& cursor) {
  Property property{.type = static_cast<char>(cursor.Read<std::uint8_t>())};
  switch (property.type) {
    case 'C':
      property.number = cursor.Read<std::uint8_t>();
      break;
    case 'Y':
      property.number = cursor.Read<std::int16_t>();
      break;
    case 'I':
      property.number = cursor.Read<std::int32_t>();
      break;
    case 'L':
      property.number = cursor.Read<std::int64_t>();
      break;
    case 'S':
    case 'R':
      property.bytes = cursor.Take(cursor.Read<std::uint32_t>());
      break;
    default:
      return std::nullopt;
  }
  return cursor.failed() ? std::nullopt : std::optional(property);
}

// The array that is a node's only property, as bytes; `type` i (4 bytes each) or d (8).
std::optional<std::string> ReadArray(const Node& node, char type) {
  const std::size_t width = type == 'i' ? 4 : 8;
  Cursor cursor(node.properties);
  if (static_cast<char>(cursor.Read<std::uint8_t>()) != type) return std::nullopt;
  const std::size_t size = std::size_t{cursor.Read<std::uint32_t>()} * width;
  const auto encoding = cursor.Read<std::uint32_t>();
  const std::string_view content = cursor.Take(cursor.Read<std::uint32_t>());
  if (cursor.failed()) return std::nullopt;
  if (encoding == 0) {
    return content.size() == size ? std::optional(std::string(content)) : std::nullopt;
  }
  if (encoding != 1 || size / kMaxDeflateRatio > content.size()) return std::nullopt;
  std::string inflated(size, '\0');
  uLongf written = size;
  const int result = ::uncompress(reinterpret_cast<Bytef*>(inflated.data()), &written,
                                  reinterpret_cast<const Bytef*>(content.data()), content.size());
  return result == Z_OK && written == size ? std::optional(std::move(inflated)) : std::nullopt;
}

std::optional<FbxPoints> ReadMesh(const Layout& layout, const Node& geometry) {
  std::optional<std::string> positions, polygons;
  ForEach(layout, geometry.children, [&](const Node& node) {
    if (node.name == "Vertices") positions = ReadArray(node, 'd');
    if (node.name == "PolygonVertexIndex") polygons = ReadArray(node, 'i');
  });
  if (!positions || !polygons) return std::nullopt;
  FbxPoints points;
  points.count = positions->size() / (3 * sizeof(double));
  points.corners.reserve(polygons->size() / 4);
  for (std::size_t at = 0; at + 4 <= polygons->size(); at += 4) {
    const auto index = Load<std::int32_t>(std::string_view(*polygons).substr(at));
    // The last corner of a polygon is marked by its complement.
    const auto point = static_cast<std::uint32_t>(index < 0 ? ~index : index);
    if (point >= points.count) return std::nullopt;
    points.corners.push_back(point);
  }
  return points;
}

struct Objects {
  std::map<std::int64_t, FbxPoints> meshes;            // by the id of the geometry
  std::map<std::int64_t, std::string> models;          // names by id
  std::multimap<std::int64_t, std::int64_t> parts_of;  // ids of objects below a model
};

void ReadObject(const Layout& layout, const Node& node, Objects& objects) {
  const bool geometry = node.name == "Geometry", model = node.name == "Model";
  if (!geometry && !model) return;
  Cursor cursor(node.properties);
  const auto id = ReadProperty(cursor), name = ReadProperty(cursor);
  if (!id || !name) return;
  if (model) {
    objects.models[id->number] = std::string(name->bytes.substr(0, name->bytes.find(kNameEnd)));
  } else if (std::optional<FbxPoints> mesh = ReadMesh(layout, node)) {
    objects.meshes[id->number] = *std::move(mesh);
  }
}

void ReadConnection(const Node& node, Objects& objects) {
  Cursor cursor(node.properties);
  const auto kind = ReadProperty(cursor), part = ReadProperty(cursor), whole = ReadProperty(cursor);
  if (kind && part && whole && kind->bytes == "OO") {
    objects.parts_of.emplace(whole->number, part->number);
  }
}

}  // namespace

std::unordered_map<std::string, FbxPoints> ReadFbxPoints(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return {};
  Cursor header(bytes.substr(kMagic.size()));
  const auto version = header.Read<std::uint32_t>();
  if (header.failed() || version < kFirstVersion) return {};
  const Layout layout{.file = bytes, .wide = version >= kWideVersion};
  Objects objects;
  ForEach(layout, bytes.substr(kMagic.size() + header.at()), [&](const Node& section) {
    ForEach(layout, section.children, [&](const Node& node) {
      if (section.name == "Objects") ReadObject(layout, node, objects);
      if (section.name == "Connections" && node.name == "C") ReadConnection(node, objects);
    });
  });
  std::unordered_map<std::string, FbxPoints> by_name;
  std::map<std::string, std::size_t> meshes_of;
  for (const auto& [id, name] : objects.models) {
    const auto [first, last] = objects.parts_of.equal_range(id);
    for (auto part = first; part != last; ++part) {
      const auto mesh = objects.meshes.find(part->second);
      if (mesh == objects.meshes.end()) continue;
      ++meshes_of[name];
      by_name[name] = mesh->second;
    }
  }
  std::erase_if(by_name, [&](const auto& entry) { return meshes_of[entry.first] > 1; });
  return by_name;
}

}  // namespace sinew::client
