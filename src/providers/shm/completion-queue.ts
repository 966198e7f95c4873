import { AsyncEventType } from '../async-event.ts'
import { CompletionBatch } from '../completion-batch.ts'
import type { ProviderCompletionQueue } from '../completion-contract.ts'
import type { CompletionOwner } from '../soft/completion-owner.ts'
import { checkResize, refuseWhileFed } from '../soft/completion-queue-rules.ts'
import type { ShmCompletionChannel } from './completion-channel.ts'
import { powerOfTwoAtLeast, QUEUE_WORDS, QueueWord } from './layout.ts'
import type { OwnDevice } from './own-device.ts'
import { pipeInode } from './pipe.ts'

interface QueueDevice extends OwnDevice {
  forgetQueue(queue: ShmCompletionQueue): void
}

/** A ring of receives whose next result can be seen in place. */
export interface ArrivalRing {
  readonly hasArrived: boolean
  /**
   * Move what has arrived straight into the polled batch, as completions of queue pair `number`. Returns the number of
   * rows. It stops before a failed receive.
   */
  take(batch: CompletionBatch, number: number): number
}

/** An object whose receives complete here. */
export interface Receiver {
  readonly label: string
  readonly number: number
  /** Its ring, if it has one of its own that one peer sends to. */
  readonly ring: ArrivalRing | undefined
  /** Add completions of what has arrived in `ring`, and nothing else. */
  collectArrived(): void
  /**
   * Add completions of what senders consumed, as far as there is room. Returns false if something is left to wait for.
   */
  collectReceives(): boolean
  /** The queue is overrun. */
  overrun(): void
}

/** A queue of receives that several queue pairs share. */
export interface SharedSource {
  /**
   * Add completions of what senders consumed, of all its queue pairs. Returns false if something is left to wait for.
   */
  collect(polled: ShmCompletionQueue | undefined): boolean
}

/**
 * Polls between two full looks that do not rely on announcements: a peer may be killed between publishing and counting.
 * A power of two.
 */
const HOUSEKEEPING_POLLS = 1024
/** Polls between two atomic loads of the arrivals. A power of two. */
const ATOMIC_POLLS = 256

/**
 * Completions of this thread's sends, merged at poll with those that peers published in the blocks of the attached
 * queue pairs. `Arrivals` counts the published ones, so an idle poll is one load. If a single ring feeds the queue,
 * that load is of the ring's next result. The line of the arrivals then stays with the sender.
 */
export class ShmCompletionQueue implements ProviderCompletionQueue {
  depth: number
  readonly channel: ShmCompletionChannel | undefined
  readonly index: number
  /** Queue pairs whose receives complete here. */
  readonly #receivers = new Set<Receiver>()
  /** The receiver, if there is only one and its ring shows what arrives. */
  #lone: Receiver | undefined
  #ring: ArrivalRing | undefined
  #loneNumber = 0
  /** Queue pairs whose sends complete here. */
  readonly senders: Set<Receiver> = new Set<Receiver>()
  overrun = false
  /** The shared receive queues of queue pairs whose receives complete here, each with the number of those pairs. */
  readonly #shared = new Map<SharedSource, number>()
  /**
   * How many completions of shared receives were ever added here, and how many other announcements there were at the
   * last look at all receivers.
   */
  #sharedRows = 0
  #announcedOtherwise = 0
  readonly #device: QueueDevice
  readonly #words: Int32Array
  readonly #at: number
  #rows: CompletionBatch
  #owners: (CompletionOwner | undefined)[]
  #generations: Int32Array
  /** What polling a row frees: that many send slots; 0: one receive slot; FREES_NOTHING: no slot. */
  #covered: Int32Array
  #mask: number
  #head = 0
  #tail = 0
  #seenArrivals = 0
  #polls = 0
  #armSequence = 0
  #armedAtArrivals = 0
  #armRequested = false
  /** The same until a poll finds that the event was sent. Until then a poll may decide whether its caller sleeps. */
  #isArmed = false

