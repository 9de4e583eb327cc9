#include "cli/plugin/compiler_message.h"

#include <string>

#include <doctest/doctest.h>

namespace rankbox::cli {
namespace {

TEST_CASE("the first error of a compiler's output is found, with its place") {
  const std::string long_text(30'000, 'x');
  const std::string on_gpu = "tensors are in the memory of a GPU, which a loop cannot read";
  struct Row {
    std::string output;
    std::string file;
    int line;
    std::string message;
  };
  const Row table[] = {
      {"a.cc:12:3: error: no semicolon\n", "a.cc", 12, "no semicolon"},
      {"In file included from b.h:1:\na.cc:1:2: fatal error: stop\n", "a.cc", 1, "stop"},
      {"a.cc:3:8: error: 'using Comm = using Communicator = class rankbox::C<x>' {aka 'class "
       "rankbox::C<x>'} has no member named 'sendRecv'; did you mean 'sendrecv'?\n",
       "a.cc", 3, "'Comm' has no member named 'sendRecv'; did you mean 'sendrecv'?"},
      {"a.cc:3:8: error: 'using A = x' {aka\n", "a.cc", 3, "'using A = x' {aka"},
      {"a.cc:7: error: linker\n", "a.cc", 7, "linker"},
      {"a.cc:12:3: warning: w\na:1.cc:5:6: error: second\n", "a:1.cc", 5, "second"},
      {"a.cc:1:2: error: b.cc:3:4: error: inner\n", "a.cc", 1, "b.cc:3:4: error: inner"},
      {"a.cc:3:5: error: call to 'f' declared with attribute error: " + on_gpu, "a.cc", 3, on_gpu},
      {"a.cc:3:5: error: call to 'f' declared with 'error' attribute: " + on_gpu, "a.cc", 3,
       on_gpu},
      {"a.cc:3:5: error: call to 'f' declared with attribute error: all is right\n", "a.cc", 3,
       "call to 'f' declared with attribute error: all is right"},
      {"a.cc:1:2: warning: #warning x.cc:1: error: words [-Wcpp]\n    1 | #warning x.cc:1: error: "
       "w\n"
       "a.cc:2:1: error: no type\n",
       "a.cc", 2, "no type"},
      {"    1 | Error: words\n", "", 0, "the compiler refuses this file"},
      {"a.cc:1:2: error: #error " + long_text + "\n", "a.cc", 1, "#error " + long_text},
      {long_text + ":1:2: error: x\n", long_text, 1, "x"},
      {std::string(60'000, ':') + "\n", "", 0, "the compiler refuses this file"},
      {"a.cc:99999999999999999999:1: error: x\n", "a.cc:99999999999999999999", 1, "x"},
      {"/tmp/ccx.s:6: Error: rankbox: no\n", "", 0,
       "the assembler or the linker: Error: rankbox: no"},
      {"as: Error: too large\n", "", 0, "as: Error: too large"},
      {"", "", 0, "the compiler refuses this file"},
  };
  for (const Row& row : table) {
    CAPTURE(row.output.substr(0, 80));
    const Failure failure = failure_in(row.output);
    CHECK(failure.kind == FailureKind::kCompile);
    CHECK(failure.file == row.file);
    CHECK(failure.line == row.line);
    CHECK(failure.message == row.message);
  }
}

TEST_CASE("a header that is not public and a compiler without memory have messages of ours") {
  for (const char* missing : {"x/y.h: No such file or directory", "'x/y.h' file not found"}) {
    const Failure failure = failure_in("a.cc:1:9: fatal error: " + std::string(missing) + "\n");
    CHECK(failure.message.starts_with("x/y.h cannot be included"));
    CHECK(failure.line == 1);
  }
  CHECK(failure_in("cc1plus: out of memory allocating 65536 bytes\n").message.find("memory") !=
        std::string::npos);
}

}  // namespace
}  // namespace rankbox::cli
