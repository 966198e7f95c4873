// The table of a shard's records, in the thread that writes it. Its layout is in src/index-service/memory/layout.ts,
// that of a record in src/index-service/state/record-format.ts.
#pragma once

#include <cstring>
#include <vector>

#include "support.h"

namespace aether {

constexpr size_t kTableChunkBytes = 16 << 20;
constexpr uint32_t kChunkShift = 21, kUnitMask = (1U << kChunkShift) - 1, kUnitBytes = 8;
// Words of the first chunk, of a bucket, and of a record.
constexpr size_t kBucketsWord = 2, kSeedWord = 5, kMarkSegmentsWord = 10, kMarkModeWord = 11, kSpacesWord = 16;
constexpr size_t kUseCountsWord = 12;
constexpr size_t kMarksWord = 32, kMarkSegmentsMax = 512, kBucketSegmentsWord = 4096;
// As many chunks as the header has descriptors for.
constexpr size_t kChunksMax = kBucketSegmentsWord - 1024;
constexpr size_t kBucketSegmentsMax = 61440, kBucketsPerSegment = 4096, kUnitsPerBucket = 8, kBucketBytes = 64;
constexpr size_t kNextWord = 1, kSlotsWord = 2, kSlotsPerBucket = 7;
constexpr size_t kKeyBytesWord = 1, kValueBytesWord = 2, kRecordHeadBytes = 16;
// Marks: src/index-service/memory/use-marks.ts.
constexpr uint32_t kMarksPerSegment = 1U << 16, kByRecency = 1, kCounterStart = 5, kCounterFactor = 10;
// Counts of uses: src/index-service/memory/use-counts.ts.
constexpr uint32_t kUsesPerRow = 1U << 15, kUseRowShift = 15;
// A chain that is longer is none.
constexpr int kChainMax = 64;
// What the record of a key begins with: its type, its version, and when it expires.
constexpr uint8_t kString = 1, kHash = 2;
constexpr size_t kExpiresOffset = 9, kHeadBytes = 17;
constexpr uint8_t kKeyKind = 1, kFieldKind = 2;
constexpr uint8_t kKindMask = 3;
constexpr unsigned kSpaceShift = 2;
// Longer keys are left to others.
constexpr size_t kKeyBytesMax = 1024;

inline uint32_t scramble(uint32_t word) {
  const uint32_t mixed = word * 0xcc9e2d51U;
  return ((mixed << 15) | (mixed >> 17)) * 0x1b873593U;
}

// As hashBytes of src/codecs/hash.ts.
inline uint32_t hashOf(const uint8_t* bytes, size_t length, uint32_t seed) {
  uint32_t hash = seed;
  const size_t blocks = length & ~size_t{3};
  for (size_t at = 0; at < blocks; at += 4) {
    uint32_t word;
    memcpy(&word, bytes + at, sizeof word);
    hash ^= scramble(word);
    hash = (hash << 13) | (hash >> 19);
    hash = hash * 5 + 0xe6546b64U;
  }
  uint32_t tail = 0;
  for (size_t at = length; at > blocks; at--) tail = (tail << 8) | bytes[at - 1];
  if (blocks < length) hash ^= scramble(tail);
  hash ^= static_cast<uint32_t>(length);
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
  return hash ^ (hash >> 16);
}

// A cursor goes through hashes in the order of their reversed bits: RecordTable.scan.
inline uint32_t reversedBits(uint32_t bits) {
  bits = ((bits >> 1) & 0x55555555) | ((bits & 0x55555555) << 1);
  bits = ((bits >> 2) & 0x33333333) | ((bits & 0x33333333) << 2);
  bits = ((bits >> 4) & 0x0f0f0f0f) | ((bits & 0x0f0f0f0f) << 4);
  return __builtin_bswap32(bits);
}

inline uint32_t minuteOf(double nowMs) { return static_cast<uint32_t>(static_cast<uint64_t>(nowMs / 60000)) & 0xffffff; }

// As UseMarks.use.
inline uint32_t markUsed(uint32_t mark, uint32_t mode, double nowMs) {
  if (mode == kByRecency) return static_cast<uint32_t>(static_cast<uint64_t>(nowMs / 10));
  const uint32_t minute = minuteOf(nowMs);
  const uint32_t passed = (minute - (mark >> 8)) & 0xffffff;
  uint32_t count = mark & 0xff;
  if (passed <= 0xffffff / 2) count = count > passed ? count - passed : 0;
  static thread_local uint32_t random = 0x9e3779b9U;
  random ^= random << 13;
  random ^= random >> 17;
  random ^= random << 5;
  const uint32_t over = count > kCounterStart ? count - kCounterStart : 0;
  if (count < 0xff && random % (over * kCounterFactor + 1) == 0) count += 1;
  return (minute << 8) | count;
}

enum class Found { Yes, No, Unknown };

// Buckets of no chain, one behind the other.
struct SpareBuckets {
  uint32_t place;
  uint32_t count;
};

// The chunks of a table, each looked up once a call.
class Records {
 public:
  Records(napi_env env, napi_value chunks, double nowMs) : env_(env), array_(chunks), nowMs_(nowMs) {
    uint32_t count = 0;
    // An array may say any length, and memory would be taken for it.
    if (napi_get_array_length(env, chunks, &count) == napi_ok && count <= kChunksMax) chunks_.resize(count);
    header_ = words(0, kTableChunkBytes);
  }

  bool isTable() const { return header_ != nullptr && header_[kBucketsWord] != 0; }
  uint32_t seed() const { return header_[kSeedWord]; }
  uint32_t buckets() const { return header_[kBucketsWord]; }
  uint8_t spaceOf(size_t database) const { return static_cast<uint8_t>(header_[kSpacesWord + database]); }

