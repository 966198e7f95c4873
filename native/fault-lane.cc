// Faults whose answer is known beforehand, answered where they are read: the agent's thread sleeps here instead of in
// poll(2), and what needs no thought does not wake its JavaScript. What was done is written down, and the agent makes
// it good before it does anything else.
//
// A fault is answered here where the page's word (src/dsm/mmu/page-words.ts) says that the process has the right
// already, or that the page is untouched: its home is here and nobody has asked for it yet. Words are changed by the
// agent's thread alone, which is this one, but for the pins.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "mappings.h"
#include "support.h"
#include "userfault.h"

namespace aether {

// Of a page's word.
constexpr int32_t kRight = 3, kRead = 1, kWrite = 2, kWanted = 1 << 2, kFailed = 1 << 4, kUntouched = 1 << 7;

// What became of a fault.
enum Answer { kUnanswered = 0, kHadTheRight = 1, kOpened = 2 };

// A fault is so many numbers: address, flags, thread, answer, region, nanoseconds that the answer took.
constexpr size_t kFaultNumbers = 6;
constexpr size_t kReadMax = 64;
constexpr size_t kDescriptorsMax = 1 << 16;
// What was done is made good so soon at least.
constexpr double kUntoldMsMax = 1.0;

// Of src/dsm/mmu/window-table.ts: the count, and from the fourth number on triples.
constexpr size_t kWindowsBegin = 4;

struct Lane {
  int32_t region;
  double pageBytes;
  int32_t* words;
  size_t pages;
  double* windows;
  size_t windowNumbers;
  napi_ref references[2];  // keep the arrays
};

// Of this thread's environment. Whoever opens lanes closes them; what is left then goes with the process or its
// environment.
static thread_local std::vector<Lane> lanes;

struct Part {
  double address;
  double length;
};

// The page of the lane's region that shows `address`, and the part of it that the window there shows.
static bool findPage(const Lane& lane, double address, size_t* page, Part* part) {
  const auto count = static_cast<size_t>(__atomic_load_n(reinterpret_cast<int32_t*>(lane.windows), __ATOMIC_SEQ_CST));
  for (size_t at = kWindowsBegin, last = kWindowsBegin + 3 * count; at < last && at + 3 <= lane.windowNumbers;
       at += 3) {
    const double begin = lane.windows[at], offset = lane.windows[at + 1], length = lane.windows[at + 2];
    if (address < begin || address >= begin + length) continue;
    *page = static_cast<size_t>((offset + (address - begin)) / lane.pageBytes);
    const double from = std::max(static_cast<double>(*page) * lane.pageBytes, offset);
    const double to = std::min(static_cast<double>(*page + 1) * lane.pageBytes, offset + length);
    *part = {begin + (from - offset), to - from};
    return *page < lane.pages;
  }
  return false;
}

static Answer answerIn(const Lane& lane, int userfault, const struct uffd_msg& message, size_t page, const Part& part) {
  const uint64_t flags = message.arg.pagefault.flags;
  // A hole has to be filled first, and a page that is there for reading to be asked for.
  if ((flags & UFFD_PAGEFAULT_FLAG_MINOR) == 0 || (flags & UFFD_PAGEFAULT_FLAG_WP) != 0) return kUnanswered;
  const bool write = (flags & UFFD_PAGEFAULT_FLAG_WRITE) != 0;
  int32_t* word = lane.words + page;
  const int32_t now = __atomic_load_n(word, __ATOMIC_SEQ_CST), right = now & kRight;
  if ((now & (kWanted | kFailed)) != 0) return kUnanswered;
  const bool has = right >= (write ? kWrite : kRead);
  if (!has && (right != 0 || (now & kUntouched) == 0)) return kUnanswered;
  const bool writable = has ? right == kWrite : write;
  const auto address = static_cast<uint64_t>(part.address), length = static_cast<uint64_t>(part.length);
  if (!isMapped(address, length, MappingKind::View) || installRange(userfault, address, length, !writable) < 0)
    return kUnanswered;
  if (has) return kHadTheRight;
  __atomic_fetch_and(word, ~kUntouched, __ATOMIC_SEQ_CST);
  return kOpened;
}

static Answer answer(int userfault, const struct uffd_msg& message, double address, double* region) {
  *region = -1;
  for (const Lane& lane : lanes) {
    size_t page = 0;
    Part part = {};
    if (!findPage(lane, address, &page, &part)) continue;
    *region = lane.region;
    return answerIn(lane, userfault, message, page, part);
  }
  return kUnanswered;
}

// Reads what waits, answers what can be answered. Adds to `count`; false where a fault is left, or no more have room.
// errno is kept in `error`.
static bool takeFaults(int userfault, const Doubles& out, size_t* count, int* error) {
  struct uffd_msg messages[kReadMax];
  const size_t most = std::min(out.length / kFaultNumbers - *count, kReadMax);
  ssize_t got;
  do got = read(userfault, messages, most * sizeof *messages);
  while (got < 0 && errno == EINTR);
  if (got < 0) {
    if (errno != EAGAIN) *error = errno;
    return *error == 0;
  }
  bool all = true;
  for (size_t index = 0; index < static_cast<size_t>(got) / sizeof *messages; index++) {
    if (messages[index].event != UFFD_EVENT_PAGEFAULT) continue;
    const double began = nowNs();
    const auto& fault = messages[index].arg.pagefault;
    double* at = out.data + kFaultNumbers * *count;
    at[0] = static_cast<double>(fault.address & ~static_cast<uint64_t>(pageSize() - 1));
    at[1] = static_cast<double>(fault.flags);
    at[2] = static_cast<double>(fault.feat.ptid);
    const Answer given = answer(userfault, messages[index], at[0], &at[4]);
    at[3] = given;
    at[5] = nowNs() - began;
    if (given == kUnanswered) all = false;
    (*count)++;
  }
  return all && *count < out.length / kFaultNumbers;
}

static bool isUserfault(Arguments& arguments, int descriptor) {
  if (!arguments.ok()) return false;
  const int status = fcntl(descriptor, F_GETFL);
  // Another kind of descriptor might put this thread to sleep for ever.
  if (status >= 0 && (status & O_NONBLOCK) == 0)
    arguments.fail("userfault", "userfault must be one that openUserfault opened");
  if (status < 0) throwSystem(arguments.env, "fcntl", errno);
  return status >= 0 && arguments.ok();
}

// (userfault, out) -> how many faults were read.
static napi_value TakeFaults(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "userfault");
  const Doubles out = doublesOf(arguments, 1, "out", kFaultNumbers);
  if (!isUserfault(arguments, descriptor)) return nullptr;
  size_t count = 0;
  int error = 0;
  takeFaults(descriptor, out, &count, &error);
  return error == 0 ? makeSmall(env, static_cast<int32_t>(count)) : throwSystem(env, "read", error);
}

