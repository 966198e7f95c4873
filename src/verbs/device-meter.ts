import { createHash } from 'node:crypto'
import {
  type CounterBlock,
  type CounterLayout,
  defineCounters,
  isProfiling,
  nextTimed,
  threadProfiling,
} from '../profiling/index.ts'
import {
  type CompletionBatch,
  type EncodedRequest,
  type Gid,
  lengthOf,
  Opcode,
  type ProviderQueuePair,
  RequestFlag,
  RequestSlot,
  segmentSlot,
} from '../providers/index.ts'
import { PairLatency } from './pair-latency.ts'
import { isTimed, timedRequests } from './timed-requests.ts'

type DeviceCounter = 'queuePairs' | 'memoryRegions' | 'bytesRegistered' | 'completions' | 'failedCompletions'

const deviceCounters: CounterLayout<DeviceCounter> = defineCounters(
  'verbs.device',
  ['queuePairs', 'memoryRegions', 'bytesRegistered', 'completions', 'failedCompletions'],
  {
    labelled: 'device',
    gauges: ['queuePairs', 'memoryRegions', 'bytesRegistered'],
    help: {
      '': 'An open device.',
      queuePairs: 'Existing queue pairs.',
      memoryRegions: 'Existing memory regions.',
      bytesRegistered: 'Bytes of the existing memory regions, as first registered.',
      completions: 'Completions polled.',
      failedCompletions: 'Completions polled with a status other than success.',
    },
  },
)

/** Those of kinds of requests come first, then the bytes of those kinds that have bytes. */
const pairNames = [
  'sends',
  'writes',
  'reads',
  'fetchAdds',
  'compareSwaps',
  'others',
  'bytesOfSends',
  'bytesOfWrites',
  'bytesOfReads',
  'receives',
  'end',
  'peerEnd',
] as const
type PairCounter = (typeof pairNames)[number]

const pairCounters: CounterLayout<PairCounter> = defineCounters('verbs.queuePair', pairNames, {
  labelled: 'queuePair',
  gauges: ['end', 'peerEnd'],
  help: {
    '': 'Requests posted to a queue pair, by device and number.',
    sends: 'SEND requests.',
    writes: 'RDMA WRITE requests.',
    reads: 'RDMA READ requests.',
    fetchAdds: 'Atomic requests that fetch and add.',
    compareSwaps: 'Atomic requests that compare and swap.',
    others: 'Other requests: binding of windows, invalidation of keys.',
    bytesOfSends: 'Bytes of the SEND requests.',
    bytesOfWrites: 'Bytes of the WRITE requests.',
    bytesOfReads: 'Bytes of the READ requests.',
    receives: 'Receive requests.',
    end: 'Number of this end of the connection, the same in the figures of both ends; 0 while not connected.',
    peerEnd: 'Number of the other end of the connection.',
  },
})

/** Where in the slots of a device they are counted. */
const COMPLETIONS = 3

/** Counts what happens on a device. */
export class DeviceMeter {
  readonly device: string
  readonly #block: CounterBlock<DeviceCounter>

  private constructor(device: string) {
    this.device = device
    this.#block = threadProfiling().counters(deviceCounters, device)
  }

  /** Undefined if profiling is off. */
  static of(device: string): DeviceMeter | undefined {
    return isProfiling() ? new DeviceMeter(device) : undefined
  }

  /** Add `by`, which may be negative. */
  change(what: 'queuePairs' | 'memoryRegions' | 'bytesRegistered', by: number): void {
    this.#block.set(what, this.#block.get(what) + by)
  }

  completed(batch: CompletionBatch, count: number): void {
    const { slots } = this.#block
    slots[COMPLETIONS] = slots[COMPLETIONS]! + count
    for (let row = 0; row < count; row += 1) {
      if (batch.status[row] !== 0) this.#block.add('failedCompletions', 1)
      if (isTimed(batch.id[row]!)) timedRequests.completed(batch, row)
    }
  }

  /** Requests are not timed if the completions of the pair are not metered. */
  pair(number: number, areCompletionsMetered: boolean): PairMeter {
    return new PairMeter(this.device, number, areCompletionsMetered)
  }

  close(): void {
    this.#block.close()
  }
}

/** Where requests are counted, by opcode. As long as a byte has values, so that no look at it is out of range. */
const slotOf: Uint8Array = new Uint8Array(256).fill(pairNames.indexOf('others'))
for (const [name, opcodes] of [
  ['sends', [Opcode.Send, Opcode.SendWithImmediate, Opcode.SendWithInvalidate]],
  ['writes', [Opcode.Write, Opcode.WriteWithImmediate]],
  ['reads', [Opcode.Read]],
  ['fetchAdds', [Opcode.FetchAdd, Opcode.MaskedFetchAdd]],
  ['compareSwaps', [Opcode.CompareSwap, Opcode.MaskedCompareSwap]],
] as const)
  for (const opcode of opcodes) slotOf[opcode] = pairNames.indexOf(name)

function kindOf(words: Float64Array): number {
  return slotOf[words[RequestSlot.Opcode]! & 255]!
}

