import { setImmediate } from 'node:timers/promises'
import { Random } from '../../../src/runtime/index.ts'
import { GroupStructures } from '../../../src/structures/distributed/group-structures.ts'
import type { Command } from '../../../src/structures/distributed/memory/command.ts'
import { HomeLostError } from '../../../src/structures/distributed/memory/errors.ts'
import type { GroupMemory } from '../../../src/structures/distributed/memory/group-memory.ts'

const LINE_BYTES = 64
const STEP_MS = 0.001

/** A ring that is on its way. */
interface Ring {
  readonly to: number
  readonly home: number
  readonly place: number
}

/** A death that a rank has not been told of, or a ring. */
type News = { readonly to: number; readonly of: number } | Ring

/** A batch that was posted: each step is one atomic, or one line of 64 bytes. */
interface Posted {
  readonly from: number
  readonly home: number
  readonly steps: Generator<void, void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  readonly what: string
}

/**
 * The memory of a few ranks in one process, and no clock but its own. What ranks have under way is carried out step by
 * step, in an order that the seed draws; so it goes through more interleavings than any network, READs and WRITEs are
 * torn, and a rank can be stopped between any two steps.
 */
export class FakeWorld {
  readonly memories: readonly Uint8Array[]
  readonly ranks: readonly FakeMemory[]
  readonly structures: readonly GroupStructures[]
  nowMs = 1_000_000
  /** Steps so far: the clock of histories. */
  steps = 0
  /** Ranks that are not there any more. */
  readonly stopped: Set<number> = new Set<number>()
  readonly paused: Set<number> = new Set<number>()
  /** Ranks that no other reaches any more, though the group has them still. */
  readonly cut: Set<number> = new Set<number>()
  readonly random: Random
  readonly #posted = new Set<Posted>()
  readonly #sleepers = new Set<{ readonly rank: number; readonly atMs: number; readonly wake: () => void }>()
  /** Called after each step on somebody's memory, with whose step it was. */
  watch: (rank: number) => void = () => {}
  /** Deaths that ranks have not been told of, and rings. */
  readonly #news: News[] = []
  /** Rings so far that a rank was told of. */
  rings = 0

  constructor(
    ranks: number,
    seed: number,
    lengthBytes: number = 1024 * 1024,
    homes?: readonly number[],
    segmentBytes?: number,
  ) {
    this.random = new Random(seed)
    this.memories = Array.from({ length: ranks }, () => new Uint8Array(lengthBytes))
    this.ranks = this.memories.map((_, rank) => new FakeMemory(this, rank, ranks, lengthBytes))
    const all = homes ?? this.ranks.map(({ rank }) => rank)
    this.structures = this.ranks.map((memory) => new GroupStructures(memory, all, async () => {}, segmentBytes))
  }

  /** Let everything go on until `work` is done. Fails where nothing is left that could go on. */
  async play<T>(work: Promise<T>): Promise<T> {
    let done = false
    const finished = work.finally(() => (done = true))
    finished.catch(() => {})
    for (let idle = 0; !done; ) {
      await setImmediate()
      idle = done || this.#step() ? 0 : idle + 1
      if (idle > 3) throw new Error('nothing goes on: a promise that nobody will settle')
    }
    return await finished
  }

  /** The rank is gone from now on. What it posted may arrive until its home is told. */
  stop(rank: number): void {
    if (this.stopped.has(rank)) return
    this.stopped.add(rank)
    for (const { rank: to } of this.ranks) if (to !== rank) this.#news.push({ to, of: rank })
  }

  post(posted: Posted): void {
    this.#posted.add(posted)
  }

