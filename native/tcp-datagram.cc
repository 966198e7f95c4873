// Datagrams of the tcp device: UD over UDP, one message a datagram.
//
//     magic (4) │ destination (4) │ source (4) │ queue key (4) │ immediate (4) │ flags (4) │ proof (8) │ payload
//
// The proof is a MAC over all but itself: a datagram of somebody who does not know the device's key is dropped.
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "tcp-device.h"

namespace aether::tcp {

namespace {

constexpr uint32_t kDatagramMagic = 0x41655455;  // AeTU
constexpr size_t kHeaderBytes = 32, kProofAt = 24;
constexpr size_t kPayloadMost = 4096;
constexpr size_t kRouteBytes = 40;
constexpr uint32_t kHasImmediate = 1, kIsSolicited = 2;
constexpr int kAtOnce = 64;

uint64_t proofOf(const Context* context, const uint8_t* datagram, size_t length) {
  // The proof's place counts as zeros.
  uint8_t copy[kHeaderBytes + kPayloadMost];
  memcpy(copy, datagram, length);
  memset(copy + kProofAt, 0, 8);
  return mac(context->key, copy, length);
}

// The global route header (IB specification 8.3) as it stands before the payload.
void putRoute(uint8_t* at, const Context* context, const sockaddr_in6& from, size_t payload) {
  memset(at, 0, kRouteBytes);
  at[0] = 0x60;
  put16(at + 4, static_cast<uint16_t>(payload));
  at[6] = 0x1b;
  at[7] = 64;
  memcpy(at + 8, &from.sin6_addr, 16);
  memcpy(at + 24, context->gid.raw, 16);
}

void deliver(Context* context, const uint8_t* data, size_t length, const sockaddr_in6& from) {
  const uint32_t destination = get32(data + 4), source = get32(data + 8), flags = get32(data + 20);
  const size_t payload = length - kHeaderBytes;
  std::unique_lock<std::mutex> table(context->tableLock);
  const auto found = context->pairs.find(destination);
  if (found == context->pairs.end()) return;
  QueuePair* pair = found->second;
  std::lock_guard<std::recursive_mutex> guard(pair->lock);
  table.unlock();
  const bool mayReceive = pair->now == IBV_QPS_RTR || pair->now == IBV_QPS_RTS || pair->now == IBV_QPS_SQD;
  if (pair->qp_type != IBV_QPT_UD || !mayReceive || get32(data + 12) != pair->attributes.qkey) return;
  Receive receive;
  if (!takeReceive(pair, &receive)) return;
  ibv_wc_status status = IBV_WC_SUCCESS;
  uint8_t route[kRouteBytes];
  putRoute(route, context, from, payload);
  if (kRouteBytes + payload > receive.length())
    status = IBV_WC_LOC_LEN_ERR;
  else if (!scatter(pair, receive.segments, 0, route, kRouteBytes) ||
           !scatter(pair, receive.segments, kRouteBytes, data + kHeaderBytes, payload))
    status = IBV_WC_LOC_PROT_ERR;
  const unsigned immediate = (flags & kHasImmediate) != 0 ? IBV_WC_WITH_IMM : 0;
  completeReceive(pair, receive, IBV_WC_RECV, status, kRouteBytes + payload, IBV_WC_GRH | immediate,
                  htobe32(get32(data + 16)), source, (flags & kIsSolicited) != 0);
  if (status != IBV_WC_SUCCESS) enterError(pair);
}

}  // namespace

void receiveDatagrams(Context* context, Port* port) {
  const std::unique_lock<std::mutex> guard(port->lock, std::try_to_lock);
  if (!guard.owns_lock()) return;
  uint8_t data[kHeaderBytes + kPayloadMost + 1];
  for (int index = 0; index < kAtOnce; index++) {
    sockaddr_in6 from = {};
    socklen_t length = sizeof from;
    const ssize_t count =
        recvfrom(port->datagrams, data, sizeof data, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from), &length);
    // An error that is reported for one that was sent is taken by the call.
    if (count < 0 && errno != EAGAIN && errno != EINTR) continue;
    if (count < 0) return;
    const auto bytes = static_cast<size_t>(count);
    if (bytes < kHeaderBytes || bytes == sizeof data || get32(data) != kDatagramMagic) continue;
    if (get64(data + kProofAt) != proofOf(context, data, bytes)) continue;
    if (!context->hasKey && memcmp(&from.sin6_addr, context->gid.raw, 16) != 0) continue;
    deliver(context, data, bytes, from);
  }
}

ibv_wc_status sendDatagram(QueuePair* pair, Send* send) {
  Context* context = pair->device;
  // As on other devices: more than a packet holds is not sent, and that is no error.
  if (send->length > kPayloadMost) return IBV_WC_SUCCESS;
  const auto payload = static_cast<size_t>(send->length);
  uint8_t data[kHeaderBytes + kPayloadMost];
  const bool immediate = send->opcode == IBV_WR_SEND_WITH_IMM;
  const bool solicited = (send->flags & IBV_SEND_SOLICITED) != 0;
  put32(data, kDatagramMagic);
  put32(data + 4, send->toNumber);
  put32(data + 8, pair->qp_num);
  put32(data + 12, send->toQueueKey);
  put32(data + 16, immediate ? be32toh(send->immediate) : 0);
  put32(data + 20, (immediate ? kHasImmediate : 0) | (solicited ? kIsSolicited : 0));
  if ((send->flags & IBV_SEND_INLINE) != 0)
    memcpy(data + kHeaderBytes, send->inlined.data(), payload);
  else if (!gather(pair, send->segments, 0, data + kHeaderBytes, payload))
    return IBV_WC_LOC_PROT_ERR;
  put64(data + kProofAt, proofOf(context, data, kHeaderBytes + payload));
  for (const auto& port : context->ports)
    if (port->number == pair->qp_num >> 8)
      // What is lost is lost.
      sendto(port->datagrams, data, kHeaderBytes + payload, MSG_DONTWAIT | MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&send->to), sizeof send->to);
  return IBV_WC_SUCCESS;
}

}  // namespace aether::tcp
