import { TIMER_MS_MAX } from '../../native/index.ts'
import { addAbortCallback, removeAbortCallback } from '../../runtime/index.ts'
import { IndexError } from '../errors.ts'
import type { CallLimits } from '../port.ts'
import { bytesOfCalls } from '../state/call-bytes.ts'
import type { Call, PackedCalls, ShardAnswer, ShardCommand, Watched } from '../state/shard-command.ts'
import type { EvictionRule } from '../state/victims.ts'

/** What an evictor needs of a shard. */
export interface EvictedShard {
  /** Bytes that keys and values take now, in this process. */
  readonly usedBytes: number
  readonly keys: number
  victims(rule: EvictionRule, count: number): readonly Watched[]
  propose(command: ShardCommand): Promise<ShardAnswer>
}

interface WaitingWrite {
  readonly bytes: number
  go(): void
}

/** What all processes together may have under way: a part of the bound. */
const SLACK_PART = 1 / 32
const SLACK_MAX_BYTES = 16 * 2 ** 20
/** Keys that go by one command at most. */
const VICTIMS_MAX = 128
/** Where no key may go, it is tried again after this time. */
const REST_MS = 100
/** Commands in a row by which no key went, since all had changed meanwhile. */
const VAIN_MAX = 8
const ENDLESS: CallLimits = { timeoutMs: Number.POSITIVE_INFINITY, signal: undefined }

/**
 * Keeps the memory of a shard below its bound by removing keys, and lets writes wait until there is room for them. They
 * keep their order. Where no key may go, a write goes on, and the state refuses it.
 *
 * Each process removes for what it writes. Victims are chosen by what this process knows of their use, and the log says
 * which ones went.
 *
 * A process may lag behind the log. So each has no more under way than its part of the slack, and begins nothing while
 * there is less than the slack left. What has begun always finds room: what a process does not see yet, another has
 * counted. Only a single write that is larger than its part may be too much, if another process makes one, too.
 */
export class Evictor {
  readonly #shard: EvictedShard
  #boundBytes = 0
  #slackBytes = 0
  /** How many processes write to the shard. */
  writers = 1
  #rule: EvictionRule | undefined
  #underWayBytes = 0
  readonly #line: WaitingWrite[] = []
  #isEvicting = false
  #restUntilMs = 0

  constructor(shard: EvictedShard, boundBytes: number) {
    this.#shard = shard
    this.boundBytes = boundBytes
  }

  /** Bytes that may be used. */
  set boundBytes(bytes: number) {
    this.#boundBytes = bytes
    this.#slackBytes = Math.min(bytes * SLACK_PART, SLACK_MAX_BYTES)
    this.#restUntilMs = 0
  }

  /** Undefined: nothing is evicted. */
  get rule(): EvictionRule | undefined {
    return this.#rule
  }

  set rule(rule: EvictionRule | undefined) {
    this.#rule = rule
    this.#restUntilMs = 0
  }

