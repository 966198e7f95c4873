import { type CounterLayout, defineHistogram, type HistogramBlock, threadProfiling } from '../profiling/index.ts'

const latency: CounterLayout = defineHistogram('verbs.latency', {
  labelled: 'request',
  help: 'From the post of a request to the poll that returns its completion, by queue pair and kind. The first 64 of each kind, then one in 256; at most one of a list.',
})

/** What requests are told apart by. */
const kinds = ['send', 'write', 'read', 'fetch-add', 'compare-swap', 'other'] as const

/**
 * A histogram takes more than four KiB of a member's area. This many belong to one queue pair each; those of further
 * queue pairs are shared by their device.
 */
const OWN_HISTOGRAMS_MAX = 8
let ownHistograms = 0

/** What the pairs of a device share. */
interface Sharing {
  pairs: number
  readonly histograms: Map<number, HistogramBlock>
}

const sharing = new Map<string, Sharing>()

/** Latency of a queue pair's requests by kind, in the order of {@link kinds}. */
export class PairLatency {
  readonly #device: string
  readonly #number: number
  readonly #histograms = new Map<number, HistogramBlock>()
  readonly #own: HistogramBlock[] = []
  #isClosed = false

  constructor(device: string, number: number) {
    this.#device = device
    this.#number = number
    const shared = sharing.get(device) ?? { pairs: 0, histograms: new Map<number, HistogramBlock>() }
    shared.pairs += 1
    sharing.set(device, shared)
  }

  record(kind: number, ns: number): void {
    if (!this.#isClosed) this.#histogramOf(kind).record(ns)
  }

  /** Close the histograms; a shared one ends with the last pair of the device. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const block of this.#own) block.close()
    ownHistograms -= this.#own.length
    this.#own.length = 0
    this.#histograms.clear()
    const shared = sharing.get(this.#device)
    if (shared === undefined || --shared.pairs > 0) return
    for (const block of shared.histograms.values()) block.close()
    sharing.delete(this.#device)
  }

  #histogramOf(kind: number): HistogramBlock {
    let block = this.#histograms.get(kind)
    if (block === undefined) {
      block = ownHistograms < OWN_HISTOGRAMS_MAX ? this.#makeOwn(kind) : sharedOf(this.#device, kind)
      this.#histograms.set(kind, block)
    }
    return block
  }

  #makeOwn(kind: number): HistogramBlock {
    const block = threadProfiling().histogram(latency, `${this.#device} ${this.#number} ${kinds[kind]}`)
    ownHistograms += 1
    this.#own.push(block)
    return block
  }
}

function sharedOf(device: string, kind: number): HistogramBlock {
  const { histograms } = sharing.get(device)!
  let block = histograms.get(kind)
  if (block === undefined) {
    block = threadProfiling().histogram(latency, `${device} others ${kinds[kind]}`)
    histograms.set(kind, block)
  }
  return block
}
