#include "mpi/operation.h"

#include <fmt/format.h>

#include "mpi/check.h"
#include "mpi/datatype.h"

namespace rankbox::mpi {
namespace {

int tag_of(const Operation& message, const TagFormat& tags) {
  return tags.tag(static_cast<std::uint32_t>(message.call.number), message.slice.dtype(),
                  message.slice.size());
}

std::string size_in_words(std::int64_t elements, DType dtype) {
  return fmt::format("{} {} ({} bytes)", elements, name_of(dtype), elements * size_of(dtype));
}

/// Returns the mismatch of a completed message: its size shares the expected digest, yet may
/// differ.
std::string mismatch_of_ended(const Operation& message) {
  const DType dtype = message.slice.dtype();
  if (message.is_too_long)
    return fmt::format("more than {}", size_in_words(message.slice.size(), dtype));
  int count = 0;
  MPI_Get_count(&message.status, datatype_of(dtype), &count);
  return count == message.slice.size() ? "" : size_in_words(count, dtype);
}

}  // namespace

void start_message(Operation& message, const TagFormat& tags) {
  const Slice slice = message.slice;
  const int count = count_of(slice.size());
  const MPI_Datatype type = datatype_of(slice.dtype());
  const int tag = tag_of(message, tags);
  if (message.is_recv()) {
    check(MPI_Irecv(slice.data(), count, type, message.peer, tag, message.group->comm,
                    &message.request),
          "MPI_Irecv", &message.caller, message.call.peer);
  } else {
    check(MPI_Issend(slice.data(), count, type, message.peer, tag, message.group->comm,
                     &message.request),
          "MPI_Issend", &message.caller, message.call.peer);
  }
}

bool test(Operation& operation) {
  if (operation.done) return true;
  int done = 0;
  const int code = MPI_Test(&operation.request, &done, &operation.status);
  operation.done = done != 0;
  if (code != MPI_SUCCESS) [[unlikely]] {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    const bool too_long = operation.is_recv() && error_class == MPI_ERR_TRUNCATE;
    if (!too_long) check(code, "MPI_Test", &operation.caller, operation.call.peer);
    operation.done = operation.is_too_long = true;
  }
  if (operation.done && operation.call.kind == FlightKind::kCollective)
    end_native(*operation.group, operation.native);
  return operation.done;
}

std::string mismatched_message(const Operation& message, const TagFormat& tags) {
  if (!message.is_recv()) return "";
  if (message.done) return mismatch_of_ended(message);
  // The first message that no receive has matched may be later than every receive begun here.
  const auto number = static_cast<std::uint32_t>(message.call.number);
  const std::uint32_t begun = message.group->received[static_cast<std::size_t>(message.peer)];
  if (begun - number >= tags.numbers()) return "";
  int there = 0;
  MPI_Status status;
  check(MPI_Iprobe(message.peer, MPI_ANY_TAG, message.group->comm, &there, &status), "MPI_Iprobe");
  if (there == 0 || !tags.has_number(status.MPI_TAG, number)) return "";
  if (status.MPI_TAG == tag_of(message, tags)) return "";  // about to be received
  const DType dtype = TagFormat::dtype_of(status.MPI_TAG);
  int count = 0;
  MPI_Get_count(&status, datatype_of(dtype), &count);
  return size_in_words(count, dtype);
}

}  // namespace rankbox::mpi
