#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "comm/error_bytes.h"
#include "comm/errors.h"
#include "judge/seal/place_table.h"
#include "judge/seal/referee/call.h"
#include "judge/seal/referee/comm_requests.h"
#include "judge/seal/referee/link.h"
#include "judge/seal/referee/object_requests.h"
#include "judge/seal/referee/rank_memory.h"
#include "judge/seal/referee/referee.h"
#include "judge/seal/wire.h"
#include "judge/stop_report.h"
#include "sim/executor/executor.h"

namespace rankbox::seal {

namespace {

int rank_of(const Link& link) { return static_cast<int>((link.owner & 0xffffffff) - 1); }

std::string serve(Link& link, Call& call, const Message& request) {
  if (request.kind == Kind::kSync) return "";
  ByteReader reader(request.bytes);
  if (is_comm_request(request.kind)) return serve_comm(link, request.kind, reader);
  return serve_object(link, call, request.kind, reader);
}

/// Returns the bytes that the referee keeps for this rank alone.
std::int64_t bytes_stored(Link& link) {
  std::int64_t bytes = 0;
  for (auto& [number, open] : link.open) {
    if (open.is_storage) bytes += open.in.slice().bytes() + open.out.slice().bytes();
  }
  for (const auto& [token, pass] : link.saved) bytes += pass.saved.bytes();
  return bytes;
}

/// Returns the bytes of the buffers of operations in flight. The process has them, too; one that
/// makes its own requests may do without, and have the referee keep them.
std::int64_t bytes_in_flight(Link& link) {
  std::int64_t bytes = 0;
  for (auto& [number, open] : link.open)
    bytes += open.in.slice().bytes() + open.out.slice().bytes();
  return bytes;
}

void count_memory(Link& link, Call& call) {
  const std::int64_t own = bytes_held_by(rank_of(link), call.given) + bytes_stored(link);
  call.held = std::max(own, bytes_in_flight(link) - call.given);
  call.most_held = std::max(call.most_held, call.held);
}

void (*asked_hook)(const Stop& stop) = nullptr;

/// Keeps a line about the process's end, which may follow; or passes on where it is.
void note_stop(const Link& link, const std::string& line) {
  std::optional<Stop> stop = parse_stop(line);
  if (!stop) return;
  stop->rank = rank_of(link);
  if (stop->how == "asked") {
    // Once: a process may send as many as it likes.
    if (asked_hook != nullptr) std::exchange(asked_hook, nullptr)(*stop);
  } else {
    current_stop() = std::move(*stop);
  }
}

/// Returns the place of an error that a process threw, in a file that was compiled.
ErrorContext known(const Error& error) {
  const bool has_place = !error.file().empty();
  return {error.rank(), error.op(), error.peer(), has_place ? known_file(error.file()) : "",
          error.line()};
}

/// Returns the error's text, which says the place in words.
std::string known_text(const Error& error) {
  std::string text = error.what();
  const std::string claimed = fmt::format("{}:{}", error.file(), error.line());
  const std::size_t at = error.file().empty() ? std::string::npos : text.find(claimed);
  if (at == std::string::npos) return text;
  return text.replace(at, claimed.size(),
                      fmt::format("{}:{}", known_file(error.file()), error.line()));
}

/// Throws what the function threw. A failed request is the cause: the function only passed it on.
/// What only the referee can know is no more than a text if the process says it.
[[noreturn]] void rethrow(const Link& link, const std::string& bytes) {
  if (link.failure != nullptr) std::rethrow_exception(link.failure);
  const std::exception_ptr error = error_from_bytes(bytes);
  try {
    std::rethrow_exception(error);
  } catch (const OutOfMemory& thrown) {
    throw OutOfMemory(known_text(thrown), known(thrown));
  } catch (const InvalidArgument& thrown) {
    throw InvalidArgument(known_text(thrown), known(thrown));
  } catch (const NotImplemented& thrown) {
    throw NotImplemented(known_text(thrown), known(thrown));
  } catch (const BufferReused& thrown) {
    throw BufferReused(known_text(thrown), known(thrown));
  } catch (const Error& claimed) {
    ErrorContext context;
    context.rank = claimed.rank();
    throw Error(claimed.what(), context);
  }
}

void answer(Link& link, Kind kind, const std::string& bytes) {
  link.connection->send(kind, bytes);
  // The other ranks' requests first: this process, which may go on now, has time to compute.
  sim::yield();
}

/// Returns false once the function has returned.
bool serve_next(Link& link, Call& call) {
  const Message request = link.connection->receive();
  if (request.kind == Kind::kStopped) {
    note_stop(link, request.bytes);
    return true;
  }
  if (request.kind == Kind::kThrew) rethrow(link, request.bytes);
  if (link.refuses) {
    if (request.kind == Kind::kReturned) std::rethrow_exception(link.failure);
    if (!has_reply(request.kind)) return true;
    link.refuses = false;
    answer(link, Kind::kRefused, error_to_bytes(link.failure));
    return true;
  }
  if (request.kind == Kind::kMemory) {
    link.memory_is_counted = true;
    if (counts_memory()) count_memory(link, call);
    answer(link, Kind::kReply, "");
    return true;
  }
  // A process that does not ask for it is looked at anyway, with the request that it has written;
  // but not when it only has messages sent, which it may still hold, or drops what a pass saved.
  const bool counts =
      counts_memory() && request.kind != Kind::kSync && request.kind != Kind::kDropPass;
  if (counts && !std::exchange(link.memory_is_counted, false)) count_memory(link, call);
  if (request.kind == Kind::kReturned) {
    ByteReader reader(request.bytes);
    call.state.get(reader);
    check_turn_is_over(call);
    finish_shared(call);
    return false;
  }
  try {
    const std::string result = serve(link, call, request);
    if (has_reply(request.kind)) answer(link, Kind::kReply, result);
  } catch (const Error& error) {
    const bool may_be_caught = dynamic_cast<const InvalidArgument*>(&error) != nullptr;
    if (may_be_caught && has_reply(request.kind)) {  // the function may go on
      answer(link, Kind::kRefused, error_to_bytes(std::current_exception()));
      return true;
    }
    link.failure = std::current_exception();
    link.refuses = !has_reply(request.kind);
    if (!link.refuses) answer(link, Kind::kRefused, error_to_bytes(link.failure));
  }
  return true;
}

}  // namespace

void set_asked_hook(void (*hook)(const Stop& stop)) { asked_hook = hook; }

void carry_out(Call& call, const std::string& arguments) {
  Link& link = current_link();
  const int rank = rank_of(link);
  call.given = static_cast<std::int64_t>(arguments.size());
  // The judge may look for a better example of a failure: this is none.
  if (is_lost())
    throw TimedOut(fmt::format("the process of rank {} takes no more calls", rank),
                   ErrorContext{rank, "", -1, "", 0});
  current_stop() = {};
  try {
    ByteWriter writer;
    writer.put(link.owner);
    writer.put(call.dist == nullptr ? 0 : call.dist->node());
    writer.put(call.dist == nullptr ? 0 : call.dist->local_rank());
    writer.put(static_cast<std::uint8_t>(counts_memory()));
    answer(link, Kind::kCall, writer.bytes + arguments);
    while (serve_next(link, call)) {
    }
  } catch (const Error&) {
    throw;
  } catch (const ConnectionLost&) {
    is_lost() = true;
    const Stop& stop = current_stop();
    throw Error(stop.how.empty()
                    ? fmt::format("the process of rank {} ended instead of returning", rank)
                    : in_words(stop),
                ErrorContext{rank, "", -1, "", 0});
  } catch (const std::bad_alloc&) {
    is_lost() = true;  // the request has no reply, so the next one would match another call
    throw OutOfMemory(fmt::format("the requests of rank {} need too much memory", rank),
                      ErrorContext{rank, "", -1, "", 0});
  } catch (const std::exception& error) {
    is_lost() = true;
    throw Error(fmt::format("rank {} sent what is no request: {}", rank, error.what()),
                ErrorContext{rank, "", -1, "", 0});
  }
}

}  // namespace rankbox::seal
