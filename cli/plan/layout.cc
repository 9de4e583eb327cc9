#include "cli/plan/layout.h"

#include <fmt/format.h>

namespace rankbox::plan {

std::string_view name_of(Sharding sharding) {
  switch (sharding) {
    case Sharding::kNone:
      return "DDP";
    case Sharding::kZero1:
      return "ZeRO-1";
    case Sharding::kZero2:
      return "ZeRO-2";
    case Sharding::kZero3:
      return "FSDP";
    case Sharding::kHybrid:
      return "HSDP";
  }
  return "";
}

std::string_view name_of(Schedule schedule) {
  switch (schedule) {
    case Schedule::kGpipe:
      return "GPipe";
    case Schedule::k1f1b:
      return "1F1B";
    case Schedule::kInterleaved:
      return "interleaved";
    case Schedule::kZeroBubble:
      return "zero bubble";
  }
  return "";
}

std::string name_of(const Layout& layout) {
  std::string name;
  const auto add = [&name](std::string_view what, std::int64_t degree) {
    if (degree == 1) return;
    name += fmt::format("{}{} {}", name.empty() ? "" : " × ", what, degree);
  };
  if (layout.sharding == Sharding::kHybrid) {
    name =
        fmt::format("HSDP {}·{}", layout.replicas() / layout.shard, layout.shard / layout.context);
  } else if (layout.replicas() > 1) {
    name = fmt::format("{} {}", name_of(layout.sharding), layout.data);
  }
  if (layout.expert > 1) name += fmt::format(" (EP {})", layout.expert);
  add("CP", layout.context);
  add("TP", layout.tensor);
  if (layout.pipeline > 1) {
    add("PP", layout.pipeline);
    name += fmt::format(" ({}{})", name_of(layout.schedule),
                        layout.chunks > 1 ? fmt::format(" {}", layout.chunks) : "");
  }
  return name.empty() ? "one GPU" : name;
}

}  // namespace rankbox::plan
