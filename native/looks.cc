// Reads of strings and of fields of hashes, as clients of Redis ask for them, answered out of a table of records. One
// call takes all that stand at the start of what a client has sent. The table is read in the thread that writes it: its
// layout is in src/index-service/memory/layout.ts, that of a record in src/index-service/state/record-format.ts.
#include <cstdio>
#include <cstring>
#include <vector>

#include "requests.h"
#include "support.h"

namespace aether {

constexpr size_t kTableChunkBytes = 16 << 20;
constexpr uint32_t kChunkShift = 21, kUnitMask = (1U << kChunkShift) - 1, kUnitBytes = 8;
// Words of the first chunk, of a bucket, and of a record.
constexpr size_t kBucketsWord = 2, kSeedWord = 5, kMarkSegmentsWord = 10, kMarkModeWord = 11, kSpacesWord = 16;
constexpr size_t kMarksWord = 32, kMarkSegmentsMax = 512, kBucketSegmentsWord = 4096;
// As many chunks as the header has descriptors for.
constexpr size_t kChunksMax = kBucketSegmentsWord - 1024;
constexpr size_t kBucketSegmentsMax = 61440, kBucketsPerSegment = 4096, kUnitsPerBucket = 8, kBucketBytes = 64;
constexpr size_t kNextWord = 1, kSlotsWord = 2, kSlotsPerBucket = 7;
constexpr size_t kKeyBytesWord = 1, kValueBytesWord = 2, kRecordHeadBytes = 16;
// Marks: src/index-service/memory/use-marks.ts.
constexpr uint32_t kMarksPerSegment = 1U << 16, kByRecency = 1, kCounterStart = 5, kCounterFactor = 10;
// A chain that is longer is none.
constexpr int kChainMax = 64;
// What the record of a key begins with: its type, its version, and when it expires.
constexpr uint8_t kString = 1, kHash = 2;
constexpr size_t kExpiresOffset = 9, kHeadBytes = 17;
constexpr uint8_t kKeyKind = 1, kFieldKind = 2;
constexpr unsigned kSpaceShift = 2;
// Longer keys are left to others.
constexpr size_t kKeyBytesMax = 1024;
// What a reply takes besides its value.
constexpr size_t kReplyBytes = 32;

static uint32_t scramble(uint32_t word) {
  const uint32_t mixed = word * 0xcc9e2d51U;
  return ((mixed << 15) | (mixed >> 17)) * 0x1b873593U;
}

// As hashBytes of src/codecs/hash.ts.
static uint32_t hashOf(const uint8_t* bytes, size_t length, uint32_t seed) {
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

// As UseMarks.use.
static uint32_t markUsed(uint32_t mark, uint32_t mode, double nowMs) {
  if (mode == kByRecency) return static_cast<uint32_t>(static_cast<uint64_t>(nowMs / 10));
  const uint32_t minute = static_cast<uint32_t>(static_cast<uint64_t>(nowMs / 60000)) & 0xffffff;
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
  uint8_t spaceOf(size_t database) const { return static_cast<uint8_t>(header_[kSpacesWord + database]); }

  Found find(const uint8_t* key, size_t length, Bytes* value) {
    const uint32_t hash = hashOf(key, length, header_[kSeedWord]);
    uint32_t place = placeOf(hash);
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
        use(hash);
        return Found::Yes;
      }
      place = bucket[kNextWord];
    }
    return Found::No;
  }

 private:
  void use(uint32_t hash) {
    const uint32_t segments = header_[kMarkSegmentsWord];
    if (segments == 0 || segments > kMarkSegmentsMax) return;
    const uint32_t place = header_[kMarksWord + ((hash >> 16) & (segments - 1))];
    auto* marks = const_cast<uint32_t*>(words(place, kMarksPerSegment * sizeof(uint32_t)));
    if (marks == nullptr) return;
    uint32_t& mark = marks[hash & (kMarksPerSegment - 1)];
    mark = markUsed(mark, header_[kMarkModeWord], nowMs_);
  }

  // Linear hashing.
  uint32_t placeOf(uint32_t hash) const {
    const uint32_t buckets = header_[kBucketsWord];
    const uint32_t half = 1U << (31 - __builtin_clz(buckets));
    uint32_t bucket = hash & (half * 2 - 1);
    if (bucket >= buckets) bucket = hash & (half - 1);
    const size_t segment = bucket / kBucketsPerSegment;
    if (segment >= kBucketSegmentsMax) return 0;
    return header_[kBucketSegmentsWord + segment] +
           static_cast<uint32_t>(bucket % kBucketsPerSegment * kUnitsPerBucket);
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

  napi_env env_;
  napi_value array_;
  std::vector<Bytes> chunks_;
  const uint32_t* header_;
  double nowMs_;
};

static bool isNamed(const RequestPart& part, const char* name) {
  if (part.length != strlen(name)) return false;
  for (size_t at = 0; at < part.length; at++)
    if ((part.data[at] | 0x20) != name[at]) return false;
  return true;
}

class Replies {
 public:
  Replies(Bytes bytes, bool isResp3) : bytes_(bytes), isResp3_(isResp3) {}

  size_t length() const { return length_; }
  bool hasRoom(size_t valueBytes) const { return bytes_.length - length_ >= valueBytes + kReplyBytes; }

  void none() {
    if (isResp3_)
      append("_\r\n", 3);
    else
      append("$-1\r\n", 5);
  }

