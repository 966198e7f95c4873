// The tcp device: a provider of verbs in this process, below the same functions as those of libibverbs:
// verbs-library.cc asks which of the two an object is of. It speaks iWARP over TCP sockets (tcp-wire.h), so it needs
// neither a module of the kernel nor a privilege.
//
// Threads. A context is used by the JavaScript thread that opened it, and by its engine, a thread of its own, which
// sleeps until a socket is readable. A post writes to the socket itself; a poll of an empty completion queue reads from
// the sockets; what comes in while the program computes is served by the engine. So a queue pair is driven by whoever
// holds its lock. While a program polls without a pause, the engine leaves its queue pairs to it, and looks every
// 200 µs whether it still does: two threads that wait for one socket would take each other's processor.
//
// Locks are taken in this order: the context's table, a queue pair, then (none within another) keys, a shared receive
// queue, a completion queue with its channel, the events. Keys are a reader-writer lock: whoever copies to or from
// registered memory holds it for reading, so that withdrawing a key waits until nobody is in the middle of a copy. No
// call under that lock blocks.
//
// Order is that of one stream. A receiver that is not ready drops that request and what follows, and the sender resumes
// there. The target executes, so once a key is withdrawn, or a queue pair destroyed, nothing lands any more.
//
// Both ends prove the secret over nonces of both, and no key of memory is honoured before. What breaks the protocol
// ends its own stream. CRC32C is on, except within one machine.
//
// A peer that is no Aether (Stream::isForeign) comes by a stream that the connection manager has opened, and is told
// nothing but what the RFCs have: no acknowledgements, so that a SEND or WRITE is done once its bytes are with the
// kernel; no patience where no receive is posted; a TERMINATE where a request cannot be carried out.
//
// A queue pair number is the port that its context listens at, times 256, plus an index: so the address and the number
// of a peer say where to connect, as on other devices.
#pragma once
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <sys/uio.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "tcp-wire.h"

namespace aether::tcp {


struct Context;
struct QueuePair;
struct Region;

// The most segments of a request, whatever its queue.
constexpr uint32_t kSegmentsMost = 32;
// The most READs and atomics under way, either way.
constexpr uint8_t kDepthMost = 128;

struct Domain : ibv_pd {
  std::atomic<int> users{0};
};

// ---- memory

struct Key {
  enum class Kind : uint8_t { Free, Region, Window };
  Kind kind = Kind::Free;
  uint32_t key = 0;
  int access = 0;
  Domain* domain = nullptr;
  uint64_t address = 0;  // of the first byte, as requests name it
  uint64_t length = 0;
  uint8_t* base = nullptr;
  uint32_t pair = 0;  // a window of type 2: the queue pair it is bound to
  Region* region = nullptr;
};

struct Region : ibv_mr {
  int access = 0;
  int windows = 0;
};

struct Window : ibv_mw {
  uint32_t slot = 0;
};

class Keys {
 public:
  std::shared_mutex lock;

  // Under the lock. 0 where all are in use.
  uint32_t add(const Key& key);
  void remove(uint32_t key);
  // The entry at the key's place, whatever its key is; null where there can be none.
  Key* slot(uint32_t key);
  // Where those bytes lie, or null. `pair` is 0 for the owner's own accesses.
  uint8_t* reach(uint32_t key, uint64_t address, uint64_t length, int access, const Domain* domain, uint32_t pair);
  static uint32_t randomKey(uint32_t key);

 private:
  std::deque<Key> entries_;  // entries do not move
  std::vector<uint32_t> free_;
};

// ---- completions

struct Channel : ibv_comp_channel {
  std::mutex lock;
  std::deque<ibv_cq*> events;
};

struct Completion {
  ibv_wc wc;
  QueuePair* pair;
  uint64_t freed;  // requests of the send queue that this gives free; 0 for a receive
};

struct CompletionQueue : ibv_cq {
  std::mutex lock;
  std::vector<Completion> ring;
  size_t first = 0;
  std::atomic<size_t> count{0};
  enum class Armed : uint8_t { No, Solicited, Any } armed = Armed::No;
  bool overrun = false;
  std::vector<QueuePair*> pairs;  // of the JavaScript thread only
  size_t nextAssisted = 0;

