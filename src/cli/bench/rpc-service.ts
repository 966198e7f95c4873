import { borrowedBytes, defineService, type Service, type Unary, unary } from '../../rpc/index.ts'

/** A small request, as programs make them. */
export interface Order {
  readonly item: string
  readonly count: number
  readonly price: number
}

type BenchMethods = {
  /** The same bytes, by a handler that answers at once. */
  readonly echo: Unary<Uint8Array, Uint8Array>
  /** The sum of an order, in the codec of whoever chooses none. */
  readonly sum: Unary<Order, number>
  /** Spin from now on, or go back to the event loop. */
  readonly spin: Unary<boolean, void>
  /** Processor time of the server, in ns. */
  readonly cpu: Unary<void, number>
}

/** What the other end of `aether bench rpc` serves. */
export const benchService: Service<BenchMethods> = defineService({
  name: 'bench',
  methods: { echo: unary({ codec: borrowedBytes }), sum: unary({}), spin: unary({}), cpu: unary({}) },
})
