#include "cli/perf/table.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>

#include "cli/compare/algorithms.h"
#include "cli/perf/backend.h"

namespace rankbox::perf {
namespace {

constexpr double kMicro = 1e6;
constexpr double kGiga = 1e9;

/// The five columns on the left.
template <class... Text>
std::string left(const Text&... text) {
  return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", text...);
}
/// One of the halves: out-of-place or in-place.
template <class... Text>
std::string half(const Text&... text) {
  return fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", text...);
}
/// Ours.
template <class... Text>
std::string right(const Text&... text) {
  return fmt::format("  {:>8}  {:>7}  {:>9}", text...);
}

std::string comment(std::string line) {
  line.front() = '#';  // the columns leave room for it
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string names_of(const std::vector<CollectiveKind>& collectives) {
  std::string names;
  for (const CollectiveKind collective : collectives) {
    names += std::string(names.empty() ? "" : ",") + name_of(collective);
  }
  return names;
}

std::string line_of(std::size_t rank, const Device& device) {
  return fmt::format("#  Rank {:>2} Group {:>2} Pid {:>6} on {:>10} device {:>2} [{}] {}\n", rank,
                     0, device.process, device.host, device.number, device.bus, device.name);
}

/// What a time on this machine is not.
std::string note_on_sharing(const std::vector<Device>& devices) {
  std::string notes;
  for (const std::vector<int>& ranks : sharing_ranks(devices)) {
    const Device& device = devices[static_cast<std::size_t>(ranks.front())];
    const bool on_host = device.bus == "cpu";
    const bool in_processes =
        device.process != devices[static_cast<std::size_t>(ranks.back())].process;
    notes += fmt::format(
        "# Ranks {} share {} of {}: {}\n", in_words(ranks),
        on_host ? "the memory" : "device " + device.bus, device.host,
        in_processes && !on_host
            // NCCL does that only with every process on a host of its own, in its eyes.
            ? "what they send each other goes through sockets; good for correctness, and the times "
              "mean nothing"
            : "what they send each other is copied within it; no link between devices is measured");
  }
  if (devices.size() == 1) notes += "# One rank: nothing is sent\n";
  return notes;
}

}  // namespace

std::string_view redop_of(const Row& row) {
  if (!cli::is_reducing(row.collective)) return "none";
  switch (row.op) {
    case ReduceOp::SUM:
      return "sum";
    case ReduceOp::PRODUCT:
      return "prod";
    case ReduceOp::MAX:
      return "max";
    case ReduceOp::MIN:
      return "min";
    case ReduceOp::AVG:
      return "avg";
  }
  return "none";
}

std::string format_figure(double value, int width) {
  for (const int decimals : {2, 1, 0}) {
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (static_cast<int>(text.size()) <= width) return text;
  }
  return fmt::format("{:.{}e}", value, width >= 7 ? 1 : 0);
}

std::string format_header(const Plan& plan, const std::vector<Device>& devices) {
  const bool multiplies = plan.step_factor > 0;
  std::string header =
      fmt::format("# rankbox-compare-{}: {}\n", backend_name(), backend_line()) +
      fmt::format("# Collective test starting: {}\n", names_of(plan.collectives)) +
      fmt::format(
          "# nThread {} nGpus {} minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} "
          "agg iters: {} validation: {} graph: 0\n#\n# Using devices\n",
          plan.threads, plan.gpus_per_thread, plan.min_bytes, plan.max_bytes,
          multiplies ? plan.step_factor : plan.step_bytes, multiplies ? "factor" : "bytes",
          plan.warmup, plan.iterations, plan.aggregated, plan.checks);
  for (std::size_t rank = 0; rank < devices.size(); ++rank) header += line_of(rank, devices[rank]);
  return header + fmt::format("# {}\n", world_line(static_cast<int>(devices.size()))) +
         note_on_sharing(devices) +
         fmt::format(
             "#\n"
             "# time       calls back to back, divided by their number\n"
             "# lat        one call alone, until all of it is done: the median of {} on the "
             "slowest "
             "rank\n"
             "# native     time divided by the native collective's: above 1 is slower\n"
             "# virtual    the time on the cluster {}, by closed form\n"
             "# N/A        a function overwrites its tensor, or has another for the result: it is "
             "one of the two\n",
             plan.iterations, plan.cluster.name);
}

std::string format_columns(const Row& first, const Cluster& cluster) {
  const std::string places = fmt::format("{:^31}{:^31}", "out-of-place", "in-place");
  return fmt::format("#\n# {}: {}\n", name_of(first.collective), first.algorithm) +
         comment(left("", "", "", "", "") + places) +
         comment(left("size", "count", "type", "redop", "root") +
                 half("time", "algbw", "busbw", "#wrong") +
                 half("time", "algbw", "busbw", "#wrong") + right("lat", "vs", "virtual")) +
         comment(left("(B)", "(elements)", "", "", "") + half("(us)", "(GB/s)", "(GB/s)", "") +
                 half("(us)", "(GB/s)", "(GB/s)", "") + right("(us)", "native", "(us)") + "  " +
                 cluster.name);
}

std::string format_row(const Row& row) {
  const std::string absent = half("N/A", "N/A", "N/A", "N/A");
  const std::string measured = half(format_figure(row.seconds * kMicro, 7),
                                    format_figure(row.algorithm_bandwidth() / kGiga, 6),
                                    format_figure(row.bus_bandwidth() / kGiga, 6),
                                    row.wrong ? std::to_string(*row.wrong) : std::string("N/A"));
  // A barrier has no result: it belongs to neither half, and stands in the first.
  const bool in_place = cli::is_in_place(row.collective);
  return left(row.bytes, row.count, "float", redop_of(row), row.root) +
         (in_place ? absent + measured : measured + absent) +
         right(format_figure(row.latency_seconds * kMicro, 8), fmt::format("{:.2f}", row.vs_native),
               row.virtual_seconds ? format_figure(*row.virtual_seconds * kMicro, 9) : "-") +
         "\n";
}

Totals totals_of(const std::vector<Row>& rows, const char* least_gigabytes) {
  Totals totals;
  if (least_gigabytes != nullptr && *least_gigabytes != '\0') {
    totals.least_bus_bandwidth = std::strtod(least_gigabytes, nullptr) * kGiga;
  }
  struct Mean {
    double sum = 0;
    int count = 0;
    void add(double value) { sum += value, ++count; }
    double value() const { return count == 0 ? 0 : sum / count; }
  };
  Mean all;
  std::vector<Mean> means;
  for (const Row& row : rows) {
    if (row.wrong.value_or(0) > 0) ++totals.out_of_bounds;
    if (row.bytes == 0) continue;
    all.add(row.bus_bandwidth());
    auto same = std::find_if(
        totals.algorithms.begin(), totals.algorithms.end(), [&](const Totals::OfAlgorithm& each) {
          return each.collective == row.collective && each.algorithm == row.algorithm;
        });
    if (same == totals.algorithms.end()) {
      totals.algorithms.push_back({row.collective, row.algorithm});
      means.emplace_back();
      same = std::prev(totals.algorithms.end());
    }
    means[static_cast<std::size_t>(same - totals.algorithms.begin())].add(row.bus_bandwidth());
  }
  totals.average_bus_bandwidth = all.value();
  for (std::size_t i = 0; i < means.size(); ++i) {
    totals.algorithms[i].average_bus_bandwidth = means[i].value();
  }
  return totals;
}

std::string format_footer(const Totals& totals) {
  std::string footer =
      fmt::format("#\n# Out of bounds values : {} {}\n", totals.out_of_bounds,
                  totals.out_of_bounds == 0 ? "OK" : "FAILED") +
      fmt::format("# Avg bus bandwidth    : {:g} {}\n", totals.average_bus_bandwidth / kGiga,
                  totals.least_bus_bandwidth < 0 ? ""
                  : totals.is_fast_enough()      ? "OK"
                                                 : "FAILED");
  for (const Totals::OfAlgorithm& each : totals.algorithms) {
    footer += fmt::format("#   {:<32} : {:g}\n",
                          fmt::format("{} {}", name_of(each.collective), each.algorithm),
                          each.average_bus_bandwidth / kGiga);
  }
  return footer + "#\n";
}

}  // namespace rankbox::perf
