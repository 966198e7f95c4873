/**
 * The functions of the addon: system calls, no policy, no protocol.
 *
 * Every function checks its arguments and throws {@link ArgumentError}; a failing system call throws {@link
 * SystemError} with errno and what to do. None crashes the process. Functions that may fail in normal work say so and
 * return a negative errno.
 *
 * Descriptors, lengths and addresses are numbers (exact below 2^53). `address` parameters are checked against the
 * mappings that this addon made; an address outside of them is an ArgumentError.
 */

/** Bits of `mapMemory`'s flags. */
export const MapFlag = {
  /** Fault the pages in at once (MAP_POPULATE). */
  Populate: 1,
  /** Keep the pages in memory (mlock); needs RLIMIT_MEMLOCK. */
  Lock: 2,
} as const

/** Bits of a page fault's flags as userfaultfd(2) reports them. */
export const FaultFlag = { Write: 1, WriteProtect: 2, Minor: 4 } as const

/**
 * The outcome of a fault that was read. `None`: nothing yet. `HadTheRight`: the page was opened, since the process had
 * the right. `Opened`: an untouched page was opened.
 */
export const FaultAnswer = { None: 0, HadTheRight: 1, Opened: 2 } as const

/** How many numbers describe one fault. */
export const FAULT_NUMBERS = 6

/** Bits of poll(2). */
export const PollFlag = { Readable: 1, Writable: 4, Error: 8, HangUp: 16, Invalid: 32 } as const

/**
 * Places in the numbers of `answerLooks`. In: the database, the version of RESP, and the time in ms since 1970. Out:
 * the bytes of the replies, and how many `GET` and `HGET` they are for.
 */
export const LookNumber = {
  Database: 0,
  Protocol: 1,
  NowMs: 2,
  ReplyBytes: 3,
  Gets: 4,
  FieldGets: 5,
  Count: 6,
} as const

/**
 * What `packRequests` tells of each request: where it ends, where its call ends, and how many arguments it has besides
 * its name.
 */
export const PackedNumber = { RequestEnd: 0, CallEnd: 1, ArgumentCount: 2, Count: 3 } as const

/**
 * Places in the numbers of `setStrings`. In: where the calls begin and how many there are, the version of what is
 * written, and the time in ms since 1970. Then the room for records, a place and its end, that for buckets, a place
 * and how many, and how many keys may be added. Out: where the calls begin that are left, what is left of the room, and
 * how many records were released. How many keys were added is told, too: also by a call that is left. `Cut` and
 * `Cursor`: strings up to that version are left as they are, unless a walk at that cursor has passed them.
 */
export const SetNumber = {
  Offset: 0,
  Calls: 1,
  Version: 2,
  NowMs: 3,
  Place: 4,
  End: 5,
  Released: 6,
  SparePlace: 7,
  Spares: 8,
  Added: 9,
  Cut: 10,
  Cursor: 11,
  Count: 12,
} as const

/**
 * Places in the numbers of `addStrings`. In: where it begins, how many it may add, and the time in ms since 1970; 0:
 * they are not marked. Then the room for records, a place and its end, and that for buckets, a place and how many. Out:
 * where what is left begins, what is left of the room, and how many were added to each of 16 databases.
 */
export const AddNumber = {
  From: 0,
  Most: 1,
  NowMs: 2,
  Place: 3,
  End: 4,
  SparePlace: 5,
  Spares: 6,
  Added: 7,
  Count: 23,
} as const

/**
 * Places in the numbers of `packStrings`: where it begins to write, and the cursor. Both become those at which it
 * stopped. `Stop` tells why: 0 at something else than a string, 1 for want of room, 2 after the last key. It is 3
 * after as many buckets as were asked for. Strings above `Version` are left out. `Spaces`: for each of 16, the number
 * that its database has, plus 1.
 */
export const PackNumber = { From: 0, Cursor: 1, Stop: 2, Version: 3, Buckets: 4, Spaces: 5, Count: 21 } as const

