#include "client/render/panels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/render/colour_ramp.h"
#include "client/render/text.h"

namespace sinew::client {
namespace {

constexpr Rgb kRed = {200, 10, 10}, kBlue = {10, 10, 200};

// Pixels of `colour` and the columns and rows they reach over.
struct Found {
  std::size_t pixels = 0;
  std::uint32_t left = ~0u, right = 0, top = ~0u, bottom = 0;
};

Found Find(const Image& image, Rgb colour) {
  Found found;
  for (std::uint32_t y = 0; y < image.height; ++y) {
    for (std::uint32_t x = 0; x < image.width; ++x) {
      if (image.At(x, y) != colour) continue;
      ++found.pixels;
      found.left = std::min(found.left, x);
      found.right = std::max(found.right, x);
      found.top = std::min(found.top, y);
      found.bottom = std::max(found.bottom, y);
    }
  }
  return found;
}

std::size_t DarkPixels(const Image& image) {
  std::size_t dark = 0;
  for (std::size_t k = 0; k < image.rgb.size(); k += 3) {
    if (image.rgb[k] < 90 && image.rgb[k + 1] < 90 && image.rgb[k + 2] < 90) ++dark;
  }
  return dark;
}

TEST(ComposePanels, LaysPicturesSideBySideUnchanged) {
  const Panel panels[] = {{Image(200, 200, kRed), "", ""}, {Image(200, 200, kBlue), "", ""}};
  const auto sheet = ComposePanels(panels, {.title = "", .legend = {}});
  ASSERT_TRUE(sheet.ok()) << sheet.status();
  const Found red = Find(*sheet, kRed), blue = Find(*sheet, kBlue);
  EXPECT_EQ(red.pixels, 200u * 200u);
  EXPECT_EQ(blue.pixels, 200u * 200u);
  EXPECT_LT(red.right, blue.left);
  EXPECT_EQ(red.top, blue.top);
  EXPECT_EQ(DarkPixels(*sheet), 0u);
}

TEST(ComposePanels, StacksWidePicturesAndCentresNarrowOnes) {
  const Panel wide[] = {{Image(400, 50, kRed), "", ""}, {Image(400, 50, kBlue), "", ""}};
  const auto stacked = ComposePanels(wide, {});
  ASSERT_TRUE(stacked.ok()) << stacked.status();
  EXPECT_LT(Find(*stacked, kRed).bottom, Find(*stacked, kBlue).top);
  const Panel narrow = {Image(40, 40, kRed), "", ""};
  const auto centred = ComposePanels({&narrow, 1}, {});
  ASSERT_TRUE(centred.ok()) << centred.status();
  const Found red = Find(*centred, kRed);
  EXPECT_GE(centred->width, std::uint32_t{kMinTextWidth});
  EXPECT_EQ(red.left + red.right, centred->width - 1);
}

TEST(CheckPanels, RefusesTooManyPixelsBeforeTheyAreDrawn) {
  EXPECT_TRUE(CheckPanels(24, 400, 400).ok());
  EXPECT_TRUE(CheckPanels(1, 8192, 8192).ok());
  EXPECT_EQ(CheckPanels(24, 8192, 8192).message(),
            "size: 24 panels make 49152 x 32768 pixels, need at most 16384 on each side: fewer or "
            "smaller panels");
}

TEST(ComposePanels, DrawsEveryText) {
  const Image picture(300, 200, kRed);
  const auto ink = [&](Panel panel, const PanelOptions& options) {
    const auto sheet = ComposePanels({&panel, 1}, options);
    EXPECT_TRUE(sheet.ok()) << sheet.status();
    return DarkPixels(*sheet);
  };
  const std::size_t label = ink({picture, "linear blend", ""}, {});
  EXPECT_GT(label, 100u);
  EXPECT_GT(ink({picture, "linear blend", ""}, {.title = "Elbow", .legend = {}}), label);
  // Labels differ by their text.
  const Panel a = {picture, "lbs", ""}, b = {picture, "dqs", ""};
  EXPECT_NE(ComposePanels({&a, 1}, {})->rgb, ComposePanels({&b, 1}, {})->rgb);
}

TEST(ComposePanels, DrawsTheWholeRampInTheLegend) {
  const Panel panel = {Image(600, 200, kRed), "", ""};
  const auto sheet =
      ComposePanels({&panel, 1}, {.title = "", .legend = Legend{"error (m)", "0", "0.05"}});
  ASSERT_TRUE(sheet.ok()) << sheet.status();
  for (double value : {0.0, 0.125, 0.5, 1.0}) {
    const Rgb wanted = RampColour(value);
    std::size_t near = 0;
    for (std::size_t k = 0; k < sheet->rgb.size(); k += 3) {
      bool same = true;
      for (std::size_t c = 0; c < 3; ++c) same &= std::abs(sheet->rgb[k + c] - wanted[c]) <= 3;
      near += same ? 1 : 0;
    }
    EXPECT_GT(near, 0u) << value;
  }
}

TEST(ComposePanels, TruncatesLongText) {
  const std::string long_text(5000, 'w');
  const Panel panel = {Image(64, 64, kRed), long_text, "\xff\xfe broken"};
  const auto sheet = ComposePanels(
      {&panel, 1}, {.title = long_text, .legend = Legend{long_text, long_text, long_text}});
  ASSERT_TRUE(sheet.ok()) << sheet.status();
  EXPECT_LE(sheet->width, 200u);
  EXPECT_LE(sheet->height, 400u);
}

// The whole of a recipe can be read below a small picture: more lines, not fewer letters.
TEST(ComposePanels, GivesLongTextMoreLines) {
  const auto height = [](const std::string& label, const std::string& title) {
    const Panel panel = {Image(200, 100, kRed), label, ""};
    const auto sheet = ComposePanels({&panel, 1}, {.title = title, .legend = {}});
    EXPECT_TRUE(sheet.ok()) << sheet.status();
    EXPECT_EQ(sheet->width, 208u);
    EXPECT_EQ(Find(*sheet, kRed).pixels, 200u * 100u);
    return sheet->height;
  };
  const std::uint32_t one = height("ddm", "Elbow");
  const std::string recipe_text = "ddm(laplacian=cotangent, alpha=0.5, iterations=20, radius=0.25)";
  EXPECT_GT(height(recipe_text, "Elbow"), one);
  EXPECT_GT(height("ddm", "a title that has many words and more than one line of them"), one);
  // The legend's title moves above its bar.
  const Panel panel = {Image(200, 100, kRed), "", ""};
  PanelOptions options;
  options.legend = Legend{"error", "0", "1"};
  const std::uint32_t beside = ComposePanels({&panel, 1}, options)->height;
  options.legend->title = "Distance from lbs, % of the bounding-box diagonal";
  EXPECT_GT(ComposePanels({&panel, 1}, options)->height, beside);
}

TEST(ComposePanels, DrawsLegend) {
  constexpr Rgb kGreen = {10, 180, 40}, kWhite = {255, 255, 255};
  Panel panels[] = {{Image(200, 100, kRed), "one", ""}, {Image(200, 100, kBlue), "two", ""}};
  panels[1].swatches = {{kGreen, "fitted 12"}, {kWhite, "excluded 3"}};
  PanelOptions options;
  options.swatches = {{kRed, "inside out"}};
  const auto sheet = ComposePanels(panels, options);
  ASSERT_TRUE(sheet.ok()) << sheet.status();
  const Found green = Find(*sheet, kGreen), blue = Find(*sheet, kBlue), red = Find(*sheet, kRed);
  EXPECT_GT(green.pixels, 80u);
  EXPECT_GT(Find(*sheet, kWhite).pixels, 80u);
  EXPECT_GE(green.left, blue.left);
  EXPECT_GT(green.top, blue.bottom);
  EXPECT_GT(red.pixels, 200u * 100u);
  EXPECT_GT(red.bottom, green.bottom) << "common swatches are below those of a panel";
}

TEST(ComposePanels, SeparatesCommonFromPanelSwatches) {
  constexpr Rgb kGreen = {30, 160, 60};
  std::vector<Panel> panels = {{Image(200, 200, kBlue), "lbs", "note", {}}};
  panels[0].swatches = {{kGreen, "fitted 12"}};
  PanelOptions options;
  options.swatches = {{kRed, "inside out"}};
  const auto sheet = ComposePanels(panels, options);
  ASSERT_TRUE(sheet.ok()) << sheet.status();
  const Found own = Find(*sheet, kGreen), common = Find(*sheet, kRed);
  ASSERT_TRUE(own.pixels > 0 && common.pixels > 0);
  EXPECT_GT(common.top, own.bottom + (own.bottom - own.top + 1));
  EXPECT_LT(common.bottom, sheet->height - 1);
}

TEST(ComposePanels, RefusesTooLargeSheets) {
  const std::vector<Panel> many(20, {Image(8000, 4000, kRed), "", ""});
  EXPECT_EQ(ComposePanels(many, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Font, MeasuresAndFitsText) {
  auto font = Font::Open();
  ASSERT_TRUE(font.ok()) << font.status();
  EXPECT_EQ(font->Width("", 20), 0);
  EXPECT_GT(font->Width("wide", 20), font->Width("wi", 20));
  EXPECT_GT(font->Width("w", 40), font->Width("w", 20));
  EXPECT_EQ(font->Fit("short", 20, 1000), "short");
  const std::string cut = font->Fit("a long line of text", 20, 80);
  EXPECT_LE(font->Width(cut, 20), 80);
  EXPECT_THAT(cut, ::testing::EndsWith("\xe2\x80\xa6"));
  // Two bytes, one character; then a byte that is none.
  EXPECT_EQ(font->Width("\xc3\xa9", 20), font->Width("e", 20));
  EXPECT_EQ(font->Width("\xff", 20), font->Width("\xef\xbf\xbd", 20));
}

TEST(Font, WrapsTextAfterSpacesAndPunctuation) {
  auto font = Font::Open();
  ASSERT_TRUE(font.ok()) << font.status();
  const auto words = font->Wrap("one two three four", 20, font->Width("one two thre", 20), 9);
  EXPECT_EQ(words, (std::vector<std::string>{"one two", "three four"}));
  const auto recipe_text =
      font->Wrap("ddm(alpha=0.5,radius=2)", 20, font->Width("ddm(alpha=0.5,ra", 20), 9);
  EXPECT_EQ(recipe_text, (std::vector<std::string>{"ddm(alpha=0.5,", "radius=2)"}));
  const auto title = font->Wrap("hand, Fist, frame 12 (0.50 s)", 20,
                                font->Width("hand, Fist, frame 12 (0.50 ", 20), 9);
  EXPECT_EQ(title, (std::vector<std::string>{"hand, Fist, frame 12", "(0.50 s)"}))
      << "text in brackets is not broken";
  const auto early = font->Wrap("lbs | ddm(alpha=0.5, radius=2)", 20,
                                font->Width("lbs | ddm(alpha=0.5, rad", 20), 9);
  EXPECT_EQ(early, (std::vector<std::string>{"lbs | ddm(alpha=0.5,", "radius=2)"}));
  for (const std::string& line : font->Wrap(std::string(200, 'w'), 20, 100, 50)) {
    EXPECT_LE(font->Width(line, 20), 100);
    EXPECT_FALSE(line.empty());
  }
  EXPECT_EQ(font->Wrap(std::string(200, 'w'), 20, 100, 3).size(), 3u);
  EXPECT_THAT(font->Wrap(std::string(200, 'w'), 20, 100, 3).back(),
              ::testing::EndsWith("\xe2\x80\xa6"));
  EXPECT_EQ(font->Wrap("w\xc3\xa9w", 20, 1, 9).size(), 3u) << "one character a line at least";
  EXPECT_TRUE(font->Wrap("", 20, 100, 3).empty());
}

TEST(Font, ClipsTextAtTheBorders) {
  auto font = Font::Open();
  ASSERT_TRUE(font.ok()) << font.status();
  Image image(20, 10, {255, 255, 255});
  for (const auto& [x, y] : {std::pair{-30, 5}, {15, 5}, {0, -5}, {0, 30}, {-5, 12}}) {
    font->Draw("WWW", 24, x, y, {0, 0, 0}, image);
  }
  EXPECT_GT(DarkPixels(image), 0u);
}

}  // namespace
}  // namespace sinew::client
