// Products in a process that may not use much memory, as the judge's may not.
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "compute/matrix.h"

namespace rankbox {
namespace {

TEST_CASE("many threads multiply in little memory, and all come to an end") {
  // OpenBLAS's buffers are 128 MiB each: 24 of them do not fit.
  const rlimit little = {rlim_t{1} << 30, rlim_t{1} << 30};
  REQUIRE(setrlimit(RLIMIT_DATA, &little) == 0);
  alarm(60);  // a hang is the failure

  constexpr std::int64_t kSide = 256;
  const Tensor a = full({kSide, kSide}, 1.0f);
  std::vector<Tensor> products;
  for (int i = 0; i < 24; ++i) products.push_back(zeros({kSide, kSide}));
  {
    std::vector<std::jthread> threads;
    for (Tensor& product : products) {
      threads.emplace_back([&] {
        for (int i = 0; i < 40; ++i)
          multiply(as_matrix(a, kSide), as_matrix(a, kSide), as_matrix(product, kSide));
      });
    }
  }
  for (const Tensor& product : products)
    CHECK(to_host(product) == to_host(full(kSide * kSide, float{kSide})));
}

}  // namespace
}  // namespace rankbox
