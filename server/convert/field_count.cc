#include "server/convert/field_count.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace sinew::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

constexpr std::uint64_t kPackedBytes = 16;

class Counter {
 public:
  Counter(google::protobuf::io::CodedInputStream& in, std::uint64_t most) : in_(in), most_(most) {}

  // Reads to the end of the message.
  void Read(const Descriptor& type) {
    int groups = 0;  // that are open; no message has a known one, and what is inside is unknown too
    while (count_ <= most_) {
      const std::uint32_t tag = in_.ReadTag();
      if (tag == 0) return;
      ++count_;
      switch (WireFormatLite::GetTagWireType(tag)) {
        case WireFormatLite::WIRETYPE_START_GROUP:
          ++groups;
          break;
        case WireFormatLite::WIRETYPE_END_GROUP:
          --groups;
          break;
        case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
          const int number = WireFormatLite::GetTagFieldNumber(tag);
          if (!ReadBytes(groups > 0 ? nullptr : type.FindFieldByNumber(number))) return;
          break;
        }
        default:
          if (!WireFormatLite::SkipField(&in_, tag)) return;
      }
    }
  }
  std::uint64_t count() const { return count_; }

 private:
  bool ReadBytes(const FieldDescriptor* field) {
    std::uint32_t size = 0;
    if (!in_.ReadVarint32(&size) || static_cast<int>(size) < 0) return false;
    const auto limit = in_.PushLimit(static_cast<int>(size));
    const int begin = in_.CurrentPosition();
    const bool is_message =
        field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (is_message) Read(*field->message_type());
    const int rest = in_.BytesUntilLimit();
    const bool there = rest >= 0 && in_.Skip(rest);
    if (!is_message && field != nullptr && field->is_packable()) {
      // Not those of `size`, which may promise more.
      count_ += static_cast<std::uint64_t>(in_.CurrentPosition() - begin) / kPackedBytes;
    }
    in_.PopLimit(limit);
    return there;
  }

  google::protobuf::io::CodedInputStream& in_;
  const std::uint64_t most_;
  std::uint64_t count_ = 0;
};

}  // namespace

std::uint64_t CountFields(const Descriptor& type, google::protobuf::io::ZeroCopyInputStream& bytes,
                          std::uint64_t most) {
  google::protobuf::io::CodedInputStream in(&bytes);
  Counter counter(in, most);
  counter.Read(type);
  return counter.count();
}

}  // namespace sinew::server
