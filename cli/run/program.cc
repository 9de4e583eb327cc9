#include "cli/run/program.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/picture/picture_style_json.h"
#include "cli/support/options.h"
#include "comm/errors.h"
#include "comm/option_checks.h"
#include "judge/verdict_json.h"
#include "sim/clock/lines_met.h"
#include "sim/clock/stream_order.h"
#include "sim/clusters/clusters.h"

namespace rankbox::cli {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProgramOptions, name, again, ranks, nodes, cluster, buffering,
                                   order, executor, without_data, notes, seconds, deadline_seconds,
                                   result, prints_figures, picture)

std::string to_text(const ProgramOptions& options) { return nlohmann::json(options).dump(); }

ProgramOptions program_from_text(const std::string& text) {
  return nlohmann::json::parse(text).get<ProgramOptions>();
}

RunOptions run_options_of(const ProgramOptions& options) {
  RunOptions how;
  how.world_size = options.ranks;
  how.cluster = cluster_named(options.cluster);
  how.nodes = options.nodes > 0 ? options.nodes : how.cluster.nodes_for(options.ranks);
  how.buffering = parse_buffering(options.buffering);
  how.order = parse_order(options.order);
  how.executor = executor_named(options.executor, options.ranks);
  how.deadline_seconds = options.deadline_seconds;
  how.watch_buffers = true;
  how.without_data = options.without_data;
  check_run_options(how);
  return how;
}

std::vector<std::string> notes_of(const ProgramOptions& options, const RunReport& report) {
  std::vector<std::string> notes;
  if (report.trace.left_out > 0) {
    if (options.notes) notes.emplace_back("too many events to look for notes");
    return notes;
  }
  if (parse_order(options.order) != MessageOrder::kStream) {  // else such a run fails
    if (const auto hang = find_stream_hang(report.trace)) notes.push_back(in_words(*hang));
  }
  if (options.notes) {
    if (const auto met = lines_met(report.trace)) notes.push_back(*met);
  }
  return notes;
}

std::string figures_of(const ProgramOptions& options, const RunReport& report) {
  const bool is_traced = !report.clocks.empty();
  Json json;
  json["ranks"] = options.ranks;
  json["virtual_us"] = is_traced ? Json(report.virtual_seconds * 1e6) : Json();
  json["wall_seconds"] = report.wall_seconds;
  json["cost"] = nullptr;
  if (is_traced) {
    json["cost"] = {{"steps", report.cost.steps},
                    {"bytes", report.cost.bytes},
                    {"reduced", report.cost.reduced}};
  }
  json["messages"] = report.messages;
  json["bytes"] = report.bytes;
  json["peak_bytes"] = 0;
  if (!report.peak_bytes.empty()) json["peak_bytes"] = std::ranges::max(report.peak_bytes);
  json["notes"] = notes_of(options, report);
  return json.dump();
}

std::vector<std::string> notes_in(const std::string& figures) {
  if (figures.empty()) return {};
  return Json::parse(figures).value("notes", std::vector<std::string>{});
}

std::string report_json(const Verdict& verdict, const ProgramOptions& options,
                        const std::string& figures, const std::string& output) {
  const Json judged = Json::parse(to_json(verdict));
  Json json;
  json["file"] = options.name;
  json["status"] = judged.at("status");
  if (judged.contains("failure")) json["failure"] = judged.at("failure");
  json["ranks"] = options.ranks;
  for (const char* figure :
       {"virtual_us", "wall_seconds", "cost", "messages", "bytes", "peak_bytes", "notes"}) {
    json[figure] = nullptr;
  }
  if (!figures.empty()) json.update(Json::parse(figures));
  json["output"] = output;
  // A program's output may hold any bytes.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string in_one_line(const Failure& failure) {
  std::string text = name_of(failure.kind);
  text += ": ";
  const std::string rank = fmt::format("rank {}", failure.rank);
  const bool is_said =
      failure.message.starts_with(rank + " ") || failure.message.starts_with(rank + ":");
  if (failure.rank >= 0 && !is_said) text += rank + ": ";
  if (!failure.file.empty()) {
    text += failure.line > 0 ? fmt::format("{}:{}: ", failure.file, failure.line)
                             : fmt::format("{}: ", failure.file);
  }
  text += failure.message;
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace rankbox::cli