/**
 * What a stream is to be watched for. `Listens`: it is one of `listenStream`, and callers are accepted. `Ends`: the
 * peer sends nothing more; what it has sent is left to others.
 */
export const StreamInterest = { Reads: 1, Writes: 2, Listens: 4, Ends: 8 } as const

/** How many numbers describe one stream of `sendStreams`. */
export const SEND_NUMBERS = 3

/** What `pollStreams` tells. */
export const StreamEvent = { Received: 1, Writable: 2, Ended: 3, Accepted: 4, NotAccepted: 5 } as const

/** How many numbers describe one event of a stream. */
export const STREAM_EVENT_NUMBERS = 4

/** What `futexWait` returns. */
export const FutexResult = { Woken: 0, ValueDiffers: 1, TimedOut: 2, Interrupted: 3 } as const

/** A memory object as fstat(2) describes it. */
export interface MemoryDescription {
  readonly lengthBytes: number
  readonly allocatedBytes: number
  readonly inode: number
  readonly device: number
  readonly userId: number
  /** The size of its pages: 4096, or the huge page size. */
  readonly pageBytes: number
  /**
   * True if another process could shrink it while it is mapped, which would end its users with SIGBUS. False for
   * objects of `createMemory`.
   */
  readonly shrinkable: boolean
}

/** An open userfaultfd. */
export interface UserfaultDescription {
  readonly descriptor: number
  /** True if the kernel handles only faults from user mode; system calls that touch a view then fail with EFAULT. */
  readonly userModeOnly: boolean
  /** The feature bits that the kernel granted. */
  readonly features: number
}

/**
 * The part of a shared WebAssembly.Memory that matters here. TypeScript declares the full type only for browsers, and
 * every user of this package would have to include those declarations.
 */
interface PageMemory {
  readonly buffer: ArrayBuffer | SharedArrayBuffer
}

/**
 * Waits on many descriptors: a native thread for those that have a word, the event loop itself for the others. One for
 * each environment is enough. Never keeps the process alive unless `ref()` was called. Not collected while it watches
 * anything.
 */
export interface Watcher {
  /**
   * Wait once for `descriptor` to become readable (a pidfd: for the process to have ended). After it fires it is
   * disarmed until `rearm`. The callback is called with `token` on the event loop.
   *
   * With a word, a thread first adds 1 to `word[index]` with a sequentially consistent atomic. A spinning program thus
   * sees it without its event loop. The thread also wakes futex waiters on that word. `word` must lie in memory that
   * `mapMemory` made or in a SharedArrayBuffer. The watcher holds `word` until `remove`, and a duplicate of
   * `descriptor`: the caller may close its own.
   */
  add(token: number, descriptor: number, word?: Int32Array, index?: number): void
  /** Wait again, once. */
  rearm(token: number): void
  /**
   * Forget `token`. Afterwards the callback is not called with it and `word` is not touched. Unknown tokens are
   * ignored.
   */
  remove(token: number): void
  ref(): void
  unref(): void
  /** Stop waiting, and stop the thread if there is one. Idempotent. */
  close(): void
}

/** The typed arrays of a call of the arrays' functions: up to seven one by one, or any number in a list. */
export type ArrayMemories = readonly ArrayBufferView[] | readonly [readonly ArrayBufferView[]]

