/**
 * The addon, function by function: system calls, no policy, no protocol.
 *
 * Every function checks its arguments and throws {@link ArgumentError}; a failing system call throws
 * {@link SystemError} with errno and what to do. None crashes the process. Functions whose failures are part of normal
 * work say so and return a negative errno.
 *
 * Descriptors, lengths and addresses are numbers (exact below 2^53). `address` parameters are checked against the
 * mappings that this addon made; an address outside of them is an ArgumentError.
 */

/** Bits of `mapMemory`'s flags. */
export const MapFlag = {
  /** Fault the pages in now (MAP_POPULATE). */
  Populate: 1,
  /** Keep them in memory (mlock); needs RLIMIT_MEMLOCK. */
  Lock: 2,
} as const

/** Bits of a page fault's flags as userfaultfd(2) reports them. */
export const FaultFlag = { Write: 1, WriteProtect: 2, Minor: 4 } as const

/**
 * What became of a fault that was read: nothing yet; the page was opened with the right that the process had; an
 * untouched page was opened.
 */
export const FaultAnswer = { None: 0, HadTheRight: 1, Opened: 2 } as const

/** Numbers that tell of one fault. */
export const FAULT_NUMBERS = 6

/** Bits of poll(2). */
export const PollFlag = { Readable: 1, Writable: 4, Error: 8, HangUp: 16, Invalid: 32 } as const

/** What `futexWait` returns. */
export const FutexResult = { Woken: 0, ValueDiffers: 1, TimedOut: 2, Interrupted: 3 } as const

/** What a memory object is, from fstat(2). */
export interface MemoryDescription {
  readonly lengthBytes: number
  readonly allocatedBytes: number
  readonly inode: number
  readonly device: number
  readonly userId: number
  /** Size of the pages that hold it: 4096, or the huge page size. */
  readonly pageBytes: number
  /**
   * Whether somebody could make it shorter under those who map it (which would end them with SIGBUS). False for what
   * `createMemory` made.
   */
  readonly shrinkable: boolean
}

/** An open userfaultfd. */
export interface UserfaultDescription {
  readonly descriptor: number
  /** True where the kernel only lets faults from user mode be handled; system calls into a view then give EFAULT. */
  readonly userModeOnly: boolean
  /** The feature bits that the kernel granted. */
  readonly features: number
}

/**
 * A WebAssembly.Memory made with `shared: true`, as far as it matters here. Its own type would oblige every user of
 * this package to have a browser's declarations at hand, which are the only ones that TypeScript has of it.
 */
export interface PageMemory {
  readonly buffer: ArrayBuffer | SharedArrayBuffer
}

/**
 * Waits on many descriptors: a native thread for those that have a word, the event loop itself for the others. One an
 * environment is plenty. Never keeps the process alive unless `ref()` was called. Not collected while it watches
 * anything.
 */
export interface Watcher {
  /**
   * Wait for `descriptor` to become readable (a pidfd: for the process to have ended), once: after it fired it is
   * disarmed until `rearm`. The callback is called with `token` on the event loop. Where there is a word, a thread
   * first adds 1 to `word[index]` with a sequentially consistent atomic (so that a program that spins sees it without
   * its event loop), and wakes futex waiters on that word. The watcher holds `word` until `remove`, and a duplicate of
   * `descriptor`: the caller may close his. `word` must lie in memory that `mapMemory` made or in a SharedArrayBuffer.
   */
  add(token: number, descriptor: number, word?: Int32Array, index?: number): void
  /** Wait once more. */
  rearm(token: number): void
  /**
   * Forget `token`. After it returns the callback is not called with it and `word` is not touched. Unknown tokens are
   * ignored.
   */
  remove(token: number): void
  ref(): void
  unref(): void
  /** Wait for nothing any more, and stop the thread where there is one. Idempotent. */
  close(): void
}

