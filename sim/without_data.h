// The data plane of a run without data: nothing is moved.
//
// Messages and collectives are matched, traced and priced as usual; comm/without_data.h has the
// tensors.
#pragma once

#include <span>

#include "comm/memory_meter.h"
#include "comm/without_data.h"
#include "sim/data_plane.h"

namespace rankbox::sim {

class WithoutData final : public DataPlane {
 public:
  bool runs_on_fibers() const override { return true; }

  /// Gives the rank a range of 2 TiB of addresses. Tensors beyond it take those of the next rank,
  /// which is harmless: ranks never compare addresses.
  void enter(int rank) override {
    constexpr int kAddressBitsOfRank = 41;
    const std::uintptr_t first =
        kFirstWithoutData + (static_cast<std::uintptr_t>(rank) << kAddressBitsOfRank);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is stored there
    current_memory_meter()->next_address = reinterpret_cast<char*>(first);
  }
  void leave(int /*rank*/) noexcept override {}

  Transit* prepare(int /*rank*/) override { return transit(); }
  Transit* prepare_copy(int /*rank*/, Slice slice, void** data) override {
    *data = slice.data();
    return transit();
  }
  void copy(Side /*to*/, Side /*from*/, std::int64_t /*bytes*/, const Transit* /*mine*/) override {}
  void run(std::span<const Part> /*parts*/, const Transit* /*mine*/) override {}
  void discard(Transit* /*transit*/) noexcept override {}

 private:
  /// Returns an address that is not null; nothing is stored there.
  Transit* transit() { return reinterpret_cast<Transit*>(this); }
};

}  // namespace rankbox::sim
