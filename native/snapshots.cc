// Strings between a table and snapshots of it, many at a time: src/index-service/state/databases.ts says how they lie
// there. Whatever is no plain string is left to that file.
#include <cstring>

#include "records.h"
#include "support.h"

namespace aether {

constexpr size_t kSnapshotDatabases = 16;

// A string of a snapshot. Its bytes lie there.
struct SnapshotString {
  size_t database;
  Bytes key;
  const uint8_t* version;
  double expiresMs;
  Bytes value;
};

class SnapshotBytes {
 public:
  SnapshotBytes(Bytes bytes, size_t at) : bytes_(bytes), at_(at), taken_(at) {}

  size_t taken() const { return taken_; }
  void take() { taken_ = at_; }

  // False if the next key holds something else, is that of a tuple, or is not whole.
  bool string(SnapshotString* string) {
    uint8_t number, type;
    if (!byte(&number) || number == 0 || number > kSnapshotDatabases || !part(&string->key)) return false;
    // Tuples are kept in order, too.
    if (string->key.length > 0 && string->key.data[0] == 0) return false;
    if (bytes_.length - at_ < 2 * sizeof(double)) return false;
    string->database = number - 1U;
    string->version = bytes_.data + at_;
    memcpy(&string->expiresMs, string->version + sizeof(double), sizeof(double));
    at_ += 2 * sizeof(double);
    return byte(&type) && type == kString && part(&string->value);
  }

 private:
  bool byte(uint8_t* byte) {
    if (at_ == bytes_.length) return false;
    *byte = bytes_.data[at_++];
    return true;
  }

  bool part(Bytes* part) {
    size_t length = 0;
    uint8_t next = 0x80;
    for (unsigned shift = 0; next >= 0x80; shift += 7) {
      if (shift > 21 || !byte(&next)) return false;
      length |= static_cast<size_t>(next & 0x7f) << shift;
    }
    if (bytes_.length - at_ < length) return false;
    part->data = bytes_.data + at_;
    part->length = length;
    at_ += length;
    return true;
  }

  Bytes bytes_;
  size_t at_;
  size_t taken_;
};

// Numbers of the calls: src/native/addon.ts names them.
constexpr size_t kSnapshotFrom = 0, kAddMost = 1, kAddNowMs = 2, kRoomPlace = 3, kRoomEnd = 4, kSparePlace = 5, kSpares = 6;
constexpr size_t kAddedTo = 7, kAddNumbers = kAddedTo + kSnapshotDatabases;
constexpr size_t kPackCursor = 1, kPackStop = 2, kPackVersion = 3, kPackBuckets = 4, kPackSpaces = 5;
constexpr size_t kPackNumbers = kPackSpaces + kSnapshotDatabases;
enum Stop { kAtOther = 0, kAtRoom = 1, kAtEnd = 2, kAtBuckets = 3 };

// Puts records that are not there into a table that no one reads meanwhile.
class Filling {
 public:
  Filling(Records& records, double* numbers)
      : records_(records),
        place_(static_cast<uint32_t>(numbers[kRoomPlace])),
        end_(static_cast<uint32_t>(numbers[kRoomEnd])),
        spares_{static_cast<uint32_t>(numbers[kSparePlace]), static_cast<uint32_t>(numbers[kSpares])} {}

  // False if there is no room.
  bool add(const SnapshotString& string) {
    const size_t keyBytes = string.key.length + 1, valueBytes = kHeadBytes + string.value.length;
    const size_t units = (kRecordHeadBytes + keyBytes + valueBytes + kUnitBytes - 1) / kUnitBytes;
    if (end_ - place_ < units) return false;
    auto* record = const_cast<uint32_t*>(records_.words(place_, units * kUnitBytes));
    if (record == nullptr) return false;
    auto* to = reinterpret_cast<uint8_t*>(record) + kRecordHeadBytes;
    to[0] = static_cast<uint8_t>(kKeyKind | (records_.spaceOf(string.database) << kSpaceShift));
    memcpy(to + 1, string.key.data, string.key.length);
    const uint32_t hash = hashOf(to, keyBytes, records_.seed());
    uint32_t* slot = records_.freeSlot(hash, &spares_);
    if (slot == nullptr) return false;
    record[0] = hash;
    record[kKeyBytesWord] = static_cast<uint32_t>(keyBytes);
    record[kValueBytesWord] = static_cast<uint32_t>(valueBytes);
    uint8_t* value = to + keyBytes;
    value[0] = kString;
    memcpy(value + 1, string.version, 2 * sizeof(double));
    memcpy(value + kHeadBytes, string.value.data, string.value.length);
    slot[0] = hash;
    __atomic_store_n(slot + 1, place_, __ATOMIC_RELEASE);
    place_ += static_cast<uint32_t>(units);
    records_.start(hash);
    return true;
  }

