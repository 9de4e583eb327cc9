// `rankbox train` with learners' functions.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cli/dev/mutants.h"
#include "cli/plugin/compile.h"
#include "cli/support/child.h"
#include "cli/support/exec.h"
#include "tests/cli/command.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

/// Puts the program where the script would have built it, and a script that finds nothing to build.
std::string program() {
  static const std::string path = [] {
    const fs::path script = fs::path(project()) / "rankbox";
    std::ofstream(script) << "#!/bin/sh\n";
    fs::permissions(script, fs::perms::owner_all);
    const fs::path place = fs::path(project()) / ".rankbox/bin/rankbox-train-sim";
    fs::create_directories(place.parent_path());
    fs::create_symlink(fs::absolute(std::getenv("RANKBOX_TRAIN")), place);
    return place.string();
  }();
  return path;
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Runs a small training.
CommandResult train(const Words& options) {
  program();
  return rankbox(Words{"train", "--samples", "64", "--batch", "8", "--epochs", "1"} + options);
}

/// Returns the object that --json printed, which is the last line.
Json object_in(const CommandResult& result) {
  INFO(result.output);
  REQUIRE(result.exit_code == 0);
  const std::size_t begin = result.output.rfind("\n{");
  return Json::parse(result.output.substr(begin == std::string::npos ? 0 : begin + 1));
}

using testing::contains;
using testing::lacks;

int lines_in(const std::string& text) { return static_cast<int>(std::ranges::count(text, '\n')); }

std::string write(const std::string& name, const std::string& text) {
  const std::string path = (fs::path(project()) / "tmp" / name).string();
  std::ofstream(path) << text;
  return path;
}

std::string solution(const std::string& name) {
  return (fs::path(project()) / solution_path(*find_exercise(name))).string();
}

const std::string kAverage = "ddp_average_gradients";

std::string averaging(const std::string& body) {
  return "#include \"parallel/ddp_average_gradients.h\"\n"
         "#include <stdexcept>\n"
         "namespace rankbox {\n"
         "void ddp_average_gradients(Comm& dist, const std::vector<Parameter*>& parameters) {\n" +
         body + "\n}\n}  // namespace rankbox\n";
}

const std::string kSum =
    averaging("for (Parameter* each : parameters) dist.all_reduce(gradient_of(*each));");

/// Returns runs that call different exercises.
const std::vector<Words>& runs() {
  static const std::vector<Words> all = [] {
    std::vector<Words> list = {
        {"--strategy", "single", "--precision", "mixed"},
        {"--ranks", "2", "--strategy", "ddp"},
        {"--ranks", "2", "--strategy", "ddp", "--precision", "bf16"},
        {"--ranks", "2", "--strategy", "ddp", "--precision", "mixed"},
        {"--ranks", "2", "--strategy", "ddp", "--precision", "mixed", "--all-reduce", "ring"},
        {"--ranks", "2", "--strategy", "ddp", "--bucket-mb", "0.1"},
        {"--ranks", "2", "--strategy", "ddp", "--overlap"},
        {"--ranks", "2", "--strategy", "zero1", "--clip-norm", "1"},
        {"--ranks", "4", "--nodes", "2", "--strategy", "hsdp"},
        {"--ranks", "2", "--strategy", "tensor", "--model", "transformer", "--clip-norm", "1"},
        {"--ranks", "2", "--strategy", "expert", "--model", "moe"},
    };
    for (const char* each : {"dp", "zero2", "zero3", "fsdp", "tensor", "pipeline"})
      list.push_back({"--ranks", "2", "--strategy", each});
    for (const char* each : {"naive", "tree", "butterfly", "ring", "rabenseifner", "hierarchical"})
      list.push_back({"--ranks", "4", "--nodes", "2", "--all-reduce", each});
    return list;
  }();
  return all;
}

/// Returns the same runs, and some with loss scaling.
std::vector<Words> runs_and_mixed() {
  std::vector<Words> list = runs();
  for (const char* each : {"dp", "zero2", "tensor", "pipeline"})
    list.push_back({"--ranks", "2", "--precision", "mixed", "--strategy", each});
  list.push_back({"--ranks", "2", "--precision", "mixed", "--overlap"});
  return list;
}

/// Returns the exercises that the run will call, as the program reports them.
Words called(const Words& run) {
  cli::ChildOptions options;
  options.command = Words{program(), "--exercises"} + run;
  std::istringstream lines(cli::run_child(options).output);
  Words names;
  for (std::string name; std::getline(lines, name);) names.push_back(name);
  return names;
}

/// Returns the stub of an exercise as a library, which throws NotImplemented.
std::string stub_library(const Exercise& exercise) {
  static std::map<std::string, std::string> made;
  std::string& library = made[exercise.name];
  if (library.empty()) {
    library = (fs::path(project()) / "tmp" / (exercise.name + ".so")).string();
    const cli::Compiled compiled = cli::compile(exercise, stub_path(exercise), library);
    INFO(compiled.output);
    REQUIRE_FALSE(compiled.failure);
  }
  return library;
}

CommandResult train_with_stubs(const Words& run, const Words& names) {
  cli::ChildOptions options;
  options.command =
      Words{program(), "--samples", "64", "--batch", "8", "--epochs", "1", "--quiet"} + run;
  for (const std::string& name : names) {
    options.command.emplace_back("--mine-library");
    options.command.push_back(name + "=" + stub_library(*find_exercise(name)));
  }
  options.seconds = 60;
  const cli::ChildResult result = cli::run_child(options);
  return {cli::exit_code_of(result.status), result.output};
}

TEST_CASE("a run calls the exercises that it names, and no others") {
  std::set<std::string> named_by_all;
  const std::vector<Words> all = runs_and_mixed();
  for (const Words& run : all)
    for (const std::string& name : called(run)) named_by_all.insert(name);
  for (std::size_t row = 0; const Words& run : all) {
    if (!testing::is_to_run(row++)) continue;
    const Words names = called(run);
    CAPTURE(run.back());
    CAPTURE(names);
    for (const std::string& name : names) {
      const CommandResult result = train_with_stubs(run, {name});
      CAPTURE(name);
      CAPTURE(result.output);
      CHECK(result.exit_code == 1);
      CHECK(contains(result.output, name));
    }
    Words others;
    for (const Exercise& exercise : exercises()) {
      const bool is_candidate = exercise.chapter >= 6 || named_by_all.contains(exercise.name);
      if (is_candidate && std::ranges::find(names, exercise.name) == names.end())
        others.push_back(exercise.name);
    }
    const CommandResult result = train_with_stubs(run, others);
    CAPTURE(result.output);
    CHECK(result.exit_code == 0);
  }
}

TEST_CASE("with every solution as yours, a run is the same to the bit") {
  for (std::size_t row = 0; const Words& run : runs()) {
    if (!testing::is_to_run(row++)) continue;
    const Words names = called(run);
    Words mine;
    for (const std::string& name : names)
      mine = mine + Words{"--mine-unchecked", name + "=" + solution(name)};
    CAPTURE(run.back());
    const Json yours = object_in(train(run + mine + Words{"--json"}));
    const Json reference = object_in(train(run + Words{"--mine", "none", "--json"}));
    CHECK(yours.at("yours").get<Words>() == names);
    CHECK(reference.at("yours").empty());
    CHECK(reference.at("exercises").get<Words>() == names);
    CHECK(yours.at("losses") == reference.at("losses"));
    CHECK(yours.at("parameters_digest") == reference.at("parameters_digest"));
  }
}

TEST_CASE("a sum instead of a mean is refused with its kind, and unchecked changes the loss") {
  const std::string sum = write("sum.cc", kSum);
  const Words run = {"--ranks", "2", "--json"};
  const CommandResult refused = train(run + Words{"--mine", kAverage + "=" + sum});
  CAPTURE(refused.output);
  CHECK(refused.exit_code == 1);
  CHECK(lacks(refused.output, {"values", "sum.cc:5", "--mine-unchecked"}) == "");

  const Json wrong = object_in(train(run + Words{"--mine-unchecked", kAverage + "=" + sum}));
  const Json right = object_in(train(run + Words{"--mine", kAverage + "=" + solution(kAverage)}));
  const Json reference = object_in(train(run + Words{"--mine", "none"}));
  CHECK(wrong.at("yours") == Json::array({kAverage}));
  CHECK(right.at("yours") == Json::array({kAverage}));
  CHECK(right.at("losses") == reference.at("losses"));
  CHECK(wrong.at("losses") != reference.at("losses"));
  CHECK(wrong.at("losses")[0] == reference.at("losses")[0]);  // before the first step
}

TEST_CASE("a function of yours that goes wrong ends the run with kind and place") {
  const struct {
    const char* body;
    const char* part;
  } table[] = {
      {"if (dist.rank() == 1) { volatile int* none = nullptr; *none = 1; } dist.barrier();",
       "rank 1"},
      {"throw std::runtime_error(\"no more\");", "no more"},
      {"if (dist.rank() == 0) dist.recv(gradient_of(*parameters[0]), 1);\n"
       "  else dist.recv(gradient_of(*parameters[0]), 0);",
       "\n  rank 1 waits"},  // a wait in each line
      {"dist.send(gradient_of(*parameters[0]), 9);", "9"},
      {"if (dist.rank() == 0) dist.barrier();", "mismatch"},
      {"if (dist.rank() == 1) std::exit(0);\n  dist.barrier();", "exit(0)"},
      {"volatile int none = 0, many = 9;\n  none = many / none;", "wrong.cc"},
  };
  for (const auto& row : table) {
    const std::string file = write("wrong.cc", averaging(row.body));
    const CommandResult result =
        train({"--ranks", "2", "--quiet", "--mine-unchecked", kAverage + "=" + file});
    CAPTURE(std::string(row.body));
    CAPTURE(result.output);
    CHECK(result.exit_code == 1);
    CHECK(lacks(result.output, {row.part, "wrong.cc:", "./rankbox check " + kAverage}) == "");
  }
}

TEST_CASE("known-wrong programs as yours end in 0 or 1, and never by a signal") {
  const std::pair<const char*, Words> table[] = {
      {"ddp_average_gradients", {"--ranks", "3", "--batch", "9"}},
      {"zero1", {"--ranks", "2", "--strategy", "zero1"}},
      {"column_linear", {"--ranks", "2", "--strategy", "tensor"}},
      {"allreduce_ring", {"--ranks", "3", "--batch", "9", "--all-reduce", "ring"}},
  };
  for (std::size_t row = 0; const auto& [name, run] : table) {
    for (const cli::Mutant& mutant : cli::mutants_of(*find_exercise(name)).all) {
      if (!testing::is_to_run(row++)) continue;
      const std::string file = write("mutant.cc", mutant.source);
      const std::string value = std::string(name) + "=" + file;
      const CommandResult result = train(run + Words{"--quiet", "--mine-unchecked", value});
      CAPTURE(mutant.name);
      CAPTURE(result.output);
      CHECK((result.exit_code == 0 || result.exit_code == 1));
      CHECK(contains(result.output, result.exit_code == 0 ? "test accuracy" : "rankbox"));
    }
  }
}

TEST_CASE("an exercise is yours as soon as it passes, and until then the reference's") {
  const Exercise& exercise = *find_exercise(kAverage);
  const std::string own = (fs::path(project()) / stub_path(exercise)).string();
  const std::string stub = read_file(stub_path(exercise));
  const Words run = {"--ranks", "2", "--json"};
  CHECK(object_in(train(run)).at("yours").empty());

  std::ofstream(own) << kSum;
  for (int time = 0; time < 2; ++time) {  // judged, then recorded
    const CommandResult wrong = train(run);
    CHECK(contains(wrong.output, kAverage));  // a note that the run uses the reference's
    CHECK(object_in(wrong).at("yours").empty());
  }
  std::ofstream(own) << read_file(solution_path(exercise));
  CHECK(object_in(train(run)).at("yours") == Json::array({kAverage}));
  CHECK(object_in(train(run + Words{"--mine", "none"})).at("yours").empty());
  const CommandResult told = train({"--ranks", "2", "--no-timeline"});
  CHECK(lacks(told.output, {kAverage + " (yours)", "ddp_init_broadcast"}) == "");
  std::ofstream(own) << stub;
}

TEST_CASE("a learner's ring trains the MLP to 97 %, and its messages are seen") {
  program();
  const std::string mine = "allreduce_ring=" + solution("allreduce_ring");
  const Words run = {"train",        "--ranks", "2",      "--epochs", "1",
                     "--all-reduce", "ring",    "--mine", mine};
  const Json json = object_in(rankbox(run + Words{"--json"}));
  CHECK(json.at("all_reduce") == "ring");
  CHECK(json.at("yours") == Json::array({"allreduce_ring"}));
  CHECK(json.at("test").at("accuracy") > 0.97);

  // A machine that adds so slowly that additions are wide, however long this one computes.
  const std::string cluster = project() + "/slow.toml";
  std::ofstream(cluster) << "name = \"slow\"\nranks_per_node = 0\nreduction_GB_s = 0.0001\n"
                            "[within_node]\nalpha_us = 0.3\nbandwidth_GB_s = 0.01\n"
                            "[between_nodes]\nalpha_us = 0.3\nbandwidth_GB_s = 0.01\n";
  const Words small = {"--ranks", "3", "--batch", "9", "--cluster", cluster};
  const CommandResult ring = train(small + Words{"--all-reduce", "ring"});
  CHECK(contains(ring.output, "all-reduce ring\n"));
  CHECK(contains(ring.output, "[+"));
  CHECK_FALSE(contains(train(small).output, "[+"));
}

TEST_CASE("--log has a line per step, once, and the evaluations; F1 and the best are in --json") {
  const std::string log = project() + "/steps.jsonl", file = project() + "/log.ckpt";
  const auto lines = [&] {
    std::ifstream stream(log);
    std::vector<Json> all;
    for (std::string line; std::getline(stream, line);) all.push_back(Json::parse(line));
    return all;
  };
  // 4 steps of 2 batches of 8 in each epoch.
  const Words run = {"--ranks",     "2",      "--accumulate", "2",  "--eval-every", "3",
                     "--keep-best", "f1",     "--save",       file, "--log",        log,
                     "--decay",     "linear", "--epochs",     "2",  "--clip-norm",  "1",
                     "--json"};
  const Json whole = object_in(train(run));
  const std::vector<Json> steps = lines();
  REQUIRE(steps.size() == 8);
  double best = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(steps[i].dump());
    CHECK(steps[i].at("step") == i + 1);
    CHECK(steps[i].at("epoch") == i / 4 + 1);
    CHECK(steps[i].at("loss") == whole.at("losses")[i]);
    CHECK(steps[i].at("learning_rate").get<double>() ==
          doctest::Approx(0.05 * (1 - static_cast<double>(i) / 8)));
    CHECK(steps[i].at("grad_norm") > 0);
    CHECK(steps[i].at("seconds") > 0);
    CHECK(steps[i].at("samples_per_second") > 0);
    const bool is_evaluated = (i + 1) % 3 == 0 || (i + 1) % 4 == 0;
    CHECK(steps[i].contains("test") == is_evaluated);
    if (!is_evaluated) continue;
    const double f1 = steps[i].at("test").at("f1");
    CHECK(steps[i].at("best") == (f1 > best));
    best = std::max(best, f1);
  }
  CHECK(whole.at("f1") == doctest::Approx(best).epsilon(1e-12));
  CHECK(whole.at("f1") == whole.at("test").at("f1"));
  CHECK(whole.at("accuracy") == whole.at("test").at("accuracy"));
  CHECK(whole.at("best").at("by") == "f1");
  CHECK(whole.at("metrics_step") == whole.at("best").at("steps"));
  CHECK(steps[whole.at("best").at("steps").get<std::size_t>() - 1].at("best") == true);

  const Json resumed = object_in(train(run + Words{"--resume", "--epochs", "3"}));
  CHECK(resumed.at("first_step") == 8);
  const std::vector<Json> more = lines();
  REQUIRE(more.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) CHECK(more[i].at("step") == i + 1);
  std::ofstream(log, std::ios::app) << "{\"step\":99}\n{\"st";  // of a run that was killed
  object_in(train(run + Words{"--resume", "--epochs", "4"}));
  REQUIRE(lines().size() == 16);
  CHECK(lines().back().at("step") == 16);
}

