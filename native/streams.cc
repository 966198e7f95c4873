// Streams of TCP, many at a time: what has come on all of them is one call, and one buffer. No policy: which are read,
// what is written when, and when one ends is the caller's.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "parallel.h"
#include "support.h"

namespace aether {

// What `pollStreams` tells of a stream: src/native/addon.ts has the same numbers.
enum class StreamEvent : int32_t { Received = 1, Writable = 2, Ended = 3, Accepted = 4, NotAccepted = 5 };

constexpr double kReads = 1, kWrites = 2, kListens = 4, kEnds = 8, kInterests = 15;
constexpr size_t kEventNumbers = 4;
// Nothing else of the event loop has its turn meanwhile.
constexpr int64_t kSpinNsMax = 1'000'000;
constexpr size_t kEventsMax = 256;
// With less room a stream waits for the next call.
constexpr size_t kRoomLeast = 4096;
constexpr int kBacklog = 511;
// Of `sendStreams`: numbers of an entry, and how many entries and threads there may be.
constexpr size_t kSendNumbers = 3;
constexpr double kSendsMax = 65536;
// With fewer for each thread it takes longer to wake one than to send them.
constexpr size_t kSendsEach = 4;

union Address {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

static bool parseAddress(const std::string& text, uint16_t port, Address* address, socklen_t* length) {
  memset(address, 0, sizeof *address);
  if (inet_pton(AF_INET, text.c_str(), &address->v4.sin_addr) == 1) {
    address->v4.sin_family = AF_INET;
    address->v4.sin_port = htons(port);
    *length = sizeof address->v4;
    return true;
  }
  if (inet_pton(AF_INET6, text.c_str(), &address->v6.sin6_addr) != 1) return false;
  address->v6.sin6_family = AF_INET6;
  address->v6.sin6_port = htons(port);
  *length = sizeof address->v6;
  return true;
}

Environment::~Environment() {
  for (const int descriptor : streams) close(descriptor);
}

static napi_value kept(napi_env env, int descriptor) {
  environmentOf(env)->streams.insert(descriptor);
  return makeNumber(env, descriptor);
}

static napi_value ListenStream(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const std::string text = arguments.text(0, "address", INET6_ADDRSTRLEN);
  const auto port = static_cast<uint16_t>(arguments.integer(1, "port", 0, UINT16_MAX));
  if (!arguments.ok()) return nullptr;
  Address address;
  socklen_t length = 0;
  if (!parseAddress(text, port, &address, &length)) {
    arguments.fail("address", "address must be an IPv4 or IPv6 address in digits");
    return nullptr;
  }
  const int descriptor = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return throwSystem(env, "socket", errno);
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const char* call = "bind";
  int result = bind(descriptor, &address.any, length);
  if (result == 0) {
    call = "listen";
    result = listen(descriptor, kBacklog);
  }
  if (result == 0) return kept(env, descriptor);
  const int error = errno;
  close(descriptor);
  return throwSystem(env, call, error);
}

// It is writable once it is connected, and has ended where it cannot be.
static napi_value ConnectStream(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const std::string text = arguments.text(0, "address", INET6_ADDRSTRLEN);
  const auto port = static_cast<uint16_t>(arguments.integer(1, "port", 0, UINT16_MAX));
  const std::string from = arguments.text(2, "source", INET6_ADDRSTRLEN);
  if (!arguments.ok()) return nullptr;
  Address address, source;
  socklen_t length = 0, sourceLength = 0;
  const bool isBound = !from.empty();
  if (!parseAddress(text, port, &address, &length) || (isBound && !parseAddress(from, 0, &source, &sourceLength))) {
    arguments.fail("address", "addresses must be IPv4 or IPv6 addresses in digits");
    return nullptr;
  }
  const int descriptor = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return throwSystem(env, "socket", errno);
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const bool mayConnect = !isBound || bind(descriptor, &source.any, sourceLength) == 0;
  if (mayConnect && (connect(descriptor, &address.any, length) == 0 || errno == EINPROGRESS))
    return kept(env, descriptor);
  const int error = errno;
  close(descriptor);
  return throwSystem(env, "connect", error);
}

static napi_value StreamAddress(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  const bool ofPeer = arguments.boolean(1, "ofPeer");
  if (!arguments.ok()) return nullptr;
  Address address = {};
  socklen_t length = sizeof address;
  const int result =
      ofPeer ? getpeername(descriptor, &address.any, &length) : getsockname(descriptor, &address.any, &length);
  char text[INET6_ADDRSTRLEN] = "";
  std::string shown;
  // A peer that has gone has none.
  if (result == 0 && address.any.sa_family == AF_INET) {
    inet_ntop(AF_INET, &address.v4.sin_addr, text, sizeof text);
    shown = std::string(text) + ":" + std::to_string(ntohs(address.v4.sin_port));
  } else if (result == 0 && address.any.sa_family == AF_INET6) {
    inet_ntop(AF_INET6, &address.v6.sin6_addr, text, sizeof text);
    shown = "[" + std::string(text) + "]:" + std::to_string(ntohs(address.v6.sin6_port));
  }
  napi_value value = nullptr;
  napi_create_string_utf8(env, shown.c_str(), shown.size(), &value);
  return value;
}

static napi_value CreateStreamSet(napi_env env, napi_callback_info) {
  const int set = epoll_create1(EPOLL_CLOEXEC);
  return set < 0 ? throwSystem(env, "epoll_create1", errno) : kept(env, set);
}

constexpr uint64_t kListener = 1ULL << 32;

static int control(int set, int operation, int descriptor, int interest) {
  struct epoll_event event = {};
  event.events = ((interest & static_cast<int>(kReads)) != 0 ? static_cast<uint32_t>(EPOLLIN) : 0U) |
                 ((interest & static_cast<int>(kWrites)) != 0 ? static_cast<uint32_t>(EPOLLOUT) : 0U) |
                 ((interest & static_cast<int>(kEnds)) != 0 ? static_cast<uint32_t>(EPOLLRDHUP) : 0U);
  event.data.u64 = static_cast<uint32_t>(descriptor);
  if ((interest & static_cast<int>(kListens)) != 0) event.data.u64 |= kListener;
  return epoll_ctl(set, operation, descriptor, &event);
}

static napi_value controlOf(napi_env env, napi_callback_info info, int operation) {
  Arguments arguments(env, info);
  const int set = arguments.descriptor(0, "set");
  const int descriptor = arguments.descriptor(1, "descriptor");
  const auto interest = static_cast<int>(arguments.integer(2, "interest", 0, kInterests));
  if (!arguments.ok()) return nullptr;
  if (control(set, operation, descriptor, interest) != 0) return throwSystem(env, "epoll_ctl", errno);
  return nullptr;
}

static napi_value AddStream(napi_env env, napi_callback_info info) {
  return controlOf(env, info, EPOLL_CTL_ADD);
}

static napi_value ChangeStream(napi_env env, napi_callback_info info) {
  return controlOf(env, info, EPOLL_CTL_MOD);
}

static napi_value RemoveStream(napi_env env, napi_callback_info info) {
  return controlOf(env, info, EPOLL_CTL_DEL);
}

// What is told of one call, as far as there is room.
class Told {
 public:
  Told(Environment* environment, Int32s events, Bytes bytes)
      : environment_(environment),
        numbers_(events.data), most_(std::min(events.length / kEventNumbers, kEventsMax)), bytes_(bytes) {}

