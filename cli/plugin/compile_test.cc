// Which programs compile for GPUs, where the host cannot read tensors.
#include "cli/plugin/compile.h"

#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "files/temporary_folder.h"
#include "tests/support/text.h"

namespace rankbox::cli {
namespace {

/// Compiles a rank_main for GPUs, whose body is in line 6.
Compiled compile_for_gpus(const std::string& body) {
  const TemporaryFolder folder;
  const std::string source = folder.path("program.cc");
  std::ofstream(source) << "#include \"comm/comm.h\"\n"
                           "#include \"compute/cast.h\"\n"
                           "#include \"compute/matrix.h\"\n"
                           "namespace rankbox {\n"
                           "void rank_main(Comm& dist) { Tensor t = full({4, 4}, 1.0f);\n"
                        << body << "\n}}\n";
  return compile_program(source, folder.path("program.so"), {.backend = "nccl", .optimize = true});
}

TEST_CASE("a loop over data() does not compile, and the error names the fix") {
  const std::string loops[] = {
      "for (int i = 0; i < 4; ++i) t.data()[i] += 1;",
      "const Tensor& u = t; if (u.data()[dist.rank()] > 0) dist.barrier();",
      "TensorOf<double> u(4); double* x = u.data(); x[dist.rank()] = 1;",
      "auto first = [&](auto& any) { return any.data()[0]; }; if (first(t) > 0) dist.barrier();",
  };
  for (const std::string& body : loops) {
    CAPTURE(body);
    const Compiled compiled = compile_for_gpus(body);
    REQUIRE(compiled.failure);
    CHECK(testing::lacks(compiled.failure->message, {"to_host", "from_host", "docs/gpu.md"}) == "");
    CHECK(compiled.failure->file.ends_with("program.cc"));
    CHECK(compiled.failure->line == 6);
  }
}

TEST_CASE("what runs on a GPU compiles") {
  const std::string bodies[] = {
      "dist.all_reduce(t); t *= 2.0f; chunk(t, 0, 2) += chunk(t, 1, 2);",
      "TensorOf<Float16> half(t.shape()); cast(t, half); dist.broadcast(half, 0);",
      "Tensor u(t.shape()); multiply(as_matrix(t, 4), as_matrix(t, 4).transposed(), "
      "as_matrix(u, 4));",
      "auto values = to_host(t); values[0] = 2; t = from_host(values, t.shape());",
  };
  for (const std::string& body : bodies) {
    const Compiled compiled = compile_for_gpus(body);
    CHECK_MESSAGE(!compiled.failure, compiled.output);
  }
}

}  // namespace
}  // namespace rankbox::cli