  void tell(double* numbers) const {
    numbers[kRoomPlace] = place_;
    numbers[kSparePlace] = spares_.place;
    numbers[kSpares] = spares_.count;
  }

 private:
  Records& records_;
  uint32_t place_, end_;
  SpareBuckets spares_;
};

static bool isNumberWithin(double value, double most) { return value >= 0 && value <= most; }

static bool isTableChunks(napi_env env, napi_value value) {
  bool isArray = false;
  return napi_is_array(env, value, &isArray) == napi_ok && isArray;
}

static napi_value AddStrings(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  if (arguments.ok() && !isTableChunks(env, arguments.at(0)))
    arguments.fail("chunks", "chunks must be an array of the table's chunks");
  const Bytes bytes = arguments.bytes(1, "bytes");
  const Doubles numbers = doublesOf(arguments, 2, "numbers", kAddNumbers);
  if (!arguments.ok()) return nullptr;
  double* of = numbers.data;
  if (!isNumberWithin(of[kSnapshotFrom], static_cast<double>(bytes.length)) || !isNumberWithin(of[kAddMost], INT32_MAX) ||
      !isNumberWithin(of[kRoomPlace], UINT32_MAX) || !isNumberWithin(of[kRoomEnd], UINT32_MAX) || of[kRoomPlace] > of[kRoomEnd] ||
      !isNumberWithin(of[kSparePlace], UINT32_MAX) || !isNumberWithin(of[kSpares], kBucketsPerSegment))
    return throwArgument(env, "numbers", "numbers must name a part of bytes, and room for records and buckets");
  Records records(env, arguments.at(0), of[kAddNowMs]);
  if (!records.isTable()) return throwArgument(env, "chunks", "chunks must begin with that of a table");
  Filling filling(records, of);
  SnapshotBytes snapshot(bytes, static_cast<size_t>(of[kSnapshotFrom]));
  const auto most = static_cast<int32_t>(of[kAddMost]);
  uint32_t added[kSnapshotDatabases] = {};
  int32_t done = 0;
  for (SnapshotString string; done < most && snapshot.string(&string) && string.expiresMs == 0; done++) {
    if (!filling.add(string)) break;
    added[string.database]++;
    snapshot.take();
  }
  filling.tell(of);
  of[kSnapshotFrom] = static_cast<double>(snapshot.taken());
  for (size_t database = 0; database < kSnapshotDatabases; database++) of[kAddedTo + database] = added[database];
  return makeSmall(env, done);
}

static napi_value CountStrings(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const Bytes bytes = arguments.bytes(0, "bytes");
  const Doubles numbers = doublesOf(arguments, 1, "numbers", 1);
  if (!arguments.ok()) return nullptr;
  if (!isNumberWithin(numbers.data[kSnapshotFrom], static_cast<double>(bytes.length)))
    return throwArgument(env, "numbers", "numbers must name a part of bytes");
  SnapshotBytes snapshot(bytes, static_cast<size_t>(numbers.data[kSnapshotFrom]));
  int32_t count = 0;
  for (SnapshotString string; count < INT32_MAX && snapshot.string(&string); count++) snapshot.take();
  numbers.data[kSnapshotFrom] = static_cast<double>(snapshot.taken());
  return makeSmall(env, count);
}

static uint32_t cursorAfter(uint32_t cursor, uint32_t bucket, uint32_t buckets) {
  const uint32_t half = 1U << (31 - __builtin_clz(buckets));
  const uint32_t mask = bucket >= half || bucket < buckets - half ? half * 2 - 1 : half - 1;
  return reversedBits(reversedBits(cursor | ~mask) + 1);
}

class Packing {
 public:
  // `numbers`: of the databases by space. Newer records than those of `versionMax` were not there at the cut.
  Packing(Records& records, Bytes target, size_t at, double versionMax, const double* numbers)
      : records_(records), target_(target), at_(at), versionMax_(versionMax) {
    for (size_t space = 0; space < kSpaces; space++)
      numberOf_[space] = space < kSnapshotDatabases ? static_cast<uint8_t>(numbers[space]) : 0;
  }

  size_t at() const { return at_; }
  int32_t count() const { return count_; }
  bool isFull() const { return isFull_; }

