// The exchange of a page miss between two processes in C++, as coherent regions do it, but without a protocol: the
// least that it can take on this machine. Each process has a user thread and an agent thread.
//
//   reader: its user thread loads a word of a page that the writer has. It faults, its agent asks the writer's agent.
//   writer: its agent takes the right to write from its own view, copies the page into the reader's frame, and answers.
//   reader: its agent installs the page, and the user thread goes on.
//
// page-floor asleep|awake BYTES ROUNDS CALM_US
//   Between two rounds the reader pauses for CALM_US, so that agents are asleep that sleep. Prints the nanoseconds of
//   each round, one a line. Ends with 1 and the failed system call where one fails.
//
// page-floor turns BYTES ROUNDS 0
//   Both user threads write a word of one page in turn, and poll it meanwhile without sleeping; agents sleep. A page is
//   read by both or written by one, so each turn takes two exchanges. Prints the nanoseconds of each round trip.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif
#ifndef UFFDIO_CONTINUE_MODE_WP
#define UFFDIO_CONTINUE_MODE_WP ((__u64)1 << 1)
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

namespace {

// What an agent asks the other one for: a number that grows, times 2, plus 1 for the right to write.
struct Inbox {
  alignas(64) std::atomic<unsigned> request{0};
  alignas(64) std::atomic<unsigned> grant{0};
};

// In memory of both. A page's number plus one; 0: none yet.
struct Shared {
  Inbox inboxes[2];
  alignas(64) std::atomic<int> request{0};
  alignas(64) std::atomic<int> grant{0};
  alignas(64) std::atomic<bool> ready{false};
  std::atomic<bool> done{false};
};

enum Side { kReader = 0, kWriter = 1 };

bool awake = false;
size_t pageBytes = 4096;
size_t pages = 0;
Shared* shared = nullptr;
uint8_t* frames[2];  // of both, in both processes: as memory that an adapter reaches
int bells[2];

[[noreturn]] void fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  _exit(1);
}

double nowNs() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void ring(Side side) {
  if (awake) return;
  const uint64_t one = 1;
  if (write(bells[side], &one, sizeof one) < 0 && errno != EAGAIN) fail("write");
}

struct View {
  uint8_t* bytes = nullptr;
  int userfault = -1;

