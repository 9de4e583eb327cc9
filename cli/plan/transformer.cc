#include "cli/plan/transformer.h"

#include <array>
#include <charconv>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"

namespace rankbox::plan {

namespace {

Transformer llama(std::string name, std::string about, std::int64_t layers, std::int64_t hidden,
                  std::int64_t heads, std::int64_t kv_heads, std::int64_t feed_forward,
                  std::int64_t vocabulary, std::int64_t sequence) {
  Transformer model;
  model.name = std::move(name);
  model.about = std::move(about);
  model.layers = layers;
  model.hidden = hidden;
  model.heads = heads;
  model.kv_heads = kv_heads;
  model.feed_forward = feed_forward;
  model.vocabulary = vocabulary;
  model.sequence = sequence;
  return model;
}

Transformer gpt(std::string name, std::string about, std::int64_t layers, std::int64_t hidden,
                std::int64_t heads, std::int64_t vocabulary, std::int64_t sequence) {
  Transformer model = llama(std::move(name), std::move(about), layers, hidden, heads, heads,
                            4 * hidden, vocabulary, sequence);
  model.is_gated = false;
  model.is_tied = true;
  model.is_gpt = true;
  return model;
}

Transformer with_experts(Transformer model, std::int64_t experts, std::int64_t active) {
  model.experts = experts;
  model.active = active;
  return model;
}

constexpr std::int64_t kMegatronVocabulary = 51200;

}  // namespace

const std::vector<Transformer>& known_models() {
  static const std::vector<Transformer> models = {
      gpt("gpt2", "GPT-2 XL, 1.5 billion", 48, 1600, 25, 50257, 1024),
      llama("7B", "Llama 2 7B", 32, 4096, 32, 32, 11008, 32000, 4096),
      llama("8B", "Llama 3 8B", 32, 4096, 32, 8, 14336, 128256, 8192),
      llama("13B", "Llama 2 13B", 40, 5120, 40, 40, 13824, 32000, 4096),
      with_experts(llama("8x7B", "Mixtral 8x7B: 8 experts, 2 for a token", 32, 4096, 32, 8, 14336,
                         32000, 4096),
                   8, 2),
      llama("70B", "Llama 3 70B", 80, 8192, 64, 8, 28672, 128256, 8192),
      gpt("175B", "GPT-3", 96, 12288, 96, kMegatronVocabulary, 2048),
      llama("405B", "Llama 3.1 405B", 126, 16384, 128, 8, 53248, 128256, 8192),
      gpt("1T", "Narayanan et al. 2021", 128, 25600, 160, kMegatronVocabulary, 2048),
  };
  return models;
}

Transformer model_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Transformer& model : known_models()) {
    if (model.name == name) return model;
    names.push_back(model.name);
  }
  std::array<std::int64_t, 3> numbers = {};  // layers, width, heads
  const char* at = name.data();
  const char* const end = at + name.size();
  std::size_t read = 0;
  for (; read < 3; ++read) {
    const auto [after, error] = std::from_chars(at, end, numbers[read]);
    if (error != std::errc() || (read < 2 ? after == end || *after != 'x' : after != end)) break;
    at = after + 1;
  }
  if (read == 3) {
    const auto [layers, hidden, heads] = numbers;
    if (layers < 1 || layers > 10'000 || hidden < 1 || hidden > 200'000 || heads < 1 ||
        hidden % heads != 0) {
      throw InvalidArgument(fmt::format(
          "model \"{}\": expected 1 to 10000 layers, a width of 1 to 200000, and heads that divide "
          "the width",
          name));
    }
    return gpt(std::string(name), "like GPT-3", layers, hidden, heads, kMegatronVocabulary, 2048);
  }
  throw InvalidArgument(
      fmt::format("unknown model \"{}\": choose one of {}, or LAYERSxWIDTHxHEADS as in 48x6144x64",
                  name, fmt::join(names, ", ")));
}

ParameterCount count_parameters(const Transformer& model) {
  const std::int64_t h = model.hidden, f = model.feed_forward;
  const std::int64_t keys = model.kv_heads * model.head_size();
  ParameterCount count;
  count.embeddings = (model.is_tied ? 1 : 2) * model.vocabulary * h;
  count.dense = 2 * h * h + 2 * h * keys + 2 * h;  // attention, and two norms' scales
  count.expert = (model.is_gated ? 3 : 2) * h * f;
  std::int64_t last_norm = h;
  if (model.is_gpt) {
    count.embeddings += model.sequence * h;
    count.dense += 2 * h + 2 * h + 2 * keys;  // shifts, and biases of attention
    count.expert += f + h;
    last_norm += h;
  }
  if (model.experts > 0) count.dense += h * model.experts;  // the gate
  count.all = count.embeddings + last_norm +
              model.layers * (count.dense + model.copies_of_experts() * count.expert);
  return count;
}

Operations operations_per_token(const Transformer& model, std::int64_t sequence) {
  const ParameterCount count = count_parameters(model);
  const auto h = static_cast<double>(model.hidden);
  Operations operations;
  operations.of_products =
      2.0 *
      static_cast<double>(count.dense + (model.experts == 0 ? 1 : model.active) * count.expert);
  operations.of_attention = 0.5 * 4.0 * static_cast<double>(sequence) * h;
  operations.of_output = 2.0 * h * static_cast<double>(model.vocabulary);
  return operations;
}

double model_operations_per_token(const Transformer& model, std::int64_t sequence) {
  const Operations once = operations_per_token(model, sequence);
  const auto layers = static_cast<double>(model.layers);
  return 3 * (layers * (once.of_products + 2 * once.of_attention) + once.of_output);
}

std::int64_t saved_bytes_per_token(const Transformer& model) {
  const std::int64_t h = model.hidden, f = model.feed_forward;
  const std::int64_t keys = model.kv_heads * model.head_size();
  const std::int64_t visits = model.experts == 0 ? 1 : model.active;
  const std::int64_t norms = 2 * (h + h);                             // the inputs of two
  const std::int64_t attention = 2 * h + 2 * (h + 2 * keys) + 2 * h;  // its input; q, k, v; output
  const std::int64_t inside = model.is_gated ? 3 * f : 2 * f;         // of the feed-forward
  const std::int64_t masks = model.is_gpt ? 2 * h : 0;                // of dropout, a byte each
  return norms + attention + visits * (2 * h + 2 * inside) + masks;
}

}  // namespace rankbox::plan
