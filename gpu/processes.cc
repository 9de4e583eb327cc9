#include "gpu/processes.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "comm/error_bytes.h"
#include "comm/errors.h"
#include "comm/rank_failure.h"
#include "comm/result_bytes.h"
#include "gpu/device/devices.h"
#include "gpu/launched.h"
#include "gpu/nccl/error.h"
#include "launch/environment.h"
#include "launch/placement.h"
#include "launch/rank_variables.h"
#include "launch/star.h"

namespace rankbox::gpu {
namespace {

// A run may last as long as it likes: every wait inside it has a deadline, and a process that dies is
// missed at once.
constexpr double kRun = 30 * 24 * 3600.0;  // seconds

constexpr const char* kShareVariable = "RANKBOX_NCCL_SHARE_GPU";

// Between the words of a failure, which are for everybody, and the bytes of the error.
constexpr std::string_view kBytesFollow = "\nrankbox error bytes:\n";

bool is_set(const char* variable) {
  const auto value = launcher::process_environment()(variable);
  return value.has_value() && *value != "0";
}

/// Without what tells this boot of it from others.
std::string name_of_host(const std::string& host) {
  return host.substr(0, host.find_first_of(" \n"));
}

std::string what_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown exception";
  }
}

/// NCCL tells a rank that another one is gone, often before that one could say why.
bool may_be_a_consequence(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const NcclError&) {
    return true;
  } catch (...) {
    return false;
  }
}

std::exception_ptr decoded(const launcher::Failure& failure) {
  const std::size_t bytes = failure.reason.find(kBytesFollow);
  if (bytes != std::string::npos) {
    return error_from_bytes(std::string_view(failure.reason).substr(bytes + kBytesFollow.size()));
  }
  // It ended without a word, or did not come.
  return std::make_exception_ptr(RankFailed(failure.reason, {failure.rank, "", -1, "", 0}));
}

}  // namespace

struct Processes::Inside {
  /// A process's GPU, and on which machine.
  struct Card {
    std::string host;
    std::string bus_id;
    std::string error;  // bytes of it; empty: there is a GPU
    int device = -1;
  };

  explicit Inside(double seconds) : star(options(seconds)) {}
  static launcher::StarOptions options(double seconds);
  void choose_card();
  void exchange_cards();
  void prepare_sharing() const;
  std::vector<int> twins(int world_size) const;

  launcher::Star star;
  Card card;
  std::vector<Card> cards;                      // [rank]
  std::vector<launcher::Placement> placements;  // [rank]

  std::mutex lock;
  std::exception_ptr my_failure;  // what this process told the others; under lock
};

launcher::StarOptions Processes::Inside::options(double seconds) {
  launcher::StarOptions made = launcher::star_options(launcher::rank_variables().value());
  made.seconds = seconds;
  return made;
}

void Processes::Inside::choose_card() {
  const launcher::Placement& place = placements[static_cast<std::size_t>(star.rank())];
  const int local_rank = launched()->local_rank >= 0 ? launched()->local_rank : place.local_rank;
  try {
    // Where each process sees one GPU only, that is its own.
    card.device = local_rank % device_count();
    card.bus_id = device_info(card.device).bus_id;
  } catch (...) {
    card.error = error_to_bytes(with_rank(std::current_exception(), star.rank()));
  }
}

void Processes::Inside::exchange_cards() {
  using Fields = std::tuple<std::string, std::string, std::string, int>;
  const Fields mine(card.host, card.bus_id, card.error, card.device);
  for (const std::string& bytes : star.all_gather_bytes(to_bytes(mine))) {
    const auto [host, bus_id, error, device] = from_bytes<Fields>(bytes);
    cards.push_back({host, bus_id, error, device});
  }
}

/// The first two ranks of a world of that size that have the same GPU; none if there are none.
std::vector<int> Processes::Inside::twins(int world_size) const {
  for (int b = 0; b < world_size; ++b) {
    for (int a = 0; a < b; ++a) {
      const Card& first = cards[static_cast<std::size_t>(a)];
      const Card& second = cards[static_cast<std::size_t>(b)];
      if (!first.bus_id.empty() && first.bus_id == second.bus_id && first.host == second.host)
        return {a, b};
    }
  }
  return {};
}

