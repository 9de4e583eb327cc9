// Judging vocab_parallel_cross_entropy: logits that are large, labels that count nowhere, and more ranks than classes.
#pragma once

#include "parallel/vocab_parallel_cross_entropy.h"
#include "verdict/tensor_parallel/exchanges.h"

namespace rankbox {

class VocabParallelCrossEntropy : public SubjectOfExchanges {
 public:
  using Function = void (*)(Comm& dist, const Tensor& logits, std::int64_t classes,
                            std::span<const std::int32_t> labels, Loss& loss);
  static constexpr const char* kParameters =
      "(Comm& dist, const Tensor& logits, std::int64_t classes, std::span<const std::int32_t> "
      "labels, Loss& loss)";

  explicit VocabParallelCrossEntropy(Function function) : function_(function) {}

  std::vector<Case> cases() const override;
  std::optional<Difference> run(Comm& dist, const Case& example) const override;
  std::vector<NativeCall> exchanges(const Case& example) const override;

 private:
  Function function_;
};

}  // namespace rankbox
