#include "solutions/table.h"

#include <algorithm>

namespace rankbox {

namespace {

std::vector<Solution>& all() {
  static std::vector<Solution> solutions;
  return solutions;
}

}  // namespace

AnyFunction solution_of(std::string_view exercise) {
  const auto found = std::find_if(all().begin(), all().end(), [&](const Solution& solution) {
    return solution.exercise == exercise;
  });
  return found == all().end() ? nullptr : found->function;
}

bool add_solutions(const std::vector<Solution>& solutions) {
  all().insert(all().end(), solutions.begin(), solutions.end());
  return true;
}

}  // namespace rankbox
