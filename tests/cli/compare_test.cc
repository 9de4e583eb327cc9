// `rankbox compare` with learners' files: timed if correct, one line if wrong.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/compare/plan/algorithms.h"
#include "cli/dev/mutants.h"
#include "exercises/registry.h"
#include "tests/cli/command.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

/// Writes a file of the project, and returns its path.
std::string written(const std::string& name, const std::string& text) {
  const fs::path path = fs::path(project()) / "yours" / (name + ".cc");
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
  return path;
}

/// Returns a ring with this body.
std::string ring_of(const std::string& body) {
  return "#include <cstdlib>\n#include \"collectives/allreduce_ring.h\"\nnamespace rankbox {\n"
         "void allreduce_ring(Comm& dist, Tensor& tensor, ReduceOp op) {\n" +
         body + "\n}\n}\n";
}

struct Compared {
  int exit_code = 0;
  std::string output;
  std::vector<Json> results;
};

/// Runs a comparison that takes little time. Thread safety: any thread may call it.
Compared compare(Words more) {
  static std::atomic<int> number = 0;
  const std::string figures = written(fmt::format("figures{}", number++), "");
  Words words = {"compare", "--iters", "2", "--warmup", "1", "--json", figures};
  words.insert(words.end(), more.begin(), more.end());
  const CommandResult run = rankbox(words);
  Compared compared{run.exit_code, run.output, {}};
  const Json json = Json::parse(std::ifstream(figures), nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) compared.results = json.at("results").get<std::vector<Json>>();
  return compared;
}

std::vector<Json> rows_of(const Compared& compared, const std::string& whose) {
  std::vector<Json> rows;
  std::ranges::copy_if(compared.results, std::back_inserter(rows),
                       [&](const Json& row) { return row.at("whose") == whose; });
  return rows;
}

TEST_CASE("every solution, given as yours, is timed, and costs what ours does") {
  Words words = {"--collective", "all", "--ranks", "3", "--sizes", "64,1K"};
  std::size_t given = 0;
  for (const Exercise& exercise : exercises()) {
    if (!cli::collective_and_name_of(exercise.name)) continue;
    words.insert(words.end(), {"--mine", fmt::format("{}={}/{}", exercise.name, project(),
                                                     solution_path(exercise))});
    ++given;
  }
  REQUIRE(given >= 24);
  const Compared compared = compare(words);
  INFO(compared.output);
  CHECK(compared.exit_code == 0);
  const std::vector<Json> yours = rows_of(compared, "yours");
  const std::vector<Json> ours = rows_of(compared, "reference");
  REQUIRE(yours.size() == ours.size());
  CHECK(yours.size() > given);  // two sizes of each, one of the barrier
  for (std::size_t i = 0; i < yours.size(); ++i) {
    CAPTURE(yours[i].dump());
    CHECK(yours[i].at("algorithm") == ours[i].at("algorithm"));
    CHECK(yours[i].at("cost") == ours[i].at("cost"));
    CHECK(yours[i].at("virtual_us") == ours[i].at("virtual_us"));
    CHECK(yours[i].at("wrong") == 0);
    CHECK(yours[i].at("time_us").at("median").get<double>() > 0);
  }
}

TEST_CASE("yours is what is no longer the stub; --mine none and only choose otherwise") {
  const fs::path own = fs::path(project()) / "exercises/04_allreduce/allreduce_tree.cc";
  const Words small = {"--sizes", "64,1K", "--ranks", "2", "--algorithms", "tree,ring"};
  const auto counts = [&](const Words& more) {
    Words words = small;
    words.insert(words.end(), more.begin(), more.end());
    const Compared compared = compare(words);
    INFO(compared.output);
    CHECK(compared.exit_code == 0);
    return std::vector{rows_of(compared, "native").size(), rows_of(compared, "reference").size(),
                       rows_of(compared, "yours").size()};
  };
  using Counts = std::vector<std::size_t>;
  CHECK(counts({}) == Counts{2, 4, 0});
  fs::copy_file(fs::path(project()) / "solutions/04_allreduce/allreduce_tree.cc", own,
                fs::copy_options::overwrite_existing);
  CHECK(counts({}) == Counts{2, 4, 2});
  CHECK(counts({"--mine", "none"}) == Counts{2, 4, 0});
  CHECK(counts({"--mine", "only"}) == Counts{2, 0, 2});
  CHECK(rankbox({"reset", "allreduce_tree"}).exit_code == 0);
  CHECK(counts({}) == Counts{2, 4, 0});
}

