#include "server/base/config_check.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <type_traits>

#include "core/base/status.h"
#include "server/base/address.h"
#include "server/base/config_options.h"
#include "server/base/parsing_memory.h"

namespace sinew::server {
namespace {

// Limits that are not set become so small that the largest rig can be parsed.
absl::Status FitRigs(std::uint64_t memory_bytes, RigConfig& rigs) {
  constexpr double kPart = 0.25;  // of the memory, besides what parsing has anyway
  const RigConfig defaults;
  const bool is_set = rigs.bytes != defaults.bytes;
  const std::uint64_t largest = kBytesPerByte * defaults.bytes + kBytesPerField * defaults.fields +
                                kBytesPerMapValue * defaults.map_values;
  const double scale = std::min(
      1.0, (kPart * static_cast<double>(memory_bytes) + static_cast<double>(rigs.parsing_bytes)) /
               static_cast<double>(largest));
  const auto fit = [scale](std::uint64_t& limit, std::uint64_t by_default, double least) {
    if (limit != by_default) return;
    limit = static_cast<std::uint64_t>(std::max(least, scale * static_cast<double>(by_default)));
  };
  fit(rigs.fields, defaults.fields, 1000);
  fit(rigs.map_values, defaults.map_values, 1000);
  fit(rigs.bytes, defaults.bytes, 1024);
  const std::uint64_t most = std::min(rigs.stored_bytes, rigs.upload_bytes);
  if (rigs.bytes <= most) return absl::OkStatus();
  if (is_set) {
    return absl::InvalidArgumentError(
        absl::StrCat("max-rig-bytes: got ", rigs.bytes,
                     ", need at most what rigs and uploads may take of memory-bytes, ", most));
  }
  rigs.bytes = most;
  return absl::OkStatus();
}

}  // namespace

absl::Status Config::FitTo(const Machine& machine) {
  constexpr std::uint64_t kPercent = 60;
  if (compute.threads == 0) compute.threads = machine.cores;
  if (compute.memory_bytes == 0) compute.memory_bytes = machine.memory_bytes / 100 * kPercent;
  if (machine.memory_bytes > 0 && compute.memory_bytes > machine.memory_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("memory-bytes: got ", compute.memory_bytes,
                                                   ", this process may use ",
                                                   machine.memory_bytes));
  }
  VisitOptions(*this, [&](const Option& option, auto& member) {
    if constexpr (std::is_same_v<std::decay_t<decltype(member)>, std::uint64_t>) {
      if (option.percent == 0 || member != 0) return;
      const std::uint64_t least =
          std::max(static_cast<std::uint64_t>(option.minimum), option.least);
      member = std::max(least, compute.memory_bytes / 100 * option.percent);
      if (option.disk_bytes > 0 && !rigs.data_dir.empty()) member = option.disk_bytes;
    }
  });
  return FitRigs(compute.memory_bytes, rigs);
}

absl::Status CheckAccess(const Config& config) {
  const AccessConfig& access = config.access;
  const auto needs = [](absl::string_view option, absl::string_view other) {
    return absl::InvalidArgumentError(absl::StrCat(option, ": needs ", other, " too"));
  };
  if (access.tls_cert.empty() != access.tls_key.empty()) {
    return access.tls_cert.empty() ? needs("tls-key", "tls-cert") : needs("tls-cert", "tls-key");
  }
  if (!access.tls_client_ca.empty() && !access.UsesTls()) return needs("tls-client-ca", "tls-cert");
  // Without it, a token meant for another service of the same issuer would open this one.
  if (!access.jwks_file.empty() && access.jwt_audience.empty()) {
    return needs("jwks-file", "jwt-audience");
  }
  // Whoever sets one of these believes that calls are authenticated.
  if (access.jwks_file.empty()) {
    if (!access.jwt_audience.empty()) return needs("jwt-audience", "jwks-file");
    if (!access.jwt_issuer.empty()) return needs("jwt-issuer", "jwks-file");
  }
  if (!access.tls_tenant_pattern.empty() && access.tls_client_ca.empty()) {
    return needs("tls-tenant-pattern", "tls-client-ca");
  }
  if (!access.trusted_proxies.empty() && !access.Authenticates() && !access.insecure) {
    return absl::FailedPreconditionError(
        "trusted-proxy: brings callers from other machines, which needs authentication "
        "(--token-file, --jwks-file or --tls-client-ca); --insecure serves them without it");
  }
  if (access.insecure || (access.UsesTls() && access.Authenticates())) return absl::OkStatus();
  for (const std::string& address : config.network.listen) {
    if (IsLocalAddress(address)) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "listen: ", address, " can be reached from other machines, which needs ",
        access.UsesTls() ? "" : "TLS (--tls-cert, --tls-key)",
        access.UsesTls() || access.Authenticates() ? "" : " and ",
        access.Authenticates() ? ""
                               : "authentication (--token-file, --jwks-file or --tls-client-ca)",
        "; --insecure listens all the same, for a network where all machines are trusted"));
  }
  return absl::OkStatus();
}