export interface Addon {
  // ---- shared memory objects
  // -------------------------------------------------------------------------------------------------
  /**
   * Create a memory object: memfd_create(2) and ftruncate(2). `hugePageBytes` is 0, 2 MiB or 1 GiB. The name is only
   * shown to people (/proc). Close-on-exec.
   */
  createMemory(name: string, lengthBytes: number, hugePageBytes: number): number
  /** Grow a memory object: ftruncate(2). Objects of `createMemory` are sealed against shrinking. */
  resizeMemory(descriptor: number, lengthBytes: number): void
  /**
   * Take the space now, or throw ENOSPC/ENOMEM: fallocate(2). On a memfd the kernel would go on until it kills a
   * process. So the request is first compared with what the machine and the control groups have left. Two concurrent
   * requests may both be let in.
   */
  reserveMemory(descriptor: number, offsetBytes: number, lengthBytes: number): void
  /** Give the space back: fallocate(2) PUNCH_HOLE | KEEP_SIZE. The bytes read as zero afterwards. */
  releaseMemory(descriptor: number, offsetBytes: number, lengthBytes: number): void
  /**
   * Take the memory under `bytes` by touching it (MADV_HUGEPAGE, MADV_POPULATE_WRITE), so that the kernel may use huge
   * pages. `bytes` are whole pages of the mapping of `descriptor` from `offsetBytes`. Returns 0 or a negative errno:
   * -ENOMEM if there is no room.
   */
  populateHuge(descriptor: number, offsetBytes: number, bytes: Uint8Array): number
  describeMemory(descriptor: number): MemoryDescription
  /** dup(2) with close-on-exec. */
  duplicateDescriptor(descriptor: number): number
  closeDescriptor(descriptor: number): void

  // ---- mappings
  // --------------------------------------------------------------------------------------------------------------
  /**
   * Map an object as one external ArrayBuffer of at most 4 GiB: mmap(2) MAP_SHARED read-write, MADV_DONTFORK.
   * `offsetBytes` and `lengthBytes` are multiples of the object's pages, within its present length. A touch beyond the
   * end is SIGBUS, so do not shrink a mapped object. Unmapped by `unmapMemory` or when collected.
   */
  mapMemory(descriptor: number, offsetBytes: number, lengthBytes: number, flags: number): ArrayBuffer
  /**
   * Replace the mapping by private anonymous memory until the buffer is collected: a stray access is harmless and
   * reaches no other process. Idempotent; throws for a buffer that `mapMemory` did not make. The buffer is not
   * detached, because that slows every typed array of the environment down.
   */
  unmapMemory(buffer: ArrayBuffer): void
  /** Return the address of the bytes, for keys, registrations and userfaultfd. */
  addressOf(view: ArrayBufferView | ArrayBufferLike): number
  /**
   * Map `lengthBytes` of the object over the pages of a shared WebAssembly.Memory at `viewOffsetBytes` (MAP_FIXED,
   * MADV_DONTFORK). Returns the address. `memory` must be a WebAssembly.Memory made with `shared: true`. All offsets
   * and lengths must be page multiples and in bounds. The memory is not collected while it holds a view of this
   * environment; the environment's end ends its views.
   */
  mapView(
    memory: PageMemory,
    viewOffsetBytes: number,
    descriptor: number,
    offsetBytes: number,
    lengthBytes: number,
  ): number
  /** Map anonymous memory back over that part, so that a stray access is harmless. */
  unmapView(memory: PageMemory, viewOffsetBytes: number, lengthBytes: number): void
  /**
   * Allow only loads until the view is unmapped (mprotect). A store ends the process with status 72 and writes `label`
   * (at most 511 bytes) to standard error. The SIGSEGV handler that does this passes on signals that are not its own.
   * Throws ENOSPC if the process has 1024 such views.
   */
  makeViewReadOnly(address: number, lengthBytes: number, label: string): void

