// `rankbox run`: users' programs, correct and wrong.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"
#include "tests/support/run_tests.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Writes a program with this rank_main, whose first line is line 5.
std::string write_program(const std::string& rank_main) {
  std::string file = (fs::path(project()) / "tmp_program.cc").string();
  std::ofstream(file) << "#include <cstdio>\n#include <iostream>\n#include \"comm/comm.h\"\n"
                      << "namespace rankbox {\n"
                      << rank_main << "\n}  // namespace rankbox\n";
  return file;
}

Json report_of(const std::string& rank_main, std::vector<std::string> options) {
  options.insert(options.begin(), {"run", write_program(rank_main), "--json"});
  const CommandResult result = rankbox(options);
  INFO(result.output);
  Json report = Json::parse(result.output);
  CHECK(result.exit_code == (report.at("status") == "pass" ? 0 : 1));
  return report;
}

std::size_t leftovers() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(fs::temp_directory_path()), fs::directory_iterator()));
}

TEST_CASE("whatever a program does wrong ends in one verdict: kind, rank and line") {
  struct Wrong {
    const char* what;
    const char* rank_main;
    const char* kind;
    int rank;  // -2: any
    int line;
  };
  const Wrong programs[] = {
      {"a ring of sends",
       "void rank_main(Comm& dist) {\n"
       "  Tensor t = full({4}, 1.0f);\n"
       "  dist.send(t, (dist.rank() + 1) % dist.world_size());\n}",
       "deadlock", 0, 7},
      {"sizes that differ",
       "void rank_main(Comm& dist) {\n"
       "  Tensor t = full({4 + dist.rank()}, 1.0f);\n"
       "  if (dist.rank() == 0) dist.send(t, 1);\n"
       "  if (dist.rank() == 1) dist.recv(t, 0);\n}",
       "mismatch", 0, 7},
      {"different collectives",
       "void rank_main(Comm& dist) {\n"
       "  Tensor t = full({4}, 1.0f);\n"
       "  if (dist.rank() == 2) dist.barrier();\n"
       "  if (dist.rank() != 2) dist.all_reduce(t);\n}",
       "mismatch", -2, -1},
      {"a message without a receiver",
       "void rank_main(Comm& dist) {\n"
       "  Tensor t = full({4}, 1.0f);\n"
       "  if (dist.rank() == 0) (void)dist.isend(t, 1);\n}",
       "unreceived", 0, 7},
      {"a null pointer",
       "void rank_main(Comm& dist) {\n"
       "  volatile int* volatile nowhere = nullptr;\n"
       "  if (dist.rank() == 1) *nowhere = 1;\n}",
       "crash", 1, 7},
      {"exit()", "void rank_main(Comm& dist) {\n  if (dist.rank() == 1)\n    std::exit(0);\n}",
       "crash", 1, 7},
      {"an endless loop",
       "void rank_main(Comm& dist) {\n"
       "  volatile int turns = 0;\n"
       "  while (dist.rank() == 1) turns = turns + 1;\n}",
       "timeout", 1, 7},
      {"an exception that is a number",
       "void rank_main(Comm& dist) {\n  if (dist.rank() == 2)\n    throw 1;\n}", "crash", 2, 7},
      {"an exception while others wait",
       "void rank_main(Comm& dist) {\n"
       "  if (dist.rank() == 1) throw std::runtime_error(\"no luck\");\n"
       "  dist.barrier();\n}",
       "crash", 1, 6},
      {"a rank that does not exist",
       "void rank_main(Comm& dist) {\n  Tensor t = zeros({1});\n  if (dist.rank() == 0) "
       "dist.send(t, 17);\n}",
       "crash", 0, 7},
      {"no rank_main", "void other(Comm&) {}", "compile", -1, 0},
      {"another signature", "void rank_main(Comm&, int) {}", "compile", -1, 5},
      {"a function that is nowhere", "void helper();\nvoid rank_main(Comm&) {\n  helper();\n}",
       "compile", -1, 6},
      {"no assembly", "asm(\".error \\\"no\\\"\");\nvoid rank_main(Comm&) {}", "compile", -1, -1},
      {"no C++", "void rank_main(Comm& dist) {\n  dist.sned();\n}", "compile", -1, 6},
  };
  project();
  const std::size_t before = leftovers();
  for (const Wrong& program : programs) {
    if (!testing::wants_row(program.what)) continue;
    const std::string what = program.what;
    CAPTURE(what);
    const Json report = report_of(
        program.rank_main,
        {"--ranks", "3", "--timeout", program.kind == std::string("timeout") ? "5" : "60"});
    INFO(report.dump(2));
    CHECK(report.at("status") == "fail");
    const Json& failure = report.at("failure");
    CHECK(failure.at("kind") == program.kind);
    if (program.rank != -2) CHECK(failure.at("rank") == program.rank);
    if (program.line >= 0) CHECK(failure.at("line") == program.line);
    CHECK(failure.at("file") == "tmp_program.cc");
    CHECK(failure.at("replay").get<std::string>().find("--ranks 3") != std::string::npos);
    CHECK(leftovers() == before);
  }
}

