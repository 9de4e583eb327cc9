#include "cli/support/lists.h"

#include <thread>

#include <doctest/doctest.h>

#include "cli/support/options.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = 1024 * kKi;
constexpr std::int64_t kGi = 1024 * kMi;

TEST_CASE("sizes are bytes, in powers of 1024, sorted and each once") {
  const struct {
    const char* text;
    std::vector<std::int64_t> sizes;
  } table[] = {
      {"8", {8}},
      {"4", {4}},
      {"1K,1M,4M", {kKi, kMi, 4 * kMi}},
      {"4M,8,1K,8,1024", {8, kKi, 4 * kMi}},
      {"64G", {64 * kGi}},
      {"8:128:4", {8, 32, 128}},
      {"8:100:4", {8, 32}},
      {"8:8:2", {8}},
      {"1K:1M:1024", {kKi, kMi}},
      {"16G:64G:2", {16 * kGi, 32 * kGi, 64 * kGi}},
  };
  for (const auto& row : table) {
    CAPTURE(row.text);
    CHECK(parse_sizes(row.text) == row.sizes);
  }
}

TEST_CASE("a bad size is one line that names it") {
  const struct {
    const char* text;
    const char* named;
  } table[] = {
      {"", ""},
      {"1K,", "\"\""},
      {",8", "\"\""},
      {"7", "7"},
      {"0", "0"},
      {"-8", "-8"},
      {"8k", "\"8k\""},
      {"1.55M", "\"1.55M\""},
      {"M", "\"M\""},
      {"65G", "65G"},
      {"8:16", "\"8:16\""},
      {"8:16:2:2", "\"8:16:2:2\""},
      {"8:16:1", "\"1\""},
      {"8:16:x", "\"x\""},
      {"16:8:2", "16:8:2"},
      {"8:16,32:2", "\"16,32\""},
      {"99999999999999999999", "99999999999999999999"},
      {"9223372036854775807G", "9223372036854775807G"},
  };
  for (const auto& row : table) {
    CAPTURE(row.text);
    try {
      parse_sizes(row.text);
      FAIL("accepted");
    } catch (const InvalidArgument& error) {
      const std::string message = error.what();
      CAPTURE(message);
      CHECK(message.find(row.named) != std::string::npos);
      CHECK(message.find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("ranks are fibers by themselves where they outnumber the cores by far") {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  CHECK(executor_named("auto", 16 * cores) == ExecutorKind::kThreads);
  CHECK(executor_named("auto", 16 * cores + 1) == ExecutorKind::kFibers);
  CHECK(executor_named("threads", 1 << 20) == ExecutorKind::kThreads);
  CHECK(executor_named("fibers", 1) == ExecutorKind::kFibers);
  CHECK_THROWS_AS(executor_named("gnomes", 1), InvalidArgument);
}

TEST_CASE("a number of bytes is one, of any size from 0") {
  CHECK(parse_bytes("0") == 0);
  CHECK(parse_bytes("7") == 7);
  CHECK(parse_bytes("64K") == 64 * kKi);
  CHECK(parse_bytes("64G") == 64 * kGi);
  CHECK(parse_bytes("1.5K") == 1536);
  CHECK(parse_bytes("13.5G") == 27 * kGi / 2);
  for (const char* bad : {"", "-1", "-4K", "1,2", "8,16", "8:64:2", "65G", "many", "1.1K", "8 ",
                          "1e3", "1.2.3", "inf", ".", "0x8"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_bytes(bad), InvalidArgument);
  }
}

TEST_CASE("ranks are whole numbers from 1 to 1048576, in the order given") {
  CHECK(parse_ranks("2,4,8") == std::vector<int>{2, 4, 8});
  CHECK(parse_ranks("8,2,8") == std::vector<int>{8, 2});
  CHECK(parse_ranks("1048576") == std::vector<int>{1048576});
  for (const char* bad : {"", "0", "-1", "1048577", "2,,4", "two", "2.0", "4,"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_ranks(bad), InvalidArgument);
  }
}

TEST_CASE("bytes are written with the largest unit that leaves a number from 1 up") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(kKi) == "1 KiB");
  CHECK(format_bytes(kKi + 512) == "1.5 KiB");
  CHECK(format_bytes(4 * kMi) == "4 MiB");
  CHECK(format_bytes(3000 * kGi) == "3000 GiB");
}

TEST_CASE("virtual times are in microseconds up to a millisecond") {
  CHECK(format_virtual(0) == "0 µs");
  CHECK(format_virtual(9.6581e-6) == "9.658 µs");
  CHECK(format_virtual(999.94e-6) == "999.9 µs");
  CHECK(format_virtual(999.96e-6) == "1 ms");
  CHECK(format_virtual(0.03008) == "30.08 ms");
  CHECK(format_virtual(12.5) == "12.5 s");
}

TEST_CASE("times have three digits and the unit that suits") {
  const struct {
    double seconds;
    const char* text;
  } table[] = {{0, "0 s"},         {1.5, "1.50 s"},     {123.4, "123 s"},
               {0.9996, "1.00 s"}, {0.9994, "999 ms"},  {12.345e-3, "12.3 ms"},
               {1e-6, "1.00 µs"},  {2.5e-9, "2.50 ns"}, {99.96e-6, "100 µs"}};
  for (const auto& row : table) {
    CHECK(format_seconds(row.seconds) == row.text);
  }
}

}  // namespace
}  // namespace rankbox::cli
