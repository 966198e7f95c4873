// Bytes over a TCP connection between two processes of this machine, in C++: the least that a device over TCP can take.
//
// tcp-floor spinning|blocking BYTES MILLISECONDS
//   BYTES there and back. Both ends look for them without a pause, or sleep until they come.
//
// tcp-floor stream BYTES MILLISECONDS
//   BYTES one way, again and again, to an end that takes them as fast as it can. Both sleep when they have to.
//
// Prints the nanoseconds of each round, one a line; of a stream a round is 32 times BYTES. The last line is the
// processor time of both. Ends with 1 and the failed system call where one fails.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kPerRound = 32;
constexpr size_t kSinkBytes = 1 << 20;

bool spins = false;

[[noreturn]] void fail(const char* call) {
  perror(call);
  exit(1);
}

int64_t now() {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int64_t processorNs(int who) {
  struct rusage usage;
  getrusage(who, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000) +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
}

// Two ends of one connection.
void connectEnds(int* ends) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0 || bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener, 1) != 0)
    fail("listen");
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(ends[0], reinterpret_cast<sockaddr*>(&address), length) != 0) fail("connect");
  ends[1] = accept(listener, nullptr, nullptr);
  if (ends[1] < 0) fail("accept");
  close(listener);
  const int on = 1;
  for (int index = 0; index < 2; index++) setsockopt(ends[index], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void sendAll(int end, const uint8_t* bytes, size_t length) {
  while (length > 0) {
    const ssize_t sent = send(end, bytes, length, MSG_NOSIGNAL | (spins ? MSG_DONTWAIT : 0));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) fail("send");
    if (sent <= 0) continue;
    bytes += sent;
    length -= static_cast<size_t>(sent);
  }
}

// False when the other end is done.
bool receiveAll(int end, uint8_t* bytes, size_t length) {
  while (length > 0) {
    const ssize_t got = recv(end, bytes, length, spins ? MSG_DONTWAIT : 0);
    if (got == 0) return false;
    if (got < 0 && errno == ECONNRESET) return false;
    if (got < 0 && errno != EAGAIN && errno != EINTR) fail("recv");
    if (got <= 0) continue;
    bytes += got;
    length -= static_cast<size_t>(got);
  }
  return true;
}

// The other process.
[[noreturn]] void serve(int end, bool streams, size_t length) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<uint8_t> bytes(streams ? kSinkBytes : length);
  if (streams)
    while (recv(end, bytes.data(), bytes.size(), 0) > 0) {
    }
  else
    while (receiveAll(end, bytes.data(), length)) sendAll(end, bytes.data(), length);
  exit(0);
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    fprintf(stderr, "tcp-floor spinning|blocking|stream BYTES MILLISECONDS\n");
    return 1;
  }
  spins = strcmp(words[1], "spinning") == 0;
  const bool streams = strcmp(words[1], "stream") == 0;
  const size_t length = strtoul(words[2], nullptr, 10);
  int ends[2];
  connectEnds(ends);
  const pid_t other = fork();
  if (other < 0) fail("fork");
  if (other == 0) {
    close(ends[0]);
    serve(ends[1], streams, length);
  }
  close(ends[1]);
  std::vector<uint8_t> bytes(length, 1);
  std::vector<int64_t> rounds;
  const int64_t until = now() + strtol(words[3], nullptr, 10) * INT64_C(1000000);
  for (int64_t began = now(); began < until;) {
    if (streams) {
      for (int index = 0; index < kPerRound; index++) sendAll(ends[0], bytes.data(), length);
    } else {
      sendAll(ends[0], bytes.data(), length);
      if (!receiveAll(ends[0], bytes.data(), length)) fail("recv");
    }
    const int64_t ended = now();
    rounds.push_back(ended - began);
    began = ended;
  }
  close(ends[0]);
  waitpid(other, nullptr, 0);
  for (const int64_t round : rounds) printf("%lld\n", static_cast<long long>(round));
  printf("%lld\n", static_cast<long long>(processorNs(RUSAGE_SELF) + processorNs(RUSAGE_CHILDREN)));
  return 0;
}