  sleep(rank: number, ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = { rank, atMs: this.nowMs + ms, wake: () => this.#sleepers.delete(sleeper) && resolve() }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', () => sleeper.wake())
    })
  }

  /** Comes as late as it may, like the news. */
  ring(from: number, ring: Ring): void {
    if (!this.stopped.has(from)) this.#news.push(ring)
  }

  /** One step of something. */
  #step(): boolean {
    // Without a resolution nobody else has anything new to do, so there is no turn of the event loop for each.
    for (;;) {
      this.steps += 1
      this.nowMs += STEP_MS
      if (this.#wakeDue()) return true
      const runnable = this.#runnable()
      const choices = runnable.length + this.#news.length
      if (choices === 0) return this.#wakeNext()
      const choice = this.random.below(choices)
      if (choice >= runnable.length) {
        this.#tell(choice - runnable.length)
        return true
      }
      if (this.#advance(runnable[choice]!)) return true
    }
  }

  /** One connection carries out its batches one after the other. */
  #runnable(): Posted[] {
    const first = new Map<number, Posted>()
    for (const posted of this.#posted) {
      const connection = posted.from * this.ranks.length + posted.home
      if (!first.has(connection)) first.set(connection, posted)
    }
    return [...first.values()].filter((posted) => !this.paused.has(posted.from) && this.#reaches(posted))
  }

  /** What a rank has posted before it was stopped arrives until the home shuts it out. */
  #reaches({ from, home }: Posted): boolean {
    return !this.stopped.has(from) || (this.ranks[home]?.isMember(from) === true && home !== from)
  }

  /** True where it is done. */
  #advance(posted: Posted): boolean {
    const { from, home, steps, what } = posted
    const rank = this.ranks[from]!
    if (this.stopped.has(home) && from !== home) {
      this.#posted.delete(posted)
      posted.reject(new HomeLostError(what, home, 'it was stopped'))
      return true
    }
    if (!this.stopped.has(from)) {
      if (rank.stepsLeft === 0) {
        this.stop(from)
        return true
      }
      rank.stepsLeft -= 1
    }
    const step = steps.next()
    this.watch(from)
    if (step.done !== true) return false
    this.#posted.delete(posted)
    if (!this.stopped.has(from)) posted.resolve()
    return true
  }

  #tell(index: number): void {
    const [news] = this.#news.splice(index, 1) as [News]
    const { to } = news
    if (this.stopped.has(to)) return
    if ('place' in news) {
      this.rings += 1
      this.ranks[to]?.rung(news.home, news.place)
      return
    }
    const { of } = news
    this.ranks[to]?.gone.add(of)
    for (const sleeper of [...this.#sleepers]) if (sleeper.rank === to) sleeper.wake()
    this.structures[to]?.settle(of).catch(() => {})
  }

  #wakeDue(): boolean {
    let any = false
    for (const sleeper of [...this.#sleepers]) {
      if (sleeper.atMs > this.nowMs || this.paused.has(sleeper.rank)) continue
      any = true
      if (this.stopped.has(sleeper.rank)) this.#sleepers.delete(sleeper)
      else sleeper.wake()
    }
    return any
  }

  #wakeNext(): boolean {
    const times = [...this.#sleepers].filter(({ rank }) => !this.paused.has(rank)).map(({ atMs }) => atMs)
    if (times.length === 0) return false
    this.nowMs = Math.max(this.nowMs, Math.min(...times))
    return this.#wakeDue()
  }
}

/** One rank of it. */
export class FakeMemory implements GroupMemory {
  readonly rank: number
  readonly ranks: number
  readonly lengthBytes: number
  readonly gone: Set<number> = new Set<number>()
  roundTrips = 0
  rung: (home: number, place: number) => void = () => {}
  /** Steps until it is stopped. */
  stepsLeft: number = Number.POSITIVE_INFINITY
  readonly #world: FakeWorld

  constructor(world: FakeWorld, rank: number, ranks: number, lengthBytes: number) {
    this.#world = world
    this.rank = rank
    this.ranks = ranks
    this.lengthBytes = lengthBytes
  }

  run(home: number, what: string, batch: readonly Command[]): Promise<void> {
    this.roundTrips += 1
    return new Promise((resolve, reject) => {
      if (this.#world.stopped.has(this.rank)) return
      if (this.gone.has(home)) reject(new HomeLostError(what, home, 'it was stopped'))
      else if (this.#world.cut.has(home) && home !== this.rank)
        reject(new HomeLostError(what, home, 'it did not answer'))
      else {
        const steps = carryOut(this.#world.memories[home]!, batch)
        this.#world.post({ from: this.rank, home, what, steps, resolve, reject })
      }
    })
  }

  storeOwn(offset: number, value: bigint): void {
    if (this.#world.stopped.has(this.rank)) return
    const own = this.#world.memories[this.rank]!
    new BigUint64Array(own.buffer, own.byteOffset + offset, 1)[0] = value
  }

  loadOwn(offset: number): bigint {
    const own = this.#world.memories[this.rank]!
    return new BigUint64Array(own.buffer, own.byteOffset + offset, 1)[0]!
  }

  isMember(rank: number): boolean {
    return !this.gone.has(rank)
  }

  nowMs(): number {
    return this.#world.nowMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#world.sleep(this.rank, ms, signal)
  }

  ring(rank: number, home: number, place: number): void {
    this.#world.ring(this.rank, { to: rank, home, place })
  }

  onRing(listener: (home: number, place: number) => void): void {
    this.rung = listener
  }

  random(): number {
    return this.#world.random.below(1000) / 1000
  }
}

function* carryOut(memory: Uint8Array, batch: readonly Command[]): Generator<void, void> {
  for (const [index, command] of batch.entries()) {
    if (index > 0) yield
    const { offset, length } = command
    if (offset < 0 || offset + length > memory.length) throw new Error(`[${offset}, ${offset + length}) is outside`)
    if (command.kind === 'read') {
      const bytes = new Uint8Array(length)
      for (let at = 0; at < length; at += LINE_BYTES) {
        if (at > 0 && length <= 1024) yield
        bytes.set(memory.subarray(offset + at, offset + Math.min(length, at + LINE_BYTES)), at)
      }
      command.bytes = bytes
    } else if (command.kind === 'write') {
      for (let at = 0; at < length; at += LINE_BYTES) {
        if (at > 0 && length <= 1024) yield
        memory.set(command.bytes.subarray(at, Math.min(length, at + LINE_BYTES)), offset + at)
      }
    } else {
      const words = new BigUint64Array(memory.buffer, memory.byteOffset + offset, 1)
      command.before = words[0]!
      if (command.kind === 'fetchAdd') words[0] = command.before + command.amount
      else if (command.before === command.expected) words[0] = command.desired
    }
  }
}