TEST_CASE("a program that runs well has its figures, and what it printed") {
  // Rank 0 sends two messages of 400 bytes, one after the other.
  const Json report = report_of(
      "void rank_main(Comm& dist) {\n"
      "  Tensor t = full({100}, 1.0f);\n"
      "  if (dist.rank() > 0) dist.recv(t, 0);\n"
      "  for (int to = 1; dist.rank() == 0 && to < dist.world_size(); ++to) dist.send(t, to);\n"
      "  if (dist.rank() == 0) std::printf(\"sent\\n\");\n}",
      {"--ranks", "3"});
  CHECK(report.at("status") == "pass");
  CHECK_FALSE(report.contains("failure"));
  CHECK(report.at("ranks") == 3);
  CHECK(report.at("cost") == Json({{"steps", 2.0}, {"bytes", 800.0}, {"reduced", 0.0}}));
  CHECK(report.at("virtual_us").get<double>() == doctest::Approx(2 * 0.3 + 800 * 0.0001));
  CHECK(report.at("messages") == 2);
  CHECK(report.at("bytes") == 800);
  CHECK(report.at("peak_bytes") == 400);
  CHECK(report.at("output") == "[rank 0] sent\n");
}

TEST_CASE("the solutions of the course can be called") {
  const std::string file = (fs::path(project()) / "tmp_caller.cc").string();
  std::ofstream(file) << "#include \"collectives/allreduce_ring.h\"\n"
                         "#include \"comm/comm.h\"\n"
                         "namespace rankbox {\n"
                         "void rank_main(Comm& dist) {\n"
                         "  Tensor t = full({8}, 1.0f);\n"
                         "  allreduce_ring(dist, t, ReduceOp::SUM);\n"
                         "  if (to_host(t)[7] != static_cast<float>(dist.world_size())) throw 1;\n"
                         "}\n}\n";
  const CommandResult result = rankbox({"run", file, "--ranks", "5"});
  INFO(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("rank 4  out") != std::string::npos);
  CHECK(result.output.find("8 steps") != std::string::npos);
}

TEST_CASE("buffering, nodes, cluster and executor are the run's") {
  const std::string sends_first =
      "void rank_main(Comm& dist) {\n"
      "  Tensor t = full({4}, 1.0f);\n"
      "  dist.send(t, 1 - dist.rank());\n"
      "  dist.recv(t, 1 - dist.rank());\n}";
  for (const auto& [buffering, status] :
       {std::pair("rendezvous", "fail"), {"eager:15", "fail"}, {"eager:16", "pass"}}) {
    CHECK(report_of(sends_first, {"--ranks", "2", "--buffering", buffering}).at("status") ==
          status);
  }
  const std::string prints_node =
      "void rank_main(Comm& dist) {\n"
      "  if (dist.rank() == dist.world_size() - 1) std::printf(\"%d\", dist.node());\n"
      "  dist.barrier();\n}";
  CHECK(report_of(prints_node, {"--ranks", "4", "--nodes", "3"}).at("output") == "[rank 3] 2\n");
  CHECK(report_of(prints_node, {"--ranks", "16", "--cluster", "h100-efa"}).at("output") ==
        "[rank 15] 1\n");
  CHECK(report_of(prints_node, {"--ranks", "3000"}).at("ranks") == 3000);
}