  // All strings of a bucket. False if it has something else, or there is no room for all of it.
  bool bucket(uint32_t bucket) {
    const size_t at = at_;
    const int32_t count = count_;
    uint32_t place = records_.placeOfBucket(bucket);
    if (place == 0) return false;
    for (int links = 0; place != 0; links++) {
      const uint32_t* words = records_.words(place, kBucketBytes);
      bool isPacked = words != nullptr && links < kChainMax;
      for (size_t slot = 0; isPacked && slot < kSlotsPerBucket; slot++) {
        const uint32_t record = words[kSlotsWord + 2 * slot + 1];
        isPacked = record == 0 || pack(record);
      }
      if (!isPacked) {
        at_ = at;
        count_ = count;
        return false;
      }
      place = words[kNextWord];
    }
    return true;
  }

 private:
  static constexpr size_t kSpaces = 64, kVarintBytesMax = 5;

  bool pack(uint32_t place) {
    const uint32_t* record = records_.words(place, kRecordHeadBytes);
    if (record == nullptr) return false;
    const size_t keyBytes = record[kKeyBytesWord], valueBytes = record[kValueBytesWord];
    if (keyBytes == 0 || records_.words(place, kRecordHeadBytes + keyBytes + valueBytes) == nullptr) return false;
    const auto* key = reinterpret_cast<const uint8_t*>(record) + kRecordHeadBytes;
    // Fields come with their hashes.
    if ((key[0] & kKindMask) == kFieldKind) return true;
    const uint8_t* value = key + keyBytes;
    const uint8_t number = numberOf_[key[0] >> kSpaceShift];
    if (valueBytes < kHeadBytes || value[0] != kString || number == 0) return false;
    double version;
    memcpy(&version, value + 1, sizeof version);
    if (version > versionMax_) return true;
    isFull_ = target_.length - at_ < 2 + 2 * kVarintBytesMax + keyBytes + valueBytes;
    if (isFull_) return false;
    target_.data[at_++] = number;
    append(key + 1, keyBytes - 1);
    memcpy(target_.data + at_, value + 1, 2 * sizeof(double));
    at_ += 2 * sizeof(double);
    target_.data[at_++] = kString;
    append(value + kHeadBytes, valueBytes - kHeadBytes);
    count_++;
    return true;
  }

  void append(const uint8_t* bytes, size_t length) {
    size_t left = length;
    for (; left >= 0x80; left >>= 7) target_.data[at_++] = static_cast<uint8_t>(left | 0x80);
    target_.data[at_++] = static_cast<uint8_t>(left);
    memcpy(target_.data + at_, bytes, length);
    at_ += length;
  }

  Records& records_;
  Bytes target_;
  size_t at_;
  double versionMax_;
  int32_t count_ = 0;
  bool isFull_ = false;
  uint8_t numberOf_[kSpaces];
};

static napi_value PackStrings(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  if (arguments.ok() && !isTableChunks(env, arguments.at(0)))
    arguments.fail("chunks", "chunks must be an array of the table's chunks");
  const Bytes target = arguments.bytes(1, "target");
  const Doubles numbers = doublesOf(arguments, 2, "numbers", kPackNumbers);
  if (!arguments.ok()) return nullptr;
  double* of = numbers.data;
  if (!isNumberWithin(of[kSnapshotFrom], static_cast<double>(target.length)) || !isNumberWithin(of[kPackCursor], UINT32_MAX))
    return throwArgument(env, "numbers", "numbers must name a place in target, and a cursor");
  for (size_t space = 0; space < kSnapshotDatabases; space++)
    if (!isNumberWithin(of[kPackSpaces + space], kSnapshotDatabases))
      return throwArgument(env, "numbers", "numbers must have the number of a database for each space");
  Records records(env, arguments.at(0), 0);
  if (!records.isTable()) return throwArgument(env, "chunks", "chunks must begin with that of a table");
  Packing packing(records, target, static_cast<size_t>(of[kSnapshotFrom]), of[kPackVersion], of + kPackSpaces);
  auto cursor = static_cast<uint32_t>(of[kPackCursor]);
  double left = of[kPackBuckets];
  bool isWhole = false, isStopped = false;
  for (; !isWhole && left > 0; left--) {
    const uint32_t bucket = records.bucketOf(cursor);
    isStopped = !packing.bucket(bucket);
    if (isStopped) break;
    cursor = cursorAfter(cursor, bucket, records.buckets());
    isWhole = cursor == 0;
  }
  of[kSnapshotFrom] = static_cast<double>(packing.at());
  of[kPackCursor] = cursor;
  of[kPackStop] = isWhole ? kAtEnd : !isStopped ? kAtBuckets : packing.isFull() ? kAtRoom : kAtOther;
  return makeSmall(env, packing.count());
}

void registerSnapshots(napi_env env, napi_value exports) {
  define(env, exports, "addStrings", AddStrings);
  define(env, exports, "countStrings", CountStrings);
  define(env, exports, "packStrings", PackStrings);
}

}  // namespace aether
