#include "comm/run_failure.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/rank_failure.h"

namespace rankbox {
namespace {

FailureHandler& handler_in_use() {
  static FailureHandler handler = print_failure;
  return handler;
}

}  // namespace

void set_failure_handler(FailureHandler handler) { handler_in_use() = std::move(handler); }

int handle_failure(const RunFailure& failure) {
  try {
    return handler_in_use()(failure);
  } catch (...) {
    return print_failure(failure);
  }
}

int print_failure(const RunFailure& failure) {
  std::fflush(stdout);
  fmt::print(stderr, "rankbox: {}\n{}", what_of(failure.error), failure.details);
  return is_users_mistake(failure.error) ? 2 : 1;
}

bool is_users_mistake(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const InvalidArgument& mistake) {
    return mistake.file().empty();
  } catch (...) {
    return false;
  }
}

}  // namespace rankbox
