/** What an end of a ping-pong plays at: its queue pairs, and the bytes that arrive. */
import {
  Access,
  type CompletionQueue,
  type MemoryRegion,
  type PreparedReceive,
  type ProtectionDomain,
  type RemoteEndpoint,
  type SharedReceiveQueue,
} from 'aether-dsm/verbs'
import { Seat } from './seat.ts'

/** As rdma-core's programs are called: `ibv_rc_pingpong` and so on. */
export type PingpongType = 'rc' | 'uc' | 'ud' | 'srq'

export interface TableOptions {
  readonly type: PingpongType
  readonly sizeBytes: number
  readonly pathMtu: number
  readonly receiveDepth: number
  /** Queue pairs; more than one for `srq` only. */
  readonly pairs: number
}

/** Before a datagram its global route header arrives. */
const ROUTE_HEADER_BYTES = 40
/** `ibv_srq_pingpong` tells this many addresses, whatever it uses. */
const SHARED_ADDRESSES = 256
const NOBODY: RemoteEndpoint = { localIdentifier: 0, queuePairNumber: 0, psn: 0, gid: 0n }

export class Table implements Disposable {
  readonly seats: readonly Seat[]
  /** What a completed receive counts. */
  readonly messageBytes: number
  readonly #options: TableOptions
  readonly #shared: SharedReceiveQueue | undefined
  readonly #memory: MemoryRegion
  readonly #receive: PreparedReceive

  constructor(domain: ProtectionDomain, queue: CompletionQueue, options: TableOptions) {
    const { type, pairs, sizeBytes, receiveDepth } = options
    this.#options = options
    this.messageBytes = sizeBytes + (type === 'ud' ? ROUTE_HEADER_BYTES : 0)
    this.#memory = domain.allocate(this.messageBytes, Access.LocalWrite)
    this.#shared = type === 'srq' ? domain.createSharedReceiveQueue({ maxRequests: receiveDepth }) : undefined
    this.seats = Array.from({ length: pairs }, () => new Seat(domain, queue, this.#shared, options))
    this.#receive = (this.#shared ?? this.seats[0]!.pair).prepareReceive({ local: this.#memory.subarray() })
  }

  /** The bytes of the message that came last. */
  get arrived(): Uint8Array {
    return this.#memory.bytes.subarray(this.messageBytes - this.#options.sizeBytes)
  }

  get endpoints(): RemoteEndpoint[] {
    const own = this.seats.map(({ pair }) => pair.endpoint)
    return this.#shared === undefined
      ? own
      : [...own, ...Array.from({ length: SHARED_ADDRESSES - own.length }, () => NOBODY)]
  }

  connect(remote: readonly RemoteEndpoint[]): void {
    for (const [index, seat] of this.seats.entries()) seat.connect(remote[index] ?? NOBODY)
  }

  postReceive(id: number): void {
    this.#receive.post(id)
  }

  seatOf(queuePairNumber: number): Seat {
    const seat = this.seats.find(({ pair }) => pair.number === queuePairNumber)
    if (seat === undefined) throw new Error(`a completion of queue pair ${queuePairNumber}, which is not ours`)
    return seat
  }

  [Symbol.dispose](): void {
    for (const seat of this.seats) seat[Symbol.dispose]()
    this.#shared?.close()
    this.#memory.close()
  }
}
