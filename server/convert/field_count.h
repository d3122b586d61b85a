// field_count.h - how many fields a serialised message has, before it is parsed.
//
// A field of two bytes becomes an object of a hundred: the size of a message says little about what
// it takes once parsed, or how long anything that walks it needs.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <cstdint>

namespace sinew::server {

// Counts the fields of a message of this type and of all messages in it; sixteen bytes of a packed
// list count as one. Stops soon after `most`. Of bytes that are no such message, those that could
// be read.
std::uint64_t CountFields(const google::protobuf::Descriptor& type,
                          google::protobuf::io::ZeroCopyInputStream& bytes, std::uint64_t most);

}  // namespace sinew::server
