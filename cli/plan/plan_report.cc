#include "cli/plan/plan_report.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/support/lists.h"
#include "cli/support/terminal.h"

namespace rankbox::plan {

namespace {

struct Part {
  const char* name;
  double Seconds::*seconds;
};

constexpr std::array<Part, 8> kParts = {{{"compute", &Seconds::compute},
                                         {"data", &Seconds::data},
                                         {"tensor", &Seconds::tensor},
                                         {"context", &Seconds::context},
                                         {"experts", &Seconds::expert},
                                         {"messages", &Seconds::messages},
                                         {"bubble", &Seconds::bubble},
                                         {"optimizer", &Seconds::optimizer}}};

/// Returns "compute 88 %, bubble 9 %": the parts that take at least a fiftieth.
std::string where_time_goes(const Seconds& seconds) {
  std::vector<Part> parts(kParts.begin(), kParts.end());
  std::ranges::stable_sort(
      parts, [&](const Part& a, const Part& b) { return seconds.*a.seconds > seconds.*b.seconds; });
  std::string text;
  for (const Part& part : parts) {
    const double share = seconds.*part.seconds / seconds.all();
    if (share < 0.02) break;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", part.name, 100 * share);
  }
  return text;
}

std::string gigabytes(double bytes) { return fmt::format("{:.1f}", bytes / 1e9); }

/// Returns "16 × 2", passes of so many sequences.
std::string passes_of(const Layout& layout) {
  return fmt::format("{} × {}{}", layout.micro_batches, layout.micro_batch,
                     layout.recomputes ? " recompute" : "");
}

/// Returns the sentence that says why the first layout wins: "A is 0.3 s faster than B: tensor
/// -0.92 s, bubble +0.5 s".
std::string reason(const Report& report) {
  if (report.best.size() < 2) return "";
  const Seconds& first = report.best[0].seconds;
  const Seconds& next = report.best[1].seconds;
  double all = 0;
  for (const Part& part : kParts) all += std::abs(first.*part.seconds - next.*part.seconds);
  std::string parts;
  for (const Part& part : kParts) {
    const double more = first.*part.seconds - next.*part.seconds;
    if (std::abs(more) < 0.1 * all || more == 0) continue;
    parts += fmt::format("{}{} {}{}", parts.empty() ? "" : ", ", part.name, more < 0 ? "-" : "+",
                         cli::format_seconds(std::abs(more)));
  }
  const double gain = next.all() - first.all();
  return fmt::format(
      "{} {} {}{}{}.\n", name_of(report.best[0].layout),
      gain > 0 ? fmt::format("is {} faster than", cli::format_seconds(gain)) : "takes as long as",
      name_of(report.best[1].layout), parts.empty() ? "" : ": ", parts);
}

/// A table of estimates, a line each.
class Rows {
 public:
  explicit Rows(std::string title) {
    rows_.push_back({std::move(title),
                     {"micro-batches", "GB", "sent GB", "step", "MFU", "tokens/s"},
                     "where the step goes"});
  }

  void add(std::string label, const Estimate& each) {
    rows_.push_back(
        {std::move(label),
         {passes_of(each.layout), gigabytes(each.memory.all()), gigabytes(each.traffic.all()),
          cli::format_seconds(each.seconds.all()), fmt::format("{:.0f} %", 100 * each.mfu),
          fmt::format("{:.0f}", each.tokens_per_gpu)},
         where_time_goes(each.seconds)});
  }

  std::string text() {
    for (std::size_t column = 0; column < rows_.front().cells.size(); ++column) {
      std::size_t width = 0;
      for (const cli::TableRow& row : rows_) {
        width = std::max(width, cli::width_of(row.cells[column]));
      }
      for (cli::TableRow& row : rows_) {
        std::string& cell = row.cells[column];
        cell.insert(0, width + 2 - cli::width_of(cell), ' ');
      }
    }
    std::size_t width = 0;
    for (const cli::TableRow& row : rows_) width = std::max(width, cli::width_of(row.label));
    for (cli::TableRow& row : rows_) {
      row.label += std::string(width - cli::width_of(row.label), ' ');
      row.remark = "  " + row.remark;
    }
    return cli::table(rows_);
  }

