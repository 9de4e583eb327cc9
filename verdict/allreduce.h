// Judging all-reduces: the reduction on every rank.
#pragma once

#include "verdict/subject.h"

namespace rankbox {

class AllReduce : public Subject {
 public:
  using Function = void (*)(Comm& dist, Tensor& tensor, ReduceOp op);
  using Form = CostForm;
  static constexpr const char* kParameters = "(Comm& dist, Tensor& tensor, ReduceOp op)";

  AllReduce(Function function, Form form) : function_(function), form_(form) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;

 private:
  Function function_;
  Form form_;
};

/// Those that know of nodes: on one, as many as ranks, and numbers between.
class HierarchicalAllReduce : public Subject {
 public:
  using Function = void (*)(Comm& dist, Tensor& tensor, ReduceOp op);
  using Form = Cost (*)(int world_size, std::int64_t elements, std::int64_t element_bytes,
                        int nodes);
  static constexpr const char* kParameters = "(Comm& dist, Tensor& tensor, ReduceOp op)";

  HierarchicalAllReduce(Function function, Form form) : function_(function), form_(form) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  Cost cost(const Case& example) const override;

 private:
  Function function_;
  Form form_;
};

}  // namespace rankbox
