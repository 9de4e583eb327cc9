#include "viewer/waits_json.h"

#include <utility>

namespace rankbox {

nlohmann::ordered_json waits_json(
    const DeadlockError& deadlock,
    const std::function<std::string(const std::string& file)>& display_name) {
  auto waits = nlohmann::ordered_json::array();
  for (const Wait& wait : deadlock.waits()) {
    waits.push_back({{"rank", wait.rank},
                     {"op", wait.op},
                     {"peers", wait.peers},
                     {"bytes", wait.bytes},
                     {"file", display_name ? display_name(wait.file) : wait.file},
                     {"line", wait.line}});
  }
  return {{"cycle", deadlock.cycle()}, {"waits", std::move(waits)}};
}

}  // namespace rankbox
