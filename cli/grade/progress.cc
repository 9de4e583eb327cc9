#include "cli/grade/progress.h"

namespace rankbox::cli {
namespace {

constexpr double kSecondsApart = 10;

}  // namespace

bool LogPace::is_due(double seconds, std::size_t done, std::size_t all) {
  if (seconds - last_ < kSecondsApart || done == shown_ || done == all) return false;
  last_ = seconds;
  shown_ = done;
  return true;
}

}  // namespace rankbox::cli
