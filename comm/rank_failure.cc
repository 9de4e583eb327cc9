#include "comm/rank_failure.h"

#include <cstdlib>
#include <typeinfo>

#include <cxxabi.h>
#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox {

namespace {

/// Returns the type of the exception that is being handled, as in "std::runtime_error".
std::string type_of_current() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "an exception of another language";
  int status = 0;
  char* const demangled = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : type->name();
  std::free(demangled);
  return name;
}

}  // namespace

std::exception_ptr with_rank(std::exception_ptr failure, int rank) {
  try {
    try {
      std::rethrow_exception(failure);
    } catch (Error& error) {
      if (error.rank() < 0) error.attribute_to(rank);
      return failure;
    } catch (const std::exception& error) {
      std::throw_with_nested(
          RankFailed(fmt::format("rank {} failed: {}: {}", rank, type_of_current(), error.what()),
                     {rank, "", -1, "", 0}));
    } catch (...) {
      std::throw_with_nested(
          RankFailed(fmt::format("rank {} failed: it threw {}, which is no std::exception", rank,
                                 type_of_current()),
                     {rank, "", -1, "", 0}));
    }
  } catch (...) {
    return std::current_exception();
  }
}

std::string what_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown exception";
  }
}

}  // namespace rankbox