  // ---- userfaultfd
  // -----------------------------------------------------------------------------------------------------------
  /**
   * Open a non-blocking userfaultfd: by the system call, else /dev/userfaultfd, else with UFFD_USER_MODE_ONLY. Asks for
   * minor faults and write-protect on shared memory, write-protect flags, and thread ids. Otherwise throws a
   * SystemError to be reported as UnsupportedError.
   */
  openUserfault(): UserfaultDescription
  /** Register a view's range for missing + minor + write-protect faults. */
  registerUserfault(descriptor: number, address: number, lengthBytes: number): void
  unregisterUserfault(descriptor: number, address: number, lengthBytes: number): void
  /**
   * UFFDIO_CONTINUE over the range, page by page where parts are mapped already (those are woken instead).
   * Returns bytes newly mapped, or a negative errno (-EFAULT: the memory object has a hole there; fill it first).
   */
  installPages(descriptor: number, address: number, lengthBytes: number, writeProtected: boolean): number
  /** UFFDIO_WRITEPROTECT on or off. Off also wakes waiting writers. Returns 0 or a negative errno. */
  protectPages(descriptor: number, address: number, lengthBytes: number, protect: boolean): number
  /**
   * MADV_DONTNEED on a view's range: the next touch faults. Does not wake waiting writers (see `wakePages`). Returns 0
   * or a negative errno.
   */
  zapPages(address: number, lengthBytes: number): number
  /** UFFDIO_WAKE, also for a former view. Returns 0 or a negative errno. */
  wakePages(descriptor: number, address: number, lengthBytes: number): number
  /**
   * From now on `takeFaults` and `pollAnswering` of this thread answer those faults of region `region` whose answer is
   * known. The page's word in `words` (see dsm/mmu/page-words.ts) then says that the process has the right
   * already, or that the page is untouched. `windows` lists its views (see dsm/mmu/window-table.ts). Replaces an
   * earlier lane of the region.
   */
  openFaultLane(region: number, words: Int32Array, windows: Float64Array, pageBytes: number): void
  /** Stop answering faults of that region. */
  closeFaultLane(region: number): void
  /**
   * Read waiting faults into `out` without blocking, {@link FAULT_NUMBERS} numbers each. These are address, flags,
   * thread id, {@link FaultAnswer}, the lane's region (-1: none), and how long the answer took in nanoseconds. Returns
   * how many. Non-fault events are skipped.
   */
  takeFaults(userfault: number, out: Float64Array): number
  /**
   * Do `poll` (with a time limit), and `takeFaults` whenever a fault comes. Answered faults do not end the sleep, but
   * limit it to another millisecond.
   */
  pollAnswering(
    userfault: number,
    descriptors: Int32Array,
    ready: Int32Array,
    count: number,
    timeoutMs: number,
    out: Float64Array,
  ): number
  /**
   * Measure how long loads take when a C thread answers their page faults, in nanoseconds. It is the baseline for an
   * agent's answers. `descriptor` is a userfaultfd that has no other reader. Each of the 1 to 4096 samples touches
   * another page, after a pause of `calmMs` (0 to 1) in which the thread falls asleep.
   */
  timeFaults(descriptor: number, samplesNs: Float64Array, calmMs: number): void

  // ---- sleeping and waking
  // ---------------------------------------------------------------------------------------------------
  /**
   * Wait until `descriptors[i]` are readable: poll(2). Negative descriptors are ignored; `ready[i]` receives the
   * PollFlag bits. Returns how many are ready. `timeoutMs` may have a fraction; -1 waits forever.
   */
  poll(descriptors: Int32Array, ready: Int32Array, count: number, timeoutMs: number): number
  /**
   * Create a non-blocking close-on-exec pipe, used as a doorbell: [read end, write end]. Other processes of the user
   * open the write end through /proc/PID/fd, with O_WRONLY | O_NONBLOCK: the flag belongs to each opening.
   */
  createPipe(): [number, number]
  /** Make a FIFO that only this user may open: mkfifo(3). */
  createFifo(path: string): void
  /**
   * Write one byte. Returns 0 or a negative errno. A full pipe counts as success, since it is readable anyway; -EPIPE
   * means that there is no reader left. Never raises SIGPIPE.
   */
  ringPipe(writeEnd: number): number
  /** Read all waiting bytes. Returns how many. */
  drainPipe(readEnd: number): number
  /**
   * Sleep while `word[index] === expected`: a shared futex on any Int32Array in mapped or shared memory. Returns a
   * FutexResult. Blocks the thread.
   */
  futexWait(word: Int32Array, index: number, expected: number, timeoutMs: number): number
  /**
   * Sleep on up to 128 words at once: futex_waitv(2) (Linux 5.16). Returns the index that was woken, -1 if a value
   * differs already, -2 on timeout, -3 when interrupted.
   */
  futexWaitAny(words: readonly Int32Array[], indexes: Int32Array, expected: Int32Array, timeoutMs: number): number
  /** Wake up to `count` waiters. Returns how many were woken. */
  futexWake(word: Int32Array, index: number, count: number): number