const KINDS = pairNames.indexOf('others') + 1
/** The byte counter of a kind is this many slots behind its count, if it has one. */
const BYTES = pairNames.indexOf('bytesOfSends')
const KINDS_WITH_BYTES = pairNames.indexOf('reads') + 1
const RECEIVES = pairNames.indexOf('receives')

/** One end of a connection. */
interface PairEnd {
  readonly gid: Gid
  readonly number: number
}

/** 48 bits, as many as a gauge holds exactly and enough that no two ends of a machine have the same. */
function numberOfEnd({ gid, number }: PairEnd): number {
  return createHash('sha256').update(`${gid} ${number}`).digest().readUIntBE(0, 6)
}

/** Posts to a queue pair, and counts what it took. */
export class PairMeter {
  readonly #latency: PairLatency
  readonly #block: CounterBlock<PairCounter>
  /**
   * Which of each kind is to be timed next: by kind, for a program that goes round through kinds would hit the same one
   * again and again.
   */
  readonly #next = new Float64Array(KINDS)

  constructor(device: string, number: number, isTimed: boolean) {
    this.#latency = new PairLatency(device, number)
    if (!isTimed) this.#next.fill(Infinity)
    this.#block = threadProfiling().counters(pairCounters, `${device} ${number}`)
  }

  /** Post, and return the error number. `completes`: the request makes a completion, whatever it says. */
  post(pair: ProviderQueuePair, encoded: EncodedRequest, completes: boolean): number {
    const errno = this.#isDue(encoded, completes) ? this.#postTimed(pair, encoded) : pair.postSend(encoded)
    if (errno === 0) this.#count(encoded)
    return errno
  }

  /** Post a list, and return how many were taken. */
  postList(pair: ProviderQueuePair, requests: readonly EncodedRequest[], completes: boolean): number {
    const due = requests.find((request) => this.#isDue(request, completes))
    // A request that is there twice would complete twice under the id of one.
    const isTimed = due !== undefined && requests.indexOf(due) === requests.lastIndexOf(due)
    const timedAs = isTimed ? this.#begin(due) : 0
    let taken = 0
    try {
      taken = pair.postSendList(requests, requests.length)
    } finally {
      if (isTimed) this.#began(due, timedAs, taken > requests.indexOf(due))
    }
    for (let index = 0; index < taken; index += 1) this.#count(requests[index]!)
    return taken
  }

  /** Count a request that another object of the provider has posted. */
  posted(encoded: EncodedRequest): void {
    this.#count(encoded)
  }

  /**
   * Record that the pair is connected, or without a `remote` that it no longer is. This lets a reader match the figures
   * of both ends.
   */
  connected(local: PairEnd, remote: PairEnd | undefined): void {
    this.#block.set('end', remote === undefined ? 0 : numberOfEnd(local))
    this.#block.set('peerEnd', remote === undefined ? 0 : numberOfEnd(remote))
  }

  received(requests: number): void {
    const { slots } = this.#block
    slots[RECEIVES] = slots[RECEIVES]! + requests
  }

  /** Forget all outstanding requests. */
  reset(): void {
    timedRequests.forget(this.#latency)
  }

  close(): void {
    this.reset()
    this.#latency.close()
    this.#block.close()
  }

  /** Whether it is to be timed: without a completion none can be. */
  #isDue({ words }: EncodedRequest, completes: boolean): boolean {
    const kind = kindOf(words)
    if (this.#block.slots[kind]! < this.#next[kind]!) return false
    return completes || (words[RequestSlot.Flags]! & RequestFlag.Signaled) !== 0
  }

  #postTimed(pair: ProviderQueuePair, encoded: EncodedRequest): number {
    const timedAs = this.#begin(encoded)
    let isTaken = false
    try {
      const errno = pair.postSend(encoded)
      isTaken = errno === 0
      return errno
    } finally {
      this.#began(encoded, timedAs, isTaken)
    }
  }

  /** It goes under the id that is returned. */
  #begin({ words }: EncodedRequest): number {
    const timedAs = timedRequests.begin(this.#latency, kindOf(words), words[RequestSlot.Id]!)
    words[RequestSlot.Id] = timedAs
    return timedAs
  }

  #began({ words }: EncodedRequest, timedAs: number, wasTaken: boolean): void {
    const kind = kindOf(words)
    words[RequestSlot.Id] = timedRequests.idOf(timedAs)
    if (wasTaken) this.#next[kind] = nextTimed(this.#block.slots[kind]! + 1) - 1
    else timedRequests.cancel(timedAs)
  }

  #count({ words }: EncodedRequest): void {
    const { slots } = this.#block
    const kind = kindOf(words)
    slots[kind] = slots[kind]! + 1
    if (kind >= KINDS_WITH_BYTES) return
    const isOne = words[RequestSlot.SegmentCount] === 1
    const length = isOne ? words[FIRST_LENGTH]! : lengthOf(words)
    slots[BYTES + kind] = slots[BYTES + kind]! + length
  }
}

/** Where in a request the length of its first piece is; most have no other. */
const FIRST_LENGTH = segmentSlot(0) + 1
