// SET and MSET of keys that hold plain strings or nothing, out of the calls of a shard's log. Whatever else they may be
// about is left to src/index-service/commands/strings.ts.
#include <cstring>

#include "records.h"
#include "requests.h"
#include "support.h"

namespace aether {

// Longer arguments, and calls with more, are left to others: keys and values are checked there.
constexpr size_t kArgumentsBytesMax = 32768, kArgumentsMax = 4096;

// Calls as src/index-service/state/shard-codec.ts lays them out.
class CallBytes {
 public:
  CallBytes(Bytes bytes, size_t at) : bytes_(bytes), at_(at), taken_(at) {}

  // Where the call begins that is read.
  size_t taken() const { return taken_; }
  void take() { taken_ = at_; }

  // A varint of two bytes at most.
  bool count(size_t* count) {
    if (at_ == bytes_.length) return false;
    *count = bytes_.data[at_++];
    if (*count < 0x80) return true;
    if (at_ == bytes_.length || bytes_.data[at_] >= 0x80) return false;
    *count = (*count & 0x7f) | static_cast<size_t>(bytes_.data[at_++]) << 7;
    return true;
  }

  bool part(RequestPart* part) {
    if (!count(&part->length) || bytes_.length - at_ < part->length) return false;
    part->data = bytes_.data + at_;
    at_ += part->length;
    return true;
  }

 private:
  Bytes bytes_;
  size_t at_;
  size_t taken_;
};

// Where new records go, the places of those that they replace, and how many may be added.
struct RecordRoom {
  uint32_t place;
  uint32_t end;
  Int32s released;
  size_t releasedCount;
  SpareBuckets spares;
  uint32_t addedMost;
  uint32_t added;
};

class Strings {
 public:
  // `cut`: strings of that version and older are left to others, up to where the cursor of a snapshot has come.
  Strings(Records& records, RecordRoom& room, double version, double cut, uint32_t cursor)
      : records_(records), room_(room), cut_(cut), passed_(reversedBits(cursor)) {
    head_[0] = kString;
    memcpy(head_ + 1, &version, sizeof version);
    // It does not expire.
    memset(head_ + kExpiresOffset, 0, sizeof(double));
    space_ = records.spaceOf(0);
  }

  // Whether it could be done.
  bool set(const RequestPart& key, const RequestPart& value) {
    if (key.length > kKeyBytesMax || room_.releasedCount == room_.released.length) return false;
    uint8_t name[kKeyBytesMax + 1];
    name[0] = static_cast<uint8_t>(kKeyKind | (space_ << kSpaceShift));
    memcpy(name + 1, key.data, key.length);
    const size_t nameLength = key.length + 1;
    Bytes old;
    uint32_t* slot = nullptr;
    const Found found = records_.find(name, nameLength, &old, &slot);
    if (found == Found::Unknown || (found == Found::Yes && (!isPlain(old) || isWanted(old, slot[0])))) return false;
    // Tuples are kept in order, too.
    if (found == Found::No && (room_.added == room_.addedMost || (key.length > 0 && key.data[0] == 0))) return false;
    const size_t length = kRecordHeadBytes + nameLength + kHeadBytes + value.length;
    const uint32_t units = static_cast<uint32_t>((length + kUnitBytes - 1) / kUnitBytes);
    if (room_.end - room_.place < units) return false;
    auto* record = const_cast<uint32_t*>(records_.words(room_.place, static_cast<size_t>(units) * kUnitBytes));
    if (record == nullptr) return false;
    const uint32_t hash = slot == nullptr ? hashOf(name, nameLength, records_.seed()) : slot[0];
    if (found == Found::No && (slot = records_.freeSlot(hash, &room_.spares)) == nullptr) return false;
    record[0] = hash;
    record[kKeyBytesWord] = static_cast<uint32_t>(nameLength);
    record[kValueBytesWord] = static_cast<uint32_t>(kHeadBytes + value.length);
    auto* to = reinterpret_cast<uint8_t*>(record) + kRecordHeadBytes;
    memcpy(to, name, nameLength);
    memcpy(to + nameLength, head_, kHeadBytes);
    memcpy(to + nameLength + kHeadBytes, value.data, value.length);
    if (found == Found::Yes) room_.released.data[room_.releasedCount++] = static_cast<int32_t>(slot[1]);
    slot[0] = hash;
    // Other processes read it from here on.
    __atomic_store_n(slot + 1, room_.place, __ATOMIC_SEQ_CST);
    room_.place += units;
    if (found == Found::Yes) return true;
    room_.added++;
    records_.start(hash);
    return true;
  }

