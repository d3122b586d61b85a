// pem.h - checks certificates and private keys in PEM (OpenSSL), so that a wrong file is an error
// of its own and not of a handshake. Texts are whole files, below 2 GiB. Thread-safe. Source: RFC
// 7468.
#pragma once

#include <absl/status/status.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <string>

#include "client/lib/base/openssl_owned.h"

namespace sinew {

namespace pem {

using Bio = Owned<BIO, BIO_free>;
using Certificate = Owned<X509, X509_free>;
using Key = Owned<EVP_PKEY, EVP_PKEY_free>;

// Reads from `text`, which must outlive it.
inline Bio Reader(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// pem_password_cb: the password of an encrypted file is not asked for on the terminal; reading it
// fails instead.
inline int NoPassword(char*, int, int, void*) {
  return -1;
}

// Null: there is none. What stands before it, and behind it, is not looked at.
inline Certificate FirstCertificate(const std::string& text) {
  return Certificate(PEM_read_bio_X509(Reader(text).get(), nullptr, NoPassword, nullptr));
}

}  // namespace pem

// kInvalidArgument: `text` holds no certificate that can be read. Neither dates nor issuer of the
// first one are checked. Callers put the file's name in front of the message.
inline absl::Status CheckCertificate(const std::string& text) {
  if (pem::FirstCertificate(text) != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError("not a certificate in PEM");
}

// kInvalidArgument: `text` is not the key, without password, of the first certificate of `chain`,
// which is the one that a server or client shows.
inline absl::Status CheckPrivateKey(const std::string& text, const std::string& chain) {
  const pem::Key key(
      PEM_read_bio_PrivateKey(pem::Reader(text).get(), nullptr, pem::NoPassword, nullptr));
  if (key == nullptr) {
    return absl::InvalidArgumentError("not a private key in PEM without password");
  }
  const pem::Certificate certificate = pem::FirstCertificate(chain);
  if (certificate != nullptr && X509_check_private_key(certificate.get(), key.get()) == 1) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("not the key of the first certificate");
}

}  // namespace sinew