TEST_CASE("whatever yours does, the other rows go on, and yours has one line with kind and place") {
  const struct {
    const char* body;
    const char* kind;
    int line;  // 0: any
  } table[] = {
      {"int x = ;", "compile", 5},
      {"no function", "compile", 0},
      {"throw NotImplemented(\"allreduce_ring\");", "not_implemented", 5},
      {"dist.recv(tensor, (dist.rank() + 1) % dist.world_size());", "deadlock", 5},
      {"if (dist.rank() == 0) *reinterpret_cast<volatile int*>(8) = 1;", "crash", 5},
      {"if (dist.rank() == 0) std::exit(0);\ndist.all_reduce(tensor, op);", "crash", 5},
      {"if (dist.rank() == 1) throw 1;\ndist.all_reduce(tensor, op);", "crash", 0},
      {"for (volatile int i = 0;;) i = 1;", "timeout", 0},
      {"", "values", 0},
      {"dist.all_reduce(tensor, op);\nif (dist.rank() == 0) { dist.isend(tensor, 1); }",
       "unreceived", 6},
      {"Tensor half(tensor.size() / 2);\nif (dist.rank() == 0) dist.send(tensor, 1);\n"
       "if (dist.rank() == 1) dist.recv(half, 0);",
       "mismatch", 0},
  };
  for (const auto& row : table) {
    CAPTURE(row.body);
    const std::string text =
        std::string_view(row.body) == "no function" ? "// nothing\n" : ring_of(row.body);
    const std::string file = written("ring", text);
    const Compared compared = compare({"--sizes", "64,1K", "--ranks", "2", "--algorithms",
                                       "ring,tree", "--mine", "allreduce_ring=" + file, "--timeout",
                                       row.kind == std::string("timeout") ? "5" : "60"});
    INFO(compared.output);
    CHECK(compared.exit_code == 1);
    CHECK(rows_of(compared, "native").size() == 2);
    CHECK(rows_of(compared, "reference").size() == 4);
    const std::vector<Json> yours = rows_of(compared, "yours");
    REQUIRE(yours.size() == 2);
    const Json& failure = yours.front().at("failure");
    REQUIRE(failure.is_object());
    CHECK(failure.at("kind") == row.kind);
    CHECK(failure.at("file").get<std::string>().ends_with("yours/ring.cc"));
    if (row.body != std::string_view("no function")) CHECK(failure.at("line").get<int>() > 0);
    if (row.line > 0) CHECK(failure.at("line") == row.line);
    CHECK(yours.front().at("time_us").is_null());
    CHECK(compared.output.find("./rankbox check allreduce_ring --file ") != std::string::npos);
  }
}

