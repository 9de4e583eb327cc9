// Judging conjugate_f and conjugate_g: in one direction a sum over ranks, in the other nothing.
#pragma once

#include "parallel/direction.h"
#include "verdict/tensor_parallel/exchanges.h"

namespace rankbox {

class Conjugate : public SubjectOfExchanges {
 public:
  using Function = void (*)(Comm& dist, Direction direction, Tensor& tensor);
  static constexpr const char* kParameters = "(Comm& dist, Direction direction, Tensor& tensor)";

  /// @param summing the direction in which the tensor is added up
  Conjugate(Function function, Direction summing) : function_(function), summing_(summing) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  std::vector<NativeCall> exchanges(const Case& example) const override;

 private:
  Function function_;
  Direction summing_;
};

class ConjugateF : public Conjugate {
 public:
  explicit ConjugateF(Function function) : Conjugate(function, Direction::kBackward) {}
};

class ConjugateG : public Conjugate {
 public:
  explicit ConjugateG(Function function) : Conjugate(function, Direction::kForward) {}
};

}  // namespace rankbox
