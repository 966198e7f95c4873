import { native } from '../native/index.ts'
import {
  type CounterLayout,
  defineHistogram,
  type HistogramBlock,
  nextTimed,
  threadProfiling,
} from '../profiling/index.ts'
import { Opcode } from '../providers/index.ts'

const latency: CounterLayout = defineHistogram('verbs.latency', {
  labelled: 'request',
  help: 'From the post of a request to the poll that finds its completion, by queue pair and kind; the first 64 of each kind, then one in 256, one under way at a time.',
})

/** What requests are told apart by. */
const kinds = ['other', 'send', 'write', 'read', 'fetch-add', 'compare-swap'] as const
type Kind = (typeof kinds)[number]

/** By opcode, where in {@link kinds}. As long as a byte has values, so that no look at it is out of range. */
const kindOf: Uint8Array = new Uint8Array(256)
for (const [kind, opcodes] of [
  ['send', [Opcode.Send, Opcode.SendWithImmediate, Opcode.SendWithInvalidate]],
  ['write', [Opcode.Write, Opcode.WriteWithImmediate]],
  ['read', [Opcode.Read]],
  ['fetch-add', [Opcode.FetchAdd, Opcode.MaskedFetchAdd]],
  ['compare-swap', [Opcode.CompareSwap, Opcode.MaskedCompareSwap]],
] as const)
  for (const opcode of opcodes) kindOf[opcode] = kinds.indexOf(kind)

/** A histogram takes more than four KiB of what a member has: so many are of one queue pair alone, those of further ones are shared by their device. */
const OWN_HISTOGRAMS_MAX = 8
let ownHistograms = 0

/** What the pairs of a device share. */
interface Sharing {
  pairs: number
  readonly histograms: Map<Kind, HistogramBlock>
}

const sharing = new Map<string, Sharing>()

/**
 * Times requests of a queue pair. Ids may be used again, so a completion is known by its place: those of one send queue come in the order of their requests. Unsignaled requests have none
 * and are not timed; what failed requests took says nothing.
 */
export class PairLatency {
  readonly #device: string
  readonly #number: number
  readonly #histograms = new Map<Kind, HistogramBlock>()
  readonly #own: HistogramBlock[] = []
  /** Requests that will complete, and those that did. */
  #posted = 0
  #completed = 0
  /** How many of each kind: a program that goes round through kinds would hit the same one again and again. */
  readonly #ofKind = new Float64Array(kinds.length)
  /** Which of each kind is to be timed next, if none is under way by then. */
  readonly #nextOfKind = new Float64Array(kinds.length).fill(nextTimed(0))
  /** Which of them is timed; 0: none just now. */
  #timed = 0
  #kind: Kind = 'other'
  #beganNs = 0
  /** The order is lost: until the pair is reset. */
  #isLost = false
  #isClosed = false

  constructor(device: string, number: number) {
    this.#device = device
    this.#number = number
    const shared = sharing.get(device) ?? { pairs: 0, histograms: new Map<Kind, HistogramBlock>() }
    shared.pairs += 1
    sharing.set(device, shared)
  }

  /** A request that will complete was taken by the device. */
  posted(opcode: number): void {
    this.#posted += 1
    const kind = kindOf[opcode & 255] as number
    const ordinal = (this.#ofKind[kind] as number) + 1
    this.#ofKind[kind] = ordinal
    if (ordinal === this.#nextOfKind[kind]) this.#begin(kind, ordinal)
  }

  /** The next of them has completed. */
  completed(): void {
    this.#completed += 1
    if (this.#completed === this.#timed) this.#end()
  }

  /** Requests were flushed, or came by another way: who completes next is not known any more. */
  lose(): void {
    this.#isLost = true
    this.#timed = 0
  }

  /** What was outstanding is forgotten. */
  reset(): void {
    this.#isLost = this.#isClosed
    this.#posted = 0
    this.#completed = 0
    this.#timed = 0
    this.#ofKind.fill(0)
    this.#nextOfKind.fill(nextTimed(0))
  }

  /** What is shared ends with the last pair of the device. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.lose()
    for (const block of this.#own) block.close()
    ownHistograms -= this.#own.length
    this.#own.length = 0
    this.#histograms.clear()
    const shared = sharing.get(this.#device)
    if (shared === undefined || --shared.pairs > 0) return
    for (const block of shared.histograms.values()) block.close()
    sharing.delete(this.#device)
  }

  #begin(kind: number, ordinal: number): void {
    this.#nextOfKind[kind] = nextTimed(ordinal)
    if (this.#timed !== 0 || this.#isLost) return
    this.#timed = this.#posted
    this.#kind = kinds[kind] as Kind
    this.#beganNs = native.monotonicNs()
  }

  #end(): void {
    this.#timed = 0
    this.#histogramOf(this.#kind).record(native.monotonicNs() - this.#beganNs)
  }

  #histogramOf(kind: Kind): HistogramBlock {
    let block = this.#histograms.get(kind)
    if (block === undefined) {
      block = ownHistograms < OWN_HISTOGRAMS_MAX ? this.#makeOwn(kind) : sharedOf(this.#device, kind)
      this.#histograms.set(kind, block)
    }
    return block
  }

  #makeOwn(kind: Kind): HistogramBlock {
    const block = threadProfiling().histogram(latency, `${this.#device} ${this.#number} ${kind}`)
    ownHistograms += 1
    this.#own.push(block)
    return block
  }
}

function sharedOf(device: string, kind: Kind): HistogramBlock {
  const { histograms } = sharing.get(device) as Sharing
  let block = histograms.get(kind)
  if (block === undefined) {
    block = threadProfiling().histogram(latency, `${device} others ${kind}`)
    histograms.set(kind, block)
  }
  return block
}
