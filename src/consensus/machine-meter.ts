import { type CounterBlock, type CounterLayout, defineCounters, threadProfiling } from '../profiling/index.ts'
import type { FailOver } from './replica/fail-over.ts'

/** Stages of the last fail-over, from no leader on, in their order. */
const stages = ['failOverCampaignNs', 'failOverPromisedNs', 'failOverCaughtUpNs', 'failOverNs'] as const

type MachineGauge = 'applied' | 'term' | 'leads' | 'proposing' | (typeof stages)[number]

/** What each process counts of its replica of a machine. */
type MachineFigure = 'entries' | MachineGauge

const gauges: readonly MachineGauge[] = ['applied', 'term', 'leads', 'proposing', ...stages]

/** Labelled by the name of the machine. */
export const machineCounters: CounterLayout<MachineFigure> = defineCounters('consensus', ['entries', ...gauges], {
  gauges,
  labelled: 'machine',
  help: {
    '': 'Replicated state machines, by name, as each process has them.',
    entries: 'Entries of the log that this process has applied.',
    applied: 'The last entry that this process has applied: how far it is behind is seen beside other ranks.',
    term: 'The term of the leader that this process knows.',
    leads: 'Whether this process leads: 1 or 0.',
    proposing: 'Proposals of this process that have no answer yet.',
    failOverCampaignNs: 'Of failOverNs, until it asked for promises.',
    failOverPromisedNs: 'Of failOverNs, until a majority had promised.',
    failOverCaughtUpNs: 'Of failOverNs, until all that was accepted before was adopted.',
    failOverNs: 'How long it took until this process led, when it last began to: from no leader to the first entry.',
  },
})

const ENTRIES = machineCounters.counters.indexOf('entries')

/** Shows where one process's replica of a machine stands. */
export class MachineMeter {
  readonly #block: CounterBlock<MachineFigure>

  constructor(machine: string) {
    this.#block = threadProfiling().counters(machineCounters, machine)
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

  tookOver({ campaignMs, promisedMs, caughtUpMs, decidedMs }: FailOver): void {
    const times = [campaignMs, promisedMs, caughtUpMs, decidedMs]
    for (const [at, stage] of stages.entries()) this.#block.set(stage, times[at]! * 1e6)
  }

  close(): void {
    this.#block.close()
  }
}
