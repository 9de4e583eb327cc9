// The output for people and for whatever reads nccl-tests' output: their header, columns and footer,
// with columns of our own to the right.
//
//   # out-of-place and in-place    nccl-tests measure both. Here a function overwrites its tensor
//                                  (broadcast, reduce, all_reduce: in place), or has another one for
//                                  the result (all others: out of place), so the other half is N/A.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/perf/devices.h"
#include "cli/perf/plan.h"

namespace rankbox::perf {

/// The lines before the first row. All begin with "#".
std::string format_header(const Plan& plan, const std::vector<Device>& devices);

/// The lines above a block of rows: which collective and algorithm, and the names of the columns.
std::string format_columns(const Row& first, const Cluster& cluster);

/// One line.
std::string format_row(const Row& row);

/// What all rows come to.
struct Totals {
  std::int64_t out_of_bounds = 0;    // rows with wrong elements
  double average_bus_bandwidth = 0;  // bytes per second, over all rows that move bytes
  double least_bus_bandwidth = -1;   // asked for by NCCL_TESTS_MIN_BW, bytes per second; -1: not
  bool is_fast_enough() const { return average_bus_bandwidth >= 0.9 * least_bus_bandwidth; }

  struct OfAlgorithm {
    CollectiveKind collective;
    std::string algorithm;
    double average_bus_bandwidth = 0;
  };
  std::vector<OfAlgorithm> algorithms;  // in the order of the rows
};
/// @param least_gigabytes the value of NCCL_TESTS_MIN_BW, GB/s; null or "": not set
Totals totals_of(const std::vector<Row>& rows, const char* least_gigabytes);

std::string format_footer(const Totals& totals);

/// "sum", "prod", …, as nccl-tests write them; "none" for what does not reduce.
std::string_view redop_of(const Row& row);

/// At most `width` characters where that can be, as nccl-tests round: two decimals, or one, or none.
std::string format_figure(double value, int width);

}  // namespace rankbox::perf
