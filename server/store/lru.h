// lru.h - which entries of a cache go first when it holds too much. Only keys and sizes: the policy
// without the cache.
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
  // Puts `key` last in line, with a new size.
  void Touch(const std::string& key, std::uint64_t bytes);
  // Puts a key that is there last in line.
  void Touch(const std::string& key);
  void Remove(const std::string& key);
  std::uint64_t bytes() const { return bytes_; }
  std::size_t size() const { return entries_.size(); }

  // Keys to drop, oldest use first, until those left hold at most `budget`. Keys that are `pinned`
  // stay, whatever they hold; `count_pinned` says whether their bytes count against the budget.
  std::vector<std::string> Over(std::uint64_t budget, bool count_pinned,
                                const std::function<bool(const std::string&)>& pinned) const;

 private:
  struct Entry {
    std::uint64_t bytes;
    std::list<std::string>::iterator place;
  };
  std::list<std::string> order_;  // oldest use first
  std::map<std::string, Entry> entries_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sinew::server
