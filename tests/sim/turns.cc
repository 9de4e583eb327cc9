#include "tests/sim/turns.h"

#include <stdexcept>

#include "sim/executor/executor.h"

namespace rankbox::testing {

void Turns::begin(int world_size) {
  depth_ = 0;
  waiting_.assign(static_cast<std::size_t>(world_size), false);
  turn_ = -1;
  quiet_ = 0;
}

void Turns::wait_for_turn(int rank) {
  waiting_[static_cast<std::size_t>(rank)] = true;
  end(rank);
  while (turn_ != rank) {
    // All fibers are in one queue, so in this many looks each has run several times.
    if (++quiet_ > 8 * static_cast<int>(waiting_.size())) give_turn();
    if (turn_ != rank) sim::yield();
  }
  waiting_[static_cast<std::size_t>(rank)] = false;
}

void Turns::end(int rank) {
  if (turn_ == rank) turn_ = -1;
  quiet_ = 0;
}

void Turns::give_turn() {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < waiting_.size(); ++rank) {
    if (waiting_[rank]) ranks.push_back(static_cast<int>(rank));
  }
  quiet_ = 0;
  if (ranks.size() == 1) {
    turn_ = ranks[0];
    return;
  }
  if (depth_ == choices_.size()) choices_.push_back({ranks});
  const Choice& choice = choices_[depth_++];
  if (choice.ranks != ranks) throw std::logic_error("the same choices led to another run");
  turn_ = ranks[choice.taken];
}

bool Turns::next() {
  if (depth_ != choices_.size()) throw std::logic_error("the same choices led to a shorter run");
  while (!choices_.empty() && ++choices_.back().taken == choices_.back().ranks.size())
    choices_.pop_back();
  return !choices_.empty();
}

int for_each_order(int most, const std::function<void(Turns&)>& run) {
  Turns turns;
  int visited = 0;
  do {
    run(turns);
    ++visited;
  } while (visited < most && turns.next());
  return visited;
}

}  // namespace rankbox::testing
