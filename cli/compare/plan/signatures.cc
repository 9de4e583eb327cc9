#include "cli/compare/plan/signatures.h"

#include <algorithm>
#include <iterator>

namespace rankbox::cli {
namespace {

using enum CollectiveKind;

/// Adapts a function of its contract's type to the common signature.
template <class Function, auto kInvoke>
Call bind(void (*function)()) {
  return [typed = reinterpret_cast<Function>(function)](Comm& dist, Buffers& buffers,
                                                        const CallSettings& settings) {
    kInvoke(typed, dist, buffers, settings);
  };
}

using InPlace = void (*)(Comm&, Tensor&, ReduceOp);
using OnGrid = void (*)(Comm&, Comm&, Tensor&, ReduceOp);
using InPlaceInSegments = void (*)(Comm&, Tensor&, ReduceOp, int);
using FromRoot = void (*)(Comm&, Tensor&, int);
using FromRootInSegments = void (*)(Comm&, Tensor&, int, int);
using ToRoot = void (*)(Comm&, Tensor&, int, ReduceOp);
using Rooted = void (*)(Comm&, const Tensor&, Tensor&, int);
using Apart = void (*)(Comm&, const Tensor&, Tensor&);
using ReducedApart = void (*)(Comm&, Tensor&, Tensor&, ReduceOp);  // the first is work space
using Nothing = void (*)(Comm&);
using Settings = CallSettings;

constexpr auto kCallRooted = [](Rooted f, Comm& dist, Buffers& b, const Settings& s) {
  f(dist, b.input, b.output, s.root);
};
constexpr auto kCallApart = [](Apart f, Comm& dist, Buffers& b, const Settings&) {
  f(dist, b.input, b.output);
};
constexpr auto kCallInPlace = [](InPlace f, Comm& dist, Buffers& b, const Settings& s) {
  f(dist, b.input, s.op);
};
constexpr auto kCallInPlaceInSegments = [](InPlaceInSegments f, Comm& dist, Buffers& b,
                                           const Settings& s) {
  f(dist, b.input, s.op, s.segments);
};

const Signature kSignatures[] = {
    {"barrier", kBarrier, "barrier",
     bind<Nothing, [](Nothing f, Comm& dist, Buffers&, const Settings&) { f(dist); }>},
    {"broadcast", kBroadcast, "broadcast",
     bind<FromRoot,
          [](FromRoot f, Comm& dist, Buffers& b, const Settings& s) { f(dist, b.input, s.root); }>},
    {"segmented_broadcast", kBroadcast, "broadcast",
     bind<FromRootInSegments, [](FromRootInSegments f, Comm& dist, Buffers& b,
                                 const Settings& s) { f(dist, b.input, s.root, s.segments); }>},
    {"reduce", kReduce, "reduce",
     bind<ToRoot, [](ToRoot f, Comm& dist, Buffers& b,
                     const Settings& s) { f(dist, b.input, s.root, s.op); }>},
    {"allreduce", kAllReduce, "allreduce", bind<InPlace, kCallInPlace>},
    {"hierarchical_allreduce", kAllReduce, "allreduce",
     bind<OnGrid, [](OnGrid f, Comm&, Buffers& b,
                     const Settings& s) { f(s.grid->node, s.grid->counterparts, b.input, s.op); }>,
     /*needs_grid=*/true},
    {"segmented_allreduce", kAllReduce, "allreduce",
     bind<InPlaceInSegments, kCallInPlaceInSegments>},
    {"double_tree", kAllReduce, "allreduce", bind<InPlaceInSegments, kCallInPlaceInSegments>},
    {"gather", kGather, "gather", bind<Rooted, kCallRooted>},
    {"scatter", kScatter, "scatter", bind<Rooted, kCallRooted>},
    {"allgather", kAllGather, "allgather", bind<Apart, kCallApart>},
    {"alltoall", kAllToAll, "alltoall", bind<Apart, kCallApart>},
    {"reduce_scatter", kReduceScatter, "reduce_scatter",
     bind<ReducedApart, [](ReducedApart f, Comm& dist, Buffers& b,
                           const Settings& s) { f(dist, b.input, b.output, s.op); }>},
};

}  // namespace

const Signature* signature_of(std::string_view family) {
  const auto found = std::ranges::find(kSignatures, family, &Signature::family);
  return found == std::end(kSignatures) ? nullptr : found;
}

Call native_call(CollectiveKind collective) {
  switch (collective) {
    case kBroadcast:
      return [](Comm& dist, Buffers& b, const Settings& s) { dist.broadcast(b.input, s.root); };
    case kReduce:
      return [](Comm& dist, Buffers& b, const Settings& s) { dist.reduce(b.input, s.root, s.op); };
    case kAllReduce:
      return [](Comm& dist, Buffers& b, const Settings& s) { dist.all_reduce(b.input, s.op); };
    case kBarrier:
      return [](Comm& dist, Buffers&, const Settings&) { dist.barrier(); };
    case kGather:
      return
          [](Comm& dist, Buffers& b, const Settings& s) { dist.gather(b.input, b.output, s.root); };
    case kScatter:
      return [](Comm& dist, Buffers& b, const Settings& s) {
        dist.scatter(b.input, b.output, s.root);
      };
    case kAllGather:
      return [](Comm& dist, Buffers& b, const Settings&) { dist.all_gather(b.input, b.output); };
    case kReduceScatter:
      return [](Comm& dist, Buffers& b, const Settings& s) {
        dist.reduce_scatter(b.input, b.output, s.op);
      };
    case kAllToAll:
      return [](Comm& dist, Buffers& b, const Settings&) { dist.all_to_all(b.input, b.output); };
    default:
      return {};
  }
}

}  // namespace rankbox::cli