/// NCCL takes processes of different NCCL_HOSTIDs for processes on different machines, and asks for
/// a network between them. What somebody has set stays.
void Processes::Inside::prepare_sharing() const {
  const auto set = [](const char* variable, const std::string& value) {
    setenv(variable, value.c_str(), /*overwrite=*/0);
  };
  set("NCCL_HOSTID", fmt::format("rankbox-{}-{}", name_of_host(card.host), star.rank()));
  set("NCCL_NET", "Socket");
  set("NCCL_P2P_DISABLE", "1");
  set("NCCL_SHM_DISABLE", "1");
  const bool one_machine = std::all_of(
      cards.begin(), cards.end(), [this](const Card& other) { return other.host == card.host; });
  if (one_machine) set("NCCL_SOCKET_IFNAME", "lo");
}

Processes::Processes(double seconds) : inside_(std::make_unique<Inside>(seconds)) {
  Inside& in = *inside_;
  const std::vector<std::string> hosts = in.star.all_gather_bytes(launcher::this_host());
  in.placements = launcher::placements(hosts);
  in.card.host = hosts[static_cast<std::size_t>(rank())];
  in.choose_card();
  in.exchange_cards();
  if (is_set(kShareVariable) && !in.twins(world_size()).empty()) in.prepare_sharing();
}

Processes::~Processes() = default;

int Processes::rank() const { return inside_->star.rank(); }
int Processes::world_size() const { return inside_->star.world_size(); }
int Processes::device() const { return inside_->card.device; }

std::string Processes::share_id(const std::function<std::string()>& make) {
  return inside_->star.broadcast_bytes(rank() == 0 ? make() : std::string());
}

bool Processes::is_failing() { return inside_->star.stopped(); }

void Processes::check_members(int world_size, double seconds) {
  const std::vector<std::string> sizes = [&] {
    try {
      return inside_->star.all_gather_bytes(to_bytes(world_size), seconds);
    } catch (const Aborted&) {
      if (const std::exception_ptr cause = failure()) std::rethrow_exception(cause);
      throw;
    }
  }();
  for (std::size_t other = 0; other < sizes.size(); ++other) {
    const int size = from_bytes<int>(sizes[other]);
    const int first = from_bytes<int>(sizes[0]);
    if (size == first) continue;
    throw InvalidArgument(
        fmt::format("process 0 runs a world of {} ranks, but process {} one of {}: all processes "
                    "have to call run_ranks with the same options",
                    first, other, size));
  }
  for (int rank = 0; rank < world_size; ++rank) {
    const std::string& error = inside_->cards[static_cast<std::size_t>(rank)].error;
    if (!error.empty()) std::rethrow_exception(error_from_bytes(error));
  }
  const std::vector<int> two = inside_->twins(world_size);
  if (two.empty() || is_set(kShareVariable) || is_set("NCCL_MULTI_RANK_GPU_ENABLE")) return;
  const Inside::Card& card = inside_->cards[static_cast<std::size_t>(two[0])];
  throw InvalidArgument(fmt::format(
      "ranks {} and {} are processes that would share GPU {} of {}, and NCCL wants one for each: "
      "start a single process without a launcher, whose ranks share GPUs as threads; or set {}=1, "
      "and NCCL runs all the same, over sockets (to see that it works, not to take times)",
      two[0], two[1], card.bus_id, name_of_host(card.host), kShareVariable));
}

std::vector<int> Processes::nodes(int world_size) const {
  std::vector<int> nodes;
  for (int rank = 0; rank < world_size; ++rank)
    nodes.push_back(inside_->placements[static_cast<std::size_t>(rank)].node);
  return nodes;
}

void Processes::fail(int rank, const std::exception_ptr& failure) noexcept {
  try {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (may_be_a_consequence(failure) && !inside_->star.stopped() &&
           std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (inside_->star.stopped()) return;
    {
      std::lock_guard guard(inside_->lock);
      inside_->my_failure = failure;
    }
    inside_->star.stop(what_of(failure) + std::string(kBytesFollow) + error_to_bytes(failure),
                       rank);
  } catch (...) {  // no memory: the end of this process's connection will have to tell them
  }
}

std::exception_ptr Processes::failure() {
  const std::optional<launcher::Failure> first = inside_->star.first_failure();
  if (!first) return nullptr;
  std::lock_guard guard(inside_->lock);
  // What was thrown here need not go through bytes.
  return first->rank == rank() && inside_->my_failure != nullptr ? inside_->my_failure
                                                                 : decoded(*first);
}

std::vector<std::string> Processes::conclude(const std::string& mine) {
  try {
    if (!inside_->star.stopped()) return inside_->star.all_gather_bytes(mine, kRun);
  } catch (const Aborted&) {
    if (failure() == nullptr) throw;
  }
  std::rethrow_exception(failure());
}

}  // namespace rankbox::gpu
