#include "cli/compare/report/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/compare/plan/algorithms.h"
#include "cli/compare/plan/plan.h"
#include "cli/compare/report/winners.h"
#include "cli/support/lists.h"
#include "cli/support/terminal.h"

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

/// What the plan and a contest decide about the columns.
struct Columns {
  bool is_virtual = false;  // --virtual: no times of this machine
  std::size_t label = 15;   // width
  std::size_t cluster = 9;  // width
  bool has_ring = false;
  Cluster machine = {};
};

Columns columns_of(const Plan& plan, const std::vector<Row>& contest) {
  Columns columns = {.is_virtual = plan.without_data, .machine = plan.cluster};
  columns.cluster = std::max(columns.cluster, plan.cluster.name.size());
  for (const Row& row : contest) {
    columns.label = std::max(columns.label, label_of(row).size());
    columns.has_ring = columns.has_ring || row.vs_ring;
  }
  return columns;
}

/// The texts of a row, for all columns that there may be.
struct Texts {
  std::string time = "-", p99 = "-", vs_native = "-", vs_ring = "-", rate = "-", there = "-";
  std::string steps = "-", sent = "-", added = "-";
};

/// Returns the cells of the columns that there are, padded.
/// @param mark after the time there: "*" or " "
std::vector<std::string> cells_of(const Columns& columns, const Texts& texts, const char* mark) {
  // µ is one column and two bytes; fmt handles that.
  const auto padded = [](const std::string& text, std::size_t width) {
    return fmt::format("{:>{}}", text, width);
  };
  std::vector<std::string> cells;
  if (columns.is_virtual) {
    cells = {padded(texts.there, columns.cluster), padded(texts.vs_native, 9)};
  } else {
    cells = {padded(texts.time, 8), padded(texts.p99, 8), padded(texts.vs_native, 9)};
    if (columns.has_ring) cells.push_back(padded(texts.vs_ring, 7));
  }
  cells.push_back(padded(texts.rate, 8));
  if (!columns.is_virtual) cells.push_back(padded(texts.there, columns.cluster) + " " + mark);
  cells.insert(cells.end(), {padded(texts.steps, columns.is_virtual ? 8 : 5), padded(texts.sent, 8),
                             padded(texts.added, 8)});
  return cells;
}

TableRow format_titles(const Plan& plan, const Columns& columns) {
  const Texts titles = {"time",  "p99",  "vs native", "vs ring", "GB/s", plan.cluster.name,
                        "steps", "sent", "added"};
  return {fmt::format("  {:<{}}", "", columns.label), cells_of(columns, titles, " ")};
}

/// Sets what this machine, or with --virtual the cluster, takes and reaches.
/// @param native null: its virtual time is not known
void set_times(Texts& texts, const Row& row, const Columns& columns, const Row* native) {
  const auto ratio = [](double value) { return fmt::format("{:.2f} x", value); };
  const bool has_rate = row.bytes > 0 && row.world_size > 1;
  if (columns.is_virtual) {
    if (native != nullptr && *native->virtual_seconds > 0)
      texts.vs_native = ratio(*row.virtual_seconds / *native->virtual_seconds);
    if (has_rate) texts.rate = fmt::format("{:.3g}", row.virtual_bus_bandwidth() / 1e9);
    return;
  }
  if (row.time) texts.time = format_seconds(row.time->median);
  if (row.time) texts.p99 = format_seconds(row.p99_seconds);
  texts.vs_native = ratio(row.vs_native);
  if (row.vs_ring) texts.vs_ring = ratio(*row.vs_ring);
  if (has_rate) texts.rate = fmt::format("{:.3g}", row.bus_bandwidth() / 1e9);
}

/// Returns whether a native row's coefficients give its time. They do on one class of links, but
/// not where a cluster has modes, or where two levels are quicker than one.
bool gives_time(const Row& row, const Cluster& machine) {
  if (row.whose != Whose::kNative || !row.virtual_seconds) return true;
  const Link& link = machine.link(machine.nodes_for(row.world_size) == 1);
  const double seconds = row.cost->steps * link.alpha + row.cost->bytes * link.beta +
                         row.cost->reduced * machine.gamma;
  return std::abs(seconds - *row.virtual_seconds) <= 1e-9 * seconds;
}

