// rankbox-run-mpi under mpirun, as `./rankbox run --backend mpi` starts it.
#include "cli/run/program.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "cli/plugin/compile.h"
#include "cli/support/child.h"
#include "cli/support/exec.h"
#include "cli/support/mpirun.h"
#include "files/temporary_folder.h"
#include "tests/support/text.h"

namespace rankbox::cli {
namespace {

struct Ended {
  int code = 0;
  std::string output;
};

/// Runs this rank_main on 3 ranks.
Ended run(const std::string& rank_main) {
  const TemporaryFolder folder;
  const std::string source = folder.path("program.cc");
  const std::string library = folder.path("program.so");
  std::ofstream(source) << "#include <cstdio>\n#include <cstdlib>\n#include \"comm/comm.h\"\n"
                        << "namespace rankbox {\n"
                        << rank_main << "\n}\n";
  const Compiled compiled = compile_program(source, library, {.backend = "mpi", .optimize = true});
  REQUIRE_MESSAGE(!compiled.failure, compiled.output);

  ProgramOptions options;
  options.name = "program.cc";
  options.again = "./rankbox run program.cc";
  options.ranks = 3;
  options.cluster = "laptop";
  options.seconds = 15;  // one program never ends
  options.deadline_seconds = 3;
  options.prints_figures = true;
  ChildOptions child;
  const std::string program = std::filesystem::absolute(std::getenv("RANKBOX_RUN")).string();
  child.command = mpirun_command(3, {program, library, "--options", to_text(options)});
  child.temporary = "/tmp";  // Open MPI's names are long
  child.seconds = 300;
  const ChildResult result = run_child(child);
  REQUIRE_FALSE(result.timed_out);
  return {exit_code_of(result.status), result.output};
}

TEST_CASE("a program that runs well prints what it prints, and a line of figures") {
  const Ended ended =
      run("void rank_main(Comm& dist) {\n"
          "  Tensor t = full({4}, 1.0f);\n"
          "  if (dist.rank() == 0) dist.send(t, 2);\n"
          "  if (dist.rank() == 2) dist.recv(t, 0);\n"
          "  if (dist.rank() == 2) std::printf(\"received\\n\");\n}");
  INFO(ended.output);
  CHECK(ended.code == 0);
  CHECK(testing::lacks(ended.output,
                       {"[rank 2] received\n", "3 ranks", "1 message,", "16 bytes"}) == "");
}

TEST_CASE("an error is its kind and place, and names the sandbox; nothing hangs") {
  struct Wrong {
    const char* rank_main;
    const char* says;
    const char* place;
    int code;
    int lines;  // 6: a line on each of three ranks' last operation follows
  };
  const Wrong programs[] = {
      {"void rank_main(Comm& dist) {\n"
       "  Tensor t = full({4}, 1.0f);\n"
       "  dist.send(t, (dist.rank() + 1) % 3);\n}",
       "timeout: ", "program.cc:7", 1, 6},
      {"void rank_main(Comm& dist) {\n"
       "  Tensor t = full({4 + dist.rank()}, 1.0f);\n"
       "  if (dist.rank() == 0) dist.send(t, 1);\n"
       "  if (dist.rank() == 1) dist.recv(t, 0);\n}",
       "mismatch: ", "program.cc:8", 1, 6},
      {"void rank_main(Comm& dist) { if (dist.rank() == 2) throw 1; }", "crash: ", "rank 2", 1, 6},
      {"void rank_main(Comm& dist) { if (dist.rank() == 1) std::exit(3); dist.barrier(); }",
       "exit(3)", "process 1", 3, 1},
      {"void rank_main(Comm& dist) { for (volatile int i = 0; dist.rank() == 1; i = i + 1) {} }",
       "timeout: ", "", kTimeoutStatus, 1},
      {"void rank_main(Comm&, int) {}", "compile: ", "rank_main", 1, 1},
  };
  for (const Wrong& program : programs) {
    const Ended ended = run(program.rank_main);
    INFO(program.rank_main << "\n" << ended.output);
    CHECK(ended.code == program.code);
    CHECK(testing::lacks(ended.output, {program.says, program.place, "./rankbox run program.cc"}) ==
          "");
    CHECK(std::count(ended.output.begin(), ended.output.end(), '\n') == program.lines);
    CHECK(ended.output.starts_with("rankbox run: "));
  }
}

}  // namespace
}  // namespace rankbox::cli