TEST_CASE("a mistake is one line and exit code 2") {
  const std::string file = solution("zero1");
  const struct {
    Words options;
    const char* part;
  } table[] = {
      {{"--mine", "zero1=" + file}, "zero1"},
      {{"--mine", "zerro1=" + file}, "zero1"},
      {{"--mine-unchecked", "ddp_average_gradients=/no/such.cc"}, "/no/such.cc"},
      {{"--mine", "all"}, "NAME=FILE"},
      {{"--mine"}, "NAME=FILE"},
      {{"--strategy", "zero1", "--mine", "zero1=" + file, "--mine-unchecked=zero1=" + file},
       "--mine-unchecked"},
      {{"--all-reduce", "star"}, "native, naive, "},
      {{"--strategy", "zero1", "--all-reduce", "ring"}, "--strategy ddp"},
      {{"--strategy", "zero9"}, "single, "},
      {{"--backend=cuda"}, "sim, mpi or nccl"},
      {{"--backend"}, "sim, mpi or nccl"},
      {{"--nodes", "2", "--batch", "9", "--all-reduce", "hierarchical"}, "of the 3 ranks"},
  };
  for (const auto& row : table) {
    const CommandResult result = train(Words{"--ranks", "3"} + row.options);
    CAPTURE(row.options);
    CAPTURE(result.output);
    CHECK(result.exit_code == 2);
    CHECK(lines_in(result.output) == 1);
    CHECK(contains(result.output, row.part));
  }
}

}  // namespace
}  // namespace rankbox