export interface Addon {
  // ---- shared memory objects
  // -------------------------------------------------------------------------------------------------
  /**
   * memfd_create(2) + ftruncate. `hugePageBytes` is 0, 2 MiB or 1 GiB. The name is only for people (/proc).
   * Close-on-exec.
   */
  createMemory(name: string, lengthBytes: number, hugePageBytes: number): number
  /** ftruncate(2), to a greater length: what `createMemory` made is sealed against shrinking. */
  resizeMemory(descriptor: number, lengthBytes: number): void
  /**
   * fallocate(2): take the space now, or throw ENOSPC/ENOMEM. On a memfd the kernel would go on until it kills a
   * process, so what is asked for is compared first with what the machine and the control groups have left; two that
   * reserve at once may both be let in.
   */
  reserveMemory(descriptor: number, offsetBytes: number, lengthBytes: number): void
  /** fallocate(2) PUNCH_HOLE | KEEP_SIZE: give the space back; the bytes read as zero afterwards. */
  releaseMemory(descriptor: number, offsetBytes: number, lengthBytes: number): void
  /**
   * Take the memory under `bytes`, whole pages of the mapping of `descriptor` from `offsetBytes` on, by touching it
   * (MADV_HUGEPAGE, MADV_POPULATE_WRITE): the kernel may make it of huge pages then. Returns 0 or a negative errno:
   * -ENOMEM where there is no room.
   */
  populateHuge(descriptor: number, offsetBytes: number, bytes: Uint8Array): number
  describeMemory(descriptor: number): MemoryDescription
  /** dup(2) with close-on-exec. */
  duplicateDescriptor(descriptor: number): number
  closeDescriptor(descriptor: number): void

  // ---- mappings
  // --------------------------------------------------------------------------------------------------------------
  /**
   * mmap(2) MAP_SHARED read-write, MADV_DONTFORK, as one external ArrayBuffer (at most 4 GiB). `offsetBytes` and
   * `lengthBytes` are multiples of the object's pages, within its present length: a touch beyond it is SIGBUS, so do
   * not shrink an object that is mapped. Unmapped by `unmapMemory` or when collected.
   */
  mapMemory(descriptor: number, offsetBytes: number, lengthBytes: number, flags: number): ArrayBuffer
  /**
   * Lay memory of nobody over it, until it is collected: a stray access is harmless and reaches nobody. Idempotent;
   * throws for a buffer that `mapMemory` did not make. The buffer is not detached, because that slows every typed array
   * of the environment down.
   */
  unmapMemory(buffer: ArrayBuffer): void
  /** Where the bytes are, for keys, registrations and userfaultfd. */
  addressOf(view: ArrayBufferView | ArrayBufferLike): number
  /**
   * Lay `lengthBytes` of the object over the pages of a shared WebAssembly.Memory at `viewOffsetBytes` (MAP_FIXED,
   * MADV_DONTFORK). Returns the address. `memory` must be a WebAssembly.Memory made with `shared: true`; everything
   * page multiples and in bounds. The memory is not collected while a view of this environment lies in it; the
   * environment's end ends its views.
   */
  mapView(
    memory: PageMemory,
    viewOffsetBytes: number,
    descriptor: number,
    offsetBytes: number,
    lengthBytes: number,
  ): number
  /** Lay anonymous memory back over that part, so that a stray access is harmless. */
  unmapView(memory: PageMemory, viewOffsetBytes: number, lengthBytes: number): void
  /**
   * Only loads from now on, until the view is unmapped (mprotect). A store ends the process with status 72 and `label`
   * (at most 511 bytes) on standard error, by a handler of SIGSEGV that passes on what is not its own. ENOSPC where the
   * process has 1024 such views.
   */
  makeViewReadOnly(address: number, lengthBytes: number, label: string): void

  // ---- userfaultfd
  // -----------------------------------------------------------------------------------------------------------
  /**
   * Open one, non-blocking: by the system call, else /dev/userfaultfd, else with UFFD_USER_MODE_ONLY. Asks for minor
   * faults on shared memory, write-protect on shared memory, write-protect flags, and thread ids. Throws
   * UnsupportedError-worthy SystemError otherwise.
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
  /** UFFDIO_WAKE, also where a view was until now. Returns 0 or a negative errno. */
  wakePages(descriptor: number, address: number, lengthBytes: number): number
  /**
   * From now on `takeFaults` and `pollAnswering` of this thread answer faults of region `region` of which the answer is
   * known: the page's word of `words` (see dsm/coherent/page-words.ts) says that the process has the right already, or
   * that the page is untouched. `windows` is where its views are (see dsm/coherent/window-table.ts). Replaces an
   * earlier lane of the region.
   */
  openFaultLane(region: number, words: Int32Array, windows: Float64Array, pageBytes: number): void
  /** No fault of that region is answered any more. */
  closeFaultLane(region: number): void
  /**
   * Read waiting faults without blocking into `out`, {@link FAULT_NUMBERS} numbers each: address, flags, thread id,
   * {@link FaultAnswer}, the lane's region (-1: none), and how long the answer took in nanoseconds. Returns how many.
   * Non-fault events are skipped.
   */
  takeFaults(userfault: number, out: Float64Array): number
  /**
   * As `poll` (with a limit in time), and as `takeFaults` whenever a fault comes: faults that were answered do not end
   * the sleep, but bound it to a millisecond more.
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
   * How long loads take whose page faults a C thread answers, in nanoseconds: what an agent's answers can be held
   * against. `descriptor` is a userfaultfd that nobody else reads. Each of the 1 to 4096 samples touches another page,
   * after a pause of `calmMs` (0 to 1) in which the thread falls asleep.
   */
  timeFaults(descriptor: number, samplesNs: Float64Array, calmMs: number): void

