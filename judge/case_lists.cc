#include "judge/case_lists.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "judge/salt.h"

namespace rankbox {

namespace {

constexpr int kLargestWorld = 17;  // without a salt

std::int64_t drawn_for(int world_size, const char* use, std::int64_t fixed, std::int64_t least,
                       std::int64_t most) {
  return drawn(use + std::to_string(world_size), fixed, least, most);
}

std::vector<int> roots(int world_size, std::int64_t count) {
  std::vector<int> every(static_cast<std::size_t>(world_size));
  std::iota(every.begin(), every.end(), 0);
  if (world_size <= 5 || (count == world_size + 1 && world_size <= kLargestWorld)) return every;
  const auto middle =
      static_cast<int>(drawn_for(world_size, "root", world_size / 2, 2, world_size - 2));
  return {0, 1, middle, world_size - 1};
}

}  // namespace

std::vector<int> world_sizes() {
  std::vector<int> sizes(kLargestWorld);
  std::iota(sizes.begin(), sizes.end(), 1);
  if (salt() != 0) sizes.push_back(static_cast<int>(drawn("world size", 0, kLargestWorld + 1, 24)));
  return sizes;
}

std::vector<std::int64_t> counts(int world_size) {
  const std::int64_t uneven = drawn_for(world_size, "count", 97, 26, 150);
  if (world_size > kLargestWorld) return {1, uneven};
  std::vector<std::int64_t> all = {0, 1, 2, world_size - 1, world_size, world_size + 1, uneven};
  if (world_size == 2 || world_size == 5 || world_size == 8)
    all.push_back(drawn_for(world_size, "large count", 4096, 3000, 4500));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

int far_world() { return static_cast<int>(drawn("far world", 70, 66, 80)); }

Case far_case() {
  // On several nodes a rank's place in its node is another number than the rank.
  constexpr int kNodes = 6;
  return {.world_size = far_world(), .nodes = kNodes, .count = drawn("uneven count", 97, 81, 150)};
}

std::int64_t far_count() { return drawn("far count", 100'003, 70'000, 120'000); }

int far_segments() { return static_cast<int>(drawn("far segments", 300, 257, 400)); }

int steps_of_training(int world_size) { return world_size <= 4 ? 20 : 4; }

std::vector<Case> cases_with_each(const std::vector<Case>& some) {
  std::vector<Case> cases;
  for (int world_size : world_sizes()) {
    for (const Case& example : some) {
      cases.push_back(example);
      cases.back().world_size = world_size;
    }
  }
  return cases;
}

std::vector<Case> cases_by_count() {
  std::vector<Case> cases;
  for (int world_size : world_sizes()) {
    for (std::int64_t count : counts(world_size))
      cases.push_back({.world_size = world_size, .count = count});
  }
  return cases;
}

std::vector<Case> cases_by_root() {
  std::vector<Case> cases;
  for (Case example : cases_by_count()) {
    for (int root : roots(example.world_size, *example.count)) {
      example.root = root;
      cases.push_back(example);
    }
  }
  return cases;
}

std::vector<Case> cases_by_op() {
  std::vector<Case> cases;
  for (Case example : cases_by_count()) {
    for (ReduceOp op : kReduceOps) {
      example.op = op;
      cases.push_back(example);
    }
  }
  return cases;
}

std::vector<Case> cases_by_root_and_op() {
  std::vector<Case> cases;
  std::size_t turn = 0;  // cycles through the roots and the operations
  for (Case example : cases_by_count()) {
    const std::vector<int> some = roots(example.world_size, *example.count);
    const int root_of_all_ops = some[turn++ % some.size()];
    for (int root : some) {
      example.root = root;
      for (std::size_t i = 0; i < kReduceOps.size(); ++i) {
        const std::size_t own = (turn + static_cast<std::size_t>(root)) % kReduceOps.size();
        if (root != root_of_all_ops && i != own) continue;
        example.op = kReduceOps[i];
        cases.push_back(example);
      }
    }
  }
  return cases;
}

}  // namespace rankbox
