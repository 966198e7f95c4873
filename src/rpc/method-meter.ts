import { AetherError, native } from '../native/index.ts'
import {
  type CounterBlock,
  type CounterLayout,
  defineCounters,
  defineHistogram,
  type HistogramBlock,
  isProfiling,
  nextTimed,
  threadProfiling,
} from '../profiling/index.ts'
import { FailureCode } from './frame.ts'

/** The end of a call at which it is counted. */
export type CallSide = 'client' | 'server'

const PREFIX = 'ERR_AETHER_RPC_'

/** How calls fail: the codes of their errors without `ERR_AETHER_RPC_`; `ABORTED` by a signal of the caller's. */
const failureNames = [
  'SERVICE',
  'HANDLER',
  'UNKNOWN_METHOD',
  'INVALID_REQUEST',
  'OVERLOADED',
  'DRAINING',
  'DEADLINE',
  'CANCELLED',
  'TOO_LARGE',
  'INVALID_RESPONSE',
  'OUTCOME_UNKNOWN',
  'CONNECTION_LOST',
  'UNAVAILABLE',
  'MALFORMED',
  'ABORTED',
  'OTHER',
] as const
type FailureName = (typeof failureNames)[number]

const nameOfCode: ReadonlyMap<number, FailureName> = new Map<number, FailureName>([
  [FailureCode.Service, 'SERVICE'],
  [FailureCode.Handler, 'HANDLER'],
  [FailureCode.UnknownMethod, 'UNKNOWN_METHOD'],
  [FailureCode.InvalidRequest, 'INVALID_REQUEST'],
  [FailureCode.Overloaded, 'OVERLOADED'],
  [FailureCode.Draining, 'DRAINING'],
  [FailureCode.Deadline, 'DEADLINE'],
  [FailureCode.Cancelled, 'CANCELLED'],
  [FailureCode.TooLarge, 'TOO_LARGE'],
  [FailureCode.InvalidResponse, 'INVALID_RESPONSE'],
  [FailureCode.Forgotten, 'OUTCOME_UNKNOWN'],
])

type CallCounter = 'calls' | 'answers' | 'bytesReceived'

interface Layouts {
  readonly calls: CounterLayout<CallCounter>
  readonly failures: CounterLayout<FailureName>
  readonly latency: CounterLayout
}

const layouts: Readonly<Record<CallSide, Layouts>> = {
  client: layoutsOf('client', {
    '': 'Calls made by this thread.',
    calls: 'Calls started.',
    answers: 'Calls answered; streams when they end.',
    bytesReceived: 'Bytes of answers, without framing.',
  }),
  server: layoutsOf('server', {
    '': 'Calls answered by this thread.',
    calls: 'Requests received, repeated ones included.',
    answers: 'Requests answered; streams when they end.',
    bytesReceived: 'Bytes of requests, without framing.',
  }),
}

function layoutsOf(side: CallSide, help: Readonly<Record<CallCounter | '', string>>): Layouts {
  const labelled = 'method'
  const from = side === 'client' ? 'From a call to its end' : 'From a request to the end of its answer'
  const until = `${from}; the first 64 of a method, then one in 256.`
  return {
    calls: defineCounters(`rpc.${side}`, ['calls', 'answers', 'bytesReceived'], { labelled, help }),
    failures: defineCounters(`rpc.${side}.failures`, failureNames, {
      labelled,
      spread: 'code',
      help: { '': 'Failed calls, by error code.' },
    }),
    latency: defineHistogram(`rpc.${side}.latency`, { labelled, help: until }),
  }
}

/** The start of a call that is timed. Only those few have an object, so that no call stores a fraction. */
export interface CallStart {
  readonly ns: number
}

/** Where in the slots of a method they are counted. */
const Slot = { calls: 0, answers: 1, bytesReceived: 2 } as const satisfies Readonly<Record<CallCounter, number>>

/** Counts the calls of one method at one end. All channels, or servers, of a thread share it. */
export class MethodMeter {
  readonly #calls: CounterBlock<CallCounter>
  readonly #failures: CounterBlock<FailureName>
  readonly #latency: HistogramBlock
  /** Calls that began here: the block may be shared with others, and then says more. */
  #began = 0
  /** Which of them is timed next. */
  #next = nextTimed(0)

  constructor(side: CallSide, method: string) {
    const area = threadProfiling()
    const { calls, failures, latency } = layouts[side]
    this.#calls = area.counters(calls, method)
    this.#failures = area.counters(failures, method)
    this.#latency = area.histogram(latency, method)
  }

  /** Count the start of a call, with the bytes that came. Returns the start if the call is timed, else undefined. */
  begin(bytesReceived = 0): CallStart | undefined {
    const { slots } = this.#calls
    slots[Slot.calls] = slots[Slot.calls]! + 1
    if (bytesReceived !== 0) slots[Slot.bytesReceived] = slots[Slot.bytesReceived]! + bytesReceived
    this.#began += 1
    return this.#began === this.#next ? this.#start() : undefined
  }

  /** A call has failed before it left: its duration means nothing. */
  refused(error: unknown): void {
    this.#count(Slot.calls, 1)
    this.failed(undefined, error)
  }

  received(bytes: number): void {
    this.#count(Slot.bytesReceived, bytes)
  }

  answered(began: CallStart | undefined): void {
    this.#count(Slot.answers, 1)
    this.#took(began)
  }

  /** Both at once, for a call with one answer. */
  answeredWith(began: CallStart | undefined, bytes: number): void {
    const { slots } = this.#calls
    slots[Slot.answers] = slots[Slot.answers]! + 1
    slots[Slot.bytesReceived] = slots[Slot.bytesReceived]! + bytes
    this.#took(began)
  }

  failed(began: CallStart | undefined, error: unknown): void {
    this.#failures.add(nameOf(error), 1)
    this.#took(began)
  }

  /** As {@link failed}, by the code on the wire. */
  failedWith(began: CallStart | undefined, code: number): void {
    this.#failures.add(nameOfCode.get(code) ?? 'OTHER', 1)
    this.#took(began)
  }

  #start(): CallStart {
    this.#next = nextTimed(this.#began)
    return { ns: native.monotonicNs() }
  }

  #took(began: CallStart | undefined): void {
    if (began !== undefined) this.#latency.record(native.monotonicNs() - began.ns)
  }

  #count(slot: number, by: number): void {
    const { slots } = this.#calls
    slots[slot] = slots[slot]! + by
  }
}

const meters = new Map<string, MethodMeter>()

/** The meter of `method`, `service/method`; undefined if profiling is off. */
export function meterOf(side: CallSide, method: string): MethodMeter | undefined {
  if (!isProfiling()) return undefined
  const key = `${side} ${method}`
  let meter = meters.get(key)
  if (meter === undefined) {
    meter = new MethodMeter(side, method)
    meters.set(key, meter)
  }
  return meter
}

function nameOf(error: unknown): FailureName {
  if (error instanceof AetherError && error.code.startsWith(PREFIX)) {
    const name = error.code.slice(PREFIX.length) as FailureName
    return failureNames.includes(name) ? name : 'OTHER'
  }
  const isAbort = error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')
  return isAbort ? 'ABORTED' : 'OTHER'
}
