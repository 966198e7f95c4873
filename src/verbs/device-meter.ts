import { createHash } from 'node:crypto'
import {
  type CounterBlock,
  type CounterLayout,
  defineCounters,
  isProfiling,
  threadProfiling,
} from '../profiling/index.ts'
import {
  type CompletionBatch,
  CompletionOpcode,
  type EncodedRequest,
  type Gid,
  Opcode,
  RequestFlag,
  RequestSlot,
  segmentSlot,
} from '../providers/index.ts'
import { PairLatency } from './pair-latency.ts'

type DeviceCounter = 'queuePairs' | 'memoryRegions' | 'bytesRegistered' | 'completions' | 'failedCompletions'

const deviceCounters: CounterLayout<DeviceCounter> = defineCounters(
  'verbs.device',
  ['queuePairs', 'memoryRegions', 'bytesRegistered', 'completions', 'failedCompletions'],
  {
    labelled: 'device',
    gauges: ['queuePairs', 'memoryRegions', 'bytesRegistered'],
    help: {
      '': 'An open device.',
      queuePairs: 'Queue pairs that there are.',
      memoryRegions: 'Memory regions that there are.',
      bytesRegistered: 'Bytes of the memory regions that there are, as they were registered first.',
      completions: 'Completions that were polled.',
      failedCompletions: 'Completions that were polled with a status other than success.',
    },
  },
)

type PairCounter =
  | 'sends'
  | 'writes'
  | 'reads'
  | 'atomics'
  | 'others'
  | 'bytesSent'
  | 'bytesRead'
  | 'receives'
  | 'compareSwaps'
  | 'bytesOfSends'
  | 'end'
  | 'peerEnd'

const pairCounters: CounterLayout<PairCounter> = defineCounters(
  'verbs.queuePair',
  [
    'sends',
    'writes',
    'reads',
    'atomics',
    'others',
    'bytesSent',
    'bytesRead',
    'receives',
    'compareSwaps',
    'bytesOfSends',
    'end',
    'peerEnd',
  ],
  {
    labelled: 'queuePair',
    gauges: ['end', 'peerEnd'],
    help: {
      '': 'A queue pair, by device and number: what was posted to it.',
      sends: 'SEND requests.',
      writes: 'RDMA WRITE requests.',
      reads: 'RDMA READ requests.',
      atomics: 'Atomic requests.',
      others: 'Requests of other kinds: binding of windows, invalidation of keys.',
      bytesSent: 'Bytes of the SEND and WRITE requests.',
      bytesRead: 'Bytes of the READ requests.',
      receives: 'Receive requests.',
      compareSwaps: 'Those of the atomic requests that compare and swap; the others fetch and add.',
      bytesOfSends: 'Those of the bytes sent that are of SEND requests; the others are of WRITEs.',
      end: 'A number that this end of a connection goes by, the same in the figures of both ends; 0 where it is not connected.',
      peerEnd: 'The number that the other end goes by.',
    },
  },
)

/** Where in the slots of a device they are counted. */
const COMPLETIONS = 3
/** The one kind of sends whose number is among those of receives. */
const CONFIGURE = CompletionOpcode.ConfigureIndirectKey

/** Counts what happens on a device. */
export class DeviceMeter {
  readonly device: string
  readonly #block: CounterBlock<DeviceCounter>
  readonly #pairs = new Map<number, PairMeter>()
  #lastNumber = -1
  #last: PairMeter | undefined

  private constructor(device: string) {
    this.device = device
    this.#block = threadProfiling().counters(deviceCounters, device)
  }

  /** Undefined where nobody profiles. */
  static of(device: string): DeviceMeter | undefined {
    return isProfiling() ? new DeviceMeter(device) : undefined
  }

  /** `by` more, or, below 0, fewer. */
  change(what: 'queuePairs' | 'memoryRegions' | 'bytesRegistered', by: number): void {
    this.#block.set(what, this.#block.get(what) + by)
  }

  completed(batch: CompletionBatch, count: number): void {
    const { slots } = this.#block
    slots[COMPLETIONS] = (slots[COMPLETIONS] as number) + count
    for (let row = 0; row < count; row += 1) {
      if (batch.status[row] !== 0) this.#failed(batch, row)
      else {
        const opcode = batch.opcode[row] as number
        if (opcode >= CompletionOpcode.Receive && opcode !== CONFIGURE) continue
        const number = batch.queuePairNumber[row] as number
        // Most completions are of the same pair as the one before.
        if (number !== this.#lastNumber) this.#turnTo(number)
        this.#last?.latency.completed()
      }
    }
  }

  /** From now on its completions are known by its number. */
  enter(number: number): PairMeter {
    const meter = new PairMeter(this.device, number)
    this.#pairs.set(number, meter)
    return meter
  }

  leave(number: number): void {
    this.#pairs.get(number)?.close()
    this.#pairs.delete(number)
    this.#lastNumber = -1
  }

  /** Of a failed request the opcode is not told. */
  #failed({ queuePairNumber }: CompletionBatch, row: number): void {
    this.#block.add('failedCompletions', 1)
    this.#pairs.get(queuePairNumber[row] as number)?.latency.lose()
  }

