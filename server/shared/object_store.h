// object_store.h - named blobs that several servers share: a folder on a shared file system, or a
// bucket of an S3 server.
//
// An object is whole or absent, whenever its writer dies. Objects never change: a name says what
// its content is, so writing one again may do nothing. Names are lower-case letters, digits and
// "-_./". Calls block, up to the configured time; all are thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/base/config.h"

namespace sinew::server {

class ObjectStore {
 public:
  // Opens what SharedConfig::store names, without connecting to it. kInvalidArgument: the URL or
  // the credentials; kFailedPrecondition: the folder cannot be used.
  static absl::StatusOr<std::unique_ptr<ObjectStore>> Open(const SharedConfig& config);
  // Says whether Open would succeed, as far as that can be known without changing anything or
  // connecting. Returns what its user should know, or nothing.
  static absl::StatusOr<std::string> Check(const SharedConfig& config);
  virtual ~ObjectStore() = default;

  // Errors of all: kUnavailable: the store cannot be reached, or fails for now;
  // kPermissionDenied: it refuses the credentials; kInternal: anything else.

  // kNotFound; kResourceExhausted: larger than `most_bytes`.
  virtual absl::StatusOr<std::string> Get(const std::string& name, std::uint64_t most_bytes) = 0;
  // Durable on return. An object of that name may stay as it is.
  virtual absl::Status Put(const std::string& name, std::string_view bytes) = 0;
  virtual absl::StatusOr<bool> Has(const std::string& name) = 0;
  // OK if there is none.
  virtual absl::Status Remove(const std::string& name) = 0;

  struct Object {
    std::string name;
    std::uint64_t bytes = 0;
    std::int64_t modified_seconds = 0;  // since 1970, by the store's clock
  };
  // The objects whose names begin with `prefix`, which ends with "/", sorted by name, behind the
  // name `after`: at most `count`.
  virtual absl::StatusOr<std::vector<Object>> List(const std::string& prefix,
                                                   const std::string& after, std::size_t count) = 0;

  // A right to do something that only one server should do, until the object is destroyed or its
  // process ends. Null: another one has it. kUnimplemented: the store knows no claims.
  class Claim {
   public:
    virtual ~Claim() = default;
  };
  virtual absl::StatusOr<std::unique_ptr<Claim>> TakeClaim(const std::string& name);

  // For the log: where it is.
  virtual std::string Describe() const = 0;

  // Requests in progress end with kUnavailable, and so do later ones.
  virtual void Stop() {}
};

}  // namespace sinew::server
