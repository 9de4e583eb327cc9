// One variant of the race, for race_tsan_test to run under ThreadSanitizer.
//
// Usage: race_variant NAME THREADS REPEATS. Prints the final value.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "judge/race/variants.h"

int main(int argc, char** argv) {
  if (argc == 4) {
    for (const rankbox::RaceVariant& variant : rankbox::race_variants()) {
      if (variant.name == std::string_view(argv[1])) {
        const rankbox::RaceOutcome run = variant.run({std::atoi(argv[2]), std::atoll(argv[3])});
        std::printf("final value %lld\n", static_cast<long long>(run.final_value));
        return 0;
      }
    }
  }
  std::fprintf(stderr, "usage: race_variant unfixed|mutex|atomic|messages THREADS REPEATS\n");
  return 2;
}