TEST_CASE("each line that a rank prints has its rank, also one that the program's end cuts off") {
  const auto printed = [](const std::string& body) {
    const Json report =
        report_of("void rank_main(Comm& dist) {\n" + body + "\n}", {"--ranks", "2"});
    return report.at("output").get<std::string>();
  };
  for (const char* body :
       {"std::printf(\"a%d\", 1); std::puts(\"b\");", "std::cout << \"a\" << 1 << \"b\\n\";",
        "std::cerr << \"a1\"; std::fprintf(stderr, \"b\\n\");",
        "std::clog << \"a1b\" << std::endl;",
        "std::ios::sync_with_stdio(false); std::cout << \"a1b\";", "std::printf(\"a1b\");",
        "std::printf(\"a1b\"); dist.barrier(); if (dist.rank() == 1) std::exit(3); dist.barrier();",
        "std::cout << \"a1b\"; dist.barrier(); if (dist.rank() == 1) std::abort(); "
        "dist.barrier();"}) {
    CAPTURE(body);
    const std::string text = printed(body);
    for (const char* line : {"[rank 0] a1b\n", "[rank 1] a1b\n"})
      CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("--notes says where ranks met in one collective from different lines") {
  const std::string crosses =
      "void rank_main(Comm& dist) {\n"
      "  Tensor a = zeros(4), b = zeros(4);\n"
      "  dist.all_reduce(dist.rank() == 0 ? a : b);\n"
      "  if (dist.rank() == 0) dist.all_reduce(b);\n"
      "  if (dist.rank() != 0) dist.all_reduce(a);\n}";
  CHECK(report_of(crosses, {"--ranks", "3"}).at("notes").empty());
  const Json notes = report_of(crosses, {"--ranks", "3", "--notes"}).at("notes");
  REQUIRE(notes.size() == 1);
  for (const char* part : {"all_reduce", "rank 0 called", "ranks 1, 2 called"})
    CHECK(notes[0].get<std::string>().find(part) != std::string::npos);
}

TEST_CASE("what would hang in the order of NCCL's stream is a note, and fails in that order") {
  const std::string starts_both =
      "void rank_main(Comm& dist) {\n"
      "  Tensor out = zeros(4), in = zeros(4);\n"
      "  Request received = dist.irecv(in, 1 - dist.rank());\n"
      "  Request sent = dist.isend(out, 1 - dist.rank());\n"
      "  WAIT\n}";
  for (const auto& [waits, notes] : {std::pair("dist.wait(received); dist.wait(sent);", 1U),
                                     {"dist.wait_all({received, sent});", 0U}}) {
    std::string program = starts_both;
    program.replace(program.find("WAIT"), 4, waits);
    const auto usual = report_of(program, {"--ranks", "2"});
    CHECK(usual.at("status") == "pass");
    CHECK(usual.at("notes").size() == notes);
    const auto ordered = report_of(program, {"--ranks", "2", "--order", "stream"});
    CHECK(ordered.at("status") == (notes > 0 ? "fail" : "pass"));
    if (notes == 0) continue;
    CHECK(ordered.at("failure").at("kind") == "deadlock");
    CHECK(ordered.at("failure").at("op") == "isend");
  }
}

TEST_CASE("a schedule is written, and runs for the same time; native collectives have none") {
  const std::string folder = (fs::path(project()) / "schedules").string();
  fs::create_directory(folder);
  const std::string goal = folder + "/two.goal";
  const std::string passes =
      "void rank_main(Comm& dist) {\n"
      "  Tensor t = zeros(4);\n"
      "  for (int i = 0; i < 200'000; ++i) dist.rank() == 0 ? dist.send(t, 1) : dist.recv(t, "
      "0);\n}";
  const auto run = report_of(passes, {"--ranks", "2", "--goal", goal});
  CHECK(run.at("status") == "pass");
  // Two ranks: the four that run has by default would not fit.
  const CommandResult result = rankbox({"run", goal, "--json", "--nodes", "2"});
  INFO(result.output);
  REQUIRE(result.exit_code == 0);
  const auto read = Json::parse(result.output);
  CHECK(read.at("ranks") == 2);
  CHECK(read.at("messages") == 200'000);
  CHECK(read.at("virtual_us").get<double>() == doctest::Approx(run.at("virtual_us").get<double>()));
  CHECK(rankbox({"run", goal, "--ranks", "3"}).exit_code == 2);
  const std::string native = folder + "/native.cc";
  std::ofstream(native) << "#include \"comm/comm.h\"\nnamespace rankbox {\n"
                           "void rank_main(Comm& dist) { dist.barrier(); }\n}\n";
  const CommandResult refused = rankbox({"run", native, "--json", "--goal", goal});
  CHECK(refused.exit_code == 2);
  CHECK(refused.output.find("barrier") != std::string::npos);
  std::ofstream(folder + "/empty.goal") << "";
  CHECK(rankbox({"run", folder + "/empty.goal"}).output.find("num_ranks") != std::string::npos);
}

TEST_CASE("--virtual runs with tensors of any size; touching a value is an error with its line") {
  const char* const ring =
      "void rank_main(Comm& dist) {\n"
      "  Tensor t = zeros(std::int64_t{1} << 40);\n"
      "  if (dist.rank() > 0) dist.recv(t, dist.rank() - 1);\n"
      "  t *= 2.0f;\n"
      "  if (dist.rank() + 1 < dist.world_size()) dist.send(t, dist.rank() + 1);\n}";
  const Json report = report_of(ring, {"--ranks", "3", "--virtual"});
  CHECK(report.at("status") == "pass");
  CHECK(report.at("cost").at("bytes") == 2.0 * (std::int64_t{4} << 40));
  const Json touched = report_of(
      "void rank_main(Comm& dist) {\n"
      "  Tensor t = zeros(4);\n"
      "  if (dist.rank() == 1) std::printf(\"%g\", to_host(t)[0]);\n}",
      {"--ranks", "2", "--virtual"});
  CHECK(touched.at("status") == "fail");
  CHECK(touched.at("failure").at("rank") == 1);
  CHECK(touched.at("failure").at("line") == 7);
}

TEST_CASE("a picture of more events than it can hold says what it leaves out; figures have all") {
  const std::string file = write_program(
      "void rank_main(Comm& dist) {\n"
      "  Tensor t = full({4}, 1.0f);\n"
      "  for (int i = 0; i < 600000; ++i) {\n"
      "    if (dist.rank() == 0) dist.send(t, 1);\n"
      "    else dist.recv(t, 0);\n"
      "    dist.compute(1e-6);\n  }\n}");
  const CommandResult result = rankbox({"run", file, "--ranks", "2"});
  INFO(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("at most 1048576; 302848 later ones") != std::string::npos);
  CHECK(result.output.find("600000 messages") != std::string::npos);
  CHECK(result.output.find("600000 steps") != std::string::npos);
}

TEST_CASE("a run is drawn, as text, as a page and as a trace; a failed one up to there") {
  const fs::path folder = fs::path(project()) / "pictures";
  fs::create_directory(folder);
  const std::string html = (folder / "run.html").string();
  const std::string trace = (folder / "run.json").string();
  const std::string file = write_program(
      "void rank_main(Comm& dist) {\n"
      "  Tensor t = full({4}, 1.0f);\n"
      "  if (dist.rank() == 0) dist.recv(t, 1);\n"
      "  std::printf(\"hello\\n\");\n}");
  const CommandResult result =
      rankbox({"run", file, "--ranks", "2", "--html", html, "--trace", trace});
  INFO(result.output);
  CHECK(result.exit_code == 1);
  for (const char* part : {"hello", "rank 1  out", "deadlock", "./rankbox run"})
    CHECK(result.output.find(part) != std::string::npos);
  CHECK(Json::parse(read_file("pictures/run.json")).contains("traceEvents"));
  CHECK(read_file("pictures/run.html").find("tmp_program.cc") != std::string::npos);
}

TEST_CASE("a mistake on the command line is one line, and nothing is built for another backend") {
  const std::string file = write_program("void rank_main(Comm&) {}");
  struct Mistake {
    std::vector<std::string> options;
    const char* says;
  };
  const Mistake mistakes[] = {
      {{"nowhere.cc"}, "nowhere.cc"},
      {{file, "--ranks", "0"}, "--ranks"},
      {{file, "--ranks", "2", "--nodes", "3"}, "3"},
      {{file, "--cluster", "moon"}, "moon"},
      {{file, "--buffering", "some"}, "rendezvous, eager:BYTES"},
      {{file, "--order", "some"}, "any or stream"},
      {{file, "--backend", "mpi", "--order", "stream"}, "--order"},
      {{file, "--executor", "gnomes"}, "auto, threads or fibers"},
      {{file, "--timeout", "0"}, "--timeout"},
      {{file, "--html", "no/such/folder/f"}, "--html"},
      {{file, "--deadline", "3"}, "--deadline"},
      {{file, "--backend", "cuda"}, "sim, mpi or nccl"},
      {{file, "--backend", "mpi", "--html", "f"}, "--html"},
      {{file, "--backend", "nccl", "--buffering", "eager:8"}, "--buffering"},
      {{file, "--ranks", "60000", "--executor", "threads"}, "fibers"},
      {{file, "--ranks", "2000000"}, "--ranks"},
  };
  for (Mistake mistake : mistakes) {
    mistake.options.insert(mistake.options.begin(), "run");
    const CommandResult result = rankbox(mistake.options);
    INFO(result.output);
    CHECK(result.exit_code == 2);
    CHECK(result.output.find(mistake.says) != std::string::npos);
    CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
  }
  CHECK_FALSE(fs::exists(fs::path(project()) / ".rankbox/bin"));
}

}  // namespace
}  // namespace rankbox
