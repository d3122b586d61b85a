// lru.h - least-recently-used order of cache entries. Holds keys and sizes, not the entries.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace sinew::server {

// Not thread-safe.
class LruOrder {
 public:
  // Marks `key` as just used and sets its size.
  void Touch(const std::string& key, std::uint64_t bytes);
  // Marks an existing key as just used.
  void Touch(const std::string& key);
  void Remove(const std::string& key);
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t bytes(const std::string& key) const;  // 0 if it is unknown
  std::size_t size() const { return entries_.size(); }

  // Keys to drop, least recently used first, so that the rest hold at most `budget` bytes. `pinned`
  // keys are never dropped; `count_pinned`: whether their bytes count against the budget.
  std::vector<std::string> Over(std::uint64_t budget, bool count_pinned,
                                const std::function<bool(const std::string&)>& pinned) const;

 private:
  struct Entry {
    std::uint64_t bytes;
    std::list<std::string>::iterator place;
  };
  std::list<std::string> order_;  // least recently used first
  std::map<std::string, Entry> entries_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sinew::server
