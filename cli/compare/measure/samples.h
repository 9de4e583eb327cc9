// Statistics of repeated measurements.
#pragma once

#include <vector>

#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

/// Returns the value that a part q of the samples does not exceed. Interpolates linearly between
/// samples. REQUIRES: not empty.
double quantile(std::vector<double> samples, double q);

/// Returns the median and quartiles. REQUIRES: not empty.
Times summarize(const std::vector<double>& seconds);

}  // namespace rankbox::cli