  // ---- streams of TCP, many at a time
  // -----------------------------------------------------------------------------------------
  /** Listen at an address in digits, IPv4 or IPv6: socket(2), bind(2), listen(2). Port 0: any that is free. */
  listenStream(address: string, port: number): number
  /**
   * connect(2), from the address `source` unless that is empty. Once it is connected it is writable; if it cannot be,
   * it has ended.
   */
  connectStream(address: string, port: number, source: string): number
  /** Such as `127.0.0.1:6379` or `[::1]:6379`: getpeername(2), getsockname(2). '' of one that is not connected. */
  streamAddress(descriptor: number, ofPeer: boolean): string
  /** epoll_create1(2). It is readable while one of its streams has an event. */
  createStreamSet(): number
  /** Watch a stream, for bits of StreamInterest: epoll_ctl(2). One that is closed is watched no more. */
  addStream(set: number, descriptor: number, interest: number): void
  /** Watch it for something else. */
  changeStream(set: number, descriptor: number, interest: number): void
  /** Watch it no more, whatever `interest` is. */
  removeStream(set: number, descriptor: number, interest: number): void
  /**
   * Take what has come on the streams of a set, without waiting: epoll_wait(2), accept4(2), recv(2). Returns the number
   * of events. Each is four numbers: the descriptor, a StreamEvent, and two of its own.
   *
   * - `Received`: where its bytes begin in `bytes`, and how many they are.
   * - `Ended`: 0, and an errno; 0 if the peer has ended it.
   * - `Accepted`: 0, and the listener. The descriptor is in the set already, watched for reads, with TCP_NODELAY.
   * - `NotAccepted`: of a listener; 0, and an errno, such as EMFILE. The caller who waits keeps it ready.
   *
   * What finds no room stays for the next call. Where nothing has come, it looks again and again for `spinNs`, at most
   * a millisecond.
   */
  pollStreams(set: number, events: Int32Array, bytes: Uint8Array, spinNs: number): number
  /** send(2). Returns how many bytes were taken, 0 if there is no room for any, or a negative errno. */
  sendStream(descriptor: number, bytes: Uint8Array): number
  /**
   * The same of many streams, on up to `threads` threads. `sends` has {@link SEND_NUMBERS} numbers for each: the
   * descriptor, and where its part of `bytes` begins and how many bytes it has. What `sendStream` returns takes the
   * place of the last. A stream may be in it once.
   */
  sendStreams(sends: Int32Array, count: number, bytes: Uint8Array, threads: number): void
  /**
   * Answer each `GET` and `HGET` of RESP at the start of `requests`, up to the first that the records of a table do
   * not answer. Returns how many of those bytes are answered. The replies are written to the start of
   * `replies`.
   *
   * @param chunks the table's: see `src/index-service/memory/layout.ts`. The caller is the one that writes it.
   * @param numbers by {@link LookNumber}: three that are read, and three that are written.
   */
  answerLooks(chunks: readonly Uint8Array[], requests: Uint8Array, replies: Uint8Array, numbers: Float64Array): number
  /**
   * Write the requests of RESP at the start of `requests` to `packed`, as a shard's log has calls. It stops before one
   * that is not whole, has a number of more than four digits, or finds no room. Returns how many there are.
   *
   * @param numbers by {@link PackedNumber}, for as many requests as have room there.
   */
  packRequests(requests: Uint8Array, packed: Uint8Array, numbers: Int32Array): number
  /**
   * Do each `SET` and `MSET` at the start of calls of a shard's log. It stops before one that finds no room. So it does
   * at a key that holds something else than a string without expiry, and at a new tuple. Returns how many are done.
   *
   * @param chunks the table's, as in {@link Addon.answerLooks}.
   * @param released gets the places of the records that were replaced. It stops where no more have room there.
   * @param numbers by {@link SetNumber}.
   */
  setStrings(chunks: readonly Uint8Array[], calls: Uint8Array, released: Int32Array, numbers: Float64Array): number
  /**
   * Add keys of a snapshot to a table that has none of them: strings that do not expire, and are not tuples. It stops
   * before any other, and before one without room. Returns how many were added.
   *
   * @param chunks the table's, as in {@link Addon.answerLooks}.
   * @param numbers by {@link AddNumber}.
   */
  addStrings(chunks: readonly Uint8Array[], bytes: Uint8Array, numbers: Float64Array): number
  /**
   * Count keys of a snapshot up to the first that is no string, or a tuple. `numbers` has where it begins, and then
   * where it stopped.
   */
  countStrings(bytes: Uint8Array, numbers: Float64Array): number
  /**
   * Write the keys of a table as a snapshot has them. It takes whole buckets, up to one that has something else than
   * strings, or finds no room. Returns how many.
   *
   * @param chunks the table's, as in {@link Addon.answerLooks}.
   * @param numbers by {@link PackNumber}.
   */
  packStrings(chunks: readonly Uint8Array[], target: Uint8Array, numbers: Float64Array): number
  /** Ask an idle peer whether it lives after that many seconds: SO_KEEPALIVE, TCP_KEEPIDLE. */
  keepStreamAlive(descriptor: number, seconds: number): void
  /** Tell the peer that nothing more comes: shutdown(2). */
  endStream(descriptor: number): void

