// message_mutator.cc - changes inputs as messages: bytes changed blindly seldom remain one, because
// every level begins with its length. Part of targets whose input is a message, for libFuzzer
// alone.
#include <google/protobuf/descriptor.h>

#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/messages.h"

// libFuzzer defines it.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace sinew::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Lists and texts grow by a few at a time: inputs are to stay small.
constexpr int kMostElements = 64;
constexpr std::size_t kGrowth = 32;

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  void Change(Message& message) {
    std::vector<Message*> all;
    Collect(message, all);
    for (std::size_t k = 1 + Below(3); k > 0; --k) ChangeOne(*all[Below(all.size())]);
  }
  std::size_t Below(std::size_t n) { return random_() % n; }

 private:
  template <class T>
  T Pick(std::initializer_list<T> values) {
    return values.begin()[Below(values.size())];
  }

  static void Collect(Message& message, std::vector<Message*>& all) {
    all.push_back(&message);
    const auto& reflection = *message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      if (!field->is_repeated()) {
        Collect(*reflection.MutableMessage(&message, field), all);
        continue;
      }
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        Collect(*reflection.MutableRepeatedMessage(&message, field, i), all);
      }
    }
  }

  // One field of the message itself. Messages in it may end, so nothing of `all` is used after.
  void ChangeOne(Message& message) {
    if (message.GetDescriptor()->name() == "Array" && Below(4) == 0) return FitArray(message);
    const int fields = message.GetDescriptor()->field_count();
    if (fields == 0) return;
    const auto* field =
        message.GetDescriptor()->field(static_cast<int>(Below(static_cast<std::size_t>(fields))));
    if (field->is_repeated()) return ChangeList(message, *field);
    const auto& reflection = *message.GetReflection();
    // Messages are only added: one that is removed may be in the list of those to change.
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const auto* choice = field->real_containing_oneof();
      if (choice == nullptr || !reflection.HasOneof(message, choice)) {
        reflection.MutableMessage(&message, field);
      }
      return;
    }
    if (field->real_containing_oneof() == nullptr && Below(8) == 0) {
      return reflection.ClearField(&message, field);
    }
    SetScalar(message, *field);
  }

  void ChangeList(Message& message, const FieldDescriptor& field) {
    const auto& reflection = *message.GetReflection();
    const int size = reflection.FieldSize(message, &field);
    const bool holds_messages = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const std::size_t choice = Below(4);
    if (size > 1 && choice == 0) {
      const auto any = [&] { return static_cast<int>(Below(static_cast<std::size_t>(size))); };
      return reflection.SwapElements(&message, &field, any(), any());
    }
    if (size > 0 && choice == 1 && !holds_messages) return reflection.RemoveLast(&message, &field);
    if (size >= kMostElements) return;
    if (!holds_messages) return AddScalar(message, field);
    Message* const added = reflection.AddMessage(&message, &field);
    if (size > 0 && choice == 2) {
      added->CopyFrom(reflection.GetRepeatedMessage(
          message, &field, static_cast<int>(Below(static_cast<std::size_t>(size)))));
    }
  }

  double Number() {
    const double noise = static_cast<double>(random_()) / 4294967296.0;
    return Pick({0.0, 1.0, -1.0, 0.5, noise, 100 * noise, 1e-6, 1e-30, 1e-45, 3e38, -3e38, 1e300,
                 std::numeric_limits<double>::infinity(),
                 std::numeric_limits<double>::quiet_NaN()});
  }
  std::uint64_t Whole() {
    return Pick<std::uint64_t>({0, 1, 2, 3, 4, 16, 255, 256, 65535, 65536, 0x7fffffff, 0xffffffff,
                                0x7fffffffffffffff, 0xffffffffffffffff, Below(8), random_()});
  }
  std::string Changed(std::string text) {
    if (text.size() >= 4 && text.size() % 4 == 0 && Below(2) == 0) return ChangedNumber(text);
    const std::size_t size = text.size();
    text.resize(size + kGrowth);
    text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
    return text;
  }
  // Arrays and poses: one number, so that their size stays right.
  std::string ChangedNumber(std::string text) {
    const auto number = static_cast<float>(Number());
    const auto whole = static_cast<std::uint32_t>(Whole());
    std::array<char, 4> bytes;
    std::memcpy(bytes.data(), Below(3) == 0 ? static_cast<const void*>(&whole) : &number, 4);
    std::memcpy(&text[4 * Below(text.size() / 4)], bytes.data(), 4);
    return text;
  }

  // Sets or adds a value: `S` is Set or Add, the rest what comes before the value.
