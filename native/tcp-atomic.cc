// Atomics of the tcp device's peers (RFC 7306, section 5), which are carried out here.
#include "tcp-device.h"

namespace aether::tcp {

namespace {

// Bytes that wait for the socket; a peer that keeps to its depth stays far below.
constexpr size_t kAnswersMost = 4 << 20;

// Adds within each field that the mask's bits end (IB specification A14.4.4.2, masked fetch and add).
uint64_t addMasked(uint64_t before, uint64_t added, uint64_t ends) {
  if (ends == 0) return before + added;
  uint64_t result = 0;
  bool carry = false;
  for (int bit = 0; bit < 64; bit++) {
    const uint64_t one = 1ULL << bit;
    const int sum = ((before & one) != 0) + ((added & one) != 0) + carry;
    if ((sum & 1) != 0) result |= one;
    carry = sum > 1 && (ends & one) == 0;
  }
  return result;
}

uint64_t applied(const AtomicRequest& request, uint64_t before) {
  switch (request.op) {
    case AtomicOp::FetchAdd:
      return addMasked(before, request.data, request.dataMask);
    case AtomicOp::Swap:
      return (before & ~request.dataMask) | (request.data & request.dataMask);
    default:
      if (((before ^ request.compare) & request.compareMask) != 0) return before;
      return (before & ~request.dataMask) | (request.data & request.dataMask);
  }
}

}  // namespace

void carryOutAtomic(QueuePair* pair, const uint8_t* data) {
  Stream& stream = pair->stream;
  AtomicRequest request;
  const bool isKnown = takeAtomicRequest(data, &request);
  const bool allowed = (pair->attributes.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) != 0;
  const bool isFlood = stream.outEnd - stream.outAt > kAnswersMost;
  if (!isKnown || !allowed || isFlood || pair->attributes.max_dest_rd_atomic == 0 || request.offset % 8 != 0) {
    refuse(pair, stream.carriedOut, IBV_WC_REM_INV_REQ_ERR);
    return;
  }
  Keys& keys = pair->device->keys;
  std::shared_lock<std::shared_mutex> guard(keys.lock);
  auto* word = reinterpret_cast<uint64_t*>(
      keys.reach(request.stag, request.offset, 8, IBV_ACCESS_REMOTE_ATOMIC, pair->domain(), pair->qp_num));
  if (word == nullptr) {
    guard.unlock();
    refuse(pair, stream.carriedOut, IBV_WC_REM_ACCESS_ERR);
    return;
  }
  uint64_t before = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(word, &before, applied(request, before), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
  }
  guard.unlock();
  stream.carriedOut++;
  answerAtomic(pair, request.identifier, before);
}

}  // namespace aether::tcp
