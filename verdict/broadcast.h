// Judging broadcasts: src's tensor on every rank.
#pragma once

#include "verdict/subject.h"

namespace rankbox {

class Broadcast : public Subject {
 public:
  using Function = void (*)(Comm& dist, Tensor& tensor, int src);
  using Form = CostForm;
  static constexpr const char* kParameters = "(Comm& dist, Tensor& tensor, int src)";

  Broadcast(Function function, Form form) : function_(function), form_(form) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;

 private:
  Function function_;
  Form form_;
};

/// Those that cut the tensor into segments, with several numbers of them.
class SegmentedBroadcast : public Subject {
 public:
  using Function = void (*)(Comm& dist, Tensor& tensor, int src, int segments);
  using Form = Cost (*)(int world_size, std::int64_t elements, std::int64_t element_bytes,
                        int segments);
  static constexpr const char* kParameters = "(Comm& dist, Tensor& tensor, int src, int segments)";

  SegmentedBroadcast(Function function, Form form) : function_(function), form_(form) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;

 private:
  Function function_;
  Form form_;
};

}  // namespace rankbox