/// As compare(), with --virtual.
Compared compare_without_data(Words words) {
  const std::string figures = written("figures_without_data", "");
  words.insert(words.begin(), {"compare", "--virtual", "--json", figures});
  const CommandResult run = rankbox(words);
  Compared compared{run.exit_code, run.output, {}};
  const Json json = Json::parse(std::ifstream(figures), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return compared;
  CHECK(json.at("virtual") == true);
  compared.results = json.at("results").get<std::vector<Json>>();
  return compared;
}

TEST_CASE("--virtual has the costs and virtual times of runs with data, and no other times") {
  const Words words = {"--collective", "all",     "--mine", "none",      "--ranks",
                       "3,8",          "--sizes", "64,1K",  "--cluster", "h100-efa"};
  const Compared with = compare(words);
  const Compared without = compare_without_data(words);
  INFO(without.output);
  CHECK(without.exit_code == 0);
  REQUIRE(without.results.size() == with.results.size());
  for (std::size_t i = 0; i < with.results.size(); ++i) {
    const Json& row = without.results[i];
    CAPTURE(row.dump());
    for (const char* same : {"algorithm", "ranks", "bytes", "cost", "virtual_us"})
      CHECK(row.at(same) == with.results[i].at(same));
    for (const char* unknown : {"time_us", "wrong", "busbw_gbps"}) CHECK(row.at(unknown).is_null());
  }
}

TEST_CASE("where ranks make no grid of nodes, the row says so in place of figures") {
  const Words words = {
      "--algorithms", "hierarchical", "--mine",    "none",           "--ranks", "9",
      "--sizes",      "64",           "--cluster", "a100-infiniband"};
  for (const Compared& compared : {compare(words), compare_without_data(words)}) {
    INFO(compared.output);
    CHECK(compared.exit_code == 0);
    REQUIRE(compared.results.size() == 2);
    CHECK(compared.results[0].at("skipped").is_null());
    const Json& row = compared.results[1];
    for (const char* unknown : {"time_us", "virtual_us", "cost", "failure"})
      CHECK(row.at(unknown).is_null());
    const auto why = row.at("skipped").get<std::string>();
    for (const char* part : {"node 0", "5 ranks", "4 of the 9 ranks"})
      CHECK(why.find(part) != std::string::npos);
    CHECK(compared.output.find("skipped: " + why) != std::string::npos);
  }
}

TEST_CASE(
    "--virtual takes sizes beyond any memory, and says which topology wins on how many ranks") {
  const Compared compared = compare_without_data(
      {"--algorithms", "tree,ring", "--mine", "none", "--ranks", "2,64", "--sizes", "4,1G"});
  INFO(compared.output);
  CHECK(compared.exit_code == 0);
  for (const char* part : {"vs native", "64 ranks, SUM, n = 1 GiB", "all_reduce, 1 GiB, laptop: "})
    CHECK(compared.output.find(part) != std::string::npos);
  CHECK(compared.output.find("p99") == std::string::npos);
}

TEST_CASE("yours that needs values fails in its row with --virtual, the others go on") {
  const std::string file =
      written("values", ring_of("dist.all_reduce(tensor, op);\ntensor.data()[0] += 1;"));
  const Compared compared = compare_without_data({"--algorithms", "ring", "--ranks", "2", "--sizes",
                                                  "64", "--mine", "allreduce_ring=" + file});
  INFO(compared.output);
  CHECK(compared.exit_code == 1);
  for (const Json& row : compared.results) {
    const bool is_yours = row.at("whose") == "yours";
    CHECK(row.at("failure").is_object() == is_yours);
    if (is_yours) CHECK(row.at("failure").at("line") == 6);
  }
}

TEST_CASE("what --mine cannot mean is one line and exit code 2") {
  const std::string file = written("ring", ring_of("dist.all_reduce(tensor, op);"));
  for (const Words& mistake :
       {Words{"--mine", "allreduce_ring"}, Words{"--mine", "allreduce_ring="},
        Words{"--mine", "no_such=" + file}, Words{"--mine", "ddp_buckets=" + file},
        Words{"--mine", "allreduce_ring=/no/such/file.cc"},
        Words{"--mine", "allreduce_ring=" + file, "--collective", "broadcast"},
        Words{"--mine", "none", "--mine", "allreduce_ring=" + file}, Words{"--bundle", "somewhere"},
        Words{"--backend", "gpu"}, Words{"--virtual", "--backend", "mpi"},
        Words{"--virtual", "--iters", "3"}, Words{"--virtual", "--check", "2"}}) {
    CAPTURE(mistake.back());
    Words words = {"compare"};
    words.insert(words.end(), mistake.begin(), mistake.end());
    const CommandResult result = rankbox(words);
    CAPTURE(result.output);
    CHECK(result.exit_code == 2);
    CHECK(std::ranges::count(result.output, '\n') == 1);
  }
}

/// Calls work(i) for all of them, two at a time.
void for_each_of(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::thread other(run);
  run();
  other.join();
}

// One in five: the judge's tests run all of them, and what compare does with each kind of failure
// is tested above.
TEST_CASE("a wrong program, given as yours, leaves the tool standing and the other rows in place") {
  project();
  std::vector<cli::Mutant> mutants;
  std::size_t number = 0;
  for (const Exercise& exercise : exercises()) {
    if (!cli::collective_and_name_of(exercise.name)) continue;
    for (cli::Mutant& mutant : cli::mutants_of(exercise).all)
      if (number++ % 5 == 0) mutants.push_back(std::move(mutant));
  }
  REQUIRE(mutants.size() > 40);
  std::vector<Compared> compared(mutants.size());
  for_each_of(mutants.size(), [&](std::size_t i) {
    const auto is = cli::collective_and_name_of(mutants[i].exercise);
    const std::string file = written(fmt::format("mutant{}", i), mutants[i].source);
    compared[i] =
        compare({"--collective", name_of(is->first), "--algorithms", is->second, "--ranks", "4",
                 "--sizes", "64", "--mine", mutants[i].exercise + "=" + file, "--timeout",
                 fmt::format("{:g}", mutants[i].seconds())});
  });
  std::size_t failed = 0;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    CAPTURE(mutants[i].exercise);
    CAPTURE(mutants[i].name);
    INFO(compared[i].output);
    CHECK(compared[i].exit_code <= 1);
    const std::vector<Json> yours = rows_of(compared[i], "yours");
    for (const char* whose : {"native", "reference"}) {
      const std::vector<Json> rows = rows_of(compared[i], whose);
      CHECK(rows.size() == yours.size());
      CHECK_FALSE(rows.empty());
      for (const Json& row : rows) CHECK(row.at("time_us").is_object());
    }
    // Some are wrong only from other roots, or in other worlds.
    bool has_failed = false;
    for (const Json& row : yours) {
      CHECK(row.at("time_us").is_object() == row.at("failure").is_null());
      has_failed = has_failed || row.at("failure").is_object();
    }
    CHECK(compared[i].exit_code == (has_failed ? 1 : 0));
    failed += has_failed ? 1 : 0;
  }
  CHECK(failed > mutants.size() / 3);
}

}  // namespace
}  // namespace rankbox
