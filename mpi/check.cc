#include "mpi/check.h"

#include <array>
#include <string>

#include <fmt/format.h>

namespace rankbox::mpi {
namespace {

std::string text_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS)
    return fmt::format("MPI error {}", code);
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

void check(int code, const char* call, const Caller* caller, int peer) {
  if (code == MPI_SUCCESS) [[likely]]
    return;
  const std::string text = fmt::format("{} failed: {}", call, text_of(code));
  if (caller == nullptr) throw MpiError(text);
  throw MpiError(fmt::format("rank {}, {}{} at {}:{}: {}", caller->rank, caller->operation,
                             peer < 0 ? "" : fmt::format(" with rank {}", peer),
                             caller->place.file_name(), caller->place.line(), text),
                 caller->context(peer));
}

}  // namespace rankbox::mpi
