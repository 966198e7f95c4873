import { type Call, CallPack, type PackedRequests, type Reply, type ShardPort } from '../../index-service/index.ts'
import type { PackableAt } from '../catalogue/packables.ts'

/** Of calls that are put together. One command of the log is at most so long, but for a single one. */
const CALLS_MAX = 512
const BYTES_MAX = 256 * 1024
/** What a call takes besides its arguments. */
const CALL_BYTES = 16

interface Batch {
  readonly calls: readonly Call[]
  readonly resolve: (replies: readonly Reply[]) => void
  readonly reject: (error: unknown) => void
}

export interface ShardLineOptions {
  readonly timeoutMs: number
  readonly packableAt: PackableAt
}

/** Requests that go to the log as they came, and what they come to. @throws IndexError */
export interface PackedBatch extends PackedRequests {
  readonly replies: Promise<readonly Reply[]>
}

/** Calls as bytes, and who wait for them. */
interface Pack {
  readonly calls: CallPack
  readonly batches: {
    readonly count: number
    readonly resolve: (replies: readonly Reply[]) => void
    readonly reject: (error: unknown) => void
  }[]
}

/**
 * The way to a shard. Writes of all connections that came in one turn of the event loop are one command of the log. It
 * costs about the same for a hundred of them as for one.
 */
export class ShardLine {
  readonly #find: () => ShardPort
  readonly #timeoutMs: number
  readonly #packableAt: PackableAt
  #batches: Batch[] = []
  #packs: Pack[] = []
  readonly #onWaiting: () => void
  #isWaiting = false

  /**
   * `find`: the way of now. A shard moves between this process and others. `onWaiting`: {@link send} is to be called.
   */
  constructor(find: () => ShardPort, { timeoutMs, packableAt }: ShardLineOptions, onWaiting: () => void) {
    this.#find = find
    this.#timeoutMs = timeoutMs
    this.#packableAt = packableAt
    this.#onWaiting = onWaiting
  }

  get port(): ShardPort {
    return this.#find()
  }

  /** In order, with nothing in between. @throws IndexError */
  write(calls: readonly Call[]): Promise<readonly Reply[]> {
    return new Promise((resolve, reject) => {
      this.#batches.push({ calls, resolve, reject })
      this.#sendSoon()
    })
  }

  /** The same of the requests at the start of what a client has sent; undefined if none there can be packed. */
  pack(requests: Uint8Array): PackedBatch | undefined {
    let pack = this.#packs.at(-1)
    if (pack?.calls.hasRoomFor(requests) !== true) {
      pack = { calls: new CallPack(), batches: [] }
      this.#packs.push(pack)
    }
    const { calls, batches } = pack
    const packed = calls.add(requests, this.#packableAt)
    if (packed === undefined) return undefined
    const replies = new Promise<readonly Reply[]>((resolve, reject) => {
      batches.push({ count: packed.specs.length, resolve, reject })
    })
    this.#sendSoon()
    return { ...packed, replies }
  }

  /** @throws IndexError */
  read(calls: readonly Call[]): Promise<readonly Reply[]> {
    return this.port.read(calls, { timeoutMs: this.#timeoutMs, signal: undefined })
  }

  #sendSoon(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#onWaiting()
  }

  /** Send what has come, without waiting for more. */
  send(): void {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    for (const pack of this.#packs.splice(0)) void this.#sendPack(pack)
    if (this.#batches.length > 0) this.#sendBatches(this.#batches.splice(0))
  }

  async #sendPack({ calls, batches }: Pack): Promise<void> {
    if (batches.length === 0) return
    try {
      const replies = await this.port.runPacked(calls, { timeoutMs: this.#timeoutMs, signal: undefined })
      let at = 0
      for (const { count, resolve } of batches) {
        resolve(replies.slice(at, at + count))
        at += count
      }
    } catch (error) {
      for (const { reject } of batches) reject(error)
    }
  }

  #sendBatches(batches: readonly Batch[]): void {
    let together: Batch[] = []
    let [calls, bytes] = [0, 0]
    for (const batch of batches) {
      const batchBytes = bytesOfCalls(batch.calls)
      if (together.length > 0 && (calls + batch.calls.length > CALLS_MAX || bytes + batchBytes > BYTES_MAX)) {
        void this.#run(together)
        together = []
        calls = 0
        bytes = 0
      }
      together.push(batch)
      calls += batch.calls.length
      bytes += batchBytes
    }
    void this.#run(together)
  }

  async #run(batches: readonly Batch[]): Promise<void> {
    const calls = batches.length === 1 ? batches[0]!.calls : batches.flatMap((batch) => batch.calls)
    try {
      const limits = { timeoutMs: this.#timeoutMs, signal: undefined }
      const replies = (await this.port.run(calls, undefined, limits, calls.length > 1))!
      let at = 0
      for (const batch of batches) {
        batch.resolve(replies.slice(at, at + batch.calls.length))
        at += batch.calls.length
      }
    } catch (error) {
      for (const { reject } of batches) reject(error)
    }
  }
}

function bytesOfCalls(calls: readonly Call[]): number {
  let bytes = 0
  for (const { args } of calls) {
    bytes += CALL_BYTES
    for (const argument of args) bytes += argument.length
  }
  return bytes
}
