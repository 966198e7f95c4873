import {
  type CounterBlock,
  type CounterLayout,
  defineCounters,
  isProfiling,
  threadProfiling,
} from '../../profiling/index.ts'
import { SpaceSaving } from './space-saving.ts'

/** What may happen to a page. */
export type PageEvent = 'readFaults' | 'writeFaults' | 'calls' | 'invalidations' | 'downgrades'

const busyPageCounters: CounterLayout<PageEvent | 'before'> = defineCounters(
  'dsm.pages.busy',
  ['readFaults', 'writeFaults', 'calls', 'invalidations', 'downgrades', 'before'],
  {
    labelled: 'page',
    gauges: ['before'],
    help: {
      '': 'The pages that a rank asked for and lost most often, by number and region; counted since the page is among them.',
      readFaults: 'Page faults of loads.',
      writeFaults: 'Page faults of stores.',
      calls: 'Explicit calls that asked for the page.',
      invalidations: 'Times the page was taken away for a writer elsewhere.',
      downgrades: 'Times the page became read-only for a reader elsewhere.',
      before: 'Upper bound of all these events before the page was among them.',
    },
  },
)

/** Pages of a region that have counters of their own, in shared memory. */
export const BUSY_PAGES_MAX = 16
/** Pages that are candidates: what makes up more than a 256th of all events is not missed. */
const CANDIDATES_MAX = 256
/**
 * Which pages are shown is looked at once in so many events of others: however they change, that costs little for each.
 */
const LOOK_EVERY = 256

/** Counts what happens to the busiest pages of one region. */
export class BusyPages {
  readonly #region: string
  readonly #ranking = new SpaceSaving(CANDIDATES_MAX)
  readonly #shown = new Map<number, CounterBlock<PageEvent | 'before'>>()
  #hidden = 0

  constructor(region: string) {
    this.#region = region
  }

  /** Undefined unless profiling is on. */
  static of(region: string): BusyPages | undefined {
    return isProfiling() ? new BusyPages(region) : undefined
  }

  count(page: number, event: PageEvent): void {
    let block = this.#shown.get(page)
    if (block === undefined && this.#shown.size < BUSY_PAGES_MAX) block = this.#show(page)
    this.#ranking.add(page)
    if (block !== undefined) block.add(event, 1)
    else if (++this.#hidden % LOOK_EVERY === 0) this.#look()
  }

  close(): void {
    for (const block of this.#shown.values()) block.close()
    this.#shown.clear()
  }

  /** The candidates that have the highest counts are to be shown, and no others. */
  #look(): void {
    const busiest = this.#ranking.top(BUSY_PAGES_MAX).map(({ key }) => key)
    for (const [page, block] of this.#shown) {
      if (busiest.includes(page)) continue
      block.close()
      this.#shown.delete(page)
    }
    for (const page of busiest) if (!this.#shown.has(page)) this.#show(page)
  }

  #show(page: number): CounterBlock<PageEvent | 'before'> {
    // The number first: a long name is shortened.
    const block = threadProfiling().counters(busyPageCounters, `${page} ${this.#region}`)
    block.set('before', this.#ranking.get(page)?.count ?? 0)
    this.#shown.set(page, block)
    return block
  }
}