  // ---- processes and threads
  // -------------------------------------------------------------------------------------------------
  /** Open a pidfd, which is readable once the process has ended: pidfd_open(2). */
  openProcess(processId: number): number
  /**
   * Open a pidfd of one thread of any process, which is readable once that thread has ended. EINVAL before Linux 6.9.
   */
  openThread(threadId: number): number
  /**
   * The kernel's number of a thread that does nothing and ends with this process. It ends as soon as the process is
   * killed. The process itself counts as ended when its memory has been given back, which takes 10 ms and more.
   */
  lifeThread(): number
  /** Send SIGKILL by a pidfd: pidfd_send_signal(2). Nothing happens to a process that has ended. */
  killProcess(descriptor: number): void
  createWatcher(callback: (token: number) => void): Watcher
  /**
   * Copy from a process into `into`: process_vm_readv(2). Throws EPERM if Yama forbids it and the owner has not called
   * `allowProcessAccess`.
   */
  readProcess(processId: number, address: number, into: Uint8Array): void
  /** Copy into a process: process_vm_writev(2). */
  writeProcess(processId: number, address: number, from: Uint8Array): void
  /**
   * Let process `processId` (-1: any of the user) copy from and to this process under Yama: prctl(PR_SET_PTRACER).
   * Returns true if Yama is active, false if this is not needed.
   */
  allowProcessAccess(processId: number): boolean
  threadId(): number
  setAffinity(processors: Int32Array): void
  getAffinity(): Int32Array
  /**
   * Return the processors that `setAffinity` accepts: those of the machine that the cpuset of the process allows,
   * whatever the calling thread is pinned to.
   */
  allowedProcessors(): Int32Array
  /**
   * Ask the fair scheduler for time slices of `sliceNs` (100 µs to 100 ms) for a thread, 0 for the calling one:
   * sched_setattr(2). A waking thread with a short slice goes before a computing one with a long slice (EEVDF, Linux >=
   * 6.12). Returns false if the kernel or the thread's policy has no slices.
   */
  setSlice(sliceNs: number, threadId: number): boolean
  /**
   * Set by how much the calling thread's sleeps may be prolonged, 1 to 10^9 ns: PR_SET_TIMERSLACK. Linux starts with
   * 50,000.
   */
  setTimerSlack(slackNs: number): void
  /**
   * Return how often thread `threadId` of this process was put on a processor (/proc/self/task/TID/schedstat), or -1 if
   * it is gone.
   */
  threadTurns(threadId: number): number
  /** Return CLOCK_MONOTONIC in nanoseconds. */
  monotonicNs(): number
  /** Return the processor time of the calling thread, or of the whole process, in nanoseconds. */
  processorNs(wholeProcess: boolean): number
  /** Return how often the calling thread was taken its processor away: getrusage(2), ru_nivcsw. */
  threadPreemptions(): number
  /**
   * Lock a file: flock(2) LOCK_EX (or LOCK_EX|LOCK_NB). Returns true when taken, false if it is held elsewhere and
   * `wait` is false.
   */
  lockFile(descriptor: number, wait: boolean): boolean
  unlockFile(descriptor: number): void
  /**
   * From now on, when *this environment* ends, the process ends at once with `_exit(code)`, after writing `message` to
   * standard error.
   */
  guardEnvironment(code: number, message: string): void
  /** Remove the guard. */
  unguardEnvironment(): void
  /** Throw the SystemError of a call that failed with `errno`, with advice that names the limit that was met. */
  throwSystemError(syscall: string, errno: number): never
  /** End the process at once: _exit(2). */
  exitNow(code: number): never

