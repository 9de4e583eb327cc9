#include "mpi/check.h"

#include <array>

#include <fmt/format.h>

namespace rankbox::mpi {

std::string words_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS)
    return fmt::format("MPI error {}", code);
  return {text.data(), static_cast<std::size_t>(length)};
}

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) [[likely]]
    return;
  throw MpiError(fmt::format("{} failed: {}", call, words_of(code)));
}

void check(int code, const char* call, const Caller& caller, int peer, std::int64_t bytes) {
  if (code == MPI_SUCCESS) [[likely]]
    return;
  throw MpiError(
      fmt::format("rank {}, {}{} at {}:{} ({} bytes): {} failed: {}", caller.rank, caller.operation,
                  peer < 0 ? "" : fmt::format(" with rank {}", peer), caller.place.file_name(),
                  caller.place.line(), bytes, call, words_of(code)),
      caller.context(peer));
}

}  // namespace rankbox::mpi
