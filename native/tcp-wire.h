// What goes over the wire of the tcp device: MPA (RFC 5044, enhanced by RFC 6581), DDP (RFC 5041), RDMAP (RFC 5040) and
// its extensions (RFC 7306). Encoding and decoding only; no state.
//
//     MPA request and reply      16 bytes of key │ flags and revision │ length │ IRD, ORD │ private data
//     FPDU                       length (2) │ DDP and RDMAP header │ payload │ padding to 4 │ CRC32C (4)
//     tagged header, 14 bytes    control (2) │ STag (4) │ offset (8)
//     untagged header, 18 bytes  control (2) │ for the upper layer (4) │ queue (4) │ message (4) │ offset (4)
//
// What the RFCs have no way for is an extension that both ends announce in their private data: opcodes 12 and 13 (SEND
// with immediate: the value stands where SEND with invalidate has its STag) and 14 on queue 4 (Control, below).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace aether::tcp {

enum class Op : uint8_t {
  Write = 0,
  ReadRequest = 1,
  ReadResponse = 2,
  Send = 3,
  SendInvalidate = 4,
  SendSolicited = 5,
  SendInvalidateSolicited = 6,
  Terminate = 7,
  Immediate = 8,
  ImmediateSolicited = 9,
  AtomicRequest = 10,
  AtomicResponse = 11,
  SendImmediate = 12,
  SendImmediateSolicited = 13,
  Control = 14,
};

enum Queue : uint32_t { kSendQueue = 0, kRequestQueue = 1, kTerminateQueue = 2, kAtomicQueue = 3, kControlQueue = 4 };

// The operations of an atomic request (RFC 7306, section 5).
enum class AtomicOp : uint8_t { FetchAdd = 0, Swap = 1, CompareSwap = 2 };

// A message of the control queue: its kind, a number, a value.
enum class ControlKind : uint32_t {
  Proof = 1,   // the initiator's proof that it knows the key, `tag`
  Taken = 2,   // `count` requests of the receiver of this message have been carried out, in order
  Wait = 3,    // the receiver of request `count` is not ready; `value` is the code of the delay (minRnrTimer)
  Resume = 4,  // what follows begins again with the request that was told to wait
  Refuse = 5,  // request `count` failed; `value` is the status (enum ibv_wc_status) at the requester
};

struct Control {
  ControlKind kind;
  uint32_t count;
  uint64_t value;
};
constexpr size_t kControlBytes = 16;

struct Header {
  Op op = Op::Send;
  bool tagged = false;
  bool last = true;
  uint32_t stag = 0;     // tagged; for the upper layer otherwise: what is invalidated, or the immediate value
  uint64_t offset = 0;   // tagged: the address; otherwise: where in the message the segment stands
  uint32_t queue = 0;    // untagged
  uint32_t message = 0;  // untagged
  size_t bytes() const { return tagged ? 14 : 18; }
};

struct ReadRequest {
  uint32_t sinkStag;
  uint64_t sinkOffset;
  uint32_t length;
  uint32_t sourceStag;
  uint64_t sourceOffset;
};
constexpr size_t kReadRequestBytes = 28;

struct AtomicRequest {
  AtomicOp op;
  uint32_t identifier;
  uint32_t stag;
  uint64_t offset;
  uint64_t data, dataMask;        // what is added or stored
  uint64_t compare, compareMask;
};
constexpr size_t kAtomicRequestBytes = 52;
constexpr size_t kAtomicResponseBytes = 12;

// What a TERMINATE says: layer, type and code of the error (RFC 5040, 4.8; RFC 5041, 7; RFC 5044, 8).
enum Fault : uint16_t {
  kReadStagInvalid = 0x0100,
  kAccessViolated = 0x0102,
  kUnexpectedOp = 0x0206,
  kOperationFailed = 0x02ff,
  kTaggedStagInvalid = 0x1100,
  kNoBuffer = 0x1202,
  kTooLongForBuffer = 0x1205,
  kCrcWrong = 0x2002,
};
constexpr size_t kTerminateBytes = 4, kTerminateMost = kTerminateBytes + 2 + 18 + kReadRequestBytes;

constexpr size_t kLengthBytes = 2;
constexpr size_t kCrcBytes = 4;
// The largest payload of a segment: a multiple of a page, and the length field has 16 bits.
constexpr size_t kSegmentMost = 61440;
constexpr size_t kFpduMost = kLengthBytes + 65535 + 3 + kCrcBytes;

// Bytes behind the payload: padding and CRC.
inline size_t trailerBytes(size_t headerAndPayload) {
  return (4 - (kLengthBytes + headerAndPayload) % 4) % 4 + kCrcBytes;
}

inline void put16(uint8_t* at, uint16_t value) {
  at[0] = static_cast<uint8_t>(value >> 8);
  at[1] = static_cast<uint8_t>(value);
}
inline void put32(uint8_t* at, uint32_t value) {
  value = __builtin_bswap32(value);
  memcpy(at, &value, 4);
}
inline void put64(uint8_t* at, uint64_t value) {
  value = __builtin_bswap64(value);
  memcpy(at, &value, 8);
}
inline uint16_t get16(const uint8_t* at) { return static_cast<uint16_t>(at[0] << 8 | at[1]); }
inline uint32_t get32(const uint8_t* at) {
  uint32_t value;
  memcpy(&value, at, 4);
  return __builtin_bswap32(value);
}
inline uint64_t get64(const uint8_t* at) {
  uint64_t value;
  memcpy(&value, at, 8);
  return __builtin_bswap64(value);
}

// Writes length and header; `payload` bytes follow. Returns how many bytes it wrote.
size_t putHeader(uint8_t* at, const Header& header, size_t payload);
// From behind the length on; false where it is not one of this version.
bool takeHeader(const uint8_t* at, size_t length, Header* out);

void putReadRequest(uint8_t* at, const ReadRequest& request);
ReadRequest takeReadRequest(const uint8_t* at);
void putAtomicRequest(uint8_t* at, const AtomicRequest& request);
bool takeAtomicRequest(const uint8_t* at, AtomicRequest* out);
void putControl(uint8_t* at, const Control& control);
Control takeControl(const uint8_t* at);

// CRC32C (RFC 3720, appendix B.4), as it stands in an FPDU.
uint32_t crc32c(uint32_t crc, const uint8_t* data, size_t length);

// SipHash-2-4 (Aumasson, Bernstein 2012): a MAC of 64 bits under a key of 128.
struct MacKey {
  uint64_t words[2] = {0, 0};
};
uint64_t mac(const MacKey& key, const uint8_t* data, size_t length);

// What both ends say when they connect: the first bytes of the private data.
struct Greeting {
  uint32_t source = 0, destination = 0;  // queue pair numbers
  uint32_t psn = 0;
  uint8_t gid[16] = {};
  uint64_t nonce = 0;
  uint64_t proof = 0;  // of a reply: the responder knows the key
  bool crc = false;
};
constexpr size_t kGreetingBytes = 52;
// Key, flags, length, IRD and ORD, greeting.
constexpr size_t kHandshakeBytes = 16 + 4 + 4 + kGreetingBytes;

void putHandshake(uint8_t* at, bool isReply, uint16_t ird, uint16_t ord, const Greeting& greeting);
// False where it is none of ours.
bool takeHandshake(const uint8_t* at, bool isReply, uint16_t* ird, uint16_t* ord, Greeting* out);

}  // namespace aether::tcp