  size_t count() const { return count_; }
  bool isFull() const { return count_ == most_ || bytes_.length - used_ < kRoomLeast; }

  void tell(int descriptor, StreamEvent kind, size_t offset, int32_t number) {
    int32_t* at = numbers_ + count_ * kEventNumbers;
    at[0] = descriptor;
    at[1] = static_cast<int32_t>(kind);
    at[2] = static_cast<int32_t>(offset);
    at[3] = number;
    count_ += 1;
  }

  void receive(int descriptor) {
    const ssize_t got = recv(descriptor, bytes_.data + used_, bytes_.length - used_, 0);
    if (got > 0) {
      tell(descriptor, StreamEvent::Received, used_, static_cast<int32_t>(got));
      used_ += static_cast<size_t>(got);
    } else if (got == 0)
      tell(descriptor, StreamEvent::Ended, 0, 0);
    else if (errno != EAGAIN && errno != EINTR)
      tell(descriptor, StreamEvent::Ended, 0, errno);
  }

  // All who wait, as far as there is room. They are in the set when they are told of.
  void accept(int set, int listener) {
    while (!isFull()) {
      const int descriptor = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (descriptor < 0) {
        // ECONNABORTED and its like are of one caller that has given up.
        if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
        if (errno != EAGAIN) tell(listener, StreamEvent::NotAccepted, 0, errno);
        return;
      }
      const int on = 1;
      setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      if (control(set, EPOLL_CTL_ADD, descriptor, static_cast<int>(kReads)) != 0) {
        tell(listener, StreamEvent::NotAccepted, 0, errno);
        close(descriptor);
        return;
      }
      environment_->streams.insert(descriptor);
      tell(descriptor, StreamEvent::Accepted, 0, listener);
    }
  }

