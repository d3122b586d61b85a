#include "client/render/text.h"

#include <absl/strings/str_cat.h>
#include <ft2build.h>
#include FT_FREETYPE_H

#include <algorithm>
#include <array>

namespace sinew::client {
namespace {

// Where Debian's fonts-dejavu-core, Fedora's dejavu-sans-fonts and Arch's ttf-dejavu put the file.
constexpr std::array kFontFiles = {
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
};
constexpr char32_t kReplacement = 0xfffd;
constexpr std::string_view kMarks = ",;|()";  // a line may end after one
constexpr std::string_view kEllipsis = "\xe2\x80\xa6";

// Takes the first character off `text`.
char32_t TakeCharacter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  text.remove_prefix(1);
  if (first < 0x80) return first;
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  if (more == 0 || text.size() < static_cast<std::size_t>(more)) return kReplacement;
  char32_t code = first & (0x3fu >> more);
  for (int k = 0; k < more; ++k) {
    const auto next = static_cast<unsigned char>(text[static_cast<std::size_t>(k)]);
    if ((next & 0xc0) != 0x80) return kReplacement;
    code = code << 6 | (next & 0x3f);
  }
  text.remove_prefix(static_cast<std::size_t>(more));
  return code;
}

// Lays `colour` over the image where the glyph covers it.
void Blend(const FT_Bitmap& glyph, int left, int top, Rgb colour, Image& image) {
  for (int row = 0; row < static_cast<int>(glyph.rows); ++row) {
    const int y = top + row;
    if (y < 0 || y >= static_cast<int>(image.height)) continue;
    for (int column = 0; column < static_cast<int>(glyph.width); ++column) {
      const int x = left + column;
      if (x < 0 || x >= static_cast<int>(image.width)) continue;
      const int cover = glyph.buffer[row * glyph.pitch + column];
      Rgb pixel = image.At(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
      for (std::size_t c = 0; c < 3; ++c) {
        pixel[c] =
            static_cast<std::uint8_t>((pixel[c] * (255 - cover) + colour[c] * cover + 127) / 255);
      }
      image.Set(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), pixel);
    }
  }
}

}  // namespace

struct Font::Face {
  FT_Library library = nullptr;
  FT_Face face = nullptr;
  ~Face() {
    if (face != nullptr) FT_Done_Face(face);
    if (library != nullptr) FT_Done_FreeType(library);
  }

  // Calls visit(glyph slot, pen x) for each character of `text` and returns the pen after the
  // last.
  template <class Visit>
  int Walk(std::string_view text, int size, const Visit& visit) {
    if (FT_Set_Pixel_Sizes(face, 0, static_cast<FT_UInt>(size)) != 0) return 0;
    int pen = 0;
    FT_UInt previous = 0;
    while (!text.empty()) {
      const FT_UInt glyph = FT_Get_Char_Index(face, TakeCharacter(text));
      FT_Vector kerning{};
      if (previous != 0 &&
          FT_Get_Kerning(face, previous, glyph, FT_KERNING_DEFAULT, &kerning) == 0) {
        pen += static_cast<int>(kerning.x >> 6);
      }
      previous = glyph;
      if (FT_Load_Glyph(face, glyph, FT_LOAD_RENDER) != 0) continue;
      visit(*face->glyph, pen);
      pen += static_cast<int>(face->glyph->advance.x >> 6);
    }
    return pen;
  }
};

Font::Font(std::unique_ptr<Face> face) : face_(std::move(face)) {}
Font::Font(Font&&) noexcept = default;
Font::~Font() = default;

absl::StatusOr<Font> Font::Open() {
  auto face = std::make_unique<Face>();
  if (FT_Init_FreeType(&face->library) != 0) return absl::InternalError("font: FreeType failed");
  for (const char* file : kFontFiles) {
    if (FT_New_Face(face->library, file, 0, &face->face) == 0) return Font(std::move(face));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("font: ", kFontFiles.front(), " not found, need package fonts-dejavu-core"));
}

int Font::Width(std::string_view text, int size) {
  return face_->Walk(text, size, [](const FT_GlyphSlotRec&, int) {});
}

std::string Font::Fit(std::string_view text, int size, int width) {
  if (Width(text, size) <= width) return std::string(text);
  const int room = width - Width(kEllipsis, size);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t before = text.size() - rest.size();
    TakeCharacter(rest);
    if (Width(text.substr(0, text.size() - rest.size()), size) > room) {
      return std::string(text.substr(0, before)).append(kEllipsis);
    }
  }
  return std::string(text);
}

// Bytes of the first line of `text`: as many as fit, at least one character. Within brackets a line
// ends only where it would be less than half full before them.
std::size_t Font::LineLength(std::string_view text, int size, int width) {
  if (Width(text, size) <= width) return text.size();
  std::size_t fits = 0, outside = 0, within = 0;
  int depth = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    const char c = rest.front();
    if (c == '(') ++depth;
    if (c == ')' && depth > 0) --depth;
    TakeCharacter(rest);
    const std::size_t end = text.size() - rest.size();
    std::size_t& last = depth > 0 ? within : outside;
    if (c == ' ' && fits > 0) last = end;  // a space may hang over
    if (fits > 0 && Width(text.substr(0, end), size) > width) break;
    fits = end;
    if (kMarks.find(c) != std::string_view::npos) last = end;
  }
  if (outside > 0 && (2 * outside >= fits || within == 0)) return outside;
  return within > 0 ? within : fits;
}

std::vector<std::string> Font::Wrap(std::string_view text, int size, int width, std::size_t most) {
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() + 1 < most) {
    const std::size_t length = LineLength(text, size, width);
    std::string_view line = text.substr(0, length);
    while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(length);
  }
  if (!text.empty()) lines.push_back(Fit(text, size, width));
  return lines;
}

void Font::Draw(std::string_view text, int size, int x, int y, Rgb colour, Image& image) {
  face_->Walk(text, size, [&](const FT_GlyphSlotRec& slot, int pen) {
    Blend(slot.bitmap, x + pen + slot.bitmap_left, y - slot.bitmap_top, colour, image);
  });
}

}  // namespace sinew::client
