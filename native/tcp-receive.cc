// What a stream of the tcp device receives: requests of the peer, which are carried out here, and answers to ours.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "tcp-device.h"

namespace aether::tcp {

namespace {

constexpr size_t kInMost = kFpduMost + 8192;
// A peer that lets as much wait for it does not take its answers, or asks for more than it may.
constexpr size_t kOutMostWaiting = 4 << 20;
// A stream is left for others after so many bytes.
constexpr size_t kBudget = 256 * 1024;
// From this length on the rest of a payload is read straight to its place.
constexpr size_t kReadDirectLeast = 8192;

bool isRequest(Op op) {
  switch (op) {
    case Op::ReadResponse:
    case Op::AtomicResponse:
    case Op::Terminate:
    case Op::Control:
      return false;
    default:
      return true;
  }
}

bool isSend(Op op) {
  return (op >= Op::Send && op <= Op::SendInvalidateSolicited) || op == Op::SendImmediate ||
         op == Op::SendImmediateSolicited;
}

bool isSolicited(Op op) {
  return op == Op::SendSolicited || op == Op::SendInvalidateSolicited || op == Op::SendImmediateSolicited ||
         op == Op::ImmediateSolicited;
}

// Those whose payload is placed as it comes; the others are a few bytes, and wait until all are there.
bool isPlaced(const Header& header) { return header.tagged || isSend(header.op); }

void notReady(QueuePair* pair) {
  Stream& stream = pair->stream;
  if (stream.isForeign) return refuse(pair, stream.carriedOut, IBV_WC_RNR_RETRY_EXC_ERR);
  stream.dropping = true;
  stream.discards = true;
  sendControl(pair, ControlKind::Wait, stream.carriedOut, pair->attributes.min_rnr_timer);
}

void noteEstablished(QueuePair* pair) {
  if (pair->established) return;
  pair->established = true;
  if (pair->now == IBV_QPS_RTR) pair->device->raise(IBV_EVENT_COMM_EST, pair, nullptr, nullptr);
}

// The request whose answer this is; null where there is none such.
Send* answered(QueuePair* pair, uint32_t name, uint64_t* index) {
  for (*index = pair->head; *index != pair->next; ++*index) {
    Send& send = pair->at(*index);
    if (static_cast<uint32_t>(*index) == name && send.isAnswered() && !send.responded) return &send;
  }
  return nullptr;
}

void finishAnswer(QueuePair* pair, Send* send) {
  send->responded = true;
  pair->stream.answersAwaited--;
  completeSends(pair);
}

// ---- segments whose payload is placed

bool beginSend(QueuePair* pair) {
  Stream& stream = pair->stream;
  const bool isReady = stream.skipsReady && stream.payloadLeft == 0 && stream.header.last;
  stream.skipsReady = false;
  if (isReady) {
    stream.discards = true;
    return true;
  }
  if (stream.header.offset == 0) {
    if (stream.receiving || stream.messageBytes > 0) return false;
    if (!takeReceive(pair, &stream.receive)) {
      notReady(pair);
      return true;
    }
    stream.receiving = true;
    stream.messageBytes = 0;
  }
  if (!stream.receiving || stream.header.offset != stream.messageBytes) return false;
  stream.placeAt = stream.messageBytes;
  if (stream.messageBytes + stream.payloadLeft > stream.receive.length()) {
    refuse(pair, stream.carriedOut, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR);
    return true;
  }
  stream.messageBytes += stream.payloadLeft;
  return true;
}

bool beginWrite(QueuePair* pair) {
  Stream& stream = pair->stream;
  const Header& header = stream.header;
  if (stream.receiving) return false;
  // One of no bytes is how a foreign caller says that it is ready.
  const bool isGreeting = stream.isForeign && stream.payloadLeft == 0;
  if (!isGreeting && (pair->attributes.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) == 0) {
    refuse(pair, stream.carriedOut, IBV_WC_REM_INV_REQ_ERR);
    return true;
  }
  if (stream.payloadLeft > 0) {
    Keys& keys = pair->device->keys;
    std::shared_lock<std::shared_mutex> guard(keys.lock);
    const bool allowed = keys.reach(header.stag, header.offset, stream.payloadLeft, IBV_ACCESS_REMOTE_WRITE,
                                    pair->domain(), pair->qp_num) != nullptr;
    guard.unlock();
    if (!allowed) {
      refuse(pair, stream.carriedOut, IBV_WC_REM_ACCESS_ERR);
      return true;
    }
  }
  stream.placeAt = header.offset;
  stream.messageBytes += stream.payloadLeft;
  return true;
}

bool beginAnswer(QueuePair* pair) {
  Stream& stream = pair->stream;
  uint64_t index = 0;
  if (stream.readyAwaited && stream.header.stag == kReadyName && stream.payloadLeft == 0) {
    stream.readyAwaited = false;
    stream.answersAwaited--;
    stream.discards = true;
    return true;
  }
  Send* send = answered(pair, stream.header.stag, &index);
  if (send == nullptr || send->isAtomic() || stream.header.offset != send->received ||
      send->received + stream.payloadLeft > send->length)
    return false;
  stream.placeAt = send->received;
  return true;
}

// False where the peer breaks the protocol.
bool begin(QueuePair* pair) {
  Stream& stream = pair->stream;
  stream.discards = stream.dropping && isRequest(stream.header.op);
  if (stream.discards) return true;
  if (stream.header.op == Op::Write) return beginWrite(pair);
  if (stream.header.op == Op::ReadResponse) return beginAnswer(pair);
  return !stream.header.tagged && stream.header.queue == kSendQueue && beginSend(pair);
}

// Bytes of the payload. False where the memory cannot be written any more.
bool place(QueuePair* pair, const uint8_t* data, size_t length) {
  Stream& stream = pair->stream;
  if (stream.discards || length == 0) return true;
  const uint64_t at = stream.placeAt;
  stream.placeAt += length;
  if (stream.header.op == Op::Write) {
    Keys& keys = pair->device->keys;
    std::shared_lock<std::shared_mutex> guard(keys.lock);
    uint8_t* to =
        keys.reach(stream.header.stag, at, length, IBV_ACCESS_REMOTE_WRITE, pair->domain(), pair->qp_num);
    if (to != nullptr) memcpy(to, data, length);
    guard.unlock();
    if (to == nullptr) refuse(pair, stream.carriedOut, IBV_WC_REM_ACCESS_ERR);
    return to != nullptr;
  }
  if (stream.header.op == Op::ReadResponse) {
    uint64_t index = 0;
    Send* send = answered(pair, stream.header.stag, &index);
    if (send == nullptr) return false;
    send->received += length;
    pair->progressAt = nowNs();
    if (scatter(pair, send->segments, at, data, length)) return true;
    failSend(pair, index, IBV_WC_LOC_PROT_ERR);
    return false;
  }
  if (scatter(pair, stream.receive.segments, at, data, length)) return true;
  refuse(pair, stream.carriedOut, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR);
  return false;
}

void finishSend(QueuePair* pair) {
  Stream& stream = pair->stream;
  const Header& header = stream.header;
  unsigned flags = 0;
  uint32_t value = 0;
  if (header.op == Op::SendInvalidate || header.op == Op::SendInvalidateSolicited) {
    if (!invalidate(pair, header.stag)) {
      refuse(pair, stream.carriedOut, IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR);
      return;
    }
    flags = IBV_WC_WITH_INV;
    value = header.stag;
  } else if (header.op == Op::SendImmediate || header.op == Op::SendImmediateSolicited) {
    flags = IBV_WC_WITH_IMM;
    value = htobe32(header.stag);
  }
  stream.receiving = false;
  stream.carriedOut++;
  completeReceive(pair, stream.receive, IBV_WC_RECV, IBV_WC_SUCCESS, stream.messageBytes, flags, value,
                  pair->attributes.dest_qp_num, isSolicited(header.op));
  stream.messageBytes = 0;
}

// The segment is whole.
void finish(QueuePair* pair) {
  Stream& stream = pair->stream;
  if (stream.discards || !stream.header.last) return;
  if (stream.header.op == Op::Write) {
    std::atomic_thread_fence(std::memory_order_release);
    stream.writtenBytes = stream.messageBytes;
    stream.messageBytes = 0;
    stream.carriedOut++;
  } else if (stream.header.op == Op::ReadResponse) {
    uint64_t index = 0;
    Send* send = answered(pair, stream.header.stag, &index);
    if (send != nullptr && send->received == send->length) finishAnswer(pair, send);
  } else {
    finishSend(pair);
  }
}

// ---- messages of a few bytes

void carryOutRead(QueuePair* pair, const uint8_t* data) {
  Stream& stream = pair->stream;
  const ReadRequest request = takeReadRequest(data);
  const bool allowed = (pair->attributes.qp_access_flags & IBV_ACCESS_REMOTE_READ) != 0 &&
                       pair->attributes.max_dest_rd_atomic != 0;
  const bool isGreeting = stream.isForeign && request.length == 0;
  if (!allowed && !isGreeting) {
    refuse(pair, stream.carriedOut, IBV_WC_REM_INV_REQ_ERR, IBV_WC_WR_FLUSH_ERR, &request);
  } else if (stream.jobs.size() >= std::max<size_t>(stream.takes, 1)) {
    // More than it was told. For DDP that queue has no buffer (RFC 5041, 7.1).
    refuse(pair, stream.carriedOut, stream.isForeign ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_REM_INV_REQ_ERR,
           IBV_WC_WR_FLUSH_ERR, &request);
  } else if (!answerRead(pair, request)) {
    refuse(pair, stream.carriedOut, IBV_WC_REM_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR, &request);
  } else {
    stream.carriedOut++;
  }
}

void carryOutImmediate(QueuePair* pair, const uint8_t* data) {
  Stream& stream = pair->stream;
  Receive receive;
  if (!takeReceive(pair, &receive)) {
    notReady(pair);
    return;
  }
  stream.carriedOut++;
  completeReceive(pair, receive, IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_SUCCESS, stream.writtenBytes, IBV_WC_WITH_IMM,
                  htobe32(static_cast<uint32_t>(get64(data))), pair->attributes.dest_qp_num,
                  isSolicited(stream.header.op));
  stream.writtenBytes = 0;
}

bool takeAtomicAnswer(QueuePair* pair, const uint8_t* data) {
  uint64_t index = 0;
  Send* send = answered(pair, get32(data), &index);
  if (send == nullptr || !send->isAtomic()) return false;
  const uint64_t value = get64(data + 4);
  if (!scatter(pair, send->segments, 0, reinterpret_cast<const uint8_t*>(&value),
               static_cast<size_t>(std::min<uint64_t>(send->length, 8))))
    failSend(pair, index, IBV_WC_LOC_PROT_ERR);
  else
    finishAnswer(pair, send);
  return true;
}

constexpr uint64_t kRnrMicroseconds[32] = {655360, 10,   20,   30,   40,   60,   80,   120,   160,   240,   320,
                                           480,    640,  960,  1280, 1920, 2560, 3840, 5120,  7680,  10240, 15360,
                                           20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520};

// The request at which the peer stands, or `next`.
uint64_t requestOf(QueuePair* pair, uint32_t message) {
  uint64_t index = pair->head;
  while (index != pair->next) {
    const Send& send = pair->at(index);
    if (!send.isLocal() && static_cast<int32_t>(send.firstMessage + send.messages - message) > 0) break;
    index++;
  }
  return index;
}

// Everything from the request that found no receive on is sent once more.
void waitForReceiver(QueuePair* pair, const Control& control) {
  Stream& stream = pair->stream;
  stream.taken = control.count;
  // One of which a part has been sent is not behind `next` yet.
  const bool isUnderWay = stream.stage > 0 || stream.segmentAt > 0;
  if (isUnderWay) pair->next++;
  const uint64_t index = requestOf(pair, control.count);
  if (index == pair->next) {
    if (isUnderWay) pair->next--;
    return;
  }
  Send& send = pair->at(index);
  if (pair->attributes.rnr_retry < 7 && stream.rnrTries++ >= pair->attributes.rnr_retry) {
    failSend(pair, index, IBV_WC_RNR_RETRY_EXC_ERR);
    return;
  }
  for (uint64_t later = index; later != pair->next; later++) {
    Send& again = pair->at(later);
    if (again.isAnswered() && !again.responded && again.messages > 0 &&
        static_cast<int32_t>(stream.messages - again.firstMessage) > 0)
      stream.answersAwaited--;
    again.received = 0;
  }
  stream.stage = control.count - send.firstMessage;
  stream.segmentAt = 0;
  stream.messages = control.count;
  pair->next = index;
  stream.waiting = true;
  stream.resumes = true;
  pair->progressAt = nowNs();
  stream.resumeAt = pair->progressAt + kRnrMicroseconds[control.value & 31] * 1000;
  pair->device->stir();
  completeSends(pair);
}

bool takeControlMessage(QueuePair* pair, const uint8_t* data) {
  Stream& stream = pair->stream;
  const Control control = takeControl(data);
  switch (control.kind) {
    case ControlKind::Taken:
      if (static_cast<int32_t>(control.count - stream.taken) <= 0 ||
          static_cast<int32_t>(stream.messages - control.count) < 0)
        return control.count == stream.taken;
      stream.taken = control.count;
      stream.rnrTries = 0;
      pair->progressAt = nowNs();
      completeSends(pair);
      return true;
    case ControlKind::Wait:
      if (static_cast<int32_t>(stream.messages - control.count) < 0 ||
          static_cast<int32_t>(control.count - stream.taken) < 0)
        return false;
      waitForReceiver(pair, control);
      return true;
    case ControlKind::Resume:
      if (!stream.dropping || control.count != stream.carriedOut) return false;
      stream.dropping = false;
      stream.messageBytes = 0;
      return true;
    case ControlKind::Refuse: {
      stream.taken = control.count;
      const bool isUnderWay = stream.stage > 0 || stream.segmentAt > 0;
      if (isUnderWay) pair->next++;
      const uint64_t index = requestOf(pair, control.count);
      const auto status = static_cast<ibv_wc_status>(control.value);
      const bool isKnown =
          status == IBV_WC_REM_INV_REQ_ERR || status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_OP_ERR;
      if (index == pair->next || !isKnown) return false;
      failSend(pair, index, status);
      return true;
    }
    default:
      return false;
  }
}

ibv_wc_status statusOf(uint16_t fault) {
  if (fault == kNoBuffer) return IBV_WC_RNR_RETRY_EXC_ERR;
  if (fault == kTooLongForBuffer) return IBV_WC_REM_INV_REQ_ERR;
  // Protection errors of RDMAP, and errors of tagged buffers of DDP.
  const int kind = fault >> 8;
  return kind == 0x01 || kind == 0x11 ? IBV_WC_REM_ACCESS_ERR : IBV_WC_REM_OP_ERR;
}

// The peer ends the stream, and says why. Of the requests that it may mean, the oldest fails.
bool takeTerminate(QueuePair* pair, const uint8_t* data, size_t length) {
  if (length < kTerminateBytes) return false;
  const ibv_wc_status status = statusOf(get16(data));
  completeSends(pair);
  if (pair->head != pair->next) {
    failSend(pair, pair->head, status);
  } else {
    pair->device->raise(status == IBV_WC_REM_ACCESS_ERR ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR, pair, nullptr,
                        nullptr);
    enterError(pair);
  }
  return true;
}

size_t fixedBytes(Op op) {
  switch (op) {
    case Op::ReadRequest:
      return kReadRequestBytes;
    case Op::AtomicRequest:
      return kAtomicRequestBytes;
    case Op::AtomicResponse:
      return kAtomicResponseBytes;
    case Op::Immediate:
    case Op::ImmediateSolicited:
      return 8;
    case Op::Control:
      return kControlBytes;
    default:
      return 0;
  }
}

// A message that came whole. False where the peer breaks the protocol.
bool carryOut(QueuePair* pair, const uint8_t* data, size_t length) {
  Stream& stream = pair->stream;
  const Op op = stream.header.op;
  if (stream.isForeign) {
    if (op == Op::Terminate) return takeTerminate(pair, data, length);
    if (op == Op::Control) return false;
  }
  if (length != fixedBytes(op) || length == 0) return false;
  if (stream.phase == Stream::Phase::Proving) {
    const Control control = takeControl(data);
    if (op != Op::Control || control.kind != ControlKind::Proof) return false;
    proofArrived(pair, control.value);
    return true;
  }
  if (stream.dropping && isRequest(op)) return true;
  switch (op) {
    case Op::ReadRequest:
      carryOutRead(pair, data);
      return true;
    case Op::AtomicRequest:
      carryOutAtomic(pair, data);
      return true;
    case Op::Immediate:
    case Op::ImmediateSolicited:
      carryOutImmediate(pair, data);
      return true;
    case Op::AtomicResponse:
      return takeAtomicAnswer(pair, data);
    default:
      return takeControlMessage(pair, data);
  }
}

// ---- the stream

bool isAlive(const QueuePair* pair) { return pair->stream.descriptor >= 0 && pair->now != IBV_QPS_ERR; }

// Takes one step in the bytes that are there; false where more are needed, or the stream has ended.
bool step(QueuePair* pair) {
  Stream& stream = pair->stream;
  const uint8_t* data = stream.in.data() + stream.inAt;
  const size_t have = stream.inEnd - stream.inAt;
  if (stream.inPayload) {
    const size_t piece = std::min(have, stream.payloadLeft);
    if (piece == 0 && stream.payloadLeft > 0) return false;
    stream.inAt += piece;
    stream.payloadLeft -= piece;
    if (!place(pair, data, piece) || !isAlive(pair)) return false;
    if (stream.payloadLeft > 0) return false;
    stream.inPayload = false;
    finish(pair);
    return isAlive(pair);
  }
  if (stream.trailerLeft > 0) {
    const size_t piece = std::min(have, stream.trailerLeft);
    stream.inAt += piece;
    stream.trailerLeft -= piece;
    return stream.trailerLeft == 0;
  }
  if (have < kLengthBytes) return false;
  const size_t length = get16(data);
  const size_t trailer = trailerBytes(length);
  const size_t whole = kLengthBytes + length + trailer;
  if (have < kLengthBytes + 18 && have < whole) return false;
  if (!takeHeader(data + kLengthBytes, length, &stream.header)) {
    breakStream(pair);
    return false;
  }
  const bool isPieced = isPlaced(stream.header) && !stream.crc;
  if (!isPieced && have < whole) {
    if (stream.in.size() < whole) stream.in.resize(kInMost);
    return false;
  }
  if (stream.crc) {
    uint32_t crc = 0;
    memcpy(&crc, data + whole - kCrcBytes, kCrcBytes);
    if (crc32c(0, data, whole - kCrcBytes) != crc) {
      if (stream.isForeign) {
        sendTerminate(pair, kCrcWrong, nullptr);
        flush(pair);
      }
      breakStream(pair);
      return false;
    }
  }
  stream.mayBeginAt = 0;
  const size_t headerBytes = stream.header.bytes();
  if (isRequest(stream.header.op) && stream.phase == Stream::Phase::Up) noteEstablished(pair);
  if (!isPlaced(stream.header)) {
    stream.inAt += whole;
    if (!carryOut(pair, data + kLengthBytes + headerBytes, length - headerBytes) && isAlive(pair)) breakStream(pair);
    return isAlive(pair);
  }
  stream.payloadLeft = length - headerBytes;
  stream.trailerLeft = trailer;
  stream.inAt += kLengthBytes + headerBytes;
  if (stream.phase != Stream::Phase::Up || !begin(pair)) {
    if (isAlive(pair)) breakStream(pair);
    return false;
  }
  stream.inPayload = true;
  return isAlive(pair);
}

}  // namespace

int piecesOf(QueuePair* pair, const std::vector<ibv_sge>& segments, uint64_t offset, size_t length, int access,
             struct iovec* pieces) {
  int count = 0;
  for (const ibv_sge& segment : segments) {
    if (length == 0) break;
    if (offset >= segment.length) {
      offset -= segment.length;
      continue;
    }
    const auto piece = static_cast<size_t>(std::min<uint64_t>(segment.length - offset, length));
    // The whole segment has to be covered, as a device asks it.
    uint8_t* at = pair->device->keys.reach(segment.lkey, segment.addr, segment.length, access, pair->domain(), 0);
    if (at == nullptr) return -1;
    pieces[count++] = {at + offset, piece};
    length -= piece;
    offset = 0;
  }
  return length == 0 ? count : -1;
}

bool scatter(QueuePair* pair, const std::vector<ibv_sge>& segments, uint64_t offset, const uint8_t* data,
             size_t length) {
  struct iovec pieces[kSegmentsMost];
  std::shared_lock<std::shared_mutex> guard(pair->device->keys.lock);
  const int count = piecesOf(pair, segments, offset, length, IBV_ACCESS_LOCAL_WRITE, pieces);
  for (int index = 0; index < count; index++) {
    memcpy(pieces[index].iov_base, data, pieces[index].iov_len);
    data += pieces[index].iov_len;
  }
  return count >= 0;
}

bool gather(QueuePair* pair, const std::vector<ibv_sge>& segments, uint64_t offset, uint8_t* data, size_t length) {
  struct iovec pieces[kSegmentsMost];
  std::shared_lock<std::shared_mutex> guard(pair->device->keys.lock);
  const int count = piecesOf(pair, segments, offset, length, 0, pieces);
  for (int index = 0; index < count; index++) {
    memcpy(data, pieces[index].iov_base, pieces[index].iov_len);
    data += pieces[index].iov_len;
  }
  return count >= 0;
}

// Reads what is left of a long payload straight to its place, and what follows into the buffer, which is empty. The
// bytes read, or as recv(2); -2 where this is not to be done.
static ssize_t readToPlace(QueuePair* pair) {
  Stream& stream = pair->stream;
  if (!stream.inPayload || stream.discards || stream.payloadLeft < kReadDirectLeast || stream.inEnd > 0) return -2;
  struct iovec pieces[kSegmentsMost + 1];
  int count = -1;
  std::shared_lock<std::shared_mutex> guard(pair->device->keys.lock);
  if (stream.header.op == Op::Write) {
    uint8_t* at = pair->device->keys.reach(stream.header.stag, stream.placeAt, stream.payloadLeft,
                                           IBV_ACCESS_REMOTE_WRITE, pair->domain(), pair->qp_num);
    if (at != nullptr) pieces[0] = {at, stream.payloadLeft};
    count = at == nullptr ? -1 : 1;
  } else {
    uint64_t index = 0;
    const bool isAnswer = stream.header.op == Op::ReadResponse;
    const Send* send = isAnswer ? answered(pair, stream.header.stag, &index) : nullptr;
    if (!isAnswer || send != nullptr)
      count = piecesOf(pair, isAnswer ? send->segments : stream.receive.segments, stream.placeAt, stream.payloadLeft,
                       IBV_ACCESS_LOCAL_WRITE, pieces);
  }
  if (count < 0) return -2;
  pieces[count] = {stream.in.data(), stream.in.size()};
  struct msghdr message = {};
  message.msg_iov = pieces;
  message.msg_iovlen = static_cast<size_t>(count) + 1;
  const ssize_t got = recvmsg(stream.descriptor, &message, MSG_DONTWAIT);
  if (got <= 0) return got;
  const size_t placed = std::min(static_cast<size_t>(got), stream.payloadLeft);
  stream.placeAt += placed;
  stream.payloadLeft -= placed;
  stream.inEnd = static_cast<size_t>(got) - placed;
  guard.unlock();
  if (stream.header.op == Op::ReadResponse) {
    uint64_t index = 0;
    answered(pair, stream.header.stag, &index)->received += placed;
  }
  pair->progressAt = nowNs();
  return got;
}

bool receive(QueuePair* pair) {
  Stream& stream = pair->stream;
  bool received = false;
  if (stream.in.size() < kInFirst) stream.in.resize(kInFirst);
  for (size_t taken = 0; taken < kBudget && isAlive(pair);) {
    if (stream.inAt > 0) {
      memmove(stream.in.data(), stream.in.data() + stream.inAt, stream.inEnd - stream.inAt);
      stream.inEnd -= stream.inAt;
      stream.inAt = 0;
    }
    const size_t space = stream.in.size() - stream.inEnd;
    ssize_t count = readToPlace(pair);
    const bool isPlaced = count != -2;
    if (!isPlaced) {
      count = recv(stream.descriptor, stream.in.data() + stream.inEnd, space, MSG_DONTWAIT);
      if (count > 0) stream.inEnd += static_cast<size_t>(count);
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return received;
    if (count <= 0) {
      breakStream(pair);
      return received;
    }
    received = true;
    taken += static_cast<size_t>(count);
    while (step(pair)) {
    }
    if (stream.outEnd - stream.outAt > kOutMostWaiting) {
      breakStream(pair);
      return true;
    }
    // Less than there was room for: the socket is empty.
    if (!isPlaced && static_cast<size_t>(count) < space) return true;
  }
  return received;
}

}  // namespace aether::tcp
