// How streams of the tcp device begin and end. Of two ends the one with the lower (gid, number) calls the other; what
// they say is MPA's request and reply (RFC 5044, 6581), with a greeting in the private data that names both queue
// pairs. One that is called before it is ready to receive lets the caller wait.
//
// Both prove that they know the device's key: the responder in its reply, over the caller's nonce, the caller in the
// first message after it, over both. No key of memory is honoured before.
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tcp-device.h"
#include "tcp-verbs.h"

namespace aether::tcp {

namespace {

constexpr uint64_t kMillisecond = 1000000;
constexpr int kResolveMs = 3000;
constexpr uint64_t kRetryFirst = 10 * kMillisecond, kRetryMost = 1000 * kMillisecond;
constexpr uint64_t kHandshakeNs = 5000 * kMillisecond;
// A caller may wait as long for its peer to become ready.
constexpr uint64_t kGuestNs = 60000 * kMillisecond;
constexpr size_t kGuestsMost = 4096;
// What acknowledges is a process and not a device, so it may take some scheduling. A process that ended is known at
// once, by its reset.
constexpr uint64_t kTimeoutLeast = 5000 * kMillisecond;
// A caller that has not agreed to speak first may never do so. After this time it has long seen the reply, and takes
// what comes; the kernel's siw waits for nothing.
constexpr uint64_t kCallerFirstNs = 100 * kMillisecond;
// 4.3 s: a peer that is no process answers sooner, and one that is gets the least that any gets.
constexpr uint8_t kForeignTimeout = 20;
constexpr int kUserTimeoutMs = 30000;
constexpr int kNoDescriptorUs = 1000;
constexpr int kUnsentMost = 256 * 1024;

uint64_t randomWord() {
  uint64_t word = 0;
  if (getrandom(&word, sizeof word, 0) != sizeof word) word = nowNs();
  return word;
}

bool isLoopback(const in6_addr& address) {
  if (IN6_IS_ADDR_LOOPBACK(&address)) return true;
  return IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == 127;
}

// An address of this machine can be bound to.
bool isOwnAddress(const sockaddr_in6& address) {
  const int descriptor = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  sockaddr_in6 any = address;
  any.sin6_port = 0;
  const bool own = bind(descriptor, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
  close(descriptor);
  return own;
}

sockaddr_in6 peerOf(const QueuePair* pair) {
  sockaddr_in6 to = {};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(static_cast<uint16_t>(pair->attributes.dest_qp_num >> 8));
  memcpy(&to.sin6_addr, pair->attributes.ah_attr.grh.dgid.raw, 16);
  if (IN6_IS_ADDR_LINKLOCAL(&to.sin6_addr)) to.sin6_scope_id = pair->device->address.sin6_scope_id;
  return to;
}

bool isSelf(const QueuePair* pair) {
  return pair->attributes.dest_qp_num == pair->qp_num &&
         memcmp(pair->attributes.ah_attr.grh.dgid.raw, pair->device->gid.raw, 16) == 0;
}

bool isCaller(const QueuePair* pair) {
  const int order = memcmp(pair->device->gid.raw, pair->attributes.ah_attr.grh.dgid.raw, 16);
  return order != 0 ? order < 0 : pair->qp_num < pair->attributes.dest_qp_num;
}

int openSocket(const Context* context, bool bound) {
  const int descriptor = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  const int off = 0;
  setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  sockaddr_in6 from = context->address;
  from.sin6_port = 0;
  if (bound && bind(descriptor, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

void tune(int descriptor) {
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentMost, sizeof kUnsentMost);
  setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUserTimeoutMs, sizeof kUserTimeoutMs);
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

// What both ends sign: who they are, and what each has drawn.
uint64_t proofOf(const Context* context, char role, uint32_t caller, uint32_t responder, uint64_t nonce,
                 uint64_t reply) {
  uint8_t text[32] = {};
  text[0] = static_cast<uint8_t>(role);
  put32(text + 4, caller);
  put32(text + 8, responder);
  put64(text + 16, nonce);
  put64(text + 24, reply);
  return mac(context->key, text, sizeof text);
}

void closeStream(QueuePair* pair, Stream::Phase phase) {
  Stream& stream = pair->stream;
  // The connection manager has a descriptor of a foreign peer's stream, too, so that closing ours would end nothing.
  // Closing takes it out of the epoll instance, too.
  if (stream.descriptor >= 0 && stream.isForeign)
    letGo(pair->device, stream.descriptor);
  else if (stream.descriptor >= 0)
    close(stream.descriptor);
  stream.descriptor = -1;
  stream.watchesWrites = stream.isLeft = false;
  stream.phase = phase;
}

void retryLater(QueuePair* pair) {
  Stream& stream = pair->stream;
  closeStream(pair, Stream::Phase::None);
  stream.retryNs = std::min(std::max(2 * stream.retryNs, kRetryFirst), kRetryMost);
  stream.retryAt = nowNs() + stream.retryNs;
  stream.inAt = stream.inEnd = stream.outAt = stream.outEnd = 0;
  pair->device->stir();
}

void comeUp(QueuePair* pair) {
  pair->stream.phase = Stream::Phase::Up;
  pair->stream.retryNs = 0;
  pair->progressAt = nowNs();
  if (pair->bytesPerSecond != 0) pace(pair);
  transmit(pair);
}

Greeting greetingOf(QueuePair* pair, bool crc) {
  Greeting greeting;
  greeting.source = pair->qp_num;
  greeting.destination = pair->attributes.dest_qp_num;
  greeting.psn = pair->attributes.rq_psn;
  memcpy(greeting.gid, pair->device->gid.raw, 16);
  greeting.nonce = pair->stream.nonce;
  greeting.crc = crc;
  return greeting;
}

void say(QueuePair* pair, bool isReply, const Greeting& greeting) {
  Stream& stream = pair->stream;
  if (stream.out.size() < kHandshakeBytes) stream.out.resize(kHandshakeBytes);
  // How many this end wants at once may change until RTS, so it asks for the most that the peer can take.
  stream.takes = pair->attributes.max_dest_rd_atomic;
  putHandshake(stream.out.data(), isReply, stream.takes, isReply ? stream.peerTakes : kDepthMost, greeting);
  stream.outAt = 0;
  stream.outEnd = kHandshakeBytes;
  flush(pair);
}

// TCP's handshake is through.
void request(QueuePair* pair) {
  Stream& stream = pair->stream;
  tune(stream.descriptor);
  if (isSelf(pair)) {
    stream.peerExpects = pair->attributes.rq_psn;
    stream.peerTakes = stream.takes = pair->attributes.max_dest_rd_atomic;
    return comeUp(pair);
  }
  stream.phase = Stream::Phase::Requested;
  stream.nonce = randomWord();
  // What stays within this machine is not damaged on its way.
  const sockaddr_in6 peer = peerOf(pair);
  say(pair, false, greetingOf(pair, !isOwnAddress(peer)));
}

// One that is connected to itself has a socket that is: TCP's simultaneous open with one end.
void call(QueuePair* pair) {
  Stream& stream = pair->stream;
  sockaddr_in6 to = peerOf(pair);
  stream.descriptor = openSocket(pair->device, true);
  if (stream.descriptor < 0) return retryLater(pair);
  stream.phase = Stream::Phase::Connecting;
  stream.connectUntil = nowNs() + kHandshakeNs;
  socklen_t length = sizeof to;
  if (isSelf(pair)) getsockname(stream.descriptor, reinterpret_cast<sockaddr*>(&to), &length);
  const int result = connect(stream.descriptor, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  if (result != 0 && errno != EINPROGRESS) return retryLater(pair);
  watch(pair, result != 0);
  if (result == 0) request(pair);
  pair->device->stir();
}

// Asks the network who has the address, as a device does on the way to RTR: 0, or ETIMEDOUT. That nobody listens there
// is no error, the peer may be late.
int resolve(QueuePair* pair) {
  const sockaddr_in6 to = peerOf(pair);
  if (memcmp(&to.sin6_addr, pair->device->gid.raw, 16) == 0) return 0;
  // Linux answers for all of 127.0.0.0/8, but there is no device at the others.
  if (isLoopback(pair->device->address.sin6_addr)) return ETIMEDOUT;
  if (isOwnAddress(to)) return 0;
  const int descriptor = openSocket(pair->device, true);
  if (descriptor < 0) return errno;
  int error = connect(descriptor, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    struct pollfd waiting = {descriptor, POLLOUT, 0};
    socklen_t length = sizeof error;
    if (poll(&waiting, 1, kResolveMs) <= 0)
      error = ETIMEDOUT;
    else if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
      error = errno;
  }
  close(descriptor);
  return error == 0 || error == ECONNREFUSED ? 0 : ETIMEDOUT;
}

void replyArrived(QueuePair* pair) {
  Stream& stream = pair->stream;
  Greeting greeting;
  uint16_t ird = 0, ord = 0;
  const bool isOurs = takeHandshake(stream.in.data() + stream.inAt, true, &ird, &ord, &greeting);
  stream.inAt += kHandshakeBytes;
  const uint64_t proof = proofOf(pair->device, 'R', pair->qp_num, greeting.source, stream.nonce, greeting.nonce);
  if (!isOurs || greeting.source != pair->attributes.dest_qp_num || greeting.destination != pair->qp_num ||
      greeting.proof != proof)
    return retryLater(pair);
  stream.crc = greeting.crc;
  stream.peerExpects = greeting.psn;
  stream.peerTakes = ird;
  stream.peerNonce = greeting.nonce;
  sendControl(pair, ControlKind::Proof, 0,
              proofOf(pair->device, 'C', pair->qp_num, greeting.source, stream.nonce, greeting.nonce));
  comeUp(pair);
}

void readReply(QueuePair* pair) {
  Stream& stream = pair->stream;
  if (stream.in.size() < kHandshakeBytes) stream.in.resize(kInFirst);
  const ssize_t count =
      recv(stream.descriptor, stream.in.data() + stream.inEnd, kHandshakeBytes - stream.inEnd, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return retryLater(pair);
  stream.inEnd += static_cast<size_t>(count);
  if (stream.inEnd == kHandshakeBytes) replyArrived(pair);
}

uint64_t timeoutOf(const QueuePair* pair) {
  const auto& a = pair->attributes;
  if (a.timeout == 0) return UINT64_MAX;
  const uint64_t own = (4096ULL << a.timeout) * (a.retry_cnt + 1ULL);
  // What is with the kernel waits there for its pace, as well.
  const uint64_t paced = pair->bytesPerSecond == 0 ? 0 : 2ULL * kUnsentMost * 1000000000 / pair->bytesPerSecond;
  return pair->stream.phase == Stream::Phase::Up ? std::max(own, kTimeoutLeast) + paced : own;
}

void lookAtClock(QueuePair* pair) {
  const uint64_t now = nowNs();
  Stream& stream = pair->stream;
  const bool isConnecting = stream.phase == Stream::Phase::Connecting;
  if (stream.phase == Stream::Phase::None && stream.retryAt != 0 && now >= stream.retryAt) {
    stream.retryAt = 0;
    call(pair);
  } else if (isConnecting && now >= stream.connectUntil) {
    retryLater(pair);
  } else if (stream.phase == Stream::Phase::Proving && now >= stream.connectUntil) {
    breakStream(pair);
  }
  if (pair->head == pair->tail || pair->now == IBV_QPS_ERR || stream.waiting) return;
  const bool waits = pair->now == IBV_QPS_RTS || pair->at(pair->head).begun;
  if (waits && now - pair->progressAt >= timeoutOf(pair)) giveUp(pair);
}

}  // namespace

int connectPair(QueuePair* pair) {
  if (const int error = resolve(pair)) return error;
  pair->stream = Stream();
  if (isSelf(pair) || isCaller(pair)) call(pair);
  return 0;
}

void disconnect(QueuePair* pair) {
  closeStream(pair, Stream::Phase::Broken);
  pair->stream.retryAt = 0;
}

void breakStream(QueuePair* pair) {
  Stream& stream = pair->stream;
  const bool wasUp = stream.phase == Stream::Phase::Up;
  if (!wasUp && stream.phase != Stream::Phase::Broken) {
    if (isSelf(pair) || isCaller(pair)) return retryLater(pair);
    closeStream(pair, Stream::Phase::None);
    return;
  }
  closeStream(pair, Stream::Phase::Broken);
  giveUp(pair);
}

void progress(QueuePair* pair, bool polls) {
  Stream& stream = pair->stream;
  bool received = false;
  if (stream.phase == Stream::Phase::Connecting) {
    struct pollfd ready = {stream.descriptor, POLLOUT, 0};
    if (poll(&ready, 1, 0) > 0) {
      int error = 0;
      socklen_t length = sizeof error;
      getsockopt(stream.descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
      if (error != 0) {
        retryLater(pair);
      } else {
        watch(pair, false);
        request(pair);
      }
    }
  }
  if (stream.phase == Stream::Phase::Requested) {
    flush(pair);
    if (stream.phase == Stream::Phase::Requested) readReply(pair);
  }
  if (stream.phase == Stream::Phase::Proving || stream.phase == Stream::Phase::Up) received = receive(pair);
  if (stream.phase == Stream::Phase::Broken && pair->now == IBV_QPS_RTS) giveUp(pair);
  lookAtClock(pair);
  // Where the engine looks after it, too, an acknowledgement is sent in any case within its period.
  if (pair->now != IBV_QPS_ERR) transmit(pair, polls && received && stream.isLeft);
}

// ---- peers that are no Aether

// So that a segment goes in one packet (RFC 5044, 5.1): an adapter may have to put packets together otherwise.
static size_t segmentMostOf(int descriptor) {
  int packet = 0;
  socklen_t length = sizeof packet;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_MAXSEG, &packet, &length) != 0) packet = 0;
  const size_t around = kLengthBytes + 18 + 3 + kCrcBytes;
  const auto room = static_cast<size_t>(std::max(packet, 512)) - around;
  return std::min(kSegmentMost, room / 4 * 4);
}

int adoptStream(ibv_qp* qp, int descriptor, const Adoption& adoption) {
  auto* pair = static_cast<QueuePair*>(qp);
  std::lock_guard<std::recursive_mutex> guard(pair->lock);
  if (!pair->isConnected() || pair->now != IBV_QPS_INIT) return EINVAL;
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return errno;
  tune(own);
  pair->attributes.max_dest_rd_atomic = static_cast<uint8_t>(std::min<uint16_t>(adoption.ird, UINT8_MAX));
  pair->attributes.max_rd_atomic = static_cast<uint8_t>(std::min<uint16_t>(adoption.ord, UINT8_MAX));
  pair->attributes.timeout = kForeignTimeout;
  Stream& stream = pair->stream = Stream();
  stream.descriptor = own;
  stream.phase = Stream::Phase::Up;
  stream.isForeign = true;
  stream.takes = pair->attributes.max_dest_rd_atomic;
  stream.skipsReady = !adoption.isCaller && adoption.ready == Adoption::Ready::Send;
  stream.crc = adoption.crc;
  stream.segmentMost = segmentMostOf(own);
  pair->now = IBV_QPS_RTS;
  pair->progressAt = nowNs();
  const bool isAgreed = adoption.ready != Adoption::Ready::None;
  if (!adoption.isCaller) stream.mayBeginAt = isAgreed ? UINT64_MAX : pair->progressAt + kCallerFirstNs;
  watch(pair, false);
  if (adoption.replyBytes > 0) {
    stream.out.assign(adoption.reply, adoption.reply + adoption.replyBytes);
    stream.outEnd = adoption.replyBytes;
  }
  constexpr Op kReadyOps[] = {Op::Write, Op::Write, Op::ReadRequest, Op::Send};
  if (adoption.isCaller && isAgreed) sendReady(pair, kReadyOps[static_cast<size_t>(adoption.ready)]);
  transmit(pair);
  return 0;
}

// ---- the side that is called

Guest* addGuest(Context* context, int descriptor, uint64_t until) {
  const uint64_t number = context->nextGuest++ & kNameMask;
  auto made = std::make_unique<Guest>();
  Guest* guest = made.get();
  guest->descriptor = descriptor;
  guest->until = until;
  struct epoll_event event = {};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = kOfGuest | number;
  epoll_ctl(context->epoll, EPOLL_CTL_ADD, descriptor, &event);
  context->guests[number] = std::move(made);
  context->active = true;
  return guest;
}

void acceptGuests(Context* context, Port* port) {
  for (;;) {
    sockaddr_in6 from = {};
    socklen_t length = sizeof from;
    const int descriptor =
        accept4(port->listener, reinterpret_cast<sockaddr*>(&from), &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      // Without a descriptor to spare the caller stays in the queue, and would be told of without a pause.
      if (errno == EMFILE || errno == ENFILE) usleep(kNoDescriptorUs);
      return;
    }
    // Without a key, only who is on this machine.
    if (context->guests.size() >= kGuestsMost || (!context->hasKey && !isOwnAddress(from))) {
      close(descriptor);
      continue;
    }
    tune(descriptor);
    addGuest(context, descriptor, nowNs() + kHandshakeNs);
  }
}

// Gives the connection to the queue pair that it is for: true where that is done, or it is not wanted.
static bool settle(Context* context, Guest* guest) {
  std::unique_lock<std::mutex> table(context->tableLock);
  const auto found = context->pairs.find(guest->greeting.destination);
  if (found == context->pairs.end()) return true;
  QueuePair* pair = found->second;
  // One that is on its way to RTR has its lock for as long as the network takes to answer.
  const std::unique_lock<std::recursive_mutex> guard(pair->lock, std::try_to_lock);
  table.unlock();
  if (!guard.owns_lock()) return false;
  if (!pair->isConnected() || pair->now == IBV_QPS_ERR) return true;
  Stream& stream = pair->stream;
  if (pair->now == IBV_QPS_RESET || pair->now == IBV_QPS_INIT) return false;
  const bool isPeer = pair->attributes.dest_qp_num == guest->greeting.source &&
                      memcmp(pair->attributes.ah_attr.grh.dgid.raw, guest->greeting.gid, 16) == 0;
  if (!isPeer || isCaller(pair)) return true;
  // One that the peer has given up may still seem to be there.
  if (stream.phase != Stream::Phase::None) return false;
  // Nothing of a caller that proved nothing may be left.
  stream = Stream();
  stream.descriptor = guest->descriptor;
  guest->descriptor = -1;
  stream.phase = Stream::Phase::Proving;
  stream.connectUntil = nowNs() + kHandshakeNs;
  stream.nonce = randomWord();
  stream.peerNonce = guest->greeting.nonce;
  stream.peerExpects = guest->greeting.psn;
  stream.peerTakes = std::min<uint16_t>(guest->ird, kDepthMost);
  stream.crc = guest->greeting.crc;
  struct epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = kOfPair | pair->qp_num;
  epoll_ctl(context->epoll, EPOLL_CTL_MOD, stream.descriptor, &event);
  Greeting reply = greetingOf(pair, stream.crc);
  reply.proof =
      proofOf(context, 'R', guest->greeting.source, pair->qp_num, guest->greeting.nonce, stream.nonce);
  say(pair, true, reply);
  return true;
}

static void dismiss(Context* context, uint64_t number) {
  const auto found = context->guests.find(number);
  Guest* guest = found->second.get();
  // Where the connection manager still has it, closing alone would not end it.
  if (guest->leaves) shutdown(guest->descriptor, SHUT_RDWR);
  if (guest->descriptor >= 0) close(guest->descriptor);
  context->guests.erase(found);
}

void serveGuest(Context* context, uint64_t number) {
  const auto found = context->guests.find(number);
  if (found == context->guests.end()) return;
  Guest* guest = found->second.get();
  if (guest->leaves) {
    if (!dropWhatComes(guest->descriptor)) dismiss(context, number);
    return;
  }
  if (guest->complete) {
    // It may say nothing more before it is answered, so this is its end.
    dismiss(context, number);
    return;
  }
  const ssize_t count = recv(guest->descriptor, guest->bytes + guest->have, kHandshakeBytes - guest->have, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return dismiss(context, number);
  guest->have += static_cast<size_t>(count);
  if (guest->have < kHandshakeBytes) return;
  if (!takeHandshake(guest->bytes, false, &guest->ird, &guest->ord, &guest->greeting)) return dismiss(context, number);
  guest->complete = true;
  guest->until = nowNs() + kGuestNs;
  if (settle(context, guest)) dismiss(context, number);
}

void matchGuests(Context* context) {
  const uint64_t now = nowNs();
  std::vector<uint64_t> over;
  for (const auto& [number, guest] : context->guests)
    if (now >= guest->until || (guest->complete && settle(context, guest.get()))) over.push_back(number);
  for (const uint64_t number : over) dismiss(context, number);
}

void proofArrived(QueuePair* pair, uint64_t proof) {
  const Stream& stream = pair->stream;
  const uint64_t wanted =
      proofOf(pair->device, 'C', pair->attributes.dest_qp_num, pair->qp_num, stream.peerNonce, stream.nonce);
  if (proof == wanted)
    comeUp(pair);
  else
    breakStream(pair);
}

}  // namespace aether::tcp
