// Reads of strings and of fields of hashes, as clients of Redis ask for them, answered out of a table of records. One
// call takes all that stand at the start of what a client has sent. The table is read in the thread that writes it: its
// layout is in src/index-service/memory/layout.ts, that of a record in src/index-service/state/record-format.ts.
#include <cstdio>
#include <cstring>

#include "records.h"
#include "requests.h"
#include "support.h"

namespace aether {

// What a reply takes besides its value.
constexpr size_t kReplyBytes = 32;

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
