// The waits of a deadlock as JSON: the input of page/waits.js.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "comm/errors.h"

namespace rankbox {

/// Returns `{cycle: [rank], waits: [{rank, op, peers: [rank], bytes, file, line}]}`.
/// @param display_name of a file; empty: unchanged
nlohmann::ordered_json waits_json(
    const DeadlockError& deadlock,
    const std::function<std::string(const std::string& file)>& display_name);

}  // namespace rankbox