TableRow format_row(const Row& row, const Columns& columns, bool wins_here, bool wins_there,
                    const Row* native) {
  TableRow line = {fmt::format("{} {:<{}}", wins_here ? '*' : ' ', label_of(row), columns.label)};
  const bool is_unknown = columns.is_virtual && !row.virtual_seconds;
  if (row.failure || !row.skipped.empty() || is_unknown) {
    line.remark = "  " + (row.failure            ? in_words(*row.failure)
                          : !row.skipped.empty() ? "skipped: " + row.skipped
                                                 : "-");
    return line;
  }
  Texts texts;
  set_times(texts, row, columns, native);
  if (row.virtual_seconds) texts.there = format_seconds(*row.virtual_seconds);
  if (row.cost && gives_time(row, columns.machine)) {
    texts.steps = fmt::format("{:.0f}", row.cost->steps);
    texts.sent = in_terms_of(row.cost->bytes, row.bytes);
    texts.added = in_terms_of(row.cost->reduced, row.bytes);
  }
  line.cells = cells_of(columns, texts, wins_there ? "*" : " ");
  if (row.wrong.value_or(0) > 0) line.remark = fmt::format("  WRONG: {} elements", *row.wrong);
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

std::string legend(const Plan& plan, bool has_ring) {
  if (plan.without_data) {
    return fmt::format(
        "{:<12} virtual time there (rankbox compare --list-clusters); nothing is timed here\n"
        "vs native    time / native time: above 1 is slower than the native collective\n"
        "GB/s         bus bandwidth in virtual time, as nccl-tests define it\n"
        "steps, sent, added: exact coefficients of latency, bytes sent and bytes reduced; - where\n"
        "             they do not give the time: that of a library's own modes\n"
        "*            the fastest topology\n",
        plan.cluster.name);
  }
  constexpr const char* kWhose[] = {"of rank 0", "the mean over ranks", "of its fastest rank",
                                    "of its slowest rank"};
  return fmt::format(
      "time         median of the iterations, each {}\n"
      "p99          99 % of the calls that were timed alone took at most this\n"
      "vs native    time / native time: above 1 is slower than the native collective\n"
      "{}"
      "GB/s         bus bandwidth, as nccl-tests define it\n"
      "{:<12} virtual time there (rankbox compare --list-clusters)\n"
      "steps, sent, added: exact coefficients of latency, bytes sent and bytes reduced; - where\n"
      "             they do not give the time: that of a library's own modes\n"
      "*            the fastest topology: by virtual time on the right; by time on the left, "
      "where\n"
      "             every rank has a core\n",
      kWhose[static_cast<std::size_t>(plan.average)],
      has_ring ? "vs ring      the same for native-ring, NCCL with NCCL_ALGO=RING, where it is "
                 "measured\n"
               : "",
      plan.cluster.name);
}

std::string format_contest(const Plan& plan, const std::vector<Row>& contest, bool colour) {
  const Columns columns = columns_of(plan, contest);
  std::vector<TableRow> rows = {format_titles(plan, columns)};
  const Row* there = winner_of(contest, ClockKind::kVirtual);
  const bool shares = shares_cores(plan, contest.front().world_size);
  // With --virtual there is one winner, marked on the left.
  const Row* here = columns.is_virtual ? there
                    : shares           ? nullptr
                                       : winner_of(contest, ClockKind::kWall);
  const Row* best = shares ? there : here;
  const auto native = std::ranges::find_if(contest, [](const Row& row) {
    return row.whose == Whose::kNative && row.virtual_seconds && !row.failure;
  });
  for (const Row& row : contest) {
    rows.push_back(format_row(row, columns, &row == here, &row == there,
                              native == contest.end() ? nullptr : &*native));
    const bool is_bad = row.failure || row.wrong.value_or(0) > 0;
    const char* paint = is_bad ? "\033[31m" : &row == best ? "\033[1;32m" : nullptr;
    if (colour) rows.back().paint = paint;
  }
  return fmt::format("\n{}\n{}", fit(format_heading(contest.front())), table(rows));
}

}  // namespace rankbox::cli