  // ---- arrays
  // -----------------------------------------------------------------------------------------------------------------
  // Each takes `numbers`, which describe the call, and the typed arrays that it reads and writes. The first number says
  // how many numbers there are; `src/arrays/kernels/call.ts` writes them. What would read or write outside of a
  // memory is an ArgumentError.
  /**
   * The operations in their order, and which kernels there are. There is a byte for each operation and data type, then
   * one for each pair of types that `cast` takes.
   */
  arrayKernels(): { readonly operations: readonly string[]; readonly table: Uint8Array }
  /** Compute a program of element-wise steps. */
  runArrayProgram(numbers: Float64Array, ...memories: ArrayMemories): void
  /** Sums, products, least and greatest elements along axes. */
  reduceArray(numbers: Float64Array, ...memories: ArrayMemories): void
  /** Blocks of Philox 4x64-10 from the counter on, into all of `words`: 16, 32, and a multiple of 32 bytes. */
  philoxBlocks(key: Uint32Array, counter: Uint32Array, words: Uint32Array): void
  /**
   * Standard normal numbers from 64-bit words, as far as both reach. It stops before a number of the tail, and before
   * one that needs more words. `layers` are the widths, inner places and heights of 256 layers. `counts` gets how many
   * words were taken, and how many numbers were made.
   */
  normalNumbers(layers: Float64Array, words: Uint32Array, numbers: Float64Array, counts: Uint32Array): void
  /** Sort lines of neighbouring elements, or the indices of their elements; equal ones keep their order. */
  sortArray(numbers: Float64Array, ...memories: ArrayMemories): void
  /** Take elements by index or by a mask. Returns how many there were, or -1 if an index was outside. */
  selectFromArray(numbers: Float64Array, ...memories: ArrayMemories): number
  /** Matrix products. */
  multiplyMatrices(numbers: Float64Array, ...memories: ArrayMemories): void
  /**
   * A Fourier transform of complex numbers in place, or from a line of a block to a line of another. `numbers` are
   * those of `src/arrays/kernels/native-transforms.ts`. `work` is written over.
   */
  transformLine(
    numbers: Float64Array,
    roots: Float64Array,
    re: Float64Array,
    im: Float64Array,
    workRe: Float64Array,
    workIm: Float64Array,
    ...sourceAndTarget: readonly [] | readonly [source: Float64Array, target: Float64Array]
  ): void
  /**
   * Memory for a result, with anything in it. Once the collector has found that nothing refers to the buffer, another
   * result may have its memory. Undefined if there is no memory, or if this runtime takes no external buffers.
   */
  takeArrayMemory(bytes: number): ArrayBuffer | undefined
  /** The buffer is given to code that may transfer() it: no other result has its memory before it is finalized. */
  keepArrayMemory(buffer: ArrayBufferLike): void
  /** Give what no result has back to the system. */
  trimArrayMemory(): void
}
