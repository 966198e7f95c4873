// What a stream of the tcp device sends: the requests of its send queue, answers to the peer's, acknowledgements.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "tcp-device.h"

namespace aether::tcp {

namespace {

// As much is prepared for the socket at a time.
constexpr size_t kOutMost = 2 * kFpduMost;
// A READ up to this length is answered with what is there when it comes.
constexpr uint32_t kAnsweredAtOnce = 4096;
constexpr size_t kAnswersInOutMost = 1 << 20;
// A stream is left for others after so many segments.
constexpr int kSegmentsAtOnce = 64;
// So many requests may wait for their acknowledgement.
constexpr uint32_t kDeferredMost = 16;
// From this length on the bytes of a segment go from their place to the socket, without a copy.
constexpr size_t kDirectLeast = 16384;

// Room for a segment at the end of what goes out.
uint8_t* room(Stream* stream, size_t length) {
  // What the socket has taken makes room, once it is as much as what waits.
  if (stream->outAt > 0 && stream->outAt >= stream->outEnd - stream->outAt) {
    memmove(stream->out.data(), stream->out.data() + stream->outAt, stream->outEnd - stream->outAt);
    stream->outEnd -= stream->outAt;
    stream->outAt = 0;
  }
  if (stream->out.size() < stream->outEnd + length)
    stream->out.resize(std::max(stream->outEnd + length, std::min(2 * stream->out.size() + 1024, kOutMost)));
  return stream->out.data() + stream->outEnd;
}

// Adds a segment whose payload `fill` writes; nothing is added where it returns false.
template <class Fill>
bool addSegment(Stream* stream, const Header& header, size_t payload, Fill fill) {
  const size_t trailer = trailerBytes(header.bytes() + payload);
  const size_t total = kLengthBytes + header.bytes() + payload + trailer;
  uint8_t* at = room(stream, total);
  const size_t length = putHeader(at, header, payload);
  if (!fill(at + length)) return false;
  uint8_t* end = at + length + payload;
  memset(end, 0, trailer);
  if (stream->crc) {
    const uint32_t crc = crc32c(0, at, total - kCrcBytes);
    memcpy(end + trailer - kCrcBytes, &crc, kCrcBytes);  // little-endian, as iSCSI has it
  }
  stream->outEnd += total;
  return true;
}

// Sends what is in `out`, then a segment whose payload lies in `pieces`, in one call and without a copy. What the
// socket does not take is copied to `out`. The caller holds the lock of the keys.
void sendDirect(QueuePair* pair, const Header& header, size_t payload, struct iovec* pieces, int count) {
  Stream& stream = pair->stream;
  const size_t trailer = trailerBytes(header.bytes() + payload);
  room(&stream, kLengthBytes + header.bytes() + payload + trailer);
  stream.outEnd += putHeader(stream.out.data() + stream.outEnd, header, payload);
  const uint8_t zeros[kCrcBytes + 3] = {};
  struct iovec parts[kSegmentsMost + 2];
  parts[0] = {stream.out.data() + stream.outAt, stream.outEnd - stream.outAt};
  for (int index = 0; index < count; index++) parts[index + 1] = pieces[index];
  parts[count + 1] = {const_cast<uint8_t*>(zeros), trailer};
  struct msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = static_cast<size_t>(count) + 2;
  ssize_t sent = stream.descriptor < 0 ? -1 : sendmsg(stream.descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0 && pair->head == pair->next) pair->progressAt = nowNs();
  // An error shows again with the next call (flush).
  auto done = static_cast<size_t>(std::max<ssize_t>(sent, 0));
  const size_t fromOut = std::min(done, stream.outEnd - stream.outAt);
  stream.outAt += fromOut;
  done -= fromOut;
  for (int index = 1; index < count + 2; index++) {
    const size_t skipped = std::min(done, parts[index].iov_len);
    done -= skipped;
    const size_t left = parts[index].iov_len - skipped;
    if (left > 0) memcpy(stream.out.data() + stream.outEnd, static_cast<const uint8_t*>(parts[index].iov_base) + skipped, left);
    stream.outEnd += left;
  }
}

Header untagged(Stream* stream, Op op, Queue queue) {
  Header header;
  header.op = op;
  header.queue = queue;
  header.message = stream->numbers[queue]++;
  return header;
}

bool gatherSend(QueuePair* pair, const Send& send, uint64_t offset, uint8_t* data, size_t length) {
  if ((send.flags & IBV_SEND_INLINE) == 0) return gather(pair, send.segments, offset, data, length);
  memcpy(data, send.inlined.data() + offset, length);
  return true;
}

Op sendOp(const Send& send) {
  const bool solicited = (send.flags & IBV_SEND_SOLICITED) != 0;
  if (send.opcode == IBV_WR_SEND_WITH_INV) return solicited ? Op::SendInvalidateSolicited : Op::SendInvalidate;
  if (send.opcode == IBV_WR_SEND_WITH_IMM) return solicited ? Op::SendImmediateSolicited : Op::SendImmediate;
  return solicited ? Op::SendSolicited : Op::Send;
}

// One segment of a SEND or of the bytes of a WRITE. False where its memory cannot be read.
bool addData(QueuePair* pair, const Send& send) {
  Stream& stream = pair->stream;
  const auto payload = static_cast<size_t>(std::min<uint64_t>(send.length - stream.segmentAt, stream.segmentMost));
  Header header;
  header.last = stream.segmentAt + payload == send.length;
  if (send.opcode == IBV_WR_RDMA_WRITE || send.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    header.op = Op::Write;
    header.tagged = true;
    header.stag = send.remoteKey;
    header.offset = send.remoteAddress + stream.segmentAt;
  } else {
    header.op = sendOp(send);
    header.stag = send.opcode == IBV_WR_SEND_WITH_IMM ? be32toh(send.immediate) : send.immediate;
    header.queue = kSendQueue;
    header.message = stream.numbers[kSendQueue];
    header.offset = stream.segmentAt;
  }
  if (payload >= kDirectLeast && !stream.crc && (send.flags & IBV_SEND_INLINE) == 0) {
    struct iovec pieces[kSegmentsMost];
    std::shared_lock<std::shared_mutex> guard(pair->device->keys.lock);
    const int count = piecesOf(pair, send.segments, stream.segmentAt, payload, 0, pieces);
    if (count < 0) return false;
    sendDirect(pair, header, payload, pieces, count);
  } else if (!addSegment(&stream, header, payload, [&](uint8_t* at) {
               return gatherSend(pair, send, stream.segmentAt, at, payload);
             })) {
    return false;
  }
  stream.segmentAt += payload;
  if (!header.last) return true;
  if (!header.tagged) stream.numbers[kSendQueue]++;
  stream.segmentAt = 0;
  stream.stage++;
  stream.messages++;
  return true;
}

void addImmediate(QueuePair* pair, const Send& send) {
  Stream& stream = pair->stream;
  const bool solicited = (send.flags & IBV_SEND_SOLICITED) != 0;
  addSegment(&stream, untagged(&stream, solicited ? Op::ImmediateSolicited : Op::Immediate, kSendQueue), 8,
             [&](uint8_t* at) {
               put64(at, be32toh(send.immediate));
               return true;
             });
  stream.stage++;
  stream.messages++;
}

// Where an answer goes can be written; asked before the request is sent.
bool canScatter(QueuePair* pair, const Send& send) {
  Keys& keys = pair->device->keys;
  std::shared_lock<std::shared_mutex> guard(keys.lock);
  for (const ibv_sge& segment : send.segments)
    if (segment.length > 0 &&
        keys.reach(segment.lkey, segment.addr, segment.length, IBV_ACCESS_LOCAL_WRITE, pair->domain(), 0) == nullptr)
      return false;
  return true;
}

void addRequest(QueuePair* pair, uint64_t index, const Send& send) {
  Stream& stream = pair->stream;
  const auto name = static_cast<uint32_t>(index);
  if (send.opcode == IBV_WR_RDMA_READ) {
    const ReadRequest request = {name, 0, static_cast<uint32_t>(send.length), send.remoteKey, send.remoteAddress};
    addSegment(&stream, untagged(&stream, Op::ReadRequest, kRequestQueue), kReadRequestBytes, [&](uint8_t* at) {
      putReadRequest(at, request);
      return true;
    });
  } else {
    AtomicRequest request = send.atomic;
    request.identifier = name;
    addSegment(&stream, untagged(&stream, Op::AtomicRequest, kRequestQueue), kAtomicRequestBytes, [&](uint8_t* at) {
      putAtomicRequest(at, request);
      return true;
    });
  }
  stream.answersAwaited++;
  stream.stage++;
  stream.messages++;
}

// The next piece of the send queue; false where nothing may be sent now.
bool sendNext(QueuePair* pair) {
  if (pair->next == pair->tail) return false;
  Stream& stream = pair->stream;
  Send& send = pair->at(pair->next);
  if (pair->now != IBV_QPS_RTS && !(pair->now == IBV_QPS_SQD && send.begun)) return false;
  if (send.isLocal()) {
    const bool isDone = send.opcode == IBV_WR_BIND_MW ? bindWindow(pair, &send) : invalidate(pair, send.immediate);
    if (!isDone) {
      failSend(pair, pair->next, send.opcode == IBV_WR_BIND_MW ? IBV_WC_MW_BIND_ERR : IBV_WC_LOC_QP_OP_ERR);
      return true;
    }
    pair->next++;
    completeSends(pair);
    return true;
  }
  send.begun = true;
  if (stream.phase != Stream::Phase::Up || stream.peerExpects != pair->attributes.sq_psn) return false;
  if (stream.mayBeginAt != 0 && nowNs() < stream.mayBeginAt) return false;
  if (stream.waiting && nowNs() < stream.resumeAt) return false;
  stream.waiting = false;
  const bool isBeginning = stream.stage == 0 && stream.segmentAt == 0;
  if (isBeginning) {
    if ((send.flags & IBV_SEND_FENCE) != 0 && stream.answersAwaited > 0) return false;
    const uint32_t depth = std::min<uint32_t>(pair->attributes.max_rd_atomic, stream.peerTakes);
    if (send.isAnswered() && stream.answersAwaited >= std::max(depth, 1U)) return false;
    if (send.isAnswered() && pair->attributes.max_rd_atomic == 0) {
      failSend(pair, pair->next, IBV_WC_LOC_QP_OP_ERR);
      return true;
    }
    if (send.isAnswered() && !canScatter(pair, send)) {
      failSend(pair, pair->next, IBV_WC_LOC_PROT_ERR);
      return true;
    }
    send.firstMessage = stream.messages;
    send.messages = send.opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? 2 : 1;
  }
  if (stream.resumes) sendControl(pair, ControlKind::Resume, stream.messages, 0);
  stream.resumes = false;
  if (send.isAnswered()) {
    addRequest(pair, pair->next, send);
  } else if (send.opcode == IBV_WR_RDMA_WRITE_WITH_IMM && stream.stage == 1) {
    addImmediate(pair, send);
  } else if (!addData(pair, send)) {
    failSend(pair, pair->next, IBV_WC_LOC_PROT_ERR);
    return true;
  }
  if (stream.stage < send.messages) return true;
  stream.stage = 0;
  pair->next++;
  return true;
}

// A segment of an answer to a READ; false where its key does not allow it any more.
bool addAnswer(QueuePair* pair, ReadJob* job) {
  Stream& stream = pair->stream;
  const ReadRequest& request = job->request;
  const auto payload = static_cast<size_t>(std::min<uint64_t>(request.length - job->done, stream.segmentMost));
  Header header;
  header.op = Op::ReadResponse;
  header.tagged = true;
  header.stag = request.sinkStag;
  header.offset = request.sinkOffset + job->done;
  header.last = job->done + payload == request.length;
  Keys& keys = pair->device->keys;
  std::shared_lock<std::shared_mutex> guard(keys.lock);
  uint8_t* from = payload == 0 ? nullptr
                               : keys.reach(request.sourceStag, request.sourceOffset + job->done, payload,
                                            IBV_ACCESS_REMOTE_READ, pair->domain(), pair->qp_num);
  if (payload > 0 && from == nullptr) return false;
  job->done += payload;
  if (payload >= kDirectLeast && !stream.crc) {
    struct iovec piece = {from, payload};
    sendDirect(pair, header, payload, &piece, 1);
    return true;
  }
  return addSegment(&stream, header, payload, [&](uint8_t* at) {
    if (payload > 0) memcpy(at, from, payload);
    return true;
  });
}

// Adds what is next; false where there is nothing to add.
bool addNext(QueuePair* pair, bool defers) {
  Stream& stream = pair->stream;
  bool added = false;
  if (stream.phase == Stream::Phase::Up) {
    if (stream.isForeign) stream.told = stream.carriedOut;
    if (stream.carriedOut != stream.told && !(defers && stream.carriedOut - stream.told < kDeferredMost)) {
      stream.told = stream.carriedOut;
      sendControl(pair, ControlKind::Taken, stream.told, 0);
      added = true;
    }
    if (!stream.jobs.empty()) {
      ReadJob& job = stream.jobs.front();
      if (!addAnswer(pair, &job)) {
        refuse(pair, job.message, IBV_WC_REM_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR, &job.request);
        return false;
      }
      if (job.done == job.request.length) stream.jobs.pop_front();
      added = true;
    }
  }
  return sendNext(pair) || added;
}

// With a foreign peer, what the kernel has taken is done.
void noteSent(QueuePair* pair) {
  Stream& stream = pair->stream;
  if (!stream.isForeign || stream.outAt != stream.outEnd || stream.taken == stream.messages) return;
  stream.taken = stream.messages;
  completeSends(pair);
}

uint16_t faultOf(ibv_wc_status status, Op op) {
  const bool isUntagged = op != Op::Write && op != Op::ReadResponse;
  const bool isRequest = op == Op::ReadRequest || op == Op::AtomicRequest;
  switch (status) {
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return kNoBuffer;
    case IBV_WC_REM_ACCESS_ERR:
      return isRequest || isUntagged ? kReadStagInvalid : kTaggedStagInvalid;
    case IBV_WC_REM_INV_REQ_ERR:
      return isUntagged && !isRequest ? kTooLongForBuffer : kAccessViolated;
    default:
      return kOperationFailed;
  }
}

}  // namespace

bool flush(QueuePair* pair) {
  Stream& stream = pair->stream;
  while (stream.outAt != stream.outEnd) {
    if (stream.descriptor < 0) return false;
    const ssize_t sent = send(stream.descriptor, stream.out.data() + stream.outAt, stream.outEnd - stream.outAt,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      stream.outAt += static_cast<size_t>(sent);
      // Only of the oldest request: what is sent behind it says nothing about the peer.
      if (pair->head == pair->next) pair->progressAt = nowNs();
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {
      watch(pair, true);
      return false;
    }
    // What the peer said last may say why.
    if (stream.phase == Stream::Phase::Up) receive(pair);
    if (stream.descriptor >= 0) breakStream(pair);
    return false;
  }
  if (stream.watchesWrites) watch(pair, false);
  return true;
}

void transmit(QueuePair* pair, bool defers) {
  if (!pair->isConnected()) {
    while (pair->next != pair->tail && pair->now == IBV_QPS_RTS) {
      Send& send = pair->at(pair->next);
      send.begun = true;
      send.status = sendDatagram(pair, &send);
      pair->next++;
      completeSends(pair);
    }
    return;
  }
  Stream& stream = pair->stream;
  for (int segments = 0; segments < kSegmentsAtOnce;) {
    if (stream.outAt != stream.outEnd && !flush(pair)) return;
    noteSent(pair);
    const int before = segments;
    while (segments < kSegmentsAtOnce && stream.outEnd - stream.outAt < kOutMost / 2 && addNext(pair, defers))
      segments++;
    if (segments > before) continue;
    if (stream.watchesWrites && stream.descriptor >= 0) watch(pair, false);
    return;
  }
  // Others wait, too: the engine goes on when it comes round, which the socket tells it at once.
  if (flush(pair) && stream.descriptor >= 0) watch(pair, true);
  noteSent(pair);
}

void sendControl(QueuePair* pair, ControlKind kind, uint32_t count, uint64_t value) {
  Stream& stream = pair->stream;
  addSegment(&stream, untagged(&stream, Op::Control, kControlQueue), kControlBytes, [&](uint8_t* at) {
    putControl(at, {kind, count, value});
    return true;
  });
}

void sendTerminate(QueuePair* pair, uint16_t fault, const ReadRequest* request) {
  Stream& stream = pair->stream;
  uint8_t message[kTerminateMost] = {};
  put16(message, fault);
  message[2] = static_cast<uint8_t>(request != nullptr ? 0xe0 : 0xc0);  // which of the headers are below
  Header blamed = stream.header;
  if (request != nullptr && blamed.op != Op::ReadRequest) {
    blamed = Header();
    blamed.op = Op::ReadRequest;
    blamed.queue = kRequestQueue;
  }
  const size_t payload = request != nullptr ? kReadRequestBytes : stream.payloadLeft;
  size_t length = kTerminateBytes + putHeader(message + kTerminateBytes, blamed, payload);
  if (request != nullptr) {
    putReadRequest(message + length, *request);
    length += kReadRequestBytes;
  }
  addSegment(&stream, untagged(&stream, Op::Terminate, kTerminateQueue), length, [&](uint8_t* at) {
    memcpy(at, message, length);
    return true;
  });
}

void sendReady(QueuePair* pair, Op op) {
  Stream& stream = pair->stream;
  const ReadRequest none = {kReadyName, 0, 0, 0, 0};
  Header header;
  header.op = op;
  header.tagged = op == Op::Write;
  const bool isRead = op == Op::ReadRequest;
  stream.readyAwaited = isRead;
  stream.answersAwaited += isRead ? 1 : 0;
  if (!header.tagged) header = untagged(&stream, op, isRead ? kRequestQueue : kSendQueue);
  addSegment(&stream, header, isRead ? kReadRequestBytes : 0, [&](uint8_t* at) {
    if (isRead) putReadRequest(at, none);
    return true;
  });
}

bool answerRead(QueuePair* pair, const ReadRequest& request) {
  Stream& stream = pair->stream;
  ReadJob job = {request, stream.carriedOut, 0};
  {
    Keys& keys = pair->device->keys;
    std::shared_lock<std::shared_mutex> guard(keys.lock);
    if (request.length > 0 && keys.reach(request.sourceStag, request.sourceOffset, request.length,
                                         IBV_ACCESS_REMOTE_READ, pair->domain(), pair->qp_num) == nullptr)
      return false;
  }
  if (stream.jobs.empty() && request.length <= kAnsweredAtOnce && stream.outEnd - stream.outAt < kAnswersInOutMost)
    return addAnswer(pair, &job);
  stream.jobs.push_back(job);
  return true;
}

void answerAtomic(QueuePair* pair, uint32_t identifier, uint64_t value) {
  Stream& stream = pair->stream;
  addSegment(&stream, untagged(&stream, Op::AtomicResponse, kAtomicQueue), kAtomicResponseBytes, [&](uint8_t* at) {
    put32(at, identifier);
    put64(at + 4, value);
    return true;
  });
}

void refuse(QueuePair* pair, uint32_t message, ibv_wc_status status, ibv_wc_status receiveStatus,
            const ReadRequest* request) {
  if (pair->stream.isForeign)
    sendTerminate(pair, faultOf(status, request != nullptr ? Op::ReadRequest : pair->stream.header.op), request);
  else
    sendControl(pair, ControlKind::Refuse, message, static_cast<uint64_t>(status));
  pair->device->raise(status == IBV_WC_REM_ACCESS_ERR ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR, pair, nullptr,
                      nullptr);
  enterError(pair, receiveStatus);
}

}  // namespace aether::tcp
