#include "mpi/message.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "mpi/check.h"
#include "mpi/datatype.h"

namespace rankbox::mpi {
namespace {

int tag_of(const Message& message, const TagFormat& tags) {
  return tags.tag(message.number, message.slice.dtype(), message.slice.size());
}

std::string size_in_words(std::int64_t elements, DType dtype) {
  return fmt::format("{} {} ({} bytes)", elements, name_of(dtype), elements * size_of(dtype));
}

}  // namespace

Wait Message::wait() const {
  return {caller.rank,   caller.operation,         {world_peer()},
          slice.bytes(), caller.place.file_name(), static_cast<int>(caller.place.line())};
}

std::string Message::in_words() const {
  return fmt::format("rank {} {} {} {} rank {} at {}:{}", caller.rank, sends ? "sends" : "receives",
                     size_in_words(slice.size(), slice.dtype()), sends ? "to" : "from",
                     world_peer(), caller.place.file_name(), caller.place.line());
}

void start_send(Message& message, const TagFormat& tags) {
  message.number = message.group->sent[static_cast<std::size_t>(message.peer)]++;
  message.done = false;
  check(MPI_Issend(message.slice.data(), count_of(message.slice.size()),
                   datatype_of(message.slice.dtype()), message.peer, tag_of(message, tags),
                   message.group->messages, &message.request),
        "MPI_Issend", message.caller, message.world_peer(), message.slice.bytes());
}

void start_recv(Message& message, const TagFormat& tags) {
  message.number = message.group->received[static_cast<std::size_t>(message.peer)]++;
  message.done = false;
  check(MPI_Irecv(message.slice.data(), count_of(message.slice.size()),
                  datatype_of(message.slice.dtype()), message.peer, tag_of(message, tags),
                  message.group->messages, &message.request),
        "MPI_Irecv", message.caller, message.world_peer(), message.slice.bytes());
}

bool test(Message& message) {
  if (message.done) return true;
  int done = 0;
  const int code = MPI_Test(&message.request, &done, &message.status);
  message.done = done != 0;
  if (code == MPI_SUCCESS) [[likely]]
    return message.done;
  // Too long for the slice, of a size whose digest is the same: finds_mismatch() tells.
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  if (error_class == MPI_ERR_TRUNCATE) {
    return message.done = message.too_long = true;
  }
  check(code, "MPI_Test", message.caller, message.world_peer(), message.slice.bytes());
  return false;
}

bool finds_mismatch(const Message& message, const TagFormat& tags, std::string& other) {
  if (message.sends) return false;
  if (message.done) {
    if (message.too_long) {
      other = fmt::format("more than {} {}", message.slice.size(), name_of(message.slice.dtype()));
      return true;
    }
    int count = 0;
    MPI_Get_count(&message.status, datatype_of(message.slice.dtype()), &count);
    if (count == message.slice.size()) return false;
    other = size_in_words(count, message.slice.dtype());
    return true;
  }
  // The first message that nobody receives yet may be the one after all that this rank began to.
  const std::uint32_t begun = message.group->received[static_cast<std::size_t>(message.peer)];
  if (begun - message.number >= tags.numbers()) return false;
  int there = 0;
  MPI_Status status;
  check(MPI_Iprobe(message.peer, MPI_ANY_TAG, message.group->messages, &there, &status),
        "MPI_Iprobe");
  if (there == 0 || !tags.has_number(status.MPI_TAG, message.number)) return false;
  if (status.MPI_TAG == tag_of(message, tags)) return false;  // about to be received
  const DType dtype = TagFormat::dtype_of(status.MPI_TAG);
  int count = 0;
  MPI_Get_count(&status, datatype_of(dtype), &count);
  other = size_in_words(count, dtype);
  return true;
}

bool cancel_recv(Message& message, double seconds) {
  if (message.done) return true;
  check(MPI_Cancel(&message.request), "MPI_Cancel");
  const auto begin = std::chrono::steady_clock::now();
  while (!test(message)) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(seconds))
      return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace rankbox::mpi
