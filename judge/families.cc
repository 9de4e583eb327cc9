#include "judge/families.h"

#include <algorithm>

#include "judge/collectives/families.h"

namespace rankbox {

namespace {

std::vector<Family>& all() {
  static std::vector<Family> rows = collective_families();
  return rows;
}

}  // namespace

const std::vector<Family>& families() { return all(); }

const Family* find_family(std::string_view name) {
  const auto found = std::find_if(all().begin(), all().end(),
                                  [&](const Family& each) { return each.name == name; });
  return found == all().end() ? nullptr : &*found;
}

bool add_families(const std::vector<Family>& rows) {
  all().insert(all().end(), rows.begin(), rows.end());
  return true;
}

}  // namespace rankbox
