import type { CompressedGraph } from './compressed-graph.ts'
import type { Share } from './rank-share.ts'
import { partialsPerBlock, type RankState } from './rank-state.ts'

/** From the demo to a process that shares no memory with the others. */
export type ExchangeTask =
  | {
      readonly kind: 'prepare'
      readonly graph: CompressedGraph
      readonly bounds: Uint32Array
      readonly rank: number
      /** The directory of the socket of a Redis server, through which parts go instead of messages. */
      readonly redis: string | undefined
    }
  | { readonly kind: 'go' }
  | ExchangePart

/** From such a process to the demo. */
export type ExchangeReply =
  | { readonly kind: 'ready' }
  | ExchangePart
  | { readonly kind: 'done'; readonly totalMs: number; readonly iterations: number; readonly ranks: Float64Array }

/** The part of one process in an iteration: the partial sums of its blocks, then what its vertices contribute. */
interface ExchangePart {
  readonly kind: 'part'
  readonly rank: number
  readonly bytes: Uint8Array
}

/**
 * The exchange of parts after each iteration. It is also a barrier: no process starts an iteration before it has the
 * parts of all others. So a process is at most one iteration ahead, and two sets of parts are enough.
 */
export class RankExchange {
  readonly #state: RankState
  readonly #shares: readonly Share[]
  readonly #rank: number
  readonly #send: (bytes: Uint8Array) => void
  /** Parts received of each rank, the number of the iteration that its next one belongs to. */
  readonly #received: number[]
  /** Two, since a part may still be on its way while the next iteration is computed. */
  readonly #outgoing: readonly [Float64Array, Float64Array]
  #wake: () => void = () => {}

  constructor(state: RankState, shares: readonly Share[], rank: number, send: (bytes: Uint8Array) => void) {
    this.#state = state
    this.#shares = shares
    this.#rank = rank
    this.#send = send
    this.#received = shares.map(() => 0)
    const length = this.#viewsOf(rank, 0).reduce((sum, view) => sum + view.length, 0)
    this.#outgoing = [new Float64Array(length), new Float64Array(length)]
  }

  /** Send this process's part of an iteration and wait for those of the others. */
  async run(iteration: number): Promise<void> {
    const part = this.#outgoing[(iteration & 1) as 0 | 1]
    const [partials, contributions] = this.#viewsOf(this.#rank, iteration)
    part.set(partials)
    part.set(contributions, partials.length)
    this.#send(new Uint8Array(part.buffer))
    this.#received[this.#rank] = iteration + 1
    while (this.#received.some((count) => count <= iteration)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Take the next part of another rank. */
  take(rank: number, bytes: Uint8Array): void {
    const [partials, contributions] = this.#viewsOf(rank, this.#received[rank]!++)
    // Copied as bytes: a message may start anywhere in its buffer.
    bytesOf(partials).set(bytes.subarray(0, partials.byteLength))
    bytesOf(contributions).set(bytes.subarray(partials.byteLength))
    this.#wake()
  }

  #viewsOf(rank: number, iteration: number): readonly [Float64Array, Float64Array] {
    const parity = (iteration & 1) as 0 | 1
    const { firstBlock, endBlock, firstVertex, endVertex, endGiver } = this.#shares[rank]!
    // Vertices without outgoing edges come last and contribute nothing.
    const endContribution = Math.max(firstVertex, Math.min(endVertex, endGiver))
    return [
      this.#state.partials[parity].subarray(firstBlock * partialsPerBlock, endBlock * partialsPerBlock),
      this.#state.contributions[parity].subarray(firstVertex, endContribution),
    ]
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
