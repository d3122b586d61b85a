// status.h - early return on a failed absl::Status, errors from several pieces, and
// std::string_view in messages; Debian's Abseil has none of them.
//
// Messages say what is wrong, what was found and what is allowed: "samples: got 4, need 8 to 400".
// They begin with the field or the file and end without a full stop.
#pragma once

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <string_view>
#include <type_traits>
#include <utility>

// Returns the absl::Status of the expression from this function unless it is OK. Evaluates it once.
//
//    SINEW_RETURN_IF_ERROR(CheckBones(bones));
#define SINEW_RETURN_IF_ERROR(expression)                                 \
  do {                                                                    \
    if (absl::Status sinew_status_ = (expression); !sinew_status_.ok()) { \
      return sinew_status_;                                               \
    }                                                                     \
  } while (false)

#define SINEW_STATUS_CONCAT_INNER_(a, b) a##b
#define SINEW_STATUS_CONCAT_(a, b) SINEW_STATUS_CONCAT_INNER_(a, b)
#define SINEW_ASSIGN_OR_RETURN_INNER_(result, lhs, expression) \
  auto result = (expression);                                  \
  if (!result.ok()) return std::move(result).status();         \
  lhs = *std::move(result)
// Assigns the value of an absl::StatusOr to `lhs`, which may declare a variable, or returns its
// error. Several statements: not the body of an `if` without braces. A comma in `lhs` outside of
// parentheses needs a using-declaration, as for every macro.
//
//    SINEW_ASSIGN_OR_RETURN(const Mesh mesh, Mesh::Create(std::move(source)));
#define SINEW_ASSIGN_OR_RETURN(lhs, expression) \
  SINEW_ASSIGN_OR_RETURN_INNER_(SINEW_STATUS_CONCAT_(sinew_result_, __LINE__), lhs, expression)

namespace sinew {

// In this Abseil build absl::string_view is not std::string_view and converts only explicitly.
inline absl::string_view AbslView(std::string_view s) {
  return {s.data(), s.size()};
}
inline std::string_view StdView(absl::string_view s) {
  return {s.data(), s.size()};
}

// `piece` as absl::StrCat takes it.
template <class T>
decltype(auto) MessagePiece(const T& piece) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return AbslView(piece);
  } else {
    return (piece);
  }
}

// kInvalidArgument, whose message is put together from what absl::StrCat takes, or
// std::string_view.
//
//    return InvalidArgument("samples: got ", samples, ", need 8 to 400");
template <class... T>
absl::Status InvalidArgument(const T&... pieces) {
  return absl::InvalidArgumentError(absl::StrCat(MessagePiece(pieces)...));
}
// A kDataLoss, put together in the same way: something stored or received is damaged.
template <class... T>
absl::Status DataLoss(const T&... pieces) {
  return absl::DataLossError(absl::StrCat(MessagePiece(pieces)...));
}

}  // namespace sinew
