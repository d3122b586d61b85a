// text.h - lines of text drawn into a picture with FreeType.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/render/image.h"

namespace sinew::client {

// One font, opened once. Not thread-safe.
class Font {
 public:
  // Opens DejaVu Sans. kFailedPrecondition: it is not installed (the message names the package).
  static absl::StatusOr<Font> Open();
  Font(Font&&) noexcept;
  ~Font();

  // Width in pixels of one line of UTF-8 `text` at `size` pixels per em. Malformed bytes show as
  // U+FFFD.
  int Width(std::string_view text, int size);

  // `text`, or as much of its start as fits `width` pixels followed by an ellipsis.
  std::string Fit(std::string_view text, int size, int width);

  // `text` in lines of at most `width` pixels, broken after a space or mark if possible; text
  // beyond `most` lines (1 or more) is replaced by an ellipsis.
  std::vector<std::string> Wrap(std::string_view text, int size, int width, std::size_t most);

  // Draws `text` with its left end at `x` and its baseline at `y`; clipped to
  // the image.
  void Draw(std::string_view text, int size, int x, int y, Rgb colour, Image& image);

 private:
  struct Face;
  std::size_t LineLength(std::string_view text, int size, int width);
  explicit Font(std::unique_ptr<Face> face);
  std::unique_ptr<Face> face_;
};

}  // namespace sinew::client
