import { native } from '../native/index.ts'
import {
  type CounterBlock,
  type CounterLayout,
  defineCounters,
  defineHistogram,
  type HistogramBlock,
  isProfiling,
  threadProfiling,
} from '../profiling/index.ts'

type CollectiveCounter = 'calls' | 'done' | 'bytesSent' | 'bytesReceived'

const labelled = 'collective'

const collectiveCounters: CounterLayout<CollectiveCounter> = defineCounters(
  'messaging.collective',
  ['calls', 'done', 'bytesSent', 'bytesReceived'],
  {
    labelled,
    help: {
      '': 'Collectives of groups of peers, by kind and algorithm.',
      calls: 'Collectives started.',
      done: 'Collectives completed at this rank.',
      bytesSent: 'Bytes sent by this rank in completed collectives.',
      bytesReceived: 'Bytes received by this rank in completed collectives.',
    },
  },
)

const collectiveTime: CounterLayout = defineHistogram('messaging.collective.time', {
  labelled,
  help: 'From the call of a collective to its end at this rank.',
})

/** Counts the collectives of one kind and algorithm of a thread. */
export class CollectiveMeter {
  readonly #counters: CounterBlock<CollectiveCounter>
  readonly #time: HistogramBlock

  constructor(collective: string) {
    this.#counters = threadProfiling().counters(collectiveCounters, collective)
    this.#time = threadProfiling().histogram(collectiveTime, collective)
  }

  /** Count a start. Returns the time, for the end. */
  begin(): number {
    this.#counters.add('calls', 1)
    return native.monotonicNs()
  }

  done(beganNs: number, bytesSent: number, bytesReceived: number): void {
    this.#counters.add('done', 1)
    this.#counters.add('bytesSent', bytesSent)
    this.#counters.add('bytesReceived', bytesReceived)
    this.#time.record(native.monotonicNs() - beganNs)
  }
}

const meters = new Map<string, CollectiveMeter>()

/** The meter of `kind/algorithm`; undefined if profiling is off. */
export function collectiveMeter(collective: string): CollectiveMeter | undefined {
  if (!isProfiling()) return undefined
  let meter = meters.get(collective)
  if (meter === undefined) {
    meter = new CollectiveMeter(collective)
    meters.set(collective, meter)
  }
  return meter
}