  /**
   * Do `write` when there is room for what it takes, behind those that wait already, with what is left of `limits`.
   * @throws IndexError `TIMEOUT`; or why the signal was aborted.
   */
  admit<T>(
    calls: readonly Call[] | PackedCalls,
    write: (limits: CallLimits) => Promise<T>,
    limits: CallLimits = ENDLESS,
  ): Promise<T> {
    if (this.#rule === undefined && this.#line.length === 0) return write(limits)
    const bytes = bytesOfCalls(calls)
    if (this.#line.length === 0 && this.#fits(bytes)) return this.#go(bytes, () => write(limits))
    const { timeoutMs, signal } = limits
    const endMs = performance.now() + timeoutMs
    return new Promise<T>((resolve, reject) => {
      const leave = (error: unknown): void => {
        stop()
        this.#line.splice(this.#line.indexOf(waiting), 1)
        reject(error)
      }
      const aborted = (): void => leave(signal!.reason)
      const timer = timeoutMs > TIMER_MS_MAX ? undefined : setTimeout(() => leave(late(timeoutMs)), timeoutMs)
      const stop = (): void => {
        clearTimeout(timer)
        if (signal !== undefined) removeAbortCallback(signal, aborted)
      }
      const go = (): void => {
        stop()
        const left = { timeoutMs: Math.max(1, endMs - performance.now()), signal }
        this.#go(bytes, () => write(left)).then(resolve, reject)
      }
      const waiting: WaitingWrite = { bytes, go }
      this.#line.push(waiting)
      if (signal?.aborted === true) aborted()
      else if (signal !== undefined) addAbortCallback(signal, aborted)
      void this.#evict()
    })
  }

  async #go<T>(bytes: number, write: () => Promise<T>): Promise<T> {
    this.#underWayBytes += bytes
    try {
      return await write()
    } finally {
      this.#underWayBytes -= bytes
      if (this.#isWanted) void this.#evict()
    }
  }

  #fits(bytes: number): boolean {
    if (this.#shard.usedBytes + this.#wantedBytes(bytes) > this.#boundBytes) return false
    return this.#underWayBytes === 0 || this.#underWayBytes + bytes <= this.#slackBytes / this.writers
  }

  /** What has to be left for a write. Not all others are to go for a single one. */
  #wantedBytes(bytes: number): number {
    return Math.min(Math.max(bytes, this.#slackBytes), this.#boundBytes / 2)
  }

  /** How much has to go, so that those who come next need not wait. */
  get #surplusBytes(): number {
    const [first] = this.#line
    const wanted = first === undefined ? 0 : this.#wantedBytes(first.bytes)
    return this.#shard.usedBytes + Math.max(2 * this.#slackBytes, wanted) - this.#boundBytes
  }

  get #isWanted(): boolean {
    if (this.#line.length > 0) return true
    return this.#rule !== undefined && this.#surplusBytes > 0 && !this.#rests
  }

  get #rests(): boolean {
    return performance.now() < this.#restUntilMs
  }

  /** Until there is slack again, and those that wait have gone. */
  async #evict(): Promise<void> {
    if (this.#isEvicting) return
    this.#isEvicting = true
    while (this.#isWanted) {
      const room = await this.#makeRoom()
      if (room === 'none' && !this.#rests) this.#restUntilMs = performance.now() + REST_MS
      while (this.#line.length > 0 && (room === 'none' || this.#fits(this.#line[0]!.bytes))) this.#line.shift()!.go()
      // The end of a write that is under way comes back here. The last one may have ended in this moment.
      const waits = room === 'later' || (this.#line.length > 0 && this.#surplusBytes <= 0)
      if (waits && this.#underWayBytes > 0) break
    }
    this.#isEvicting = false
  }

  /** `none`: no key may go. `later`: there may be some once what is under way is done. */
  async #makeRoom(): Promise<'some' | 'later' | 'none'> {
    for (let vain = 0; vain < VAIN_MAX; vain += 1) {
      const surplusBytes = this.#surplusBytes
      if (surplusBytes <= 0) return 'some'
      if (this.#rule === undefined || this.#rests) return 'none'
      const { usedBytes, keys } = this.#shard
      const count = Math.min(Math.ceil((surplusBytes * keys) / usedBytes), VICTIMS_MAX)
      const victims = this.#shard.victims(this.#rule, count)
      if (victims.length === 0) return this.#underWayBytes > 0 ? 'later' : 'none'
      // Without a leader, those that wait find out for themselves.
      const answer = await this.#shard.propose({ evict: victims }).catch(() => undefined)
      if (answer === undefined) return 'none'
      if ((answer as { readonly evicted: number }).evicted > 0) return 'some'
    }
    return 'none'
  }
}

function late(timeoutMs: number): IndexError {
  const message = `the memory is full, and there was no room within ${timeoutMs} ms; allow more by timeoutMs, or try again`
  return new IndexError('TIMEOUT', message, { outcome: 'not-applied' })
}
