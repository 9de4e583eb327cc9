// Requests of a rank process that are calls of Comm, or accumulate(): made here, by the same rank
// of the sandbox, so that mailboxes, proofs and the trace are the sandbox's.
#pragma once

#include <string>

#include "comm/result_bytes.h"
#include "judge/seal/referee/link.h"
#include "judge/seal/wire.h"

namespace rankbox::seal {

/// Returns whether a request is one of these.
bool is_comm_request(Kind kind);

/// Returns whether the rank process waits for a reply.
bool has_reply(Kind kind);

/// Blocks as the call does. Returns the bytes of the reply. Throws what the call throws;
/// std::runtime_error for a request that does not parse.
std::string serve_comm(Link& link, Kind kind, ByteReader& reader);

}  // namespace rankbox::seal
