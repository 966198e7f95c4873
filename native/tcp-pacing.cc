// The pace at which a queue pair of the tcp device sends: the kernel's own, of the socket. It holds for all that this
// end sends over the stream, so for answers to the peer's READs, too.
#include <sys/socket.h>

#include <cerrno>

#include "tcp-device.h"
#include "tcp-verbs.h"

namespace aether::tcp {

// What the kernel takes for no limit (socket(7)).
constexpr unsigned long kUnlimited = ~0UL;

void pace(QueuePair* pair) {
  const unsigned long rate = pair->bytesPerSecond == 0 ? kUnlimited : pair->bytesPerSecond;
  setsockopt(pair->stream.descriptor, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate);
}

int setRateLimit(ibv_qp* qp, uint64_t bytesPerSecond) {
  auto* pair = static_cast<QueuePair*>(qp);
  std::lock_guard<std::recursive_mutex> guard(pair->lock);
  // All that send datagrams at one port share its socket.
  if (!pair->isConnected()) return EOPNOTSUPP;
  if (pair->now != IBV_QPS_RTS) return EINVAL;
  pair->bytesPerSecond = bytesPerSecond;
  // One that is not connected yet gets it when it is.
  if (pair->stream.descriptor >= 0) pace(pair);
  return 0;
}

uint64_t rateLimit(ibv_qp* qp) {
  auto* pair = static_cast<QueuePair*>(qp);
  std::lock_guard<std::recursive_mutex> guard(pair->lock);
  if (pair->stream.descriptor < 0) return pair->bytesPerSecond;
  unsigned long rate = kUnlimited;
  socklen_t length = sizeof rate;
  getsockopt(pair->stream.descriptor, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, &length);
  return rate == kUnlimited ? 0 : rate;
}

}  // namespace aether::tcp
