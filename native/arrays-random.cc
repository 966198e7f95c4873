// Words of Philox 4x64-10 (Salmon et al., SC 2011) and normal numbers of them: philox.ts and normal.ts in
// src/arrays/local/random are the twins.
#include <cmath>
#include <cstring>

#include "arrays.h"

namespace aether {

constexpr uint64_t kMultipliers[2] = {0xd2e7470ee14c6c93, 0xca5a826395121157};
constexpr uint64_t kWeyl[2] = {0x9e3779b97f4a7c15, 0xbb67ae8584caa73b};
constexpr int kRounds = 10;
constexpr size_t kBlockBytes = 32;

static void philoxBlock(const uint64_t key[2], const uint64_t counter[4], uint64_t block[4]) {
  uint64_t k0 = key[0], k1 = key[1], c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  for (int round = 0; round < kRounds; round++) {
    const auto a = static_cast<unsigned __int128>(c0) * kMultipliers[0];
    const auto b = static_cast<unsigned __int128>(c2) * kMultipliers[1];
    c0 = static_cast<uint64_t>(b >> 64) ^ c1 ^ k0;
    c1 = static_cast<uint64_t>(b);
    c2 = static_cast<uint64_t>(a >> 64) ^ c3 ^ k1;
    c3 = static_cast<uint64_t>(a);
    k0 += kWeyl[0];
    k1 += kWeyl[1];
  }
  block[0] = c0;
  block[1] = c1;
  block[2] = c2;
  block[3] = c3;
}

// philoxBlocks(key, counter, words): the blocks of counter, counter + 1, … into all of words.
static napi_value PhiloxBlocks(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const Bytes keyBytes = arguments.bytes(0, "key");
  const Bytes counterBytes = arguments.bytes(1, "counter");
  const Bytes words = arguments.bytes(2, "words");
  uint64_t key[2], counter[4], block[4];
  if (arguments.ok() && keyBytes.length != sizeof key) arguments.fail("key", "must have 16 bytes");
  if (arguments.ok() && counterBytes.length != sizeof counter) arguments.fail("counter", "must have 32 bytes");
  if (arguments.ok() && words.length % kBlockBytes != 0) arguments.fail("words", "must be whole blocks of 32 bytes");
  if (!arguments.ok()) return nullptr;
  memcpy(key, keyBytes.data, sizeof key);
  memcpy(counter, counterBytes.data, sizeof counter);
  for (size_t at = 0; at < words.length; at += kBlockBytes) {
    philoxBlock(key, counter, block);
    memcpy(words.data + at, block, kBlockBytes);
    for (uint64_t& word : counter)
      if (++word != 0) break;
  }
  return nullptr;
}

constexpr size_t kLayers = 256;

// Of a ziggurat, each for all layers.
struct Layers {
  double widths[kLayers], inside[kLayers], heights[kLayers];
};

static double unitOf(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

// Makes numbers of words as far as both reach. Where a number is in the tail, or needs a word that is not there, it
// stops before it.
static void normalNumbers(const Layers& layers, const uint8_t* words, size_t& wordCount, uint8_t* numbers,
                          size_t& numberCount) {
  const auto wordAt = [&](size_t at) {
    uint64_t word;
    memcpy(&word, words + at * sizeof word, sizeof word);
    return word;
  };
  size_t at = 0, made = 0;
  for (size_t next = 0; made < numberCount && next < wordCount;) {
    const uint64_t word = wordAt(next++);
    const size_t layer = word & 0xff;
    const auto place = static_cast<double>(static_cast<int64_t>(word >> 9 & 0xfffffffffffff));
    const double size = place * layers.widths[layer];
    const double x = (word & 0x100) == 0 ? size : -size;
    if (place >= layers.inside[layer]) {
      if (layer == 0 || next == wordCount) break;
      const double lower = layers.heights[layer];
      const double height = (layers.heights[layer - 1] - lower) * unitOf(wordAt(next++)) + lower;
      if (!(height < std::exp(-0.5 * x * x))) continue;
    }
    memcpy(numbers + made++ * sizeof x, &x, sizeof x);
    at = next;
  }
  wordCount = at;
  numberCount = made;
}

// normalNumbers(layers, words, numbers, counts): counts gets how many words were taken, and how many numbers made.
static napi_value NormalNumbers(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const Bytes layerBytes = arguments.bytes(0, "layers");
  const Bytes words = arguments.bytes(1, "words");
  const Bytes numbers = arguments.bytes(2, "numbers");
  const Bytes counts = arguments.bytes(3, "counts");
  if (arguments.ok() && layerBytes.length != sizeof(Layers)) arguments.fail("layers", "must have 6,144 bytes");
  if (arguments.ok() && counts.length != 8) arguments.fail("counts", "must have 8 bytes");
  if (!arguments.ok()) return nullptr;
  Layers layers;
  memcpy(&layers, layerBytes.data, sizeof layers);
  size_t wordCount = words.length / 8, numberCount = numbers.length / 8;
  normalNumbers(layers, words.data, wordCount, numbers.data, numberCount);
  const uint32_t both[] = {static_cast<uint32_t>(wordCount), static_cast<uint32_t>(numberCount)};
  memcpy(counts.data, both, sizeof both);
  return nullptr;
}

void registerArrayRandom(napi_env env, napi_value exports) {
  define(env, exports, "philoxBlocks", PhiloxBlocks);
  define(env, exports, "normalNumbers", NormalNumbers);
}

}  // namespace aether
