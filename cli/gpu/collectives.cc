// Collectives: each against native, and rings against their bounds.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/gpu/sections.h"

namespace rankbox::cli {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::array kRingSizes = {64 * kMiB, 256 * kMiB};
const Words kOfRingSizes = {"-b", "64M", "-e", "256M", "-f", "4"};
constexpr int kSharing = 4;           // ranks that share a GPU
constexpr double kRingAccesses = 21;  // of n bytes, by a ring of 4 (docs/gpu.md)
constexpr double kLeastOfBound = 0.8;
constexpr std::array kSegments = {2, 4, 8};

/// Runs rankbox-compare-nccl. `name` as in Session::figures.
Figures compare(Session& session, const std::string& name, int ranks,
                const std::vector<Words>& options, Words environment = {}) {
  Command command = {.program = "rankbox-compare-nccl",
                     .arguments = {"--ranks", std::to_string(ranks), "--json", "-"},
                     .environment = std::move(environment),
                     .reports_failures = true};
  command.environment.emplace_back("RANKBOX_GPU_NOTICE=0");
  for (const Words& words : options)
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  return session.figures(name, command);
}

/// Returns the row of an all-reduce. Sizes are rounded down to equal shares of the ranks.
Json row_of(const Figures& figures, const std::string& algorithm, std::int64_t bytes) {
  for (const Json& row : figures.get().at("results")) {
    const std::int64_t rounded = bytes - row.at("bytes").get<std::int64_t>();
    if (row.at("algorithm") == algorithm && rounded >= 0 && rounded < 4096) return row;
  }
  throw NotMeasured{algorithm + " has no row", /*is_failure=*/true};
}

/// Returns the value for the rows of a contest, native's first.
Value value_of(const std::vector<Json>& rows) {
  std::int64_t wrong = 0;
  bool has_failed = rows.empty();
  Value value;
  for (const Json& row : rows) {
    if (!row.at("wrong").is_null()) wrong += row.at("wrong").get<std::int64_t>();
    value.text += value.text.empty() ? "" : ", ";
    value.text += row.at("algorithm").get<std::string>();
    if (row.at("time_us").is_null()) {
      value.text += " failed";
      has_failed = true;
    } else if (!value.number) {
      value.number = row.at("time_us").at("median").get<double>();
      value.text += fmt::format(" {:.4g} us", *value.number);
    } else if (!row.at("vs_native").is_null()) {
      value.text += fmt::format(" {:.2f}x", row.at("vs_native").get<double>());
    }
  }
  value.text += wrong > 0 ? fmt::format("; {} wrong elements", wrong) : "";
  value.is_met = wrong == 0 && !has_failed;
  return value;
}

}  // namespace

void measure_collectives(Session& session) {
  const int ranks = session.gpus() > 1 ? session.gpus() : kSharing;
  const Figures table = compare(session, "collectives", ranks,
                                {{"--collective", "all", "-b", "1K", "-e", "64M", "-f", "256"}});
  for (const char* const name : {"broadcast", "reduce", "all_reduce", "gather", "scatter",
                                 "all_gather", "all_to_all", "reduce_scatter", "barrier"}) {
    session.measure(fmt::format("{}, {} ranks, largest size", name, ranks), "no wrong element",
                    [&] {
                      std::vector<Json> rows;
                      for (const Json& row : table.get().at("results")) {
                        if (row.at("collective") != name) continue;
                        // Sizes grow from contest to contest.
                        if (!rows.empty() && rows.front().at("bytes") != row.at("bytes"))
                          rows.clear();
                        rows.push_back(row);
                      }
                      return value_of(rows);
                    });
  }
}

void measure_sharing_ring(Session& session) {
  const Figures ring =
      compare(session, "sharing", kSharing, {kOfRingSizes, {"--algorithms", "ring"}},
              {"RANKBOX_GPU_MODE=shared", only_first_gpu()});
  for (const std::int64_t bytes : kRingSizes) {
    session.measure(fmt::format("ring all-reduce, {} MiB", bytes / kMiB), "at least 80 %", [&] {
      const auto us = row_of(ring, "ring", bytes).at("time_us").at("median").get<double>();
      if (!session.copy_bytes_per_second) throw NotMeasured{"the device copy is not measured"};
      const double bound =
          kRingAccesses * static_cast<double>(bytes) / *session.copy_bytes_per_second;
      const double share = bound / (us * 1e-6);
      return Value{fmt::format("{:.1f} % of the bound of 21 n bytes", 100 * share), share,
                   share >= kLeastOfBound};
    });
  }
}

namespace {

/// Measures the ring of learners on all GPUs, against NCCL's.
Figures measure_ring_with(Session& session, const std::string& name, const Words& options) {
  if (session.gpus() < 2) return {{}, NotMeasured{"there is one GPU"}};
  return compare(session, name, session.gpus(), {kOfRingSizes, options});
}

/// Returns the ring's time as a multiple of that of NCCL's ring.
Value ratio_of(const Figures& figures, const char* algorithm, std::int64_t bytes) {
  const Json row = row_of(figures, algorithm, bytes);
  for (const char* const field : {"vs_ring", "vs_native"}) {
    if (!row.at(field).is_null()) continue;
    throw NotMeasured{
        fmt::format("{} is missing: {}, native or native-ring failed", field, algorithm),
        /*is_failure=*/true};
  }
  const auto ratio = row.at("vs_ring").get<double>();
  return {
      fmt::format("{:.2f} times, {:.2f} times native", ratio, row.at("vs_native").get<double>()),
      ratio};
}

}  // namespace

void measure_ring(Session& session) {
  struct Way {
    std::string name;   // in the line
    std::string notes;  // of the value
    const char* algorithm;
    double most;  // of the time of NCCL's ring, with NVLink
    Figures figures;
  };
  std::vector<Way> ways;
  ways.push_back(
      {"ring", "", "ring", 1.4, measure_ring_with(session, "ring", {"--algorithms", "ring"})});
  for (const int segments : kSegments) {
    const std::string number = std::to_string(segments);
    ways.push_back({"ring_segmented", ", --segments " + number, "ring_segmented", 1.15,
                    measure_ring_with(session, "ring_" + number,
                                      {"--algorithms", "ring_segmented", "--segments", number})});
  }
  const bool has_nvlink = session.report().machine.has_nvlink();
  for (const std::int64_t bytes : kRingSizes) {
    // Ways with the same name share one line: the fastest.
    for (std::size_t first = 0, end = 0; first < ways.size(); first = end) {
      while (end < ways.size() && ways[end].name == ways[first].name) ++end;
      const Way& way = ways[first];
      session.measure(fmt::format("{}, {} MiB, against NCCL's ring", way.name, bytes / kMiB),
                      fmt::format("at most {} times with NVLink", way.most), [&] {
                        Value best;
                        NotMeasured missing;
                        for (std::size_t i = first; i < end; ++i) {
                          try {
                            Value value = ratio_of(ways[i].figures, way.algorithm, bytes);
                            if (best.number && *best.number <= *value.number) continue;
                            best = value;
                            best.text += ways[i].notes;
                          } catch (const NotMeasured& because) {
                            missing = because;
                          }
                        }
                        if (!best.number) throw missing;
                        if (has_nvlink) best.is_met = *best.number <= way.most;
                        return best;
                      });
    }
  }
}

}  // namespace rankbox::cli
