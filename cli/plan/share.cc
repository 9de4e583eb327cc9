#include "cli/plan/share.h"

namespace rankbox::plan {

Share share_of(const Transformer& model, std::int64_t sequence, const Layout& layout) {
  const ParameterCount count = count_parameters(model);
  const auto tensor = static_cast<double>(layout.tensor);
  Share share;
  share.tokens =
      static_cast<double>(layout.micro_batch * sequence) / static_cast<double>(layout.context);
  share.layers = (model.layers + layout.pipeline - 1) / layout.pipeline;
  share.dense = static_cast<double>(count.dense) / tensor;
  share.experts = static_cast<double>(model.copies_of_experts() * count.expert) / tensor /
                  static_cast<double>(layout.expert);
  share.embeddings = static_cast<double>(count.embeddings) / tensor;
  // The first stage has the embedding, the last one the output.
  if (layout.pipeline > 1 && !model.is_tied) share.embeddings /= 2;

  share.hidden = 2 * share.tokens * static_cast<double>(model.hidden);
  share.saved = share.tokens * static_cast<double>(saved_bytes_per_token(model)) / tensor;
  share.keys_and_values =
      2 * 2 * share.tokens * static_cast<double>(model.kv_heads * model.head_size()) / tensor;
  share.routed = share.hidden * static_cast<double>(model.active) / tensor;
  return share;
}

}  // namespace rankbox::plan
