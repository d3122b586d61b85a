// shared_options.h - the rows of the table of options that concern what several servers share. A
// part of config_options.
#pragma once

#include "server/base/config.h"
#include "server/base/option.h"

namespace sinew::server {

// SomeSharedConfig: SharedConfig, const or not.
template <class Rows, class SomeSharedConfig>
void VisitSharedOptions(const Rows& rows, SomeSharedConfig& s) {
  rows.Text(s.store, "store",
            "Rigs and bound data that several servers share, file:///folder or s3://bucket/prefix");
  rows.Text(s.store_endpoint, "store-endpoint",
            "Address of an S3 server other than that of AWS, https://host:port");
  rows.Text(s.store_region, "store-region", "Region of the bucket");
  rows.Text(s.store_path_style, "store-path-style",
            "The bucket is part of the path, not of the host, as most S3 servers other than AWS "
            "need it");
  rows.Text(s.store_credentials, "store-credentials",
            "Keys of the bucket, in the format of AWS's credentials file, read again when it "
            "changes; empty = AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN");
  rows.Text(s.store_ca, "store-ca",
            "Certificates in PEM of the authorities that the S3 server's must come from");
  rows.Number(s.store_seconds, "store-seconds", "seconds",
              "Time for one request to the store; a large object only must not stall", 0.1, 3600);
  rows.Text(s.redis, "redis",
            "Where several servers keep sessions, so that any of them serves any session: "
            "redis://host:port/number, rediss:// for TLS, or unix:/path");
  rows.Text(s.redis_user, "redis-user", "User of Redis; empty = its default user");
  rows.Text(s.redis_password_file, "redis-password-file", "File with the password of Redis");
  rows.Text(s.redis_ca, "redis-ca",
            "Certificates in PEM of the authorities that the certificate of Redis must come from");
}

}  // namespace sinew::server
