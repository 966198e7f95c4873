// Streams of foreign peers that this end has ended, while what the peer still sends is read and dropped. Otherwise its
// end would never come behind bytes that nobody takes, or what we said last would be lost to a reset. Bounded: a peer
// that does not end in time is cut off.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "tcp-device.h"

namespace aether::tcp {

namespace {

constexpr uint64_t kLingerNs = 5000000000;
constexpr size_t kDroppedAtOnce = 1 << 20;

}  // namespace

// Any thread; the engine goes on with it.
void letGo(Context* context, int descriptor) {
  shutdown(descriptor, SHUT_WR);
  epoll_ctl(context->epoll, EPOLL_CTL_DEL, descriptor, nullptr);
  std::lock_guard<std::mutex> guard(context->leavingLock);
  context->leaving.push_back(descriptor);
  context->wake();
}

void takeLeaving(Context* context) {
  std::lock_guard<std::mutex> guard(context->leavingLock);
  for (const int descriptor : context->leaving) addGuest(context, descriptor, nowNs() + kLingerNs)->leaves = true;
  context->leaving.clear();
}

bool dropWhatComes(int descriptor) {
  for (size_t dropped = 0; dropped < kDroppedAtOnce;) {
    const ssize_t count = recv(descriptor, nullptr, kDroppedAtOnce, MSG_TRUNC | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 && errno == EAGAIN;
    dropped += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace aether::tcp
