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

type EndpointCounter = 'messagesSent' | 'bytesSent' | 'messagesReceived' | 'bytesReceived'

const endpointCounters: CounterLayout<EndpointCounter> = defineCounters(
  'messaging.endpoint',
  ['messagesSent', 'bytesSent', 'messagesReceived', 'bytesReceived'],
  {
    labelled: 'endpoint',
    help: {
      '': 'An endpoint, by the number of its queue pair and, if known, its peer.',
      messagesSent: 'Messages passed to it for sending, of any length.',
      bytesSent: 'Bytes of the messages passed to it.',
      messagesReceived: 'Messages received.',
      bytesReceived: 'Bytes of the messages received.',
    },
  },
)

const waits: CounterLayout = defineHistogram('messaging.endpoint.wait', {
  labelled: 'endpoint',
  help: 'Waits of messages that could not leave at once: until the peer made room, or, if longer than the ring, until the peer fetched them.',
})

/** Where in the slots of an endpoint they are counted. */
const Slot = {
  messagesSent: 0,
  bytesSent: 1,
  messagesReceived: 2,
  bytesReceived: 3,
} as const satisfies Readonly<Record<EndpointCounter, number>>

/** Counts the messages of an endpoint. */
export class EndpointMeter {
  readonly #label: string
  readonly #block: CounterBlock<EndpointCounter>
  /** Made when it is first needed: most endpoints never wait. */
  #waits: HistogramBlock | undefined
  #closed = false

  private constructor(label: string) {
    this.#label = label
    this.#block = threadProfiling().counters(endpointCounters, label)
  }

  /** Undefined if profiling is off. */
  static of(queuePair: number, remote: string | undefined): EndpointMeter | undefined {
    if (!isProfiling()) return undefined
    return new EndpointMeter(remote === undefined ? String(queuePair) : `${queuePair} ${remote}`)
  }

  sent(bytes: number): void {
    const { slots } = this.#block
    slots[Slot.messagesSent] = slots[Slot.messagesSent]! + 1
    slots[Slot.bytesSent] = slots[Slot.bytesSent]! + bytes
  }

  /** A message waits, or is fetched. The returned promise settles as the given one. */
  async waiting(sent: Promise<void>): Promise<void> {
    const beganNs = native.monotonicNs()
    await sent
    // A block made now would never be closed.
    if (this.#closed) return
    this.#waits ??= threadProfiling().histogram(waits, this.#label)
    this.#waits.record(native.monotonicNs() - beganNs)
  }

  received(bytes: number): void {
    const { slots } = this.#block
    slots[Slot.messagesReceived] = slots[Slot.messagesReceived]! + 1
    slots[Slot.bytesReceived] = slots[Slot.bytesReceived]! + bytes
  }

  close(): void {
    this.#closed = true
    this.#waits?.close()
    this.#block.close()
  }
}
