// hooked_store.h - an object store in a folder that a test can cut off, delay or let fail.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/shared/object_store.h"

namespace sinew::testing {

struct StoreHooks {
  std::atomic<bool> cut{false};  // as by its network: everything is kUnavailable
  std::atomic<int> requests{0};
  // Called with the name once an object has been read, before it is returned; and before one is
  // written, whose error is then the result.
  std::function<void(const std::string&)> after_get;
  std::function<absl::Status(const std::string&)> before_put;
};

class HookedStore final : public server::ObjectStore {
 public:
  HookedStore(const std::string& folder, StoreHooks& hooks)
      : store_(*ObjectStore::Open({.store = "file://" + folder})), hooks_(hooks) {}

  absl::StatusOr<std::string> Get(const std::string& name, std::uint64_t most_bytes) override {
    if (Cut()) return Error();
    auto bytes = store_->Get(name, most_bytes);
    if (hooks_.after_get) hooks_.after_get(name);
    return bytes;
  }
  absl::Status Put(const std::string& name, std::string_view bytes) override {
    if (Cut()) return Error();
    const absl::Status status = hooks_.before_put ? hooks_.before_put(name) : absl::OkStatus();
    return status.ok() ? store_->Put(name, bytes) : status;
  }
  absl::StatusOr<bool> Has(const std::string& name) override {
    return Cut() ? Error() : store_->Has(name);
  }
  absl::Status Remove(const std::string& name) override {
    return Cut() ? Error() : store_->Remove(name);
  }
  absl::StatusOr<std::vector<Object>> List(const std::string& prefix, const std::string& after,
                                           std::size_t count) override {
    return Cut() ? Error() : store_->List(prefix, after, count);
  }
  // Claims are those of another service, such as Redis: they work while the store is cut off.
  absl::StatusOr<std::unique_ptr<Claim>> TakeClaim(const std::string& name) override {
    return store_->TakeClaim(name);
  }
  std::string Describe() const override { return store_->Describe(); }

 private:
  bool Cut() {
    ++hooks_.requests;
    return hooks_.cut;
  }
  static absl::Status Error() { return absl::UnavailableError("cut off"); }
  const std::unique_ptr<ObjectStore> store_;
  StoreHooks& hooks_;
};

}  // namespace sinew::testing