// The descriptors, and behind them the userfaultfd.
static int pollOnce(std::vector<struct pollfd>& set, double timeoutMs) {
  const auto seconds = static_cast<time_t>(timeoutMs / 1000);
  const struct timespec limit = {seconds, static_cast<long>((timeoutMs - 1000.0 * static_cast<double>(seconds)) * 1e6)};
  const int result = ppoll(set.data(), set.size(), &limit, nullptr);
  if (result >= 0 || errno != EINTR) return result;
  for (auto& each : set) each.revents = 0;
  return 0;
}

// Sleeps until anything but faults with a known answer has come, or the time is over. The number of faults read, or
// -errno.
static int sleepAnswering(int userfault, std::vector<struct pollfd>& set, double timeoutMs, const Doubles& out) {
  const double endNs = nowNs() + timeoutMs * 1e6;
  double lastNs = endNs;
  size_t count = 0;
  for (;;) {
    const int ready = pollOnce(set, std::max(0.0, (lastNs - nowNs()) / 1e6));
    if (ready < 0) return -errno;
    const bool faulted = set.back().revents != 0;
    int error = 0;
    if (faulted && !takeFaults(userfault, out, &count, &error)) return error != 0 ? -error : static_cast<int>(count);
    if (ready == 0 || ready > (faulted ? 1 : 0)) return static_cast<int>(count);
    lastNs = std::min(lastNs, nowNs() + kUntoldMsMax * 1e6);
    if (nowNs() >= lastNs) return static_cast<int>(count);
  }
}

// (userfault, descriptors, ready, count, timeoutMs, out) -> how many faults were read.
static napi_value PollAnswering(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int userfault = arguments.descriptor(0, "userfault");
  const Int32s descriptors = arguments.int32s(1, "descriptors");
  const Int32s ready = arguments.int32s(2, "ready");
  const size_t most = std::min({descriptors.length, ready.length, kDescriptorsMax});
  const auto count = static_cast<size_t>(arguments.integer(3, "count", 0, static_cast<double>(most)));
  const double timeout = arguments.fractionalMs(4, "timeoutMs");
  if (arguments.ok() && timeout < 0) arguments.fail("timeoutMs", "timeoutMs must be 0 or more");
  const Doubles out = doublesOf(arguments, 5, "out", kFaultNumbers);
  if (!isUserfault(arguments, userfault)) return nullptr;
  static thread_local std::vector<struct pollfd> set;
  set.clear();
  for (size_t index = 0; index < count; index++) set.push_back({descriptors.data[index], POLLIN, 0});
  set.push_back({userfault, POLLIN, 0});
  const int faults = sleepAnswering(userfault, set, timeout, out);
  if (faults < 0) return throwSystem(env, "ppoll", -faults);
  for (size_t index = 0; index < count; index++) ready.data[index] = set[index].revents;
  return makeSmall(env, faults);
}

static void closeLane(napi_env env, int32_t region) {
  for (auto it = lanes.begin(); it != lanes.end(); ++it) {
    if (it->region != region) continue;
    for (napi_ref reference : it->references) napi_delete_reference(env, reference);
    lanes.erase(it);
    return;
  }
}

// (region, words, windows, pageBytes)
static napi_value OpenFaultLane(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Lane lane = {};
  lane.region = static_cast<int32_t>(arguments.integer(0, "region", 0, INT32_MAX));
  const Int32s words = arguments.int32s(1, "words");
  const Doubles windows = doublesOf(arguments, 2, "windows", kWindowsBegin);
  lane.pageBytes = static_cast<double>(arguments.pages(3, "pageBytes", false));
  if (!arguments.ok()) return nullptr;
  lane.words = words.data;
  lane.pages = words.length;
  lane.windows = windows.data;
  lane.windowNumbers = windows.length;
  closeLane(env, lane.region);
  for (size_t index = 0; index < 2; index++)
    if (napi_create_reference(env, arguments.at(1 + index), 1, &lane.references[index]) != napi_ok) return nullptr;
  lanes.push_back(lane);
  return nullptr;
}

// (region)
static napi_value CloseFaultLane(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const auto region = static_cast<int32_t>(arguments.integer(0, "region", 0, INT32_MAX));
  if (arguments.ok()) closeLane(env, region);
  return nullptr;
}

void registerFaultLane(napi_env env, napi_value exports) {
  define(env, exports, "takeFaults", TakeFaults);
  define(env, exports, "pollAnswering", PollAnswering);
  define(env, exports, "openFaultLane", OpenFaultLane);
  define(env, exports, "closeFaultLane", CloseFaultLane);
}

}  // namespace aether