  constructor(device: QueueDevice, index: number, depth: number, channel: ShmCompletionChannel | undefined) {
    const size = powerOfTwoAtLeast(depth)
    this.#device = device
    this.index = index
    this.depth = size
    this.channel = channel
    this.#words = device.segment.queues
    this.#at = index * QUEUE_WORDS
    this.#rows = new CompletionBatch(size)
    this.#owners = new Array<CompletionOwner | undefined>(size).fill(undefined)
    this.#generations = new Int32Array(size)
    this.#covered = new Int32Array(size)
    this.#mask = size - 1
    this.#words[this.#at + QueueWord.Armed] = 0
    this.#words[this.#at + QueueWord.ChannelInode] = channel === undefined ? 0 : pipeInode(channel.writeEnd)
    this.#words[this.#at + QueueWord.Channel] = channel === undefined ? 0 : channel.writeEnd + 1
    this.#seenArrivals = Atomics.load(this.#words, this.#at + QueueWord.Arrivals)
    channel?.queues.add(this)
  }

  poll(batch: CompletionBatch): number {
    if (this.#device.pendingCount !== 0) this.#device.progress()
    this.#polls = (this.#polls + 1) & (HOUSEKEEPING_POLLS - 1)
    if (this.#polls % ATOMIC_POLLS === 0) this.#lookClosely()
    else if (this.#ring !== undefined && !this.#isArmed) {
      if (this.#ring.hasArrived) {
        // If no completion is queued before it, it goes straight into the batch.
        const rows = this.#head === this.#tail ? this.#ring.take(batch, this.#loneNumber) : 0
        if (rows > 0) return rows
        this.#lone?.collectArrived()
      }
    } else if (this.#arrivals() !== this.#seenArrivals) {
      this.collect()
      if (Atomics.load(this.#words, this.#at + QueueWord.Armed) !== this.#armSequence) this.#isArmed = false
    }
    if (this.#head === this.#tail) return 0
    let row = 0
    while (row < batch.capacity && this.#head !== this.#tail) if (this.#take(batch, row)) row += 1
    return row
  }

  /**
   * A plain load costs a tenth of an atomic one here. If the engine keeps its value, `#lookClosely` corrects that. But
   * the poll between `arm` and sleeping decides whether the caller sleeps. So it must see at least what was there when
   * the queue was armed.
   */
  #arrivals(): number {
    return (this.#isArmed ? Atomics.load(this.#words, this.#at) : this.#words[this.#at])!
  }

  /** True if there is room for `count` more rows. */
  hasRoom(count: number): boolean {
    return ((this.#tail - this.#head) | 0) + count <= this.depth
  }

  /** Append a completion that this thread made, and wake a caller that armed the queue. */
  pushLocal(
    pair: CompletionOwner,
    covered: number,
    id: number,
    status: number,
    opcode: number,
    byteLength: number,
  ): number {
    const row = this.push(pair, covered, id, status, opcode, byteLength)
    if (this.#armRequested) this.#notify(status !== 0)
    return row
  }

  /**
   * Append a completion of `pair`; `covered` is as in the field. If the queue is full, it is overrun: the row is lost,
   * and its queue pairs fail.
   */
  push(pair: CompletionOwner, covered: number, id: number, status: number, opcode: number, byteLength: number): number {
    if (covered < 0) this.#sharedRows = (this.#sharedRows + 1) | 0
    if (((this.#tail - this.#head) | 0) >= this.depth) return this.#overflow()
    const at = this.#tail & this.#mask
    const rows = this.#rows
    rows.id[at] = id
    rows.byteLength[at] = byteLength
    rows.status[at] = status
    rows.opcode[at] = opcode
    rows.flags[at] = 0
    rows.queuePairNumber[at] = pair.number
    rows.sourceQueuePair[at] = 0
    if (status !== 0) rows.vendorError[at] = 0
    this.#owners[at] = pair
    this.#generations[at] = pair.generation
    this.#covered[at] = covered
    this.#tail = (this.#tail + 1) | 0
    return at
  }

  /** Set the fields that few completions have, for the row that `push` returned. */
  annotate(row: number, flags: number, immediate: number, sourceNumber: number, vendorError: number): void {
    if (row < 0) return
    this.#rows.flags[row] = flags
    this.#rows.immediate[row] = immediate
    this.#rows.sourceQueuePair[row] = sourceNumber
    this.#rows.vendorError[row] = vendorError
  }

  addReceiver(receiver: Receiver): void {
    this.#receivers.add(receiver)
    this.#findLone()
  }

  removeReceiver(receiver: Receiver): void {
    this.#receivers.delete(receiver)
    this.#findLone()
  }

  #findLone(): void {
    const [first] = this.#receivers
    this.#lone = this.#receivers.size === 1 ? first : undefined
    this.#ring = this.#lone?.ring
    this.#loneNumber = this.#lone?.number ?? 0
  }

  /** A queue pair whose receives complete here takes them from a shared receive queue. */
  addShared(source: SharedSource): void {
    this.#shared.set(source, (this.#shared.get(source) ?? 0) + 1)
  }

  removeShared(source: SharedSource): void {
    const left = this.#shared.get(source)! - 1
    if (left === 0) this.#shared.delete(source)
    else this.#shared.set(source, left)
  }

  /** Fetch what peers published. The count is read first, so what arrives during the walk is walked again. */
  collect(): void {
    const arrivals = Atomics.load(this.#words, this.#at + QueueWord.Arrivals)
    if (this.#shared.size > 0 && this.#collectShared(arrivals)) this.#seenArrivals = arrivals
    else this.#collectAll(arrivals)
  }

  /**
   * Thousands of queue pairs may share one receive queue; then only that queue is walked. Returns true if it accounts
   * for all announcements, so that no queue pair needs a look of its own. A sender counts after it has published, so
   * there may be fewer announcements than completions.
   */
  #collectShared(arrivals: number): boolean {
    let all = true
    for (const source of this.#shared.keys()) if (!source.collect(this)) all = false
    return all && ((arrivals - this.#sharedRows - this.#announcedOtherwise) | 0) <= 0
  }

  #collectAll(arrivals: number): void {
    let all = true
    for (const receiver of this.#receivers) if (!receiver.collectReceives()) all = false
    if (all) this.#seenArrivals = arrivals
    this.#announcedOtherwise = (arrivals - this.#sharedRows) | 0
  }

  arm(solicitedOnly: boolean): void {
    const at = this.#at
    this.#armSequence = (this.#armSequence & 0x3fffffff) + 1
    this.#armRequested = true
    this.#isArmed = true
    this.#armedAtArrivals = Atomics.load(this.#words, at + QueueWord.Arrivals)
    Atomics.store(this.#words, at + QueueWord.SolicitedOnly, solicitedOnly ? 1 : 0)
    Atomics.store(this.#words, at + QueueWord.Armed, this.#armSequence)
  }

  takeEvent(): boolean {
    if (!this.#armRequested || !this.#announced()) return false
    this.#armRequested = false
    this.#isArmed = false
    Atomics.store(this.#words, this.#at + QueueWord.Armed, 0)
    return true
  }

  /** A peer may have died between publishing, counting and ringing: ring for it. */
  ringIfMissed(): void {
    if (!this.#armRequested) return
    const before = this.#tail
    this.#collectAll(Atomics.load(this.#words, this.#at + QueueWord.Arrivals))
    if (this.#tail !== before) this.#notify(true)
    else if (this.#announced()) this.channel?.ring()
  }

  resize(depth: number): void {
    this.collect()
    const waiting = (this.#tail - this.#head) | 0
    checkResize(depth, waiting)
    this.#move(powerOfTwoAtLeast(depth), waiting)
  }

  destroy(): void {
    refuseWhileFed([...this.#receivers, ...this.senders])
    Atomics.store(this.#words, this.#at + QueueWord.Armed, 0)
    this.#words[this.#at + QueueWord.Channel] = 0
    this.channel?.queues.delete(this)
    this.#device.events.forget(this)
    this.#device.forgetQueue(this)
  }

  /** Move the waiting rows into columns of another size. */
  #move(size: number, waiting: number): void {
    const rows = new CompletionBatch(size)
    const owners = new Array<CompletionOwner | undefined>(size).fill(undefined)
    const generations = new Int32Array(size)
    const covered = new Int32Array(size)
    for (let row = 0; row < waiting; row += 1) {
      const at = (this.#head + row) & this.#mask
      rows.copyRow(row, this.#rows, at)
      owners[row] = this.#owners[at]
      generations[row] = this.#generations[at]!
      covered[row] = this.#covered[at]!
    }
    this.#rows = rows
    this.#owners = owners
    this.#generations = generations
    this.#covered = covered
    this.#mask = size - 1
    this.#head = 0
    this.#tail = waiting
    this.depth = size
  }

  #announced(): boolean {
    const armed = Atomics.load(this.#words, this.#at + QueueWord.Armed)
    return (
      armed !== this.#armSequence || Atomics.load(this.#words, this.#at + QueueWord.Arrivals) !== this.#armedAtArrivals
    )
  }

  #notify(solicited: boolean): void {
    const at = this.#at
    if (Atomics.load(this.#words, at + QueueWord.Armed) === 0) return
    if (!solicited && this.#words[at + QueueWord.SolicitedOnly] === 1) return
    Atomics.store(this.#words, at + QueueWord.Armed, 0)
    this.channel?.ring()
  }

  /**
   * Collect what a plain load has not shown and, now and then, what was never announced. This happens even if there is
   * always something to poll.
   */
  #lookClosely(): void {
    const arrivals = Atomics.load(this.#words, this.#at + QueueWord.Arrivals)
    if (this.#polls === 0) this.#collectAll(arrivals)
    else if (arrivals !== this.#seenArrivals) this.collect()
    else if (this.#ring !== undefined) this.#lone?.collectArrived()
  }

  /**
   * Copy the oldest row out and free its slots. Returns false if its queue pair was reset or destroyed in the meantime.
   */
  #take(batch: CompletionBatch, row: number): boolean {
    const at = this.#head & this.#mask
    this.#head = (this.#head + 1) | 0
    const pair = this.#owners[at]!
    if (pair.generation !== this.#generations[at]) return false
    this.#copyOut(batch, row, at)
    const covered = this.#covered[at]!
    if (covered === 0) pair.retireReceive()
    else if (covered > 0) pair.retireSends(covered)
    return true
  }

  /** Columns that have no meaning for this completion are left as they are. */
  #copyOut(batch: CompletionBatch, row: number, at: number): void {
    const rows = this.#rows
    const flags = rows.flags[at]!
    const status = rows.status[at]!
    batch.id[row] = rows.id[at]!
    batch.status[row] = status
    batch.opcode[row] = rows.opcode[at]!
    batch.flags[row] = flags
    batch.byteLength[row] = rows.byteLength[at]!
    batch.queuePairNumber[row] = rows.queuePairNumber[at]!
    if ((flags | status) !== 0) {
      batch.immediate[row] = rows.immediate[at]!
      batch.vendorError[row] = rows.vendorError[at]!
    }
    batch.sourceQueuePair[row] = rows.sourceQueuePair[at]!
  }

  #overflow(): number {
    if (this.overrun) return -1
    this.overrun = true
    this.#device.events.raise(AsyncEventType.CompletionQueueError, { completionQueue: this })
    for (const user of new Set([...this.senders, ...this.#receivers])) user.overrun()
    return -1
  }
}
