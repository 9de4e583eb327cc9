#include "viewer/wait_picture.h"

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankbox {
namespace {

/// The parts of a picture. Those of one column have one width.
struct Signs {
  const char* first;    // before the rank that closes the circle
  const char* along;    // before lines inside the circle
  const char* outside;  // before lines outside it
  const char* closing;  // before the last wait of a circle
  const char* down;     // before a wait, and at the arrow's tip
  const char* tip;
  const char* across;
  const char* more;
};

constexpr Signs kUnicode = {"╭▶ ", "│  ", "   ", "╰────╯ ", "  │ ", "  ▼", "──▶", "…"};
constexpr Signs kAscii = {",> ", "|  ", "   ", "`----' ", "  | ", "  V", "-->", "..."};

class WaitPicture {
 public:
  WaitPicture(const DeadlockError& deadlock, const WaitPictureOptions& options)
      : deadlock_(deadlock), options_(options), signs_(options.ascii ? kAscii : kUnicode) {}

  std::string draw() {
    const std::vector<int>& cycle = deadlock_.cycle();
    const Wait* last = cycle.empty() ? nullptr : wait_of(cycle.back());
    const bool is_circle = last != nullptr;
    const std::size_t drawn = std::min(cycle.size(), options_.max_ranks);
    for (std::size_t i = 0; i < drawn; ++i) {
      const char* margin = !is_circle ? signs_.outside : i == 0 ? signs_.first : signs_.along;
      const char* below = is_circle ? signs_.along : signs_.outside;
      const Wait* wait = wait_of(cycle[i]);
      line(fmt::format("{}rank {}{}", margin, cycle[i], wait == nullptr ? " has returned" : ""));
      if (wait == nullptr || i + 1 == cycle.size()) break;
      line(fmt::format("{}{}{}", below, signs_.down, in_words(*wait)));
      line(fmt::format("{}{}", below, signs_.tip));
    }
    if (drawn < cycle.size()) {
      line(fmt::format("{}{} {} more", is_circle ? signs_.along : signs_.outside, signs_.more,
                       cycle.size() - drawn));
    }
    if (is_circle) line(fmt::format("{}{}", signs_.closing, in_words(*last)));
    draw_others();
    return picture_;
  }

 private:
  void draw_others() {
    const std::unordered_set<int> drawn(deadlock_.cycle().begin(), deadlock_.cycle().end());
    std::vector<const Wait*> others;
    for (const Wait& wait : deadlock_.waits()) {
      if (!drawn.contains(wait.rank)) others.push_back(&wait);
    }
    for (std::size_t i = 0; i < others.size() && i < options_.max_ranks; ++i) {
      const Wait& wait = *others[i];
      picture_ += fmt::format("{}rank {} {} {}   {}\n", signs_.outside, wait.rank, signs_.across,
                              peers_of(wait), in_words(wait));
    }
    if (others.size() > options_.max_ranks) {
      picture_ += fmt::format("{}{} {} more wait for those\n", signs_.outside, signs_.more,
                              others.size() - options_.max_ranks);
    }
  }

  /// Returns "ranks 1, 2, 3 and 12 more".
  static std::string peers_of(const Wait& wait) {
    constexpr std::size_t kMost = 4;
    const std::size_t named = std::min(wait.peers.size(), kMost);
    std::string text =
        fmt::format("rank{} {}", wait.peers.size() == 1 ? "" : "s",
                    fmt::join(wait.peers.begin(),
                              wait.peers.begin() + static_cast<std::ptrdiff_t>(named), ", "));
    if (named < wait.peers.size()) text += fmt::format(" and {} more", wait.peers.size() - named);
    return text;
  }

  /// A line of the circle or chain.
  void line(const std::string& text) {
    picture_ += options_.colour ? fmt::format("\033[31m{}\033[0m\n", text) : text + "\n";
  }

  const Wait* wait_of(int rank) const {
    const std::vector<Wait>& waits = deadlock_.waits();
    const auto found = std::find_if(waits.begin(), waits.end(),
                                    [rank](const Wait& wait) { return wait.rank == rank; });
    return found == waits.end() ? nullptr : &*found;
  }

  std::string in_words(const Wait& wait) const {
    const std::string file = options_.display_name ? options_.display_name(wait.file) : wait.file;
    const std::string bytes = wait.bytes > 0 ? fmt::format(", {} bytes", wait.bytes) : "";
    return fmt::format("{}{}, {}:{}", wait.op, bytes, file, wait.line);
  }

  const DeadlockError& deadlock_;
  const WaitPictureOptions& options_;
  const Signs& signs_;
  std::string picture_;
};

}  // namespace

std::string draw_waits(const DeadlockError& deadlock, const WaitPictureOptions& options) {
  return WaitPicture(deadlock, options).draw();
}

}  // namespace rankbox
