#include "gpu/nccl/failure.h"

#include <cstdint>
#include <utility>

#include "comm/error_bytes.h"
#include "comm/errors.h"
#include "comm/post_mortem.h"
#include "comm/result_bytes.h"
#include "gpu/nccl/error.h"

namespace rankbox::gpu {
namespace {

/// Ordered from the best explanation of a run to the worst.
enum class Cause : std::uint8_t { kOwn, kTimedOut, kLostPeers, kAborted, kNone };

Cause cause_of(const std::exception_ptr& failure) {
  if (failure == nullptr) return Cause::kNone;
  try {
    std::rethrow_exception(failure);
  } catch (const TimedOut&) {
    return Cause::kTimedOut;
  } catch (const NcclError&) {
    return Cause::kLostPeers;
  } catch (const Aborted&) {
    return Cause::kAborted;
  } catch (...) {
    return Cause::kOwn;
  }
}

Cause cause_of(const RankEnd& end) {
  return end.lost_peers ? Cause::kLostPeers : cause_of(end.failure);
}

/// Indents each line by two.
std::string indented(const std::string& lines) {
  std::string text;
  bool begins = true;
  for (const char c : lines) {
    text += begins ? "  " : "";
    text += c;
    begins = c == '\n';
  }
  return text;
}

std::exception_ptr with_details(const std::exception_ptr& timed_out, const std::string& details) {
  try {
    std::rethrow_exception(timed_out);
  } catch (const TimedOut& error) {
    return std::make_exception_ptr(
        TimedOut(std::string(error.what()) + "\n" + details, error.context()));
  }
}

}  // namespace

std::string rank_end_to_bytes(const RankEnd& end) {
  return to_bytes(std::tuple(end.rank,
                             end.failure == nullptr ? std::string() : error_to_bytes(end.failure),
                             cause_of(end) == Cause::kLostPeers, end.log));
}

RankEnd rank_end_from_bytes(std::string_view bytes) {
  auto [rank, error, lost_peers, log] =
      from_bytes<std::tuple<int, std::string, bool, FlightLog>>(bytes);
  return {rank, error.empty() ? nullptr : error_from_bytes(error), lost_peers, std::move(log)};
}

std::exception_ptr failure_of(const std::vector<RankEnd>& ends, int world_size,
                              std::exception_ptr first, const std::exception_ptr& missing) {
  Cause cause = cause_of(first);
  std::vector<FlightLog> logs;
  for (const RankEnd& end : ends) {
    if (end.log.rank >= 0) logs.push_back(end.log);  // a rank that did not start has none
    const Cause other = cause_of(end);
    if (other >= cause) continue;
    cause = other;
    first = end.failure;
  }
  if (cause == Cause::kOwn) return first;
  if (cause == Cause::kNone) return missing;

  const PostMortem found = post_mortem(logs);
  if (missing != nullptr && !found.is_mismatch()) return missing;
  // NCCL's own message explains more than the ranks' waits.
  if (cause != Cause::kTimedOut && !found.is_mismatch()) return first;
  const std::string details = "the last operations of each rank:\n" +
                              indented(last_operations(logs, world_size)) +
                              "hint: " + sandbox_hint(world_size);
  return found.kind == PostMortem::Kind::kUnknown ? with_details(first, details)
                                                  : error_of(found, details);
}

}  // namespace rankbox::gpu
