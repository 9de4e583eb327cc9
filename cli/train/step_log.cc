#include "cli/train/step_log.h"

#include <cstdint>
#include <filesystem>
#include <ios>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm/errors.h"
#include "files/output_file.h"
#include "training/run/learning_rate.h"

namespace rankbox::train {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the lines of an earlier log up to this step. A line that was cut off is left out.
std::vector<std::string> lines_until(const std::string& path, std::int64_t step) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    const auto object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (object.is_object() && object.value("step", step + 1) <= step) lines.push_back(line);
  }
  return lines;
}

}  // namespace

StepLog::StepLog(std::string path, const Plan& plan, const Record& record)
    : path_(std::move(path)), plan_(plan), record_(record) {}

void StepLog::start(const Position& from) {
  check_writable("--log", path_);
  std::vector<std::string> earlier;
  if (plan_.resume) earlier = lines_until(path_, from.steps);
  file_.open(path_);
  for (const std::string& line : earlier) {
    begin_of_last_ = file_.tellp();
    file_ << line << '\n';
  }
  if (!earlier.empty()) last_ = nlohmann::ordered_json::parse(earlier.back());
  if (!last_.is_null() && last_["step"] != from.steps) last_ = nullptr;
  file_.flush();
  if (!file_) throw InvalidArgument(fmt::format("--log {}: cannot be written", path_));
}

void StepLog::on_step(const Position& now, std::int64_t steps, const StepMetrics& batch) {
  flush();
  last_ = nullptr;
  line_ = {{"step", now.steps},
           {"epoch", now.epoch + 1},
           {"loss", batch.loss},
           {"learning_rate", learning_rate_at(plan_, now.steps - 1, plan_.epochs * steps)},
           {"seconds", record_.seconds()},
           {"samples_per_second", record_.step_samples_per_second()}};
  // Null for a step that mixed precision skipped.
  if (plan_.clip_norm > 0)
    line_["grad_norm"] = batch.gradient_norm ? Json(*batch.gradient_norm) : Json(nullptr);
  check_written();
  const bool is_evaluated =
      now.batch == steps || (plan_.eval_every > 0 && now.steps % plan_.eval_every == 0);
  if (!is_evaluated) flush();
}

void StepLog::on_evaluation(const Position& now, const Evaluation& test, bool is_best) {
  if (line_.is_null() && !last_.is_null()) {
    // The step may have been evaluated before, with longer numbers.
    std::filesystem::resize_file(path_,
                                 static_cast<std::uintmax_t>(std::streamoff{begin_of_last_}));
    file_.seekp(begin_of_last_);
    line_ = std::exchange(last_, nullptr);
  }
  if (line_.is_null()) line_ = {{"step", now.steps}, {"epoch", now.epoch + 1}};
  line_["test"] = {
      {"loss", test.loss}, {"accuracy", test.accuracy}, {"f1", test.f1}, {"samples", test.samples}};
  if (plan_.keep_best != BestBy::kNothing) line_["best"] = is_best;
  flush();
  check_written();
}

void StepLog::check_written() const {
  if (!file_) throw Error(fmt::format("--log {}: cannot be written any more", path_));
}

void StepLog::flush() {
  if (line_.is_null()) return;
  file_ << line_.dump() << std::endl;  // a reader may follow it
  line_ = nullptr;
}

}  // namespace rankbox::train
