// Presets beside published rows of nccl-tests that no mode was fitted to. The largest sizes of some
// logs set the rate of a link, as machines.py says; these are marked.
//
// sim/clusters/fit.py holds all-reduces of other boxes to their presets (ELSEWHERE in machines.py).
// Here are the rows that need a mode which is not fitted: other collectives, other groups.
#include <cmath>

#include <doctest/doctest.h>

#include "sim/clock/native_cost.h"
#include "sim/clusters/clusters.h"
#include "tests/support/run_tests.h"

namespace rankbox::testing {
namespace {

using enum CollectiveKind;

constexpr double kMiB = 0x1p20;
constexpr double kGiB = 0x1p30;

struct Row {
  const char* preset;
  CollectiveKind kind;
  int ranks, nodes;
  double bytes;  // as nccl-tests count them: all ranks' parts
  double us;     // in place
};

constexpr Row kRows[] = {
    // Two boxes with a GB10 each, one cable; logs of three owners, the last one of Dell's.
    {"dgx-spark-2", kAllGather, 2, 2, 0.5 * kGiB, 13778},
    {"dgx-spark-2", kAllGather, 2, 2, 1 * kGiB, 25564},
    {"dgx-spark-2", kAllGather, 2, 2, 4 * kGiB, 90916},
    {"dgx-spark-2", kAllGather, 2, 2, 16 * kGiB, 354934},  // sets the rate
    {"dgx-spark-2", kAllGather, 2, 2, 1 * kGiB, 25807},
    {"dgx-spark-2", kAllGather, 2, 2, 2 * kGiB, 48690},
    {"dgx-spark-2", kAllGather, 2, 2, 4 * kGiB, 95611},
    {"dgx-spark-2", kAllGather, 2, 2, 16 * kGiB, 373792},
    // github.com/NVIDIA/dgx-spark-playbooks, issue 25, before its settings.
    {"dgx-spark-2", kAllGather, 2, 2, 16 * kGiB, 410049},
    // One tray of 4 GB200, rings: Azure/AI-benchmarking-guide, ND_GB200_v6, from bus bandwidths.
    // Below 1 MiB that run takes 15 us, and the model 10.
    {"gb200-nvl72", kAllReduce, 4, 1, 1 * kMiB, 19.5},
    {"gb200-nvl72", kAllReduce, 4, 1, 16 * kMiB, 76.0},
    {"gb200-nvl72", kAllReduce, 4, 1, 64 * kMiB, 182.8},
    {"gb200-nvl72", kAllReduce, 4, 1, 1 * kGiB, 2490},
    {"gb200-nvl72", kAllReduce, 4, 1, 8 * kGiB, 18960},  // sets the rate
    // One rack of 72, out of place: github.com/coreweave/nccl-tests, pull request 43.
    {"gb200-nvl72", kAllReduce, 72, 1, 0.5 * kGiB, 1806.7},
    {"gb200-nvl72", kAllReduce, 72, 1, 8 * kGiB, 20299},
    // 32 nodes: github.com/NVIDIA/nccl, issue 1218, 340 GB/s. Its all-gather of as much, at 200
    // GB/s, is 30 % slower than the model.
    {"h100-ib", kAllReduce, 256, 32, 2 * kGiB, 12583},
};

TEST_CASE("presets are within 25 % of these published rows, to which no mode was fitted") {
  int checked = 0;
  for (const Row& row : kRows) {
    if (!wants_row(row.preset)) continue;
    CAPTURE(row.preset);
    CAPTURE(name_of(row.kind));
    CAPTURE(row.ranks);
    CAPTURE(row.bytes);
    const double bytes = row.kind == kAllGather ? row.bytes / row.ranks : row.bytes;
    const cost::NativeCall call = {row.kind, row.ranks, row.nodes, bytes};
    const double us = 1e6 * cost::native_seconds(call, cluster_named(row.preset));
    CAPTURE(us);
    CHECK(std::abs(us / row.us - 1) <= 0.25);
    ++checked;
  }
  CHECK(checked > 0);
}

}  // namespace
}  // namespace rankbox::testing