  // `slotFound`: the words that name the record, its hash and its place.
  Found find(const uint8_t* key, size_t length, Bytes* value, uint32_t** slotFound = nullptr) {
    const uint32_t hash = hashOf(key, length, header_[kSeedWord]);
    uint32_t place = placeOfBucket(bucketOf(hash));
    for (int links = 0; place != 0; links++) {
      const uint32_t* bucket = words(place, kBucketBytes);
      if (bucket == nullptr || links == kChainMax) return Found::Unknown;
      for (size_t slot = 0; slot < kSlotsPerBucket; slot++) {
        const uint32_t* at = bucket + kSlotsWord + 2 * slot;
        if (at[0] != hash || at[1] == 0) continue;
        const uint32_t* record = words(at[1], kRecordHeadBytes);
        if (record == nullptr) return Found::Unknown;
        if (record[kKeyBytesWord] != length) continue;
        const size_t bytes = record[kValueBytesWord];
        if (words(at[1], kRecordHeadBytes + length + bytes) == nullptr) return Found::Unknown;
        auto* begin = reinterpret_cast<uint8_t*>(const_cast<uint32_t*>(record)) + kRecordHeadBytes;
        if (memcmp(begin, key, length) != 0) continue;
        value->data = begin + length;
        value->length = bytes;
        if (slotFound != nullptr) *slotFound = const_cast<uint32_t*>(at);
        use(hash);
        count(hash);
        return Found::Yes;
      }
      place = bucket[kNextWord];
    }
    return Found::No;
  }

  // What lies at a place, if so many bytes do.
  const uint32_t* words(uint32_t place, size_t length) {
    const uint32_t number = place >> kChunkShift;
    const size_t offset = static_cast<size_t>(place & kUnitMask) * kUnitBytes;
    if (number >= chunks_.size() || offset + length > kTableChunkBytes) return nullptr;
    Bytes& chunk = chunks_[number];
    if (chunk.data == nullptr) {
      napi_value value = nullptr;
      Bytes bytes;
      if (napi_get_element(env_, array_, number, &value) != napi_ok || !bytesOf(env_, value, &bytes) ||
          bytes.length != kTableChunkBytes || reinterpret_cast<uintptr_t>(bytes.data) % kUnitBytes != 0)
        return nullptr;
      chunk = bytes;
    }
    return reinterpret_cast<const uint32_t*>(chunk.data + offset);
  }

  // Linear hashing.
  uint32_t bucketOf(uint32_t hash) const {
    const uint32_t half = 1U << (31 - __builtin_clz(buckets()));
    const uint32_t bucket = hash & (half * 2 - 1);
    return bucket < buckets() ? bucket : hash & (half - 1);
  }

  // 0 if the header has no room for such a bucket.
  uint32_t placeOfBucket(uint32_t bucket) const {
    const size_t segment = bucket / kBucketsPerSegment;
    if (segment >= kBucketSegmentsMax) return 0;
    return header_[kBucketSegmentsWord + segment] +
           static_cast<uint32_t>(bucket % kBucketsPerSegment * kUnitsPerBucket);
  }

  // Where a record is named that is not there, in the last bucket of a chain at worst. Null if none is left for it.
  uint32_t* freeSlot(uint32_t hash, SpareBuckets* spares) {
    uint32_t place = placeOfBucket(bucketOf(hash));
    for (int links = 0; links < kChainMax && place != 0; links++) {
      auto* bucket = const_cast<uint32_t*>(words(place, kBucketBytes));
      if (bucket == nullptr) return nullptr;
      for (size_t slot = 0; slot < kSlotsPerBucket; slot++)
        if (bucket[kSlotsWord + 2 * slot + 1] == 0) return bucket + kSlotsWord + 2 * slot;
      place = bucket[kNextWord];
      if (place != 0) continue;
      if (spares->count == 0) return nullptr;
      place = spares->place;
      spares->place += kUnitsPerBucket;
      spares->count--;
      __atomic_store_n(bucket + kNextWord, place, __ATOMIC_SEQ_CST);
    }
    return nullptr;
  }

  // A record is new.
  void start(uint32_t hash) {
    uint32_t* mark = nowMs_ == 0 ? nullptr : markOf(hash);
    if (mark == nullptr) return;
    const bool isByRecency = header_[kMarkModeWord] == kByRecency;
    *mark = isByRecency ? markUsed(0, kByRecency, nowMs_) : minuteOf(nowMs_) << 8 | kCounterStart;
  }

 private:
  void use(uint32_t hash) {
    uint32_t* mark = markOf(hash);
    if (mark != nullptr) *mark = markUsed(*mark, header_[kMarkModeWord], nowMs_);
  }

  uint32_t* markOf(uint32_t hash) {
    const uint32_t segments = header_[kMarkSegmentsWord];
    if (segments == 0 || segments > kMarkSegmentsMax) return nullptr;
    const uint32_t place = header_[kMarksWord + ((hash >> 16) & (segments - 1))];
    auto* marks = const_cast<uint32_t*>(words(place, kMarksPerSegment * sizeof(uint32_t)));
    return marks == nullptr ? nullptr : marks + (hash & (kMarksPerSegment - 1));
  }

  void count(uint32_t hash) {
    const uint32_t place = header_[kUseCountsWord];
    if (place == 0) return;
    auto* counts = const_cast<uint32_t*>(words(place, 2 * kUsesPerRow * sizeof(uint32_t)));
    if (counts == nullptr) return;
    counts[hash & (kUsesPerRow - 1)]++;
    counts[kUsesPerRow + ((hash >> kUseRowShift) & (kUsesPerRow - 1))]++;
  }

  napi_env env_;
  napi_value array_;
  std::vector<Bytes> chunks_;
  const uint32_t* header_;
  double nowMs_;
};

}  // namespace aether