  #turnTo(number: number): void {
    this.#lastNumber = number
    this.#last = this.#pairs.get(number)
  }

  close(): void {
    this.#block.close()
  }
}

const Slot = {
  sends: 0,
  writes: 1,
  reads: 2,
  atomics: 3,
  others: 4,
  bytesSent: 5,
  bytesRead: 6,
  receives: 7,
  compareSwaps: 8,
  bytesOfSends: 9,
  end: 10,
  peerEnd: 11,
} as const satisfies Readonly<Record<PairCounter, number>>

/** Where requests are counted, by opcode. As long as a byte has values, so that no look at it is out of range. */
const countedAs: Uint8Array = new Uint8Array(256).fill(Slot.others)
for (const opcode of [Opcode.Send, Opcode.SendWithImmediate, Opcode.SendWithInvalidate]) countedAs[opcode] = Slot.sends
for (const opcode of [Opcode.Write, Opcode.WriteWithImmediate]) countedAs[opcode] = Slot.writes
for (const opcode of [Opcode.CompareSwap, Opcode.FetchAdd, Opcode.MaskedCompareSwap, Opcode.MaskedFetchAdd])
  countedAs[opcode] = Slot.atomics
countedAs[Opcode.Read] = Slot.reads

/** One end of a connection. */
interface PairEnd {
  readonly gid: Gid
  readonly number: number
}

/** 48 bits, as many as a gauge holds exactly and enough that no two ends of a machine have the same. */
function numberOfEnd({ gid, number }: PairEnd): number {
  return createHash('sha256').update(`${gid} ${number}`).digest().readUIntBE(0, 6)
}

/** Counts what is posted to a queue pair. */
export class PairMeter {
  readonly latency: PairLatency
  readonly #block: CounterBlock<PairCounter>

  constructor(device: string, number: number) {
    this.latency = new PairLatency(device, number)
    this.#block = threadProfiling().counters(pairCounters, `${device} ${number}`)
  }

  /** `completes`: whatever the request says. */
  posted({ words }: EncodedRequest, completes: boolean): void {
    const opcode = words[RequestSlot.Opcode] as number
    if (completes || ((words[RequestSlot.Flags] as number) & RequestFlag.Signaled) !== 0) this.latency.posted(opcode)
    const { slots } = this.#block
    const slot = countedAs[opcode & 255] as number
    slots[slot] = (slots[slot] as number) + 1
    if (slot === Slot.others) return
    if (slot === Slot.atomics) {
      if (opcode === Opcode.CompareSwap || opcode === Opcode.MaskedCompareSwap)
        slots[Slot.compareSwaps] = (slots[Slot.compareSwaps] as number) + 1
      return
    }
    const bytes = slot === Slot.reads ? Slot.bytesRead : Slot.bytesSent
    const isOne = words[RequestSlot.SegmentCount] === 1
    const length = isOne ? (words[FIRST_LENGTH] as number) : lengthOf(words)
    slots[bytes] = (slots[bytes] as number) + length
    if (slot === Slot.sends) slots[Slot.bytesOfSends] = (slots[Slot.bytesOfSends] as number) + length
  }

  /** It is connected, or, without a `remote`, not any more: so that who reads the figures of both ends finds what belongs together. */
  connected(local: PairEnd, remote: PairEnd | undefined): void {
    this.#block.set('end', remote === undefined ? 0 : numberOfEnd(local))
    this.#block.set('peerEnd', remote === undefined ? 0 : numberOfEnd(remote))
  }

  received(requests: number): void {
    const { slots } = this.#block
    slots[Slot.receives] = (slots[Slot.receives] as number) + requests
  }

  close(): void {
    this.latency.close()
    this.#block.close()
  }
}

/** Where in a request the length of its first piece is; most have no other. */
const FIRST_LENGTH = segmentSlot(0) + 1

function lengthOf(words: Float64Array): number {
  const segments = words[RequestSlot.SegmentCount] as number
  let length = 0
  for (let index = 0; index < segments; index += 1) length += words[segmentSlot(index) + 1] as number
  return length
}