 private:
  Environment* environment_;
  int32_t* numbers_;
  size_t most_;
  Bytes bytes_;
  size_t count_ = 0;
  size_t used_ = 0;
};

static int failureOf(int descriptor) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

static napi_value PollStreams(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int set = arguments.descriptor(0, "set");
  const Int32s events = arguments.int32s(1, "events");
  const Bytes bytes = arguments.bytes(2, "bytes");
  if (arguments.ok() && events.length < kEventNumbers) arguments.fail("events", "events must have room for 4 numbers");
  if (arguments.ok() && (bytes.length < kRoomLeast || bytes.length > INT32_MAX))
    arguments.fail("bytes", "bytes must have room for 4096 bytes, and for less than 2 GiB");
  const auto spinNs = static_cast<double>(arguments.integer(3, "spinNs", 0, kSpinNsMax));
  if (!arguments.ok()) return nullptr;
  // Half of what can be told: one event of the kernel may be two here.
  struct epoll_event found[kEventsMax / 2];
  const size_t most = std::clamp<size_t>(events.length / kEventNumbers / 2, 1, kEventsMax / 2);
  int count = epoll_wait(set, found, static_cast<int>(most), 0);
  if (count == 0 && spinNs > 0) {
    const double endNs = nowNs() + spinNs;
    do count = epoll_wait(set, found, static_cast<int>(most), 0);
    while (count == 0 && nowNs() < endNs);
  }
  if (count < 0 && errno != EINTR) return throwSystem(env, "epoll_wait", errno);
  Told told(environmentOf(env), events, bytes);
  // What is left out stays ready, and comes next time.
  for (int index = 0; index < count && !told.isFull(); index++) {
    const auto descriptor = static_cast<int>(static_cast<uint32_t>(found[index].data.u64));
    const uint32_t ready = found[index].events;
    if ((found[index].data.u64 & kListener) != 0) {
      told.accept(set, descriptor);
      continue;
    }
    if ((ready & EPOLLOUT) != 0) told.tell(descriptor, StreamEvent::Writable, 0, 0);
    if ((ready & EPOLLIN) != 0 && !told.isFull())
      told.receive(descriptor);
    else if ((ready & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0 && (ready & EPOLLIN) == 0 && !told.isFull())
      told.tell(descriptor, StreamEvent::Ended, 0, failureOf(descriptor));
  }
  return makeNumber(env, static_cast<double>(told.count()));
}

static napi_value SendStream(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  const Bytes bytes = arguments.bytes(1, "bytes");
  if (!arguments.ok()) return nullptr;
  ssize_t sent;
  do sent = send(descriptor, bytes.data, bytes.length, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent < 0) return makeNumber(env, errno == EAGAIN ? 0 : -errno);
  return makeNumber(env, static_cast<double>(sent));
}

// One of many: the descriptor, where its bytes begin, and how many they are; then how many were taken, or -errno.
static void sendOne(int32_t* entry, Bytes bytes) {
  ssize_t sent;
  do sent = send(entry[0], bytes.data + entry[1], static_cast<size_t>(entry[2]), MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  entry[2] = static_cast<int32_t>(sent >= 0 ? sent : errno == EAGAIN ? 0 : -errno);
}

static bool isWithin(const int32_t* entry, Bytes bytes) {
  return entry[0] >= 0 && entry[1] >= 0 && entry[2] >= 0 &&
         static_cast<size_t>(entry[1]) + static_cast<size_t>(entry[2]) <= bytes.length;
}

static napi_value SendStreams(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const Int32s sends = arguments.int32s(0, "sends");
  const auto count = static_cast<size_t>(arguments.integer(1, "count", 0, kSendsMax));
  const Bytes bytes = arguments.bytes(2, "bytes");
  const auto threads = static_cast<size_t>(arguments.integer(3, "threads", 1, kThreadsMax));
  if (arguments.ok() && sends.length < count * kSendNumbers) arguments.fail("sends", "sends must have 3 numbers for each");
  for (size_t index = 0; arguments.ok() && index < count; index++)
    if (!isWithin(sends.data + index * kSendNumbers, bytes)) arguments.fail("sends", "sends must name parts of bytes");
  if (!arguments.ok()) return nullptr;
  auto send = [&](size_t index) { sendOne(sends.data + index * kSendNumbers, bytes); };
  inParallel(count, std::min(threads, count / kSendsEach), send);
  return nullptr;
}

static napi_value KeepStreamAlive(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  const auto seconds = static_cast<int>(arguments.integer(1, "seconds", 1, 32767));
  if (!arguments.ok()) return nullptr;
  const int on = 1;
  if (setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) != 0 ||
      setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds) != 0)
    return throwSystem(env, "setsockopt", errno);
  return nullptr;
}

static napi_value EndStream(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  if (!arguments.ok()) return nullptr;
  if (shutdown(descriptor, SHUT_WR) != 0 && errno != ENOTCONN) return throwSystem(env, "shutdown", errno);
  return nullptr;
}

void registerStreams(napi_env env, napi_value exports) {
  define(env, exports, "listenStream", ListenStream);
  define(env, exports, "connectStream", ConnectStream);
  define(env, exports, "streamAddress", StreamAddress);
  define(env, exports, "createStreamSet", CreateStreamSet);
  define(env, exports, "addStream", AddStream);
  define(env, exports, "changeStream", ChangeStream);
  define(env, exports, "removeStream", RemoveStream);
  define(env, exports, "pollStreams", PollStreams);
  define(env, exports, "sendStream", SendStream);
  define(env, exports, "sendStreams", SendStreams);
  define(env, exports, "keepStreamAlive", KeepStreamAlive);
  define(env, exports, "endStream", EndStream);
}

}  // namespace aether
