import type {
  CompletionQueue,
  LinkLayer,
  PreparedRequest,
  ProtectionDomain,
  QueuePair,
  RemoteEndpoint,
} from '../../../verbs/index.ts'
import { linkTimeout, QueuePairState } from '../../../verbs/index.ts'
import type { Command } from '../memory/command.ts'
import { HomeLostError } from '../memory/errors.ts'
import { BATCH_MAX } from '../memory/group-memory.ts'
import type { BatchInFlight } from './batch-in-flight.ts'

/** Requests that the send queue of a link holds: two batches of the greatest size. */
export const REQUESTS_MAX: number = 2 * BATCH_MAX

/**
 * What counts as waiting between two looks, at most: a program that was stopped, or busy, for longer did not look for
 * the answer.
 */
const WAITED_MS_MAX = 1000

/** Where a rank's part of the memory is. */
export interface PartAddress {
  readonly address: number
  readonly key: number
}

/** The connection to one home: a queue pair, and the batches that are on their way over it, in order. */
export class HomeLink {
  readonly home: number
  readonly #timeoutMs: number
  readonly #pair: QueuePair
  readonly #posted: BatchInFlight[] = []
  readonly #waiting: BatchInFlight[] = []
  #memory: PartAddress = { address: 0, key: 0 }
  #requests = 0
  /** The batch that is waited for, for how long, and when that was looked at. */
  #oldest: BatchInFlight | undefined
  #waitedMs = 0
  #lookedMs = 0
  #lost: string | undefined

  constructor(home: number, timeoutMs: number, domain: ProtectionDomain, queue: CompletionQueue) {
    this.home = home
    this.#timeoutMs = timeoutMs
    this.#pair = domain.createQueuePair({
      type: 'rc',
      sendQueue: queue,
      receiveQueue: queue,
      maxSendRequests: REQUESTS_MAX,
      maxReceiveRequests: 1,
    })
  }

  get number(): number {
    return this.#pair.number
  }

  get endpoint(): RemoteEndpoint {
    return this.#pair.endpoint
  }

  get outstanding(): number {
    return this.#posted.length + this.#waiting.length
  }

  /** Why the home is lost; undefined while it is there. */
  get lost(): string | undefined {
    return this.#lost
  }

  connect(remote: RemoteEndpoint, memory: PartAddress, linkLayer: LinkLayer): void {
    this.#memory = memory
    // In shared memory the peer may be starting still, and its death is told by the group, not by a time-out.
    this.#pair.connect(remote, { timeout: linkTimeout(linkLayer) })
  }

  start(batch: BatchInFlight): void {
    if (this.#lost !== undefined) batch.fail(this.#lostError(batch, this.#lost))
    else {
      this.#waiting.push(batch)
      this.#postSome()
    }
  }

  /** The oldest batch has been carried out. */
  completed(): void {
    const batch = this.#posted.shift()
    if (batch === undefined) return
    this.#requests -= batch.commands.length
    batch.settle()
    this.#postSome()
  }

  /**
   * Nothing more has come until now. A connection on which the oldest batch has been waited for in vain for so long is
   * none.
   */
  lookedAt(nowMs: number): void {
    const [oldest] = this.#posted
    const sinceMs = Math.min(nowMs - this.#lookedMs, WAITED_MS_MAX)
    this.#waitedMs = oldest === this.#oldest ? this.#waitedMs + sinceMs : 0
    this.#oldest = oldest
    this.#lookedMs = nowMs
    if (oldest !== undefined && this.#waitedMs > this.#timeoutMs) this.lose('it did not answer in time')
  }

  /**
   * Nothing goes over it any more, in neither direction: also what the other end has under way does not reach the
   * memory here.
   */
  lose(why: string, errorOf: (batch: BatchInFlight) => Error = (batch) => this.#lostError(batch, why)): void {
    if (this.#lost !== undefined) return
    this.#lost = why
    if (this.#pair.state !== QueuePairState.Reset) this.#pair.toError()
    for (const batch of [...this.#posted.splice(0), ...this.#waiting.splice(0)]) batch.fail(errorOf(batch))
  }

  #lostError({ what }: BatchInFlight, why: string): HomeLostError {
    return new HomeLostError(what, this.home, why)
  }

  #postSome(): void {
    for (let batch = this.#waiting[0]; batch !== undefined; batch = this.#waiting[0]) {
      if (this.#requests + batch.commands.length > REQUESTS_MAX) return
      this.#waiting.shift()
      this.#post(batch)
    }
  }

  #post(batch: BatchInFlight): void {
    const last = batch.commands.length - 1
    const requests = [...batch.places()].map(([command, at], index) =>
      this.#prepare(command, batch, at, index === last),
    )
    this.#requests += requests.length
    this.#posted.push(batch)
    try {
      this.#pair.postSendList(requests)
    } catch (error) {
      this.lose((error as Error).message)
    }
  }

  #prepare(command: Command, { staged }: BatchInFlight, at: number, signaled: boolean): PreparedRequest {
    const { address, key } = this.#memory
    const fields = {
      local: { address: staged.address + at, length: command.length, key: staged.key, bytes: staged.bytes },
      remote: { address: address + command.offset, key },
      signaled,
    }
    switch (command.kind) {
      case 'read':
        return this.#pair.prepareRead(fields)
      case 'write':
        return this.#pair.prepareWrite(fields)
      case 'compareExchange':
        return this.#pair.prepareCompareSwap({ ...fields, compare: command.expected, swap: command.desired })
      case 'fetchAdd':
        return this.#pair.prepareFetchAdd({ ...fields, add: command.amount })
    }
  }
}
