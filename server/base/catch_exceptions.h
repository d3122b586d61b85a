// catch_exceptions.h - turns exceptions of a body into a status.
#pragma once

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <exception>
#include <new>
#include <utility>

namespace sinew::server {

// Runs `body`, which returns absl::Status or a StatusOr. std::bad_alloc becomes kResourceExhausted,
// any other exception kInternal.
template <class Body>
auto CatchExceptions(Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("server: out of memory");
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("server: ", error.what()));
  }
}

}  // namespace sinew::server
