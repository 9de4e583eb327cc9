#include "judge/seal/rank/shared_argument.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "comm/errors.h"
#include "judge/seal/rank/request.h"

namespace rankbox {

namespace seal {

namespace {

const SharedValue* argument = nullptr;
std::mutex socket_mutex;  // for requests of several threads
std::atomic<std::uint64_t> calls = 0;
std::atomic<std::uint32_t> threads = 0;  // that touched the value in this call

/// Returns the calling thread's number in this call.
std::uint32_t number_of_this_thread() {
  thread_local std::uint64_t call = 0;
  thread_local std::uint32_t number = 0;
  if (call != calls) {
    call = calls;
    number = threads++;
  }
  if (number >= SharedValue::kMaxThreads) {
    throw InvalidArgument("more than " + std::to_string(SharedValue::kMaxThreads) +
                          " threads touched one SharedValue: start fewer");
  }
  return number;
}

}  // namespace

void set_shared_argument(const SharedValue* value) {
  argument = value;
  ++calls;
  threads = 0;
}

}  // namespace seal

SharedValue::SharedValue(std::int64_t value) : value_(value), serial_(0) {}

std::int64_t SharedValue::load() {
  if (this != seal::argument) return value_;
  ByteWriter writer;
  writer.put(seal::number_of_this_thread());
  const std::lock_guard lock(seal::socket_mutex);
  const std::string reply = seal::request(seal::Kind::kLoadShared, writer);
  return ByteReader(reply).next<std::int64_t>();
}

void SharedValue::store(std::int64_t value) {
  if (this != seal::argument) {
    value_ = value;
    return;
  }
  ByteWriter writer;
  writer.put(seal::number_of_this_thread());
  writer.put(value);
  const std::lock_guard lock(seal::socket_mutex);
  seal::notify(seal::Kind::kStoreShared, writer);
}

// Only the referee's record counts.
std::vector<SharedValue::Use> SharedValue::uses() const { return {}; }
void SharedValue::replace(std::int64_t /*value*/, const std::vector<Use>& /*uses*/) {}

}  // namespace rankbox
