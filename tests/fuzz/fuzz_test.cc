// The kept inputs of the fuzzers, and some mutations of each.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/fuzz/targets.h"

namespace rankbox {
namespace {

using Target = void (*)(const std::uint8_t* data, std::size_t size);

std::string mutated(std::string input, std::mt19937& random) {
  const auto any = [&](std::size_t below) { return random() % below; };
  for (auto changes = any(4) + 1; changes > 0 && !input.empty(); --changes) {
    const std::size_t at = any(input.size());
    switch (any(4)) {
      case 0:
        input[at] = static_cast<char>(random());
        break;
      case 1:
        input.erase(at, any(8) + 1);
        break;
      case 2:
        input.insert(at, input.substr(any(input.size()), any(32)));
        break;
      default:
        input[at] = static_cast<char>(input[at] ^ (1 << any(8)));
    }
  }
  return input;
}

void run(Target target, const std::string& input) {
  target(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

/// Ends by a crash where an input is a finding.
void run_corpus(Target target, const std::string& name, int mutations) {
  std::mt19937 random(7);
  int inputs = 0;
  for (const auto& file : std::filesystem::directory_iterator("tests/fuzz/corpus/" + name)) {
    CAPTURE(file.path().string());
    std::ifstream text(file.path(), std::ios::binary);
    const std::string input(std::istreambuf_iterator<char>(text), {});
    run(target, input);
    for (int i = 0; i < mutations; ++i) run(target, mutated(input, random));
    ++inputs;
  }
  CHECK(inputs > 5);
}

TEST_CASE("readers of a process's texts refuse what they do not know, and nothing else happens") {
  run_corpus(fuzz::read_text, "texts", 300);
}

TEST_CASE("the referee fails a rank that sends what is no request") {
  run_corpus(fuzz::talk_to_referee, "referee", 15);
}

}  // namespace
}  // namespace rankbox
