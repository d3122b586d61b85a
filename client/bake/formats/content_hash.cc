#include "client/bake/formats/content_hash.h"

#include <xxhash.h>

#include <new>

namespace sinew::bake {

struct ContentHash::State {
  XXH3_state_t* hash = XXH3_createState();
  State() {
    if (hash == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(hash);
  }
  ~State() { XXH3_freeState(hash); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

ContentHash::ContentHash() : state_(std::make_unique<State>()) {}
ContentHash::ContentHash(ContentHash&&) noexcept = default;
ContentHash& ContentHash::operator=(ContentHash&&) noexcept = default;
ContentHash::~ContentHash() = default;

void ContentHash::Update(std::string_view bytes) {
  XXH3_64bits_update(state_->hash, bytes.data(), bytes.size());
}

std::uint64_t ContentHash::Digest() const {
  return XXH3_64bits_digest(state_->hash);
}

}  // namespace sinew::bake