  // ---- sleeping and waking
  // ---------------------------------------------------------------------------------------------------
  /**
   * poll(2): `descriptors[i]` for readability (negative ones are ignored); `ready[i]` receives its PollFlag bits.
   * Returns how many are ready. `timeoutMs` may have a fraction; -1 waits for ever.
   */
  poll(descriptors: Int32Array, ready: Int32Array, count: number, timeoutMs: number): number
  /**
   * A non-blocking close-on-exec pipe, used as a doorbell: [read end, write end]. Other processes of the user open the
   * write end through /proc/PID/fd, with O_WRONLY | O_NONBLOCK: the flag belongs to each opening.
   */
  createPipe(): [number, number]
  /**
   * Write one byte. Returns 0 (also when the pipe is full: it is readable anyway), or a negative errno (-EPIPE: nobody
   * reads it any more). Never raises SIGPIPE.
   */
  ringPipe(writeEnd: number): number
  /** Read all that is there. Returns how many bytes. */
  drainPipe(readEnd: number): number
  /**
   * Shared futex on any Int32Array in mapped or shared memory. Sleeps while `word[index] === expected`. Returns a
   * FutexResult. Blocks the thread.
   */
  futexWait(word: Int32Array, index: number, expected: number, timeoutMs: number): number
  /**
   * futex_waitv(2) (Linux 5.16): sleep on up to 128 words at once. Returns the index that was woken, or -1 where a
   * value differs already, -2 on time-out, -3 when interrupted.
   */
  futexWaitAny(words: readonly Int32Array[], indexes: Int32Array, expected: Int32Array, timeoutMs: number): number
  /** Returns how many were woken. */
  futexWake(word: Int32Array, index: number, count: number): number

  // ---- processes and threads
  // -------------------------------------------------------------------------------------------------
  /** pidfd_open(2): readable once the process has ended. */
  openProcess(processId: number): number
  createWatcher(callback: (token: number) => void): Watcher
  /**
   * process_vm_readv(2) into `into`. Throws EPERM where Yama forbids it and the owner has not called
   * `allowProcessAccess`.
   */
  readProcess(processId: number, address: number, into: Uint8Array): void
  /** process_vm_writev(2). */
  writeProcess(processId: number, address: number, from: Uint8Array): void
  /**
   * prctl(PR_SET_PTRACER): let process `processId` (-1: any of the user) copy from and to this process under Yama. True
   * where Yama is there, false where it is not needed.
   */
  allowProcessAccess(processId: number): boolean
  threadId(): number
  setAffinity(processors: Int32Array): void
  getAffinity(): Int32Array
  /**
   * The processors that this machine has and the cpuset of the process allows, whatever the calling thread is pinned
   * to: what `setAffinity` can be given.
   */
  allowedProcessors(): Int32Array
  /**
   * sched_setattr(2): the calling thread asks the fair scheduler for turns of `sliceNs` (100 µs to 100 ms). A thread
   * with short turns that wakes is put on a processor before one with long turns that computes (EEVDF, Linux >= 6.12).
   * False where the kernel or the thread's policy knows no slices.
   */
  setSlice(sliceNs: number): boolean
  /**
   * PR_SET_TIMERSLACK: by how much the calling thread's sleeps may be prolonged, in nanoseconds, 1 to 10^9; Linux
   * starts with 50,000.
   */
  setTimerSlack(slackNs: number): void
  /**
   * How many times thread `threadId` of this process was put on a processor (/proc/self/task/TID/schedstat), or -1 when
   * it is gone.
   */
  threadTurns(threadId: number): number
  /** CLOCK_MONOTONIC in nanoseconds. */
  monotonicNs(): number
  /** Processor time of the calling thread, of the whole process when `wholeProcess`, in nanoseconds. */
  processorNs(wholeProcess: boolean): number
  /** flock(2) LOCK_EX (or LOCK_EX|LOCK_NB): true when taken, false when it is held by another and `wait` is false. */
  lockFile(descriptor: number, wait: boolean): boolean
  unlockFile(descriptor: number): void
  /**
   * From now on the end of *this environment* ends the process at once with `_exit(code)`, after writing `message` to
   * standard error.
   */
  guardEnvironment(code: number, message: string): void
  /** Take the guard off. */
  unguardEnvironment(): void
  /** _exit(2). */
  exitNow(code: number): never
}
