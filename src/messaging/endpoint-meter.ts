import {
  type CounterBlock,
  type CounterLayout,
  defineCounters,
  isProfiling,
  threadProfiling,
} from '../profiling/index.ts'

type EndpointCounter = 'messagesSent' | 'bytesSent' | 'messagesReceived' | 'bytesReceived'

const endpointCounters: CounterLayout<EndpointCounter> = defineCounters(
  'messaging.endpoint',
  ['messagesSent', 'bytesSent', 'messagesReceived', 'bytesReceived'],
  {
    labelled: 'endpoint',
    help: {
      '': 'An endpoint, by the number of its queue pair and, where it is known, its peer.',
      messagesSent: 'Messages that were given to it to send, of any length.',
      bytesSent: 'Bytes of the messages that were given to it.',
      messagesReceived: 'Messages that came.',
      bytesReceived: 'Bytes of the messages that came.',
    },
  },
)

/** Counts the messages of an endpoint. */
export class EndpointMeter {
  readonly #block: CounterBlock<EndpointCounter>

  private constructor(label: string) {
    this.#block = threadProfiling().counters(endpointCounters, label)
  }

  /** Undefined where nobody profiles. */
  static of(queuePair: number, remote: string | undefined): EndpointMeter | undefined {
    if (!isProfiling()) return undefined
    return new EndpointMeter(remote === undefined ? String(queuePair) : `${queuePair} ${remote}`)
  }

  sent(bytes: number): void {
    this.#block.add('messagesSent', 1)
    this.#block.add('bytesSent', bytes)
  }

  received(bytes: number): void {
    this.#block.add('messagesReceived', 1)
    this.#block.add('bytesReceived', bytes)
  }

  close(): void {
    this.#block.close()
  }
}
