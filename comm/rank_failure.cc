#include "comm/rank_failure.h"

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox {

std::exception_ptr with_rank(std::exception_ptr failure, int rank) {
  try {
    try {
      std::rethrow_exception(failure);
    } catch (Error& error) {
      if (error.rank() < 0) error.attribute_to(rank);
      return failure;
    } catch (const std::exception& error) {
      std::throw_with_nested(
          RankFailed(fmt::format("rank {} failed: {}", rank, error.what()), {rank, "", -1, "", 0}));
    } catch (...) {
      std::throw_with_nested(RankFailed(
          fmt::format("rank {} failed with an exception that is not a std::exception", rank),
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
