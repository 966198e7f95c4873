import { type CounterBlock, type CounterLayout, defineCounters, threadProfiling } from '../profiling/index.ts'

type MachineFigure = 'entries' | 'applied' | 'term' | 'leads' | 'proposing' | 'failOverNs'

const layout: CounterLayout<MachineFigure> = defineCounters(
  'consensus',
  ['entries', 'applied', 'term', 'leads', 'proposing', 'failOverNs'],
  {
    gauges: ['applied', 'term', 'leads', 'proposing', 'failOverNs'],
    labelled: 'machine',
    help: {
      '': 'Replicated state machines, by name, as each process has them.',
      entries: 'Entries of the log that this process has applied.',
      applied: 'The last entry that this process has applied: how far it is behind is seen beside other ranks.',
      term: 'The term of the leader that this process knows.',
      leads: 'Whether this process leads: 1 or 0.',
      proposing: 'Proposals of this process that have no answer yet.',
      failOverNs: 'How long it took until this process led, when it last began to: from no leader to the first entry.',
    },
  },
)

const ENTRIES = layout.counters.indexOf('entries')

/** Shows where one process's replica of a machine stands. */
export class MachineMeter {
  readonly #block: CounterBlock<MachineFigure>

  constructor(machine: string) {
    this.#block = threadProfiling().counters(layout, machine)
  }

  applied(index: number): void {
    const { slots } = this.#block
    slots[ENTRIES] = slots[ENTRIES]! + 1
    this.#block.set('applied', index)
  }

  led(term: number, isSelf: boolean): void {
    this.#block.set('term', term)
    this.#block.set('leads', isSelf ? 1 : 0)
  }

  proposing(count: number): void {
    this.#block.set('proposing', count)
  }

  tookOver(ms: number): void {
    this.#block.set('failOverNs', ms * 1e6)
  }

  close(): void {
    this.#block.close()
  }
}
