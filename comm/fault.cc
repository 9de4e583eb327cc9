#include "comm/fault.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox {

void let_faults_happen(const std::vector<Fault>& faults, const Caller& caller,
                       std::int64_t operation) {
  for (const Fault& fault : faults) {
    if (fault.rank != caller.rank || fault.operation != operation) continue;
    if (fault.kind == Fault::Kind::kDelay) {
      std::this_thread::sleep_for(std::chrono::duration<double>(fault.seconds));
    } else {
      throw InjectedCrash(
          fmt::format("injected crash: rank {} fails before its operation {} ({} at {}:{})",
                      caller.rank, operation, caller.operation, caller.place.file_name(),
                      caller.place.line()),
          caller.context());
    }
  }
}

}  // namespace rankbox
