// shared_config.h - the part of the configuration about what several servers share. A part of
// config.h.
#pragma once

#include <string>

namespace sinew::server {

// What several servers share. Empty: nothing.
struct SharedConfig {
  std::string store = {};           // of rigs and bound data: file:///folder or s3://bucket/prefix
  std::string store_endpoint = {};  // https://host:port; empty = AWS, in the region
  std::string store_region = "us-east-1";
  bool store_path_style = false;       // the bucket in the path, not in the host
  std::string store_credentials = {};  // file; empty = the environment
  std::string store_ca = {};           // authorities of the endpoint; empty = the system's
  double store_seconds = 60;           // a request may take
  // Not an option: a folder has the permissions that the umask leaves, so that users can share it.
  bool store_follows_umask = false;
  std::string redis = {};  // redis://host:port/number, rediss:// or unix:/path
  std::string redis_user = {}, redis_password_file = {}, redis_ca = {};

  bool IsUsed() const { return !store.empty() || !redis.empty(); }
};

}  // namespace sinew::server