  void push(const Completion& completion, bool solicited);
  void forget(const QueuePair* pair);
};

// ---- receive requests

struct Receive {
  uint64_t id = 0;
  std::vector<ibv_sge> segments;
  uint64_t length() const;
};

class ReceiveRing {
 public:
  void open(uint32_t capacity) { ring_.resize(capacity); }
  bool full() const { return count_ == ring_.size(); }
  bool empty() const { return count_ == 0; }
  size_t count() const { return count_; }
  size_t capacity() const { return ring_.size(); }
  void add(const ibv_recv_wr& wr);
  void take(Receive* out);
  void clear() { count_ = 0; }
  void resize(size_t capacity);

 private:
  std::vector<Receive> ring_;
  size_t first_ = 0, count_ = 0;
};

struct SharedReceiveQueue : ibv_srq {
  std::mutex lock;
  ReceiveRing ring;
  uint32_t maxSegments = 0;
  uint32_t limit = 0;
};

struct AddressHandle : ibv_ah {
  ibv_ah_attr attributes = {};
};

// ---- queue pairs

struct Send {
  uint64_t id = 0;
  ibv_wr_opcode opcode = IBV_WR_SEND;
  unsigned flags = 0;
  bool signaled = false;
  std::vector<ibv_sge> segments;
  std::vector<uint8_t> inlined;
  uint64_t length = 0;
  uint64_t remoteAddress = 0;
  uint32_t remoteKey = 0;
  uint32_t immediate = 0;  // as on the wire
  AtomicRequest atomic = {};
  // A bind.
  Window* window = nullptr;
  Region* region = nullptr;
  uint64_t bindAddress = 0, bindLength = 0;
  int bindAccess = 0;
  // A datagram.
  sockaddr_in6 to = {};
  uint32_t toNumber = 0, toQueueKey = 0;
  // How far it is.
  bool begun = false;
  uint32_t firstMessage = 0, messages = 0;
  bool responded = false;
  uint64_t received = 0;
  ibv_wc_status status = IBV_WC_SUCCESS;

  bool isAtomic() const {
    return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_DRIVER1;
  }
  bool isAnswered() const { return opcode == IBV_WR_RDMA_READ || isAtomic(); }
  bool isLocal() const { return opcode == IBV_WR_LOCAL_INV || opcode == IBV_WR_BIND_MW; }
};

// A READ of the peer that is being answered.
struct ReadJob {
  ReadRequest request;
  uint32_t message = 0;
  uint64_t done = 0;
};

struct Stream {
  enum class Phase : uint8_t {
    None,        // not connected; the initiator tries again at `retryAt`
    Connecting,  // TCP's own handshake
    Requested,   // the initiator waits for the reply
    Proving,     // the responder waits for the proof
    Up,
    Broken,  // it was up, and ended: nothing will answer any more
  };
  Phase phase = Phase::None;
  int descriptor = -1;
  bool watchesWrites = false;
  bool isLeft = false;  // to the program, which polls
  bool crc = false;
  bool isForeign = false;
  size_t segmentMost = kSegmentMost;
  uint64_t nonce = 0, peerNonce = 0;
  uint64_t mayBeginAt = 0;  // 0 once it may, or may at once: MPA's responder lets the caller speak first
  uint64_t retryAt = 0, retryNs = 0, connectUntil = 0;
  // How many READs and atomics may be under way at the peer, and here (RFC 6581, 9.1).
  uint16_t peerTakes = kDepthMost, takes = kDepthMost;
  uint32_t peerExpects = 0;  // the sequence number that the peer expects of this end
  // Out: bytes that the socket has not taken yet, from `outAt` to `outEnd`.
  std::vector<uint8_t> out;
  size_t outAt = 0, outEnd = 0;
  uint32_t messages = 0;  // requests that were begun
  uint32_t taken = 0;     // of these, how many the peer has carried out
  uint32_t numbers[5] = {1, 1, 1, 1, 1};
  uint64_t segmentAt = 0;
  uint32_t stage = 0;  // which message of the request at `next`
  uint32_t answersAwaited = 0;
  bool readyAwaited = false;  // one of these is that of `sendReady`
  std::deque<ReadJob> jobs;
  bool waiting = false;  // for a receiver that was not ready
  bool resumes = false;
  uint64_t resumeAt = 0;
  unsigned rnrTries = 0;
  // In.
  std::vector<uint8_t> in;
  size_t inAt = 0, inEnd = 0;
  uint32_t carriedOut = 0, told = 0;
  bool dropping = false;
  Header header;
  bool inPayload = false;
  bool skipsReady = false;  // a foreign caller says that it is ready by a SEND of no bytes, which no receive is for
  size_t payloadLeft = 0, trailerLeft = 0;
  uint64_t placeAt = 0;  // where the next byte of the payload belongs: an address, or a place in the message
  bool discards = false;
  bool receiving = false;  // a SEND has taken `receive`
  Receive receive;
  uint64_t messageBytes = 0;
  uint64_t writtenBytes = 0;  // of the last WRITE
};

struct QueuePair : ibv_qp {
  std::recursive_mutex lock;
  Context* device = nullptr;
  ibv_qp_init_attr initial = {};
  ibv_qp_attr attributes = {};
  ibv_qp_state now = IBV_QPS_RESET;
  bool drainTold = false;
  bool established = false;
  std::vector<Send> sends;
  uint64_t head = 0, next = 0, tail = 0, freed = 0;
  uint64_t progressAt = 0;
  uint64_t bytesPerSecond = 0;  // the most that it sends; 0 for no limit
  std::atomic<uint64_t> polledAt{0};
  ReceiveRing receives;
  Stream stream;

