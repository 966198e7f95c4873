/** What one end of a ping-pong uses: its queue pairs, and the memory into which they receive. */
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

/** As in the names of rdma-core's programs: `ibv_rc_pingpong` and so on. */
export type PingpongType = 'rc' | 'uc' | 'ud' | 'srq'

export interface TableOptions {
  readonly type: PingpongType
  readonly sizeBytes: number
  readonly pathMtu: number
  readonly receiveDepth: number
  /** How many queue pairs; more than one only with `srq`. */
  readonly pairs: number
}

/** A datagram arrives behind its global route header. */
const ROUTE_HEADER_BYTES = 40
/** `ibv_srq_pingpong` always sends this many addresses, however many queue pairs it uses. */
const SHARED_ADDRESSES = 256
const UNUSED: RemoteEndpoint = { localIdentifier: 0, queuePairNumber: 0, psn: 0, gid: 0n }

export class Table implements Disposable {
  readonly seats: readonly Seat[]
  /** The length that a completed receive reports. */
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

  /** The bytes of the latest message. */
  get arrived(): Uint8Array {
    return this.#memory.bytes.subarray(this.messageBytes - this.#options.sizeBytes)
  }

  get endpoints(): RemoteEndpoint[] {
    const own = this.seats.map(({ pair }) => pair.endpoint)
    return this.#shared === undefined
      ? own
      : [...own, ...Array.from({ length: SHARED_ADDRESSES - own.length }, () => UNUSED)]
  }

  connect(remote: readonly RemoteEndpoint[]): void {
    for (const [index, seat] of this.seats.entries()) seat.connect(remote[index] ?? UNUSED)
  }

  postReceive(id: number): void {
    this.#receive.post(id)
  }

  seatOf(queuePairNumber: number): Seat {
    const seat = this.seats.find(({ pair }) => pair.number === queuePairNumber)
    if (seat === undefined) throw new Error(`a completion belongs to queue pair ${queuePairNumber}, which is not ours`)
    return seat
  }

  [Symbol.dispose](): void {
    for (const seat of this.seats) seat[Symbol.dispose]()
    this.#shared?.close()
    this.#memory.close()
  }
}
