#include "judge/seal/rank/request.h"

#include <cstddef>
#include <exception>
#include <optional>

#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include "comm/error_bytes.h"

namespace rankbox::seal {

namespace {

std::optional<Connection> referee;  // set before the first request
bool is_memory_counted = false;

/// Uses the connection. Exits if the referee has ended.
template <class Use>
auto or_exit(Use use) {
  try {
    return use();
  } catch (const ConnectionLost&) {
    _exit(1);
  }
}

}  // namespace

void set_socket(int socket) { referee.emplace(socket); }

void set_counts_memory(bool counts) {
  // The kernel counts what is mapped, in use or not. So freed blocks of 64 KiB and more are
  // unmapped, threads share one heap, and their stacks are small.
  if (counts && !is_memory_counted) {
    mallopt(M_MMAP_THRESHOLD, 64 << 10);
    mallopt(M_ARENA_MAX, 1);
    pthread_attr_t small_stacks;
    pthread_attr_init(&small_stacks);
    pthread_attr_setstacksize(&small_stacks, 256 << 10);
    pthread_setattr_default_np(&small_stacks);
    pthread_attr_destroy(&small_stacks);
  }
  is_memory_counted = counts;
}

void count_memory() {
  if (is_memory_counted) request(Kind::kMemory, {});
}

void notify(Kind kind, const ByteWriter& arguments) {
  constexpr std::size_t kMostUnsent = std::size_t{1} << 16;
  referee->add(kind, arguments.bytes);
  if (referee->unsent_bytes() <= kMostUnsent) return;
  if (kind == Kind::kDrop || kind == Kind::kDropPass) {  // of a destructor, which must not throw
    return or_exit([] { referee->send(); });
  }
  // A loop that only sends has to learn that a send failed, or it may never end.
  request(Kind::kSync, {});
}

void finish(Kind kind, const std::string& bytes) {
  // Ends it for too many bytes, too: the referee waits for this message.
  or_exit([&] { referee->send(kind, bytes); });
}

std::string request(Kind kind, const ByteWriter& arguments) {
  or_exit([&] { referee->send(kind, arguments.bytes); });
  Message reply = or_exit([] { return referee->receive(); });
  if (reply.kind == Kind::kRefused) std::rethrow_exception(error_from_bytes(reply.bytes));
  return std::move(reply.bytes);
}

std::string next_call() {
  return or_exit([] { return referee->receive(); }).bytes;
}

}  // namespace rankbox::seal
