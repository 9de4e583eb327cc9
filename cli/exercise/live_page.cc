#include "cli/exercise/live_page.h"

#include <cstdint>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/exercise/guide.h"
#include "cli/exercise/prediction.h"
#include "cli/exercise/progress.h"
#include "cli/page/server.h"
#include "cli/picture/run_picture.h"
#include "files/foreign_file.h"
#include "files/temporary_folder.h"
#include "judge/verdict_json.h"

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
    all.push_back(
        {{"number", chapter.number}, {"title", chapter.title}, {"exercises", std::move(list)}});
  }
  return all;
}

Json description_of(const Exercise& exercise) {
  return {{"name", exercise.name},
          {"summary", exercise.summary},
          {"difficulty", exercise.difficulty},
          {"file", stub_path(exercise)},
          {"contract", header_path(exercise)},
          {"chapter", readme_path(chapter_of(exercise))}};
}

/// Returns the promised cost of a typical case; empty if no closed form states it.
std::string promise_of(const Exercise& exercise) {
  const Case example = typical_case_of(exercise);
  const Subject subject = subject_of(exercise);
  if (!subject.cost) return "";
  const Cost cost = subject.cost(example);
  return fmt::format("{}: {:g} steps, {:.10g} bytes sent, {:.10g} bytes added, one after the other",
                     to_string(example), cost.steps, cost.bytes, cost.reduced);
}

Json prediction_on(const Exercise& exercise, bool passed) {
  if (!is_predictable(exercise)) return nullptr;
  const std::string text = prediction_of(exercise);
  return {{"text", text == "-" ? "" : text}, {"answer", passed ? answer_to(exercise, text) : ""}};
}

class LivePage {
 public:
  LivePage(int port, const Exercise& first) : server_(port) { send(first, nullptr, ""); }

  std::string address() const { return server_.address(); }
  std::string run_folder() const { return folder_.path(""); }

  void show_busy(const Exercise& exercise) {
    std::filesystem::remove(folder_.path(kHtmlFile));
    Json state = Json::parse(state_);
    state["version"] = ++version_;
    state["busy"] = exercise.name;
    server_.show(line_of(state));
  }

  /// @param graded null: no verdict yet, or a problem instead
  void send(const Exercise& exercise, const Grade* graded, const std::string& problem);

 private:
  TemporaryFolder folder_;
  PageServer server_;
  std::string state_;
  std::int64_t version_ = 0;
};

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

}  // namespace

WatchPage open_live_page(int port, const Exercise& first) {
  const auto page = std::make_shared<LivePage>(port, first);
  return {.address = page->address(),
          .run_folder = page->run_folder(),
          .show_busy = [page](const Exercise& exercise) { page->show_busy(exercise); },
          .show = [page](const Exercise& exercise,
                         const Grade& graded) { page->send(exercise, &graded, ""); },
          .show_problem =
              [page](const Exercise& exercise, const std::string& problem) {
                page->send(exercise, nullptr, problem);
              }};
}

}  // namespace rankbox::cli
