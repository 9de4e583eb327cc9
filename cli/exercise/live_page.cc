#include "cli/exercise/live_page.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/exercise/guide.h"
#include "cli/exercise/prediction.h"
#include "cli/exercise/progress.h"
#include "cli/picture/run_picture.h"
#include "files/foreign_file.h"
#include "verdict/verdict_json.h"

namespace rankbox::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Returns one line. What the learner's code prints may be in any encoding.
std::string line_of(const Json& state) {
  return state.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json progress() {
  Json all = Json::array();
  for (const Chapter& chapter : chapters()) {
    Json list = Json::array();
    for (const Exercise& exercise : exercises()) {
      if (exercise.chapter != chapter.number) continue;
      list.push_back({{"name", exercise.name}, {"status", progress_of(exercise)}});
    }
    all.push_back({{"folder", chapter.folder},
                   {"number", chapter.number},
                   {"title", chapter.title},
                   {"exercises", std::move(list)}});
  }
  return all;
}

Json description_of(const Exercise& exercise) {
  const Chapter& chapter = chapter_of(exercise);
  return {{"name", exercise.name},
          {"summary", exercise.summary},
          {"difficulty", exercise.difficulty},
          {"file", stub_path(exercise)},
          {"contract", header_path(exercise)},
          {"chapter", chapter.folder},
          {"title", chapter.title}};
}

/// Returns the promised cost of a typical case; empty if no closed form states it.
std::string promise_of(const Exercise& exercise) {
  const Case example = typical_case_of(exercise);
  const Subject subject = subject_of(exercise);
  if (!subject.cost) return "";
  const Cost cost = subject.cost(example);
  return fmt::format("{}: {:g} steps, {:g} bytes sent, {:g} bytes added, one after the other",
                     to_string(example), cost.steps, cost.bytes, cost.reduced);
}

Json prediction_on(const Exercise& exercise, bool passed) {
  if (!is_predictable(exercise)) return nullptr;
  const std::string text = prediction_of(exercise);
  return {{"text", text == "-" ? "" : text}, {"answer", passed ? answer_to(exercise, text) : ""}};
}

}  // namespace

LivePage::LivePage(int port, const Exercise& first) : server_(port) { send(first, nullptr, ""); }

void LivePage::show_busy(const Exercise& exercise) {
  std::filesystem::remove(folder_.path(kHtmlFile));
  Json state = Json::parse(state_);
  state["version"] = ++version_;
  state["busy"] = exercise.name;
  server_.show(line_of(state));
}

void LivePage::show(const Exercise& exercise, const Grade& graded) { send(exercise, &graded, ""); }

void LivePage::show_problem(const Exercise& exercise, const std::string& problem) {
  send(exercise, nullptr, problem);
}

void LivePage::send(const Exercise& exercise, const Grade* graded, const std::string& problem) {
  ++version_;
  const bool passed = graded != nullptr && graded->verdict.passed();
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  std::string run = read_foreign_file(folder_.path(kHtmlFile), kMostBytes).value_or("");
  const bool has_run = !run.empty();
  server_.set_run(std::move(run), page_policy());
  state_ = line_of({{"version", version_},
                    {"busy", ""},
                    {"exercise", description_of(exercise)},
                    {"status", progress_of(exercise)},
                    {"problem", problem},
                    {"verdict", graded == nullptr ? Json() : Json::parse(to_json(graded->verdict))},
                    {"compiler", graded == nullptr || passed ? "" : graded->compiler_output},
                    {"printed", graded == nullptr ? "" : graded->program_output},
                    {"promise", promise_of(exercise)},
                    {"prediction", prediction_on(exercise, passed)},
                    {"next", passed ? guide_of(exercise).next : ""},
                    {"solution", passed ? solution_path(exercise) : ""},
                    {"run", has_run ? version_ : 0},
                    {"progress", progress()}});
  server_.show(state_);
}

}  // namespace rankbox::cli
