// page.h - page_size and page_token of the List methods (AIP-158). A token is the name the last
// page ended with.
#pragma once

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/base/status.h"

namespace sinew::server {

// 0 = 50 rows; more than `most` is cut to it. kInvalidArgument: negative.
inline absl::StatusOr<std::size_t> PageSize(std::int32_t asked, std::uint64_t most) {
  constexpr std::uint64_t kDefault = 50;
  if (asked < 0) return InvalidField("page_size", absl::StrCat("got ", asked, ", need 0 or more"));
  const std::uint64_t rows = asked == 0 ? kDefault : static_cast<std::uint64_t>(asked);
  return static_cast<std::size_t>(std::min(rows, most));
}

// Fills `page` with row(item) for each item while the reply stays under what clients accept by
// default, but with one at least. Makes one row more than fits, at most. more: whether items beyond
// these are left. Returns the token of the next page, or empty.
template <class Item, class Page, class Row>
std::string FillPage(const std::vector<Item>& items, bool more, Page* page, const Row& row) {
  constexpr std::size_t kReplyBytes = 3 << 20;
  std::size_t bytes = 0;
  for (const Item& item : items) {
    auto made = row(item);
    bytes += made.ByteSizeLong();
    if (!page->empty() && bytes > kReplyBytes) {
      more = true;
      break;
    }
    *page->Add() = std::move(made);
  }
  return more ? page->rbegin()->name() : std::string();
}

}  // namespace sinew::server
