import {
  borrowedBytes,
  defineService,
  type RdmaCall,
  rdmaCall,
  type Service,
  type Unary,
  unary,
} from 'aether-dsm/internal/rpc'

/** A small request, as programs make them. */
export interface Order {
  readonly item: string
  readonly count: number
  readonly price: number
}

/** Each byte that the server gives. */
export const FILLED = 7

type BenchMethods = {
  /** The same bytes, by a handler that answers at once. */
  readonly echo: Unary<Uint8Array, Uint8Array>
  /** The sum of an order, in the default codec. */
  readonly sum: Unary<Order, number>
  /** Spin from now on, or go back to the event loop. */
  readonly spin: Unary<boolean, void>
  /** Processor time of the server, in ns. */
  readonly cpu: Unary<void, number>
  /** Reads the source into memory of the server; its last byte. */
  readonly fetch: RdmaCall<'source', void, number>
  /** Fills the target out of memory of the server. */
  readonly store: RdmaCall<'target'>
  /** The last byte of what comes. */
  readonly take: Unary<Uint8Array, Uint8Array>
  /** Returns as many bytes as the request says, in four little-endian bytes. */
  readonly give: Unary<Uint8Array, Uint8Array>
}

/** What the other end of `aether bench rpc` serves. */
export const benchService: Service<BenchMethods> = defineService({
  name: 'bench',
  methods: {
    echo: unary({ codec: borrowedBytes }),
    sum: unary({}),
    spin: unary({}),
    cpu: unary({}),
    fetch: rdmaCall({ buffers: 'source' }),
    store: rdmaCall({ buffers: 'target' }),
    take: unary({ codec: borrowedBytes }),
    give: unary({ codec: borrowedBytes }),
  },
})