#define SINEW_FOR_TYPES(S, ...)                                                      \
  switch (field.cpp_type()) {                                                        \
    case FieldDescriptor::CPPTYPE_INT32:                                             \
      return reflection.S##Int32(__VA_ARGS__, static_cast<std::int32_t>(Whole()));   \
    case FieldDescriptor::CPPTYPE_UINT32:                                            \
      return reflection.S##UInt32(__VA_ARGS__, static_cast<std::uint32_t>(Whole())); \
    case FieldDescriptor::CPPTYPE_INT64:                                             \
      return reflection.S##Int64(__VA_ARGS__, static_cast<std::int64_t>(Whole()));   \
    case FieldDescriptor::CPPTYPE_UINT64:                                            \
      return reflection.S##UInt64(__VA_ARGS__, Whole());                             \
    case FieldDescriptor::CPPTYPE_FLOAT:                                             \
      return reflection.S##Float(__VA_ARGS__, static_cast<float>(Number()));         \
    case FieldDescriptor::CPPTYPE_DOUBLE:                                            \
      return reflection.S##Double(__VA_ARGS__, Number());                            \
    case FieldDescriptor::CPPTYPE_BOOL:                                              \
      return reflection.S##Bool(__VA_ARGS__, Below(2) == 0);                         \
    case FieldDescriptor::CPPTYPE_ENUM:                                              \
      return reflection.S##EnumValue(__VA_ARGS__, static_cast<int>(Below(8)));       \
    default:                                                                         \
      break;                                                                         \
  }
  void SetScalar(Message& message, const FieldDescriptor& field) {
    const auto& reflection = *message.GetReflection();
    SINEW_FOR_TYPES(Set, &message, &field)
    // Not another member of a oneof: a message in it may be in the list of those to change.
    if (field.real_containing_oneof() != nullptr && !reflection.HasField(message, &field)) {
      if (reflection.HasOneof(message, field.real_containing_oneof())) return;
    }
    reflection.SetString(&message, &field, Changed(reflection.GetString(message, &field)));
  }
  void AddScalar(Message& message, const FieldDescriptor& field) {
    const auto& reflection = *message.GetReflection();
    SINEW_FOR_TYPES(Add, &message, &field)
    reflection.AddString(&message, &field, Changed("joint1"));
  }
#undef SINEW_FOR_TYPES

  // Rows of a sinew.v1.Array as many as its bytes hold, or bytes for its rows.
  void FitArray(Message& array) {
    const auto& reflection = *array.GetReflection();
    const auto* type = array.GetDescriptor()->FindFieldByName("type");
    const auto* columns = array.GetDescriptor()->FindFieldByName("columns");
    const auto* rows = array.GetDescriptor()->FindFieldByName("rows");
    const auto* data = array.GetDescriptor()->FindFieldByName("data");
    constexpr std::array<std::size_t, 5> kBytes = {4, 4, 2, 4, 1};  // by ArrayType
    const std::size_t kind = static_cast<std::size_t>(reflection.GetEnumValue(array, type));
    const std::size_t row = std::max<std::size_t>(1, reflection.GetUInt32(array, columns)) *
                            kBytes[kind % kBytes.size()];
    std::string bytes = reflection.GetString(array, data);
    if (Below(2) == 0) {
      reflection.SetUInt64(&array, rows, bytes.size() / row);
      bytes.resize(bytes.size() / row * row);
    } else if (reflection.GetUInt64(array, rows) < 256 && row < 256) {
      bytes.resize(reflection.GetUInt64(array, rows) * row);
    }
    reflection.SetString(&array, data, bytes);
  }

  std::minstd_rand random_;
};

std::size_t Mutate(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  Mutator mutator(seed);
  std::string_view bytes = Text(data, size);
  const auto message = EmptyMessage(bytes);
  const std::size_t front = size - bytes.size();
  constexpr std::size_t kBlind = 4;  // one in so many
  if (mutator.Below(kBlind) == 0 ||
      !message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  mutator.Change(*message);
  const std::string changed = message->SerializeAsString();
  if (front + changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data + front, changed.data(), changed.size());
  return front + changed.size();
}

}  // namespace
}  // namespace sinew::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return sinew::fuzz::Mutate(data, size, max_size, seed);
}
