// openssl_owned.h - objects of OpenSSL that are freed with their owner.
#pragma once

#include <memory>

namespace sinew {

template <auto free>
struct FreeWith {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};

// free: the function for this type, such as BN_free for BIGNUM.
template <class T, auto free>
using Owned = std::unique_ptr<T, FreeWith<free>>;

}  // namespace sinew
