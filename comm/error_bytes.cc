#include "comm/error_bytes.h"

#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "comm/result_bytes.h"

namespace rankbox {
namespace {

constexpr std::string_view kDeadlock = "DeadlockError";  // it has more fields than the others
constexpr std::string_view kBase = "Error";

/// A class of comm/errors.h: how to recognize and create it.
struct Kind {
  std::string_view name;
  bool (*is)(const Error&);
  std::exception_ptr (*make)(const std::string& message, ErrorContext context);
};

template <class E>
constexpr Kind kind(std::string_view name) {
  return {name, [](const Error& error) { return dynamic_cast<const E*>(&error) != nullptr; },
          [](const std::string& message, ErrorContext context) {
            return std::make_exception_ptr(E(message, std::move(context)));
          }};
}

// The first match is used, so a derived class precedes its base.
constexpr std::array kKinds = {
    kind<OutOfMemory>("OutOfMemory"),
    kind<InvalidArgument>("InvalidArgument"),
    kind<NotImplemented>("NotImplemented"),
    kind<Aborted>("Aborted"),
    kind<MessageMismatch>("MessageMismatch"),
    kind<CollectiveMismatch>("CollectiveMismatch"),
    kind<UnreceivedMessage>("UnreceivedMessage"),
    kind<BufferReused>("BufferReused"),
    kind<TimedOut>("TimedOut"),
    kind<RankFailed>("RankFailed"),
};

void put(ByteWriter& writer, std::string_view name, const Error& error) {
  writer.put(std::string(name));
  writer.put(std::string(error.what()));
  writer.put(error.context());
}

std::string bytes_of(const Error& error) {
  ByteWriter writer;
  if (const auto* const deadlock = dynamic_cast<const DeadlockError*>(&error)) {
    put(writer, kDeadlock, error);
    writer.put(deadlock->waits());
    writer.put(deadlock->cycle());
    writer.put(deadlock->hint());
    return std::move(writer.bytes);
  }
  std::string_view name = kBase;
  for (const Kind& kind : kKinds) {
    if (!kind.is(error)) continue;
    name = kind.name;
    break;
  }
  put(writer, name, error);
  return std::move(writer.bytes);
}

}  // namespace

std::string error_to_bytes(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return bytes_of(known);
  } catch (const std::exception& other) {
    return bytes_of(RankFailed(other.what()));
  } catch (...) {
    return bytes_of(RankFailed("an exception that is not a std::exception"));
  }
}

std::exception_ptr error_from_bytes(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto name = reader.next<std::string>();
  const auto message = reader.next<std::string>();
  auto context = reader.next<ErrorContext>();
  if (name == kDeadlock) {
    auto waits = reader.next<std::vector<Wait>>();
    auto cycle = reader.next<std::vector<int>>();
    return std::make_exception_ptr(DeadlockError(message, std::move(context), std::move(waits),
                                                 std::move(cycle), reader.next<Hint>()));
  }
  if (name == kBase) return std::make_exception_ptr(Error(message, std::move(context)));
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return kind.make(message, std::move(context));
  }
  throw std::runtime_error("an error of another process has an unknown class: " + name);
}

}  // namespace rankbox
