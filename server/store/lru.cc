#include "server/store/lru.h"

namespace sinew::server {

void LruOrder::Touch(const std::string& key, std::uint64_t bytes) {
  Remove(key);
  order_.push_back(key);
  entries_[key] = {bytes, std::prev(order_.end())};
  bytes_ += bytes;
}

void LruOrder::Touch(const std::string& key) {
  Touch(key, entries_.at(key).bytes);
}

void LruOrder::Remove(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  bytes_ -= found->second.bytes;
  order_.erase(found->second.place);
  entries_.erase(found);
}

std::uint64_t LruOrder::bytes(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? 0 : found->second.bytes;
}

std::vector<std::string> LruOrder::Over(
    std::uint64_t budget, bool count_pinned,
    const std::function<bool(const std::string&)>& pinned) const {
  std::uint64_t held = 0;
  std::vector<std::string> free, dropped;
  for (const std::string& key : order_) {
    const bool stays = pinned(key);
    if (!stays) free.push_back(key);
    if (!stays || count_pinned) held += entries_.at(key).bytes;
  }
  for (const std::string& key : free) {
    if (held <= budget) break;
    held -= entries_.at(key).bytes;
    dropped.push_back(key);
  }
  return dropped;
}

}  // namespace sinew::server
