import { type CounterBlock, type CounterLayout, defineCounters, threadProfiling } from '../../profiling/index.ts'

export const movedCounters: CounterLayout<'bytes' | 'exchanges'> = defineCounters(
  'arrays.moved',
  ['bytes', 'exchanges'],
  {
    help: {
      '': 'What moves between ranks for the arrays of a process.',
      bytes: 'Bytes of elements that came to this rank from others.',
      exchanges: 'Operations in which all ranks took part, up to the last one that moved something.',
    },
  },
)

/** Counts what comes to a rank from others, and shows it in the memory of its process once it is something. */
export class MovedMeter {
  bytes = 0
  exchanges = 0
  #block: CounterBlock<'bytes' | 'exchanges'> | undefined
  #shownExchanges = 0

  moved(bytes: number): void {
    this.bytes += bytes
    this.#block ??= threadProfiling().counters(movedCounters)
    this.#block.add('bytes', bytes)
    this.#block.add('exchanges', this.exchanges - this.#shownExchanges)
    this.#shownExchanges = this.exchanges
  }

  close(): void {
    this.#block?.close()
    this.#block = undefined
  }
}
