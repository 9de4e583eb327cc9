#include "cli/compare/measure/samples.h"

#include <algorithm>
#include <cstddef>

namespace rankbox::cli {

double quantile(std::vector<double> samples, double q) {
  std::ranges::sort(samples);
  const double position = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] +
         (position - static_cast<double>(below)) * (samples[above] - samples[below]);
}

Times summarize(const std::vector<double>& seconds) {
  return {quantile(seconds, 0.5), quantile(seconds, 0.25), quantile(seconds, 0.75),
          static_cast<std::int64_t>(seconds.size())};
}

}  // namespace rankbox::cli