  Send& at(uint64_t index) { return sends[index % sends.size()]; }
  CompletionQueue* sendQueue() { return static_cast<CompletionQueue*>(send_cq); }
  CompletionQueue* receiveQueue() { return static_cast<CompletionQueue*>(recv_cq); }
  Domain* domain() const { return static_cast<Domain*>(pd); }
  bool isConnected() const { return qp_type == IBV_QPT_RC; }
};

// A TCP listener and a datagram socket at one port; their queue pairs have numbers of that port.
struct Port {
  uint16_t number = 0;
  int listener = -1, datagrams = -1;
  bool used[256] = {};
  uint8_t nextIndex = 0;
  std::mutex lock;  // of reading datagrams
};

// A connection that came in, and has not found its queue pair yet, or one that has left it.
struct Guest {
  int descriptor = -1;
  bool leaves = false;
  uint8_t bytes[kHandshakeBytes];
  size_t have = 0;
  uint64_t until = 0;
  bool complete = false;
  Greeting greeting;
  uint16_t ird = 0, ord = 0;
};

struct Context : ibv_context {
  ibv_device own = {};
  sockaddr_in6 address = {};  // IPv4 as a mapped address
  ibv_gid gid = {};
  MacKey key;
  bool hasKey = false;
  uint64_t guid = 0;
  uint16_t firstPort = 0, lastPort = 0;
  Keys keys;

  std::mutex tableLock;
  std::map<uint32_t, QueuePair*> pairs;
  std::vector<std::unique_ptr<Port>> ports;

  std::mutex eventLock;
  std::deque<ibv_async_event> events;

  std::thread engine;
  int epoll = -1, waker = -1;
  std::atomic<bool> ends{false}, sleeps{false}, active{false};
  std::map<uint64_t, std::unique_ptr<Guest>> guests;  // of the engine only
  std::vector<uint32_t> left;                         // likewise: the queue pairs that it has left to the program
  uint64_t nextGuest = 1;
  std::mutex leavingLock;
  std::vector<int> leaving;  // for the engine to take

