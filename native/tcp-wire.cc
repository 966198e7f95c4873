#include "tcp-wire.h"

namespace aether::tcp {

namespace {

constexpr uint8_t kTagged = 0x80, kLast = 0x40, kDdpVersion = 0x01, kDdpVersionMask = 0x03;
constexpr uint8_t kRdmapVersion = 0x40, kRdmapVersionMask = 0xc0, kOpMask = 0x0f;

constexpr char kRequestKey[] = "MPA ID Req Frame";
constexpr char kReplyKey[] = "MPA ID Rep Frame";
constexpr uint16_t kMarkers = 0x8000, kCrc = 0x4000, kReject = 0x2000, kEnhanced = 0x1000, kRevision = 2;
constexpr uint16_t kDepthMask = 0x3fff;
constexpr uint32_t kGreetingMagic = 0x41655431;  // AeT1

uint64_t rotated(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

struct Sip {
  uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = rotated(v1, 13) ^ v0;
    v0 = rotated(v0, 32);
    v2 += v3;
    v3 = rotated(v3, 16) ^ v2;
    v0 += v3;
    v3 = rotated(v3, 21) ^ v0;
    v2 += v1;
    v1 = rotated(v1, 17) ^ v2;
    v2 = rotated(v2, 32);
  }
  void take(uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

struct CrcTable {
  uint32_t at[256];
  CrcTable() {
    for (uint32_t index = 0; index < 256; index++) {
      uint32_t value = index;
      for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? 0x82f63b78U : 0);
      at[index] = value;
    }
  }
};

uint32_t crcByTable(uint32_t crc, const uint8_t* data, size_t length) {
  static const CrcTable table;
  for (size_t index = 0; index < length; index++) crc = crc >> 8 ^ table.at[(crc ^ data[index]) & 0xff];
  return crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) uint32_t crcByInstruction(uint32_t crc, const uint8_t* data, size_t length) {
  uint64_t wide = crc;
  for (; length >= 8; data += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, data, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  auto narrow = static_cast<uint32_t>(wide);
  for (; length > 0; data++, length--) narrow = __builtin_ia32_crc32qi(narrow, *data);
  return narrow;
}
#endif

}  // namespace

uint32_t crc32c(uint32_t crc, const uint8_t* data, size_t length) {
#ifdef __x86_64__
  static const bool fast = __builtin_cpu_supports("sse4.2");
  if (fast) return ~crcByInstruction(~crc, data, length);
#endif
  return ~crcByTable(~crc, data, length);
}

uint64_t mac(const MacKey& key, const uint8_t* data, size_t length) {
  Sip sip = {key.words[0] ^ 0x736f6d6570736575ULL, key.words[1] ^ 0x646f72616e646f6dULL,
             key.words[0] ^ 0x6c7967656e657261ULL, key.words[1] ^ 0x7465646279746573ULL};
  uint64_t last = static_cast<uint64_t>(length) << 56;
  for (; length >= 8; data += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, data, 8);
    sip.take(word);
  }
  for (size_t index = 0; index < length; index++) last |= static_cast<uint64_t>(data[index]) << (8 * index);
  sip.take(last);
  sip.v2 ^= 0xff;
  for (int index = 0; index < 4; index++) sip.round();
  return sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
}

size_t putHeader(uint8_t* at, const Header& header, size_t payload) {
  put16(at, static_cast<uint16_t>(header.bytes() + payload));
  at[2] = static_cast<uint8_t>((header.tagged ? kTagged : 0) | (header.last ? kLast : 0) | kDdpVersion);
  at[3] = static_cast<uint8_t>(kRdmapVersion | static_cast<uint8_t>(header.op));
  put32(at + 4, header.stag);
  if (header.tagged) {
    put64(at + 8, header.offset);
  } else {
    put32(at + 8, header.queue);
    put32(at + 12, header.message);
    put32(at + 16, static_cast<uint32_t>(header.offset));
  }
  return kLengthBytes + header.bytes();
}

bool takeHeader(const uint8_t* at, size_t length, Header* out) {
  if (length < 14) return false;
  out->tagged = (at[0] & kTagged) != 0;
  out->last = (at[0] & kLast) != 0;
  out->op = static_cast<Op>(at[1] & kOpMask);
  if ((at[0] & kDdpVersionMask) != kDdpVersion || (at[1] & kRdmapVersionMask) != kRdmapVersion) return false;
  out->stag = get32(at + 2);
  if (out->tagged) {
    out->offset = get64(at + 6);
    return true;
  }
  if (length < 18) return false;
  out->queue = get32(at + 6);
  out->message = get32(at + 10);
  out->offset = get32(at + 14);
  return true;
}

void putReadRequest(uint8_t* at, const ReadRequest& request) {
  put32(at, request.sinkStag);
  put64(at + 4, request.sinkOffset);
  put32(at + 12, request.length);
  put32(at + 16, request.sourceStag);
  put64(at + 20, request.sourceOffset);
}

ReadRequest takeReadRequest(const uint8_t* at) {
  return {get32(at), get64(at + 4), get32(at + 12), get32(at + 16), get64(at + 20)};
}

void putAtomicRequest(uint8_t* at, const AtomicRequest& request) {
  put32(at, static_cast<uint32_t>(request.op));
  put32(at + 4, request.identifier);
  put32(at + 8, request.stag);
  put64(at + 12, request.offset);
  put64(at + 20, request.data);
  put64(at + 28, request.dataMask);
  put64(at + 36, request.compare);
  put64(at + 44, request.compareMask);
}

bool takeAtomicRequest(const uint8_t* at, AtomicRequest* out) {
  const uint32_t op = get32(at) & 0x0f;
  *out = {static_cast<AtomicOp>(op), get32(at + 4),  get32(at + 8),  get64(at + 12),
          get64(at + 20),            get64(at + 28), get64(at + 36), get64(at + 44)};
  return op <= static_cast<uint32_t>(AtomicOp::CompareSwap);
}

void putControl(uint8_t* at, const Control& control) {
  put32(at, static_cast<uint32_t>(control.kind));
  put32(at + 4, control.count);
  put64(at + 8, control.value);
}

Control takeControl(const uint8_t* at) {
  return {static_cast<ControlKind>(get32(at)), get32(at + 4), get64(at + 8)};
}

void putHandshake(uint8_t* at, bool isReply, uint16_t ird, uint16_t ord, const Greeting& greeting) {
  memcpy(at, isReply ? kReplyKey : kRequestKey, 16);
  put16(at + 16, static_cast<uint16_t>(kEnhanced | (greeting.crc ? kCrc : 0) | kRevision));
  put16(at + 18, 4 + kGreetingBytes);
  put16(at + 20, ird);
  put16(at + 22, ord);
  uint8_t* data = at + 24;
  put32(data, kGreetingMagic);
  put32(data + 4, greeting.source);
  put32(data + 8, greeting.destination);
  put32(data + 12, greeting.psn);
  memcpy(data + 16, greeting.gid, 16);
  put64(data + 32, greeting.nonce);
  put64(data + 40, greeting.proof);
  put32(data + 48, 0);
}

bool takeHandshake(const uint8_t* at, bool isReply, uint16_t* ird, uint16_t* ord, Greeting* out) {
  if (memcmp(at, isReply ? kReplyKey : kRequestKey, 16) != 0) return false;
  const uint16_t flags = get16(at + 16);
  if ((flags & (kMarkers | kReject)) != 0 || (flags & kEnhanced) == 0 || (flags & 0xff) != kRevision) return false;
  if (get16(at + 18) != 4 + kGreetingBytes) return false;
  *ird = get16(at + 20) & kDepthMask;
  *ord = get16(at + 22) & kDepthMask;
  const uint8_t* data = at + 24;
  if (get32(data) != kGreetingMagic) return false;
  out->crc = (flags & kCrc) != 0;
  out->source = get32(data + 4);
  out->destination = get32(data + 8);
  out->psn = get32(data + 12);
  memcpy(out->gid, data + 16, 16);
  out->nonce = get64(data + 32);
  out->proof = get64(data + 40);
  return true;
}

}  // namespace aether::tcp