  void bulk(const uint8_t* value, size_t length) {
    char head[kReplyBytes];
    append(head, static_cast<size_t>(snprintf(head, sizeof head, "$%zu\r\n", length)));
    append(value, length);
    append("\r\n", 2);
  }

 private:
  void append(const void* from, size_t length) {
    memcpy(bytes_.data + length_, from, length);
    length_ += length;
  }

  Bytes bytes_;
  bool isResp3_;
  size_t length_ = 0;
};

// Answers one request after the other. Each says whether it could.
class Looks {
 public:
  Looks(Records& records, Replies& replies, uint8_t space, double nowMs)
      : records_(records), replies_(replies), space_(space), nowMs_(nowMs) {}

  bool get(const RequestPart& key) {
    Bytes record;
    const Found found = keyRecord(key, &record);
    if (found == Found::Unknown || (found == Found::Yes && record.data[0] != kString)) return false;
    return found == Found::No ? none() : bulk(record.data + kHeadBytes, record.length - kHeadBytes);
  }

  bool getField(const RequestPart& key, const RequestPart& field) {
    Bytes record;
    const Found found = keyRecord(key, &record);
    if (found == Found::Unknown || (found == Found::Yes && record.data[0] != kHash)) return false;
    if (found == Found::No) return none();
    if (key.length + field.length > kKeyBytesMax) return false;
    uint8_t name[kKeyBytesMax + 8];
    size_t at = 0;
    name[at++] = static_cast<uint8_t>(kFieldKind | (space_ << kSpaceShift));
    size_t left = key.length;
    for (; left >= 0x80; left >>= 7) name[at++] = static_cast<uint8_t>((left & 0x7f) | 0x80);
    name[at++] = static_cast<uint8_t>(left);
    memcpy(name + at, key.data, key.length);
    memcpy(name + at + key.length, field.data, field.length);
    Bytes value;
    const Found inside = records_.find(name, at + key.length + field.length, &value);
    if (inside == Found::Unknown) return false;
    return inside == Found::No ? none() : bulk(value.data, value.length);
  }

 private:
  // The record of a key that has not expired.
  Found keyRecord(const RequestPart& key, Bytes* record) {
    if (key.length > kKeyBytesMax) return Found::Unknown;
    uint8_t name[kKeyBytesMax + 1];
    name[0] = static_cast<uint8_t>(kKeyKind | (space_ << kSpaceShift));
    memcpy(name + 1, key.data, key.length);
    const Found found = records_.find(name, key.length + 1, record);
    if (found != Found::Yes) return found;
    if (record->length < kHeadBytes) return Found::Unknown;
    double expiresMs;
    memcpy(&expiresMs, record->data + kExpiresOffset, sizeof expiresMs);
    return expiresMs == 0 || expiresMs > nowMs_ ? Found::Yes : Found::No;
  }

  bool none() {
    if (!replies_.hasRoom(0)) return false;
    replies_.none();
    return true;
  }

  bool bulk(const uint8_t* value, size_t length) {
    if (!replies_.hasRoom(length)) return false;
    replies_.bulk(value, length);
    return true;
  }

  Records& records_;
  Replies& replies_;
  uint8_t space_;
  double nowMs_;
};

// Numbers of a call: src/native/addon.ts names them.
constexpr size_t kDatabase = 0, kProtocol = 1, kNowMs = 2, kReplyLength = 3, kGets = 4, kFieldGets = 5, kNumbers = 6;
constexpr double kDatabases = 16;

static napi_value AnswerLooks(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  bool isArray = false;
  if (arguments.ok() && (napi_is_array(env, arguments.at(0), &isArray) != napi_ok || !isArray))
    arguments.fail("chunks", "chunks must be an array of the table's chunks");
  const Bytes asked = arguments.bytes(1, "requests");
  const Bytes room = arguments.bytes(2, "replies");
  const Doubles numbers = doublesOf(arguments, 3, "numbers", kNumbers);
  if (arguments.ok() && asked.length > INT32_MAX) arguments.fail("requests", "requests must be less than 2 GiB");
  if (arguments.ok() && !(numbers.data[kDatabase] >= 0 && numbers.data[kDatabase] < kDatabases))
    arguments.fail("numbers", "numbers[0] must be a database from 0 to 15");
  if (!arguments.ok()) return nullptr;
  Records records(env, arguments.at(0), numbers.data[kNowMs]);
  if (!records.isTable()) return throwArgument(env, "chunks", "chunks must begin with that of a table");
  Requests requests(asked);
  Replies replies(room, numbers.data[kProtocol] == 3);
  Looks looks(records, replies, records.spaceOf(static_cast<size_t>(numbers.data[kDatabase])), numbers.data[kNowMs]);
  double gets = 0;
  double fieldGets = 0;
  for (;;) {
    size_t parts = 0;
    RequestPart name, key, field;
    if (!requests.count(&parts) || (parts != 2 && parts != 3)) break;
    if (!requests.part(&name) || !requests.part(&key)) break;
    if (parts == 2) {
      if (!isNamed(name, "get") || !looks.get(key)) break;
      gets += 1;
    } else {
      if (!isNamed(name, "hget") || !requests.part(&field) || !looks.getField(key, field)) break;
      fieldGets += 1;
    }
    requests.take();
  }
  numbers.data[kReplyLength] = static_cast<double>(replies.length());
  numbers.data[kGets] = gets;
  numbers.data[kFieldGets] = fieldGets;
  return makeSmall(env, static_cast<int32_t>(requests.taken()));
}

void registerLooks(napi_env env, napi_value exports) {
  define(env, exports, "answerLooks", AnswerLooks);
}

}  // namespace aether
