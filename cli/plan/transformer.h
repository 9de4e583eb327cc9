// A language model as the planner counts it: parameters, operations and saved activations.
//
// All counts are of one decoder of equal layers. Per token: what one token of the sequence adds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankbox::plan {

/// The shape of a decoder.
struct Transformer {
  std::string name = {};
  std::string about = {};  // where the shape comes from
  std::int64_t layers = 1;
  std::int64_t hidden = 1;        // h
  std::int64_t heads = 1;         // of queries
  std::int64_t kv_heads = 1;      // of keys and values: fewer with grouped queries
  std::int64_t feed_forward = 1;  // f, of one expert
  std::int64_t vocabulary = 1;
  std::int64_t sequence = 1;  // tokens, unless --sequence says otherwise
  std::int64_t experts = 0;   // of each layer; 0: one dense feed-forward
  std::int64_t active = 1;    // experts that a token visits
  bool is_gated = true;       // SwiGLU: three matrices instead of two
  bool is_tied = false;       // the last layer is the embedding
  bool is_gpt = false;        // biases, learned positions, dropout: as GPT-2 and GPT-3

  std::int64_t head_size() const { return hidden / heads; }
  std::int64_t copies_of_experts() const { return experts == 0 ? 1 : experts; }
};

/// The models that --model takes by name, the smallest first.
const std::vector<Transformer>& known_models();

/// Returns the model of that name, or one like GPT-3 that --model L x H x A describes
/// ("48x6144x64": layers, width, heads). Throws InvalidArgument that lists the names.
Transformer model_named(std::string_view name);

/// Parameters, by where parallelisms cut them.
struct ParameterCount {
  std::int64_t embeddings = 0;  // tokens, positions, and the output if it is not tied
  std::int64_t dense = 0;       // of one layer, without experts
  std::int64_t expert = 0;      // of one expert of one layer
  std::int64_t all = 0;
};
ParameterCount count_parameters(const Transformer& model);

/// Floating point operations of a forward pass for one token; a backward pass takes twice as many.
struct Operations {
  double of_products = 0;   // with weights, in one layer: 2 for each weight that the token meets
  double of_attention = 0;  // in one layer: 4sh for scores and values, half of it where causal
  double of_output = 0;     // logits: 2hV
};
Operations operations_per_token(const Transformer& model, std::int64_t sequence);

/// Operations of a token's training as papers count them for MFU: 6 for each weight, and 12sh of
/// attention for each layer, without the causal half and without recomputation (Chowdhery et al.,
/// PaLM, 2022, appendix B).
double model_operations_per_token(const Transformer& model, std::int64_t sequence);

/// Bytes that one layer's forward pass leaves for its backward pass, for one token, in 16 bits,
/// with attention that keeps no scores. 34h for GPT (Korthikanti et al. 2022, without 5as/h).
std::int64_t saved_bytes_per_token(const Transformer& model);

}  // namespace rankbox::plan