  void raise(ibv_event_type type, QueuePair* pair, ibv_cq* queue, ibv_srq* shared);
  void forgetEvents(const void* element);
  void wake();
  // Something waits for time to pass.
  void stir() {
    if (!active.exchange(true) || sleeps.load()) wake();
  }
};

inline Context* contextOf(ibv_context* context) { return static_cast<Context*>(context); }
uint64_t nowNs();

// ---- tcp-pair.cc
// Completes what can be completed, in the order of the posts.
void completeSends(QueuePair* pair);
// The request at `index` has failed: those before it are completed first.
void failSend(QueuePair* pair, uint64_t index, ibv_wc_status status);
void enterError(QueuePair* pair, ibv_wc_status receiveStatus = IBV_WC_WR_FLUSH_ERR);
// Not reached: the oldest request that waits ends with RETRY_EXC_ERR.
void giveUp(QueuePair* pair);
bool takeReceive(QueuePair* pair, Receive* out);
void completeReceive(QueuePair* pair, const Receive& receive, ibv_wc_opcode opcode, ibv_wc_status status,
                     uint64_t length, unsigned flags, uint32_t value, uint32_t source, bool solicited);
bool bindWindow(QueuePair* pair, Send* send);
bool invalidate(QueuePair* pair, uint32_t key);

// ---- tcp-send.cc
// With `defers` an acknowledgement that would go alone may wait for what the program posts next.
void transmit(QueuePair* pair, bool defers = false);
void sendControl(QueuePair* pair, ControlKind kind, uint32_t count, uint64_t value);
// Tells a foreign peer why the stream ends. The segment that came last is the one to blame; of a READ, `request`, too.
void sendTerminate(QueuePair* pair, uint16_t fault, const ReadRequest* request);
// The first message of a caller that has nothing to say yet: a READ, WRITE or SEND of no bytes (RFC 6581, 9.2).
void sendReady(QueuePair* pair, Op op);
// Writes what is in `out`; false where the socket takes no more, or has failed.
bool flush(QueuePair* pair);
// Answers a READ at once where it is small and none waits, else later. False where its key does not allow it.
bool answerRead(QueuePair* pair, const ReadRequest& request);
void answerAtomic(QueuePair* pair, uint32_t identifier, uint64_t value);
// Request `message` of the peer cannot be carried out: tells it with what status it ends, and ends this queue pair.
void refuse(QueuePair* pair, uint32_t message, ibv_wc_status status, ibv_wc_status receiveStatus = IBV_WC_WR_FLUSH_ERR,
            const ReadRequest* request = nullptr);

// ---- tcp-receive.cc
// Reads and carries out what is there, within a budget. True where there was something.
bool receive(QueuePair* pair);
// Copies between the bytes and the segments, from `offset` of the whole on; false where a key does not allow it.
bool scatter(QueuePair* pair, const std::vector<ibv_sge>& segments, uint64_t offset, const uint8_t* data, size_t length);
bool gather(QueuePair* pair, const std::vector<ibv_sge>& segments, uint64_t offset, uint8_t* data, size_t length);
// The places of a range of the segments, of which there are at most kSegmentsMost: how many, or -1 where a key does not
// allow it. They hold while the caller has the lock of the keys.
int piecesOf(QueuePair* pair, const std::vector<ibv_sge>& segments, uint64_t offset, size_t length, int access,
             struct iovec* pieces);

// ---- tcp-atomic.cc
void carryOutAtomic(QueuePair* pair, const uint8_t* data);

// ---- tcp-connection.cc
// 0, or the errno of the modify: ETIMEDOUT where no such address answers.
int connectPair(QueuePair* pair);
void disconnect(QueuePair* pair);
// It was up, and is not any more.
void breakStream(QueuePair* pair);
// Whatever the socket and the clock bring: connects, reads, writes. `polls` where it is the program that asks.
void progress(QueuePair* pair, bool polls = false);
// Of the engine only.
Guest* addGuest(Context* context, int descriptor, uint64_t until);
void acceptGuests(Context* context, Port* port);
void serveGuest(Context* context, uint64_t number);
void matchGuests(Context* context);
void proofArrived(QueuePair* pair, uint64_t proof);

// ---- tcp-leaving.cc
// The stream of a foreign peer ends: no more of ours is sent, and what comes is dropped until its end.
void letGo(Context* context, int descriptor);
void takeLeaving(Context* context);
// False once the peer has ended.
bool dropWhatComes(int descriptor);

// ---- tcp-pacing.cc
// Tells the kernel how fast the stream may send.
void pace(QueuePair* pair);

// ---- tcp-datagram.cc
void receiveDatagrams(Context* context, Port* port);
ibv_wc_status sendDatagram(QueuePair* pair, Send* send);

// ---- tcp-engine.cc
int openPort(Context* context);
void watch(QueuePair* pair, bool writes);
// The program does not poll any more: the engine waits for the socket again.
void takeBack(QueuePair* pair);

// A stream's buffer for what comes in, at first: it grows to hold a whole segment where one has to be.
constexpr size_t kInFirst = 16384;

// Names the answer to a READ of `sendReady`.
constexpr uint32_t kReadyName = 0xffffffff;

// What the epoll instance names its descriptors by.
constexpr uint64_t kOfWaker = 0, kOfPair = 1ULL << 32, kOfGuest = 2ULL << 32, kOfListener = 3ULL << 32,
                   kOfDatagrams = 4ULL << 32, kNameMask = 0xffffffffULL;

}  // namespace aether::tcp
