#include "cli/compare/report/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/compare/plan/algorithms.h"
#include "cli/compare/plan/row_failure.h"
#include "cli/compare/report/winners.h"
#include "cli/support/lists.h"

namespace rankbox::cli {
namespace {

/// Returns "1.75 n": bytes as a multiple of the row's; "0" for none, "-" if the row has none.
std::string in_terms_of(double bytes, std::int64_t n) {
  if (n == 0 || bytes == 0) return n == 0 ? "-" : "0";
  return fmt::format("{:.4g} n", bytes / static_cast<double>(n));
}

std::string format_heading(const Row& row) {
  std::string heading = fmt::format("{}, {} rank{}", name_of(row.collective), row.world_size,
                                    row.world_size == 1 ? "" : "s");
  if (is_reducing(row.collective)) heading += fmt::format(", {}", name_of(row.op));
  if (row.elements > 0) {
    heading += fmt::format(", n = {} ({} float32)", format_bytes(row.bytes), row.elements);
  }
  return heading;
}

/// The widths of the columns that depend on their content.
struct Widths {
  std::size_t label = 17;
  std::size_t cluster = 9;
};

Widths widths_of(const Plan& plan, const std::vector<Row>& contest) {
  Widths widths;
  widths.cluster = std::max(widths.cluster, plan.cluster.name.size());
  for (const Row& row : contest) widths.label = std::max(widths.label, label_of(row).size());
  return widths;
}

std::string format_row(const Row& row, const Widths& widths, bool wins_here, bool wins_there) {
  const std::string label =
      fmt::format("{} {:<{}}", wins_here ? '*' : ' ', label_of(row), widths.label);
  if (row.failure) return fmt::format("{}  {}", label, in_words(*row.failure));
  const double spread =
      row.time && row.time->median > 0 ? 100 * (row.time->q3 - row.time->q1) / row.time->median : 0;
  const std::string busbw = row.bytes == 0 || row.world_size == 1
                                ? "-"
                                : fmt::format("{:.3g}", row.bus_bandwidth() / 1e9);
  std::string line =
      fmt::format("{} {:>9} {:>6} {:>9} {:>8} {:>{}} {}", label,
                  row.time ? format_seconds(row.time->median) : "-",
                  fmt::format("{:.0f} %", spread), fmt::format("{:.2f} x", row.vs_native), busbw,
                  row.virtual_seconds ? format_seconds(*row.virtual_seconds) : "-",
                  // µ is one column and two bytes; fmt handles that.
                  widths.cluster, wins_there ? '*' : ' ');
  line += row.cost ? fmt::format(" {:>6} {:>9} {:>9}", fmt::format("{:.0f}", row.cost->steps),
                                 in_terms_of(row.cost->bytes, row.bytes),
                                 in_terms_of(row.cost->reduced, row.bytes))
                   : fmt::format(" {:>6} {:>9} {:>9}", "-", "-", "-");
  if (row.wrong.value_or(0) > 0) line += fmt::format("  WRONG: {} elements", *row.wrong);
  return line;
}

std::string line_of(std::size_t rank, const Device& device) {
  return fmt::format("#  rank {:>2}  pid {:>7} on {}, device {} [{}] {}\n", rank, device.process,
                     device.host, device.number, device.bus, device.name);
}

/// Returns warnings about times that mean little, because ranks share devices.
std::string note_on_sharing(const std::vector<Device>& devices) {
  std::string notes;
  for (const std::vector<int>& ranks : sharing_ranks(devices)) {
    const Device& device = devices[static_cast<std::size_t>(ranks.front())];
    const bool on_host = device.bus == "cpu";
    const bool in_processes =
        device.process != devices[static_cast<std::size_t>(ranks.back())].process;
    notes +=
        fmt::format("# Ranks {} share {} of {}: {}\n", in_words(ranks),
                    on_host ? "the memory" : "device " + device.bus, device.host,
                    in_processes && !on_host
                        // NCCL allows that only if each process appears to be on a different host.
                        ? "messages go through sockets; use this for correctness, not for times"
                        : ranks.size() == devices.size()
                              ? "messages are copied within it; no link between devices is measured"
                              : "messages among them are copied within it, over no link");
  }
  if (devices.size() == 1) notes += "# One rank: nothing is sent\n";
  return notes;
}

}  // namespace

std::string format_header(const std::vector<std::string>& backend,
                          const std::vector<Device>& devices) {
  if (backend.empty()) return "";
  std::string header;
  for (const std::string& line : backend) header += "# " + line + "\n";
  for (std::size_t rank = 0; rank < devices.size(); ++rank) header += line_of(rank, devices[rank]);
  return header + note_on_sharing(devices);
}

std::string legend(const Plan& plan) {
  constexpr const char* kWhose[] = {"of rank 0", "the mean over ranks", "of its fastest rank",
                                    "of its slowest rank"};
  return fmt::format(
      "time         median of the iterations, each {}\n"
      "iqr          width of their middle half, in % of the median\n"
      "vs native    time / native time: above 1 is slower than the native collective\n"
      "GB/s         bus bandwidth, as nccl-tests define it\n"
      "{:<12} virtual time there (rankbox compare --list-clusters)\n"
      "steps, sent, added: exact coefficients of latency, bytes sent and bytes reduced\n"
      "*            the fastest topology: by time on the left, by virtual time on the right\n",
      kWhose[static_cast<std::size_t>(plan.average)], plan.cluster.name);
}

std::string format_contest(const Plan& plan, const std::vector<Row>& contest, bool colour) {
  const Widths widths = widths_of(plan, contest);
  std::string table =
      fmt::format("\n{}\n  {:<{}} {:>9} {:>6} {:>9} {:>8} {:>{}}   {:>6} {:>9} {:>9}\n",
                  format_heading(contest.front()), "", widths.label, "time", "iqr", "vs native",
                  "GB/s", plan.cluster.name, widths.cluster, "steps", "sent", "added");
  const Row* here = winner_of(contest, ClockKind::kWall);
  const Row* there = winner_of(contest, ClockKind::kVirtual);
  for (const Row& row : contest) {
    const std::string line = format_row(row, widths, &row == here, &row == there);
    const bool is_bad = row.failure || row.wrong.value_or(0) > 0;
    const char* paint = is_bad ? "\033[31m" : &row == here ? "\033[1;32m" : nullptr;
    table += colour && paint != nullptr ? fmt::format("{}{}\033[0m\n", paint, line) : line + "\n";
  }
  return table;
}

}  // namespace rankbox::cli
