// Requests of a rank process that use the referee's objects: layers, stages, optimizers, the
// checkpoint's file, and a value that threads share.
#pragma once

#include <string>

#include "comm/result_bytes.h"
#include "judge/seal/referee/call.h"
#include "judge/seal/referee/link.h"
#include "judge/seal/wire.h"

namespace rankbox::seal {

/// Returns the bytes of the reply. Throws what the object's function throws; std::runtime_error for
/// a request that does not parse, or for a pass that a stage did not announce.
std::string serve_object(Link& link, Call& call, Kind kind, ByteReader& reader);

/// At the end of a call: gives a shared value what the process's threads made of it.
void finish_shared(const Call& call);

/// Throws std::runtime_error if a stage announced a pass without going through its layers.
void check_turn_is_over(const Call& call);

}  // namespace rankbox::seal