 private:
  std::vector<cli::TableRow> rows_;
};

nlohmann::ordered_json json_of(const Estimate& each) {
  const Layout& layout = each.layout;
  nlohmann::ordered_json seconds;
  for (const Part& part : kParts) seconds[part.name] = each.seconds.*part.seconds;
  seconds["all"] = each.seconds.all();
  return {{"layout", name_of(layout)},
          {"data", layout.data},
          {"tensor", layout.tensor},
          {"pipeline", layout.pipeline},
          {"context", layout.context},
          {"expert", layout.expert},
          {"sharding", name_of(layout.sharding)},
          {"shard", layout.shard},
          {"schedule", layout.pipeline > 1 ? nlohmann::ordered_json(name_of(layout.schedule))
                                           : nlohmann::ordered_json()},
          {"chunks", layout.chunks},
          {"micro_batch", layout.micro_batch},
          {"micro_batches", layout.micro_batches},
          {"recomputes", layout.recomputes},
          {"fits", each.fits},
          {"memory_bytes",
           {{"weights", each.memory.state.weights},
            {"gradients", each.memory.state.gradients},
            {"optimizer", each.memory.state.optimizer},
            {"activations", each.memory.activations},
            {"working", each.memory.working},
            {"all", each.memory.all()}}},
          {"sent_bytes",
           {{"data", each.traffic.data},
            {"tensor", each.traffic.tensor},
            {"context", each.traffic.context},
            {"experts", each.traffic.expert},
            {"pipeline", each.traffic.pipeline},
            {"all", each.traffic.all()}}},
          {"seconds", seconds},
          {"tokens_per_gpu", each.tokens_per_gpu},
          {"mfu", each.mfu}};
}

}  // namespace

Report report_of(const Task& task, const std::vector<Estimate>& all, std::size_t top) {
  Report report;
  report.task = task;
  report.layouts = all.size();
  report.fit = static_cast<std::size_t>(
      std::ranges::count_if(all, [](const Estimate& e) { return e.fits; }));
  for (const Estimate& each : best_of_each_kind(all)) {
    const bool is_listed = each.fits || report.fit == 0;
    if (is_listed && report.best.size() < top) report.best.push_back(each);
  }
  report.uses = best_use_of_each(all);
  return report;
}

std::string report_text(const Report& report) {
  const Task& task = report.task;
  std::string text = fmt::format(
      "{} ({}): {:.2f} billion parameters; a step is {} sequence{} of {} tokens\n"
      "{} × {} of {}, {:.0f} GiB each, of which {:.1f} GB may be used: {} layouts, {} fit\n\n",
      task.model.name, task.model.about,
      static_cast<double>(count_parameters(task.model).all) / 1e9, task.batch,
      task.batch == 1 ? "" : "s", task.sequence, task.gpus, task.gpu.name, task.cluster.name,
      task.gpu.memory / (1 << 30), kUsableMemory * task.gpu.memory / 1e9, report.layouts,
      report.fit);
  Rows best(report.fit > 0 ? "fastest of each kind" : "smallest of each kind: none fits");
  for (const Estimate& each : report.best) best.add(name_of(each.layout), each);
  text += best.text() + "\n";
  if (report.fit > 0) text += reason(report);
  Rows uses("fastest with");
  for (const Use& use : report.uses) {
    if (use.estimate.fits) {
      uses.add(fmt::format("{:<12} {}", use.strategy, name_of(use.estimate.layout)), use.estimate);
    }
  }
  if (report.fit > 0) text += "\n" + uses.text() + "\n";
  for (const Use& use : report.uses) {
    if (use.estimate.fits || report.fit == 0) continue;
    const Memory& memory = use.estimate.memory;
    text += fmt::format("{} does not fit: {} takes {} GB, of which state {}, activations {}.\n",
                        use.strategy, name_of(use.estimate.layout), gigabytes(memory.all()),
                        gigabytes(memory.state.all()), gigabytes(memory.activations));
  }
  text +=
      "Micro-batches: so many, of so many sequences; \"recompute\" runs forward twice. GB, sent "
      "and\n"
      "tokens/s are those of one GPU. Times of messages are what is exposed.\n";
  return cli::fit(text);
}

nlohmann::ordered_json report_json(const Report& report) {
  const Task& task = report.task;
  nlohmann::ordered_json plans = nlohmann::ordered_json::array();
  nlohmann::ordered_json strategies = nlohmann::ordered_json::object();
  for (const Estimate& each : report.best) plans.push_back(json_of(each));
  for (const Use& use : report.uses) strategies[use.strategy] = json_of(use.estimate);
  return {{"model", task.model.name},
          {"parameters", count_parameters(task.model).all},
          {"sequence", task.sequence},
          {"batch", task.batch},
          {"cluster", task.cluster.name},
          {"gpus", task.gpus},
          {"gpu",
           {{"name", task.gpu.name},
            {"peak_operations", task.gpu.peak},
            {"memory_bytes", task.gpu.memory},
            {"usable_bytes", kUsableMemory * task.gpu.memory},
            {"bytes_per_second", task.gpu.bandwidth},
            {"share_of_products", task.gpu.share_of_products},
            {"share_of_attention", task.gpu.share_of_attention}}},
          {"layouts", report.layouts},
          {"fit", report.fit},
          {"plans", plans},
          {"strategies", strategies}};
}

}  // namespace rankbox::plan