  explicit View(int memory) {
    void* mapped = mmap(nullptr, pages * pageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (mapped == MAP_FAILED) fail("mmap");
    bytes = static_cast<uint8_t*>(mapped);
    const int flags = O_CLOEXEC | O_NONBLOCK;
    userfault = static_cast<int>(syscall(SYS_userfaultfd, flags));
    if (userfault < 0) userfault = static_cast<int>(syscall(SYS_userfaultfd, flags | UFFD_USER_MODE_ONLY));
    if (userfault < 0) fail("userfaultfd");
    struct uffdio_api api = {};
    api.api = UFFD_API;
    api.features = UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_WP_HUGETLBFS_SHMEM;
    if (ioctl(userfault, UFFDIO_API, &api) != 0) fail("UFFDIO_API");
    struct uffdio_register request = {};
    request.range = {reinterpret_cast<uintptr_t>(bytes), pages * pageBytes};
    request.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP;
    if (ioctl(userfault, UFFDIO_REGISTER, &request) != 0) fail("UFFDIO_REGISTER");
  }

  struct uffdio_range range(size_t page) const {
    return {reinterpret_cast<uintptr_t>(bytes) + page * pageBytes, pageBytes};
  }

  // The page on which a thread has faulted; -1 where none has. `writes`: with a store.
  long faulted(bool* writes = nullptr) const {
    struct uffd_msg message;
    const ssize_t got = read(userfault, &message, sizeof message);
    if (got < 0 && errno != EAGAIN) fail("read");
    if (got != sizeof message || message.event != UFFD_EVENT_PAGEFAULT) return -1;
    const uint64_t at = message.arg.pagefault.address - reinterpret_cast<uintptr_t>(bytes);
    const uint64_t store = UFFD_PAGEFAULT_FLAG_WRITE | UFFD_PAGEFAULT_FLAG_WP;
    if (writes != nullptr) *writes = (message.arg.pagefault.flags & store) != 0;
    return static_cast<long>(at / pageBytes);
  }

  void install(size_t page, bool writable) const {
    struct uffdio_continue request = {};
    request.range = range(page);
    request.mode = writable ? 0 : UFFDIO_CONTINUE_MODE_WP;
    if (ioctl(userfault, UFFDIO_CONTINUE, &request) != 0 && errno != EEXIST) fail("UFFDIO_CONTINUE");
  }

  void remove(size_t page) const {
    if (madvise(bytes + page * pageBytes, pageBytes, MADV_DONTNEED) != 0) fail("madvise");
  }

  void protect(size_t page, bool protects = true) const {
    struct uffdio_writeprotect request = {};
    request.range = range(page);
    request.mode = protects ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
    if (ioctl(userfault, UFFDIO_WRITEPROTECT, &request) != 0) fail("UFFDIO_WRITEPROTECT");
  }
};

void sleepUntilRung(const View& view, Side side) {
  struct pollfd watched[] = {{view.userfault, POLLIN, 0}, {bells[side], POLLIN, 0}};
  if (poll(watched, 2, 100) < 0 && errno != EINTR) fail("poll");
  uint64_t count;
  if (watched[1].revents != 0 && read(bells[side], &count, sizeof count) < 0 && errno != EAGAIN) fail("read");
}

void serveReader(const View& view) {
  for (int granted = 0; !shared->done;) {
    if (!awake) sleepUntilRung(view, kReader);
    const long page = view.faulted();
    if (page >= 0) {
      shared->request = static_cast<int>(page) + 1;
      ring(kWriter);
    }
    const int grant = shared->grant;
    if (grant == granted) continue;
    granted = grant;
    view.install(static_cast<size_t>(grant - 1), false);
  }
}

void serveWriter(const View& view) {
  for (int served = 0; !shared->done;) {
    if (!awake) sleepUntilRung(view, kWriter);
    const long own = view.faulted();
    if (own >= 0) view.install(static_cast<size_t>(own), true);
    const int request = shared->request;
    if (request == served) continue;
    served = request;
    const size_t page = static_cast<size_t>(request - 1);
    view.protect(page);
    memcpy(frames[kReader] + page * pageBytes, frames[kWriter] + page * pageBytes, pageBytes);
    shared->grant = request;
    ring(kReader);
  }
}

void beWriter(int memory) {
  const View view(memory);
  std::thread agent(serveWriter, std::cref(view));
  for (size_t page = 0; page < pages; page++) view.bytes[page * pageBytes] = 7;
  shared->ready = true;
  agent.join();
}

void beReader(int memory, useconds_t calmUs) {
  const View view(memory);
  std::thread agent(serveReader, std::cref(view));
  while (!shared->ready) usleep(1000);
  std::vector<double> took(pages);
  for (size_t page = 0; page < pages; page++) {
    usleep(calmUs);
    const double began = nowNs();
    const uint8_t seen = *const_cast<volatile uint8_t*>(view.bytes + page * pageBytes);
    took[page] = nowNs() - began;
    if (seen != 7) {
      fprintf(stderr, "page %zu came without what was written in it\n", page);
      _exit(1);
    }
  }
  shared->done = true;
  agent.join();
  for (const double ns : took) printf("%.0f\n", ns);
}

// One agent of two that write page 0 in turn. It has the page as a copy, alone, or not at all.
void serveTurns(const View& view, Side side) {
  enum { kNone, kCopy, kAlone } right = side == kReader ? kAlone : kNone;
  const Side other = side == kReader ? kWriter : kReader;
  Inbox& own = shared->inboxes[side];
  Inbox& theirs = shared->inboxes[other];
  unsigned asked = 0;
  unsigned granted = 0;
  unsigned served = 0;
  while (!shared->done) {
    sleepUntilRung(view, side);
    bool writes = false;
    if (view.faulted(&writes) >= 0) {
      if (right == kAlone) {
        view.install(0, true);
      } else {
        asked = ((asked / 2 + 1) * 2) | (writes ? 1 : 0);
        theirs.request = asked;
        ring(other);
      }
    }
    // In this order: what is granted here is settled before it is asked back.
    const unsigned request = own.request;
    const unsigned grant = own.grant;
    if (grant != granted) {
      granted = grant;
      const bool isWrite = (grant & 1) != 0;
      if (right == kCopy) view.protect(0, false);
      else view.install(0, isWrite);
      right = isWrite ? kAlone : kCopy;
    }
    if (request == served) continue;
    served = request;
    const bool isWrite = (request & 1) != 0;
    if (isWrite) view.remove(0);
    else view.protect(0);
    if (right == kAlone) memcpy(frames[other], frames[side], pageBytes);
    right = isWrite ? kNone : kCopy;
    theirs.grant = request;
    ring(other);
  }
}

// The user thread that begins is the one that has the page.
void takeTurns(int memory, Side side, size_t rounds) {
  const View view(memory);
  auto* word = reinterpret_cast<std::atomic<uint32_t>*>(view.bytes);
  std::thread agent(serveTurns, std::cref(view), side);
  if (side == kReader) word->store(0);
  if (side == kReader) shared->ready = true;
  while (!shared->ready) usleep(1000);
  std::vector<double> took(rounds);
  for (size_t round = 0; round < rounds; round++) {
    const double began = nowNs();
    const auto base = static_cast<uint32_t>(2 * round);
    if (side == kReader) word->store(base + 1);
    while (word->load() != (side == kReader ? base + 2 : base + 1)) {}
    if (side == kWriter) word->store(base + 2);
    took[round] = nowNs() - began;
  }
  if (side == kReader) shared->done = true;
  agent.join();
  if (side == kReader)
    for (const double ns : took) printf("%.0f\n", ns);
}

int newMemory() {
  const int memory = memfd_create("aether-page-floor", MFD_CLOEXEC);
  if (memory < 0) fail("memfd_create");
  if (ftruncate(memory, static_cast<off_t>(pages * pageBytes)) != 0) fail("ftruncate");
  return memory;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    fprintf(stderr, "page-floor asleep|awake|turns BYTES ROUNDS CALM_US\n");
    return 2;
  }
  awake = strcmp(arguments[1], "awake") == 0;
  pageBytes = strtoul(arguments[2], nullptr, 10);
  const bool turns = strcmp(arguments[1], "turns") == 0;
  const size_t rounds = strtoul(arguments[3], nullptr, 10);
  pages = turns ? 1 : rounds;
  void* common = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (common == MAP_FAILED) fail("mmap");
  shared = new (common) Shared;
  int memories[2];
  for (const Side side : {kReader, kWriter}) {
    memories[side] = newMemory();
    void* mapped = mmap(nullptr, pages * pageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memories[side], 0);
    if (mapped == MAP_FAILED) fail("mmap");
    frames[side] = static_cast<uint8_t*>(mapped);
    memset(frames[side], 1, pages * pageBytes);
    bells[side] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (bells[side] < 0) fail("eventfd");
  }
  const pid_t reader = getpid();
  const pid_t writer = fork();
  if (writer < 0) fail("fork");
  if (writer == 0) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail("prctl");
    if (getppid() == reader && turns) takeTurns(memories[kWriter], kWriter, rounds);
    else if (getppid() == reader) beWriter(memories[kWriter]);
    _exit(0);
  }
  if (turns) takeTurns(memories[kReader], kReader, rounds);
  else beReader(memories[kReader], static_cast<useconds_t>(strtoul(arguments[4], nullptr, 10)));
  int status = 0;
  if (waitpid(writer, &status, 0) < 0) fail("waitpid");
  return status == 0 ? 0 : 1;
}
