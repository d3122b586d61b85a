// array_type.h - the size of one value of an Array.
#pragma once

#include <cstddef>

#include "sinew/v1/rig.pb.h"

namespace sinew {

// 0: a type that this version does not know.
inline std::size_t BytesOf(v1::ArrayType type) {
  switch (type) {
    case v1::ARRAY_TYPE_FLOAT32:
    case v1::ARRAY_TYPE_UINT32:
      return 4;
    case v1::ARRAY_TYPE_UINT16:
      return 2;
    case v1::ARRAY_TYPE_UINT8:
      return 1;
    default:
      return 0;
  }
}

}  // namespace sinew
