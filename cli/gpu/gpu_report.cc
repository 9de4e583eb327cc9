#include "cli/gpu/gpu_report.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/gpu/sections.h"
#include "cli/support/child.h"
#include "cli/support/lists.h"
#include "cli/support/status_line.h"
#include "cli/support/terminal.h"
#include "comm/errors.h"
#include "files/output_file.h"

namespace rankbox::cli {
namespace {

constexpr double kSecondsToFindGpus = 30;

std::string section_names() {
  std::vector<std::string> names;
  for (const Section& section : sections()) names.push_back(section.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Returns the sections that --only selects. Throws InvalidArgument for a name that selects none.
std::vector<Section> selected(const std::string& only) {
  if (only.empty()) return sections();
  const std::vector<std::string> wanted = split_at_commas(only);
  for (const std::string& name : wanted) {
    const auto fits = [&](const Section& section) { return section.name.starts_with(name); };
    if (!name.empty() && std::ranges::any_of(sections(), fits)) continue;
    throw InvalidArgument(
        fmt::format("--only: no section \"{}\", choose from {}", name, section_names()));
  }
  std::vector<Section> chosen;
  for (const Section& section : sections()) {
    if (std::ranges::any_of(
            wanted, [&](const std::string& name) { return section.name.starts_with(name); }))
      chosen.push_back(section);
  }
  return chosen;
}

void write(const ReportOptions& options, const Report& report) {
  if (options.is_markdown) fmt::print("{}", to_markdown(report));
  if (options.json.empty()) return;
  // Programs may print any bytes.
  const std::string text =
      to_json(report).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (options.json == "-")
    fmt::print("{}", text);
  else
    write_file(options.json, text);
}

}  // namespace

void add_report_options(CLI::App& app, ReportOptions& options) {
  app.add_option("--only", options.only,
                 "only these sections, by names or their beginnings: " + section_names());
  app.add_option("--seconds", options.seconds, "at most this long, shared among the sections")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  app.add_option("--json", options.json,
                 "write the report to this file as JSON; - for stdout, without the text");
  app.add_flag("--markdown", options.is_markdown,
               "print a table for docs/gpu_measured.md instead of the text");
}

void check_options(const ReportOptions& options) {
  static_cast<void>(selected(options.only));
  if (options.json == "-" && options.is_markdown)
    throw InvalidArgument("--markdown and --json - both print: give --json a file");
  if (!options.json.empty() && options.json != "-") check_writable("--json", options.json);
}

int run_report(const ReportOptions& options, const std::vector<std::string>& folders) {
  check_options(options);
  const std::vector<Section> chosen = selected(options.only);
  const bool prints_text = !options.is_markdown && options.json != "-";
  const bool colour = prints_text && use_colour();

  const InterruptGuard guard;
  Report report;
  report.date = fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(std::time(nullptr)));
  std::string title = "Looking for GPUs";
  StatusLine status(title);
  const auto print = [&](const std::string& text) {
    if (!prints_text) return;
    status.set(title);  // clears the line
    fmt::print("{}", text);
    std::fflush(stdout);
  };
  Session session(
      report, folders, [&](const Line& line) { print(text_of(line, colour)); },
      [&] { status.tick(); });
  session.begin("machine", kSecondsToFindGpus);
  try {
    const Figures figures = session.figures("machine", {.program = "gpu_machine"});
    report.machine = nlohmann::json(figures.get()).get<Machine>();
  } catch (const NotMeasured& missing) {
    throw Error("cannot find out about the GPUs: " + missing.because);
  }

  double total = 0;
  for (const Section& section : chosen) total += section.seconds;
  int signal = 0;
  for (const Section& section : chosen) {
    session.begin(section.name, section.seconds * options.seconds / total);
    title = section.title;
    status.set(title);
    print(title + "\n");
    try {
      if (!report.is_interrupted) section.run(session);
    } catch (const Interrupted& interrupted) {
      signal = interrupted.signal();
      report.is_interrupted = true;
    }
    if (report.is_interrupted)
      session.measure("the rest", "", []() -> Value { throw NotMeasured{"of an interrupt"}; });
  }
  status.set("");
  print(summary_of(report) + "\n");
  write(options, report);
  if (report.is_interrupted) {
    std::fflush(stdout);
    throw Interrupted(signal);
  }
  return report.exit_code();
}

}  // namespace rankbox::cli