absl::Status CheckWeb(const Config& config) {
  const NetworkConfig& network = config.network;
  const AccessConfig& access = config.access;
  const bool on = network.web != "off";
  const std::string address = WithHost(network.web);
  if (on && !ParseHostPort("web", address).ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "web: got \"", network.web, "\", need [host:]port with a port from 0 to 65535, or off"));
  }
  for (const std::string& host : network.web_hosts) {
    const bool plain = std::ranges::all_of(host, [](char c) {
      return absl::ascii_isalnum(c) || absl::StrContains(".-:[]", std::string(1, c));
    });
    if (!on) return absl::InvalidArgumentError("web-host: got it without --web");
    if (!plain) {
      return absl::InvalidArgumentError(
          absl::StrCat("web-host: got \"", host,
                       "\", need a host such as page.example, with its "
                       "port unless that is 443"));
    }
  }
  // Calls of the page come without the certificate of its browser.
  if (on && access.Authenticates() && access.token_file.empty() && access.jwks_file.empty()) {
    return absl::InvalidArgumentError(
        "web: got it with --tls-client-ca alone; the calls of a page need --token-file or "
        "--jwks-file");
  }
  if (on && !IsLocalAddress(address) && !access.insecure &&
      (!access.UsesTls() || !access.Authenticates())) {
    return absl::FailedPreconditionError(
        absl::StrCat("web: ", network.web,
                     " can be reached from other machines, which needs TLS "
                     "(--tls-cert, --tls-key) and authentication (--token-file or --jwks-file); "
                     "--insecure serves them without"));
  }
  if (!network.web_hosts.empty() && !access.Authenticates() && !access.insecure) {
    return absl::FailedPreconditionError(
        "web-host: brings callers from other machines, which needs authentication (--token-file "
        "or --jwks-file); --insecure serves them without it");
  }
  return absl::OkStatus();
}

namespace {

// The path without links, as far as it exists; it never ends with a separator.
std::filesystem::path Resolved(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path path =
      std::filesystem::weakly_canonical(std::filesystem::absolute(folder, error), error);
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

absl::Status CheckShared(const SharedConfig& shared, const std::string& data_dir) {
  if (shared.store.empty() && !shared.redis.empty()) {
    return absl::InvalidArgumentError(
        "redis: got it without --store, where other servers find the rigs of sessions");
  }
  const bool bucket = absl::StartsWith(shared.store, "s3://"),
             tls = absl::StartsWith(shared.redis, "rediss://");
  constexpr char kBucket[] = "--store s3://bucket";
  const struct {
    bool has_effect, is_given;
    absl::string_view option, without;
  } options[] = {
      {bucket, !shared.store_endpoint.empty(), "store-endpoint", kBucket},
      {bucket, !shared.store_ca.empty(), "store-ca", kBucket},
      {bucket, !shared.store_credentials.empty(), "store-credentials", kBucket},
      {bucket, shared.store_path_style, "store-path-style", kBucket},
      {!shared.redis.empty(), !shared.redis_password_file.empty(), "redis-password-file",
       "--redis"},
      {!shared.redis_password_file.empty(), !shared.redis_user.empty(), "redis-user",
       "--redis-password-file"},
      {tls, !shared.redis_ca.empty(), "redis-ca", "--redis rediss://host"},
  };
  for (const auto& option : options) {
    if (!option.is_given || option.has_effect) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(option.option, ": got it without ", option.without));
  }
  const std::string folder(absl::StripPrefix(shared.store, "file://"));
  if (!bucket && !data_dir.empty() && Resolved(folder) == Resolved(data_dir)) {
    return absl::InvalidArgumentError(
        absl::StrCat("store: got the folder of --data-dir, ", data_dir, "; need another"));
  }
  return absl::OkStatus();
}

}  // namespace sinew::server
