#include "cli/train/report.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/support/terminal.h"
#include "cli/train/backend.h"
#include "cli/train/loss_curve.h"
#include "comm/run_ranks.h"

namespace rankbox::train {
namespace {

// A bar that changes more often is unreadable, and writing it takes time.
constexpr auto kRedraw = std::chrono::milliseconds(100);
// Plain lines per epoch.
constexpr std::int64_t kLines = 5;
constexpr const char* kEraseLine = "\r\033[K";

std::string plural(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Returns how gradients are sent, if not natively one by one.
std::string sending_of(const Plan& plan) {
  if (plan.all_reduce != "native")
    return fmt::format("; gradients by all-reduce {}", plan.all_reduce);
  if (plan.bucket_mib == 0) return "";
  return fmt::format("; gradients in buckets of {} MiB{}", plan.bucket_mib,
                     plan.overlap ? ", during backward" : "");
}

/// Returns "made of ddp_average_gradients (yours), ddp_init_broadcast, …; gradients by all-reduce
/// ring".
std::string made_of(const Plan& plan) {
  std::vector<std::string> parts = exercises_of(plan);
  for (std::string& name : parts) {
    if (std::ranges::find(plan.yours, name) != plan.yours.end()) name += " (yours)";
  }
  return fmt::format("made of {}{}\n", fmt::join(parts, ", "), sending_of(plan));
}

/// Returns "12.5 %" for each number: its part of their sum.
std::vector<std::string> shares_of(const std::vector<std::int64_t>& numbers) {
  const auto sum = std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
  std::vector<std::string> shares;
  for (const std::int64_t number : numbers) {
    shares.push_back(fmt::format(
        "{:.1f} %",
        100 * static_cast<double>(number) / static_cast<double>(std::max<std::int64_t>(sum, 1))));
  }
  return shares;
}

/// Returns what differs from a constant rate without weight decay, as the end of a list.
std::string regularization(const Plan& plan) {
  std::string text;
  if (plan.warmup_steps > 0) text += fmt::format(" after {} steps of warm-up", plan.warmup_steps);
  if (plan.decay != Decay::kConstant) text += fmt::format(", {} decay", name_of(plan.decay));
  if (plan.weight_decay > 0) text += fmt::format(", weight decay {}", plan.weight_decay);
  if (plan.clip_norm > 0) text += fmt::format(", clipped at norm {}", plan.clip_norm);
  return text;
}

}  // namespace

Screen this_screen() {
  // mpirun gives its processes a terminal, regardless of where their output goes.
  const bool is_launched = launch().processes > 0;
  return {cli::use_colour() && !is_launched, !cli::has_utf8(), cli::terminal_width()};
}

std::string bar_line(const Plan& plan, const Position& now, std::int64_t steps,
                     const Record& record, const Screen& screen) {
  const std::string before = fmt::format("epoch {}/{}  ", now.epoch + 1, plan.epochs);
  const double loss = record.losses().empty() ? 0 : record.losses().back();
  const std::string after = fmt::format("  {}/{}  loss {:.4f}  {:.0f} samples/s", now.batch, steps,
                                        loss, record.samples_per_second());
  const int room = screen.columns - 1 - static_cast<int>(before.size() + after.size());
  const int width = std::min(room, 30);
  std::string bar;
  if (width >= 5) {
    const auto done = static_cast<int>(now.batch * width / std::max<std::int64_t>(steps, 1));
    for (int i = 0; i < width; ++i)
      bar += i < done ? (screen.ascii ? "#" : "━") : (screen.ascii ? "." : "─");
    return before + bar + after;
  }
  // There is no room for the bar, and maybe not for all of the text, which must not wrap.
  const auto columns = static_cast<std::size_t>(std::max(screen.columns - 1, 0));
  return (before + after).substr(0, columns);
}

Report::Report(const Plan& plan, const Task& task, const Record& record, const Screen& screen,
               bool is_quiet)
    : plan_(plan), task_(task), record_(record), screen_(screen), is_quiet_(is_quiet) {}

void Report::print(const std::string& text) {
  if (has_bar_) fmt::print("{}", kEraseLine);
  has_bar_ = false;
  fmt::print("{}", cli::fit(text));
  std::fflush(stdout);
}

void Report::on_start() {
  if (is_quiet_) return;
  std::string text = fmt::format("{}; {}\n", task_.model_name, task_.data_name);
  text +=
      fmt::format("{} on {} ({}{}), batches of {}", plan_.strategy, plural(plan_.ranks, "rank"),
                  what_ranks_are(plan_.ranks),
                  plan_.nodes > 1 ? fmt::format(", on {} nodes", plan_.nodes) : "", plan_.batch);
  if (plan_.ranks > 1 && strategy_named(plan_.strategy).shares_batches)
    text += fmt::format(" ({} a rank)", plan_.batch / plan_.ranks);
  if (plan_.accumulate > 1) text += fmt::format(", {} batches a step", plan_.accumulate);
  text += fmt::format(", {}, learning rate {}{}{}, seed {}\n", name_of(plan_.optimizer),
                      plan_.learning_rate, regularization(plan_), with_precision(plan_.precision),
                      plan_.seed);
  text += made_of(plan_);
  if (plan_.resume) {
    const Position& from = record_.from();
    text += fmt::format("continues from {}: epoch {}, {} of it, {} in all\n", plan_.save,
                        from.epoch + 1, plural(from.batch, "step"), from.steps);
    for (const std::string& note : record_.notes()) text += fmt::format("  {}\n", note);
  }
  print(text);
}

void Report::on_step(const Position& now, std::int64_t steps, const Metrics& batch) {
  if (is_quiet_) return;
  if (screen_.live) {
    const auto time = std::chrono::steady_clock::now();
    if (time - drawn_ < kRedraw && now.batch < steps) return;
    drawn_ = time;
    fmt::print("{}{}", kEraseLine, bar_line(plan_, now, steps, record_, screen_));
    std::fflush(stdout);
    has_bar_ = true;
    return;
  }
  const std::int64_t every = std::max<std::int64_t>((steps + kLines - 1) / kLines, 1);
  if (now.batch % every != 0 && now.batch != steps) return;
  print(fmt::format("epoch {}/{}  step {}/{}  loss {:.4f}  {:.0f} samples/s\n", now.epoch + 1,
                    plan_.epochs, now.batch, steps, batch.loss, record_.samples_per_second()));
}

void Report::on_evaluation(const Position& now, const Evaluation& test, bool is_best) {
  is_best_ = is_best;
  // After an epoch, on_epoch has the rest.
  const bool is_at_end = now.steps % plan_.steps_per_epoch(task_.data.train.size()) == 0;
  if (is_quiet_ || is_at_end) return;
  print(fmt::format("step {}: test loss {:.4f}, F1 {:.4f}, accuracy {:.2f} %{}\n", now.steps,
                    test.loss, test.f1, 100 * test.accuracy, is_best ? "; the best so far" : ""));
}

void Report::on_epoch(const EpochRecord& epoch) {
  if (is_quiet_) return;
  print(
      fmt::format("epoch {}/{}: loss {:.4f}; test loss {:.4f}, F1 {:.4f}, accuracy {:.2f} % of {}; "
                  "{:.0f} samples/s, {:.1f} s{}\n",
                  epoch.epoch, plan_.epochs, epoch.train_loss, epoch.test.loss, epoch.test.f1,
                  100 * epoch.test.accuracy, epoch.test.samples, epoch.samples_per_second,
                  epoch.train_seconds, is_best_ ? "; the best so far" : ""));
}

void Report::finish(const Outcome& outcome, int signal) {
  std::string text;
  const std::string saved = plan_.save.empty()
                                ? "nothing was saved: --save was not given"
                                : fmt::format("saved in {}: continue with --resume", plan_.save);
  if (!is_quiet_) {
    text += "\n" + draw_loss_curve(record_.losses(), {.columns = std::min(screen_.columns, 100),
                                                      .first_step = record_.from().steps + 1,
                                                      .ascii = screen_.ascii});
  }
  if (!outcome.is_complete) {
    text += fmt::format("stopped by {} after {} ({} of epoch {}); {}\n",
                        signal == 0 ? "a signal to another rank" : "a signal",
                        plural(outcome.end.steps, "step"), outcome.end.batch, outcome.end.epoch + 1,
                        saved);
    return print(text);
  }
  if (record_.losses().empty()) {
    text += fmt::format("nothing is left to do: --epochs {} are complete, give more to continue\n",
                        plan_.epochs);
  }
  text += fmt::format("test accuracy {:.2f} %, F1 {:.4f}, loss {:.4f}, over {} samples\n",
                      100 * outcome.test.accuracy, outcome.test.f1, outcome.test.loss,
                      outcome.test.samples);
  if (outcome.best_steps > 0) {
    text +=
        fmt::format("this is the best model by {}, after {} of {} steps, in {}.best\n",
                    name_of(plan_.keep_best), outcome.best_steps, outcome.end.steps, plan_.save);
  }
  if (!outcome.expert_loads.empty()) {
    const std::vector<std::int64_t>& loads = outcome.expert_loads;
    text += fmt::format("experts 0 to {} have {} of the test samples' rows\n", loads.size() - 1,
                        fmt::join(shares_of(loads), ", "));
  }
  if (!record_.losses().empty()) {
    text += fmt::format("{} parameters, {} in {:.1f} s, {:.0f} samples/s\n", outcome.parameters,
                        plural(static_cast<std::int64_t>(record_.losses().size()), "step"),
                        record_.seconds(), record_.overall_samples_per_second());
  }
  if (!plan_.save.empty() && !is_quiet_) text += saved + "\n";
  print(text);
}

}  // namespace rankbox::train