 private:
  // A string that does not expire.
  static bool isPlain(Bytes record) {
    if (record.length < kHeadBytes || record.data[0] != kString) return false;
    double expiresMs;
    memcpy(&expiresMs, record.data + kExpiresOffset, sizeof expiresMs);
    return expiresMs == 0;
  }

  // A snapshot that is being taken wants it as it is, and has not come to it.
  bool isWanted(Bytes record, uint32_t hash) const {
    double version;
    memcpy(&version, record.data + 1, sizeof version);
    return version <= cut_ && reversedBits(hash) >= passed_;
  }

  Records& records_;
  RecordRoom& room_;
  double cut_;
  uint32_t passed_;
  uint8_t head_[kHeadBytes];
  uint8_t space_;
};

// One call. What an MSET has set before it could not go on is set again by others.
static bool setOne(CallBytes& calls, Strings& strings) {
  RequestPart name;
  size_t count = 0;
  if (!calls.part(&name) || !calls.count(&count) || count == 0 || count % 2 != 0 || count > kArgumentsMax) return false;
  if (!(isNamed(name, "set") && count == 2) && !isNamed(name, "mset")) return false;
  size_t bytes = 0;
  for (; count > 0; count -= 2) {
    RequestPart key, value;
    if (!calls.part(&key) || !calls.part(&value)) return false;
    bytes += key.length + value.length;
    if (bytes > kArgumentsBytesMax || !strings.set(key, value)) return false;
  }
  return true;
}

// Numbers of a call: src/native/addon.ts names them.
constexpr size_t kOffset = 0, kCalls = 1, kVersion = 2, kSetNowMs = 3, kPlace = 4, kEnd = 5, kReleased = 6;
constexpr size_t kSetSparePlace = 7, kSetSpares = 8, kSetAdded = 9, kSetCut = 10, kSetCursor = 11;
constexpr size_t kSetNumbers = 12;

static bool isBelow(double value, double bound) { return value >= 0 && value <= bound; }

static napi_value SetStrings(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  bool isArray = false;
  if (arguments.ok() && (napi_is_array(env, arguments.at(0), &isArray) != napi_ok || !isArray))
    arguments.fail("chunks", "chunks must be an array of the table's chunks");
  const Bytes bytes = arguments.bytes(1, "calls");
  const Int32s released = arguments.int32s(2, "released");
  const Doubles numbers = doublesOf(arguments, 3, "numbers", kSetNumbers);
  if (!arguments.ok()) return nullptr;
  double* of = numbers.data;
  if (!isBelow(of[kOffset], static_cast<double>(bytes.length)) || !isBelow(of[kCalls], INT32_MAX) ||
      !isBelow(of[kPlace], UINT32_MAX) || !isBelow(of[kEnd], UINT32_MAX) || of[kPlace] > of[kEnd] ||
      !isBelow(of[kSetSparePlace], UINT32_MAX) || !isBelow(of[kSetSpares], kBucketsPerSegment) ||
      !isBelow(of[kSetAdded], UINT32_MAX) || !isBelow(of[kSetCursor], UINT32_MAX))
    return throwArgument(env, "numbers", "numbers must name a part of calls, and room for records");
  Records records(env, arguments.at(0), of[kSetNowMs]);
  if (!records.isTable()) return throwArgument(env, "chunks", "chunks must begin with that of a table");
  RecordRoom room{};
  room.place = static_cast<uint32_t>(of[kPlace]);
  room.end = static_cast<uint32_t>(of[kEnd]);
  room.released = released;
  room.spares = {static_cast<uint32_t>(of[kSetSparePlace]), static_cast<uint32_t>(of[kSetSpares])};
  room.addedMost = static_cast<uint32_t>(of[kSetAdded]);
  Strings strings(records, room, of[kVersion], of[kSetCut], static_cast<uint32_t>(of[kSetCursor]));
  CallBytes calls(bytes, static_cast<size_t>(of[kOffset]));
  const auto most = static_cast<int32_t>(of[kCalls]);
  int32_t done = 0;
  for (; done < most && setOne(calls, strings); done++) calls.take();
  of[kOffset] = static_cast<double>(calls.taken());
  of[kPlace] = room.place;
  of[kReleased] = static_cast<double>(room.releasedCount);
  of[kSetSparePlace] = room.spares.place;
  of[kSetSpares] = room.spares.count;
  of[kSetAdded] = room.added;
  return makeSmall(env, done);
}

void registerSetting(napi_env env, napi_value exports) {
  define(env, exports, "setStrings", SetStrings);
}

}  // namespace aether
