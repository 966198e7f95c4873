// Requests of clients of Redis as the log of a shard has them. What they ask for is not looked at.
#include <cstring>

#include "requests.h"
#include "support.h"

namespace aether {

// Numbers for each request: src/native/addon.ts names them.
constexpr size_t kRequestEnd = 0, kCallEnd = 1, kArgumentCount = 2, kPackedNumbers = 3;
// So that the length of a name takes one byte.
constexpr size_t kNameBytesMax = 127;
constexpr size_t kCountBytesMax = 2;

// Calls as src/index-service/state/shard-codec.ts lays them out: each length before its bytes.
class PackedCalls {
 public:
  explicit PackedCalls(Bytes bytes) : bytes_(bytes) {}

  size_t length() const { return length_; }

  // A varint. No number of a request has more than four digits.
  bool count(size_t value) {
    if (bytes_.length - length_ < kCountBytesMax) return false;
    if (value >= 0x80) bytes_.data[length_++] = static_cast<uint8_t>((value & 0x7f) | 0x80);
    bytes_.data[length_++] = static_cast<uint8_t>(value >= 0x80 ? value >> 7 : value);
    return true;
  }

  bool part(const RequestPart& part) {
    if (!count(part.length) || bytes_.length - length_ < part.length) return false;
    memcpy(bytes_.data + length_, part.data, part.length);
    length_ += part.length;
    return true;
  }

 private:
  Bytes bytes_;
  size_t length_ = 0;
};

static bool packOne(Requests& requests, PackedCalls& packed, size_t* argumentCount) {
  size_t parts = 0;
  RequestPart part;
  if (!requests.count(&parts) || parts == 0) return false;
  if (!requests.part(&part) || part.length == 0 || part.length > kNameBytesMax) return false;
  *argumentCount = parts - 1;
  if (!packed.part(part) || !packed.count(*argumentCount)) return false;
  for (size_t left = *argumentCount; left > 0; left--)
    if (!requests.part(&part) || !packed.part(part)) return false;
  return true;
}

static napi_value PackRequests(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const Bytes asked = arguments.bytes(0, "requests");
  const Bytes room = arguments.bytes(1, "packed");
  const Int32s numbers = arguments.int32s(2, "numbers");
  if (arguments.ok() && (asked.length > INT32_MAX || room.length > INT32_MAX))
    arguments.fail("requests", "requests and packed must be less than 2 GiB");
  if (!arguments.ok()) return nullptr;
  Requests requests(asked);
  PackedCalls packed(room);
  size_t count = 0;
  for (; (count + 1) * kPackedNumbers <= numbers.length; count++) {
    size_t argumentCount = 0;
    if (!packOne(requests, packed, &argumentCount)) break;
    requests.take();
    int32_t* of = numbers.data + count * kPackedNumbers;
    of[kRequestEnd] = static_cast<int32_t>(requests.taken());
    of[kCallEnd] = static_cast<int32_t>(packed.length());
    of[kArgumentCount] = static_cast<int32_t>(argumentCount);
  }
  return makeSmall(env, static_cast<int32_t>(count));
}

void registerPacking(napi_env env, napi_value exports) {
  define(env, exports, "packRequests", PackRequests);
}

}  // namespace aether
