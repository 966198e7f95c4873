import { type CounterBlock, type HistogramBlock, threadProfiling } from '../../profiling/index.ts'
import { type AdviceAnswer, type AdviceQuestion, answerAdvice } from '../advice/gathering.ts'
import {
  type CoherenceMessage,
  carriesBytes,
  type EpochNode,
  type Protocol,
  type TransitionWatch,
} from '../coherence/index.ts'
import { PageRight } from '../mmu/page-words.ts'
import { RegionWatch, type RegionWatchers } from '../observation/index.ts'
import { BusyPages } from './busy-pages.ts'
import { COHERENCE_MESSAGE_BYTES } from './coherence-channel.ts'
import type { Frames } from './frames.ts'
import { faultHistogram, pageCounters } from './page-counters.ts'
import { RegionAdviser } from './region-adviser.ts'
import { type PageFailure, pageCount, type RegionPlan } from './region-plan.ts'
import type { RegionProcess } from './region-process.ts'
import { type DemandCause, RegionTrace } from './region-trace.ts'
import { countTransitions } from './transition-counters.ts'

export interface RegionEventsOptions {
  readonly id: number
  readonly plan: RegionPlan
  readonly protocol: Protocol
  readonly rank: number
  readonly ranks: number
  readonly process: RegionProcess
  readonly observation: RegionWatchers
  readonly frames: Frames
}

/**
 * What happens to the pages of one region at one rank, for all who listen: counters, the trace, those who watch, and
 * the adviser.
 */
export class RegionEvents {
  /** Counts cells of the tables. For the node. */
  readonly transition: TransitionWatch
  readonly #rank: number
  readonly #pageBytes: number
  readonly #counters: CounterBlock<(typeof pageCounters.counters)[number]>
  readonly #faultNs: HistogramBlock
  /** If profiling is on. */
  readonly #busyPages: BusyPages | undefined
  readonly #trace: RegionTrace
  readonly #watch: RegionWatch
  /** Where the region is open with `advise`. */
  readonly #adviser: RegionAdviser | undefined

  constructor({ id, plan, protocol, rank, ranks, process, observation, frames }: RegionEventsOptions) {
    const { name, size, pageSize: pageBytes } = plan
    this.#rank = rank
    this.#pageBytes = pageBytes
    this.#counters = threadProfiling().counters(pageCounters, name)
    this.#faultNs = threadProfiling().histogram(faultHistogram, name)
    this.#busyPages = BusyPages.of(name)
    this.#trace = new RegionTrace(name, id, rank)
    if (plan.advise) this.#adviser = new RegionAdviser({ id, plan, rank, ranks, runtime: process.runtime, frames })
    const facts = { id, name, protocol: protocol.name, pages: pageCount(size, pageBytes), pageBytes, size }
    this.#watch = new RegionWatch(observation, protocol, facts, COHERENCE_MESSAGE_BYTES, this.#adviser?.watch)
    this.transition = countedToo(this.#watch.transition, countTransitions(protocol))
  }

  /** The node is there: from now on it can be looked at. */
  attach(node: EpochNode): void {
    this.#watch.attach(node)
  }

  /** A thread has faulted on a page. */
  faulted(page: number, write: boolean): void {
    const event = write ? 'writeFaults' : 'readFaults'
    this.#counters.add(event, 1)
    this.#busyPages?.count(page, event)
  }

  demanded(page: number, write: boolean, cause: DemandCause): void {
    this.#counters.add(cause === 'prefetch' ? 'prefetches' : 'demands', 1)
    if (cause === 'call') this.#busyPages?.count(page, 'calls')
    this.#trace.demanded(page, write, cause)
  }

  /** The node is about to ask for it. */
  wanted(page: number, write: boolean): void {
    this.#watch.wanted(page, write)
  }

  /** The page that a thread touched was opened where the fault was read. */
  opened(page: number, write: boolean, tookNs: number): void {
    this.#faultNs.record(tookNs)
    this.#trace.opened(page, write, tookNs)
  }

  /** The right is about to be granted; before, the program had `had`, as far as it can be told. */
  granting(page: number, right: number, had: number | undefined): void {
    this.#trace.granted(page, right === PageRight.Write)
    if (right === PageRight.Write && had !== undefined) this.#adviser?.writable(page, had)
  }

  /** A thread that waited so long has the page. */
  answered(page: number, right: number, tookNs: number): void {
    this.#faultNs.record(tookNs)
    this.#watch.granted(page, right, tookNs)
  }

  failed(page: number, { kind, rank }: PageFailure): void {
    this.#trace.failed(page, kind, rank)
  }

  /** Another rank must wait for a page that was just granted. */
  held(): void {
    this.#counters.add('holds', 1)
  }

  /** It can only be read from now on. */
  protected(page: number): void {
    this.#counters.add('downgrades', 1)
    this.#busyPages?.count(page, 'downgrades')
    this.#trace.taken(page, 'read')
    this.#adviser?.protected(page)
  }

  /** The program had the right `had` and has none now; `givenUp`: for no other rank. */
  unmapped(page: number, had: number, givenUp: boolean): void {
    this.#counters.add('invalidations', 1)
    if (!givenUp) this.#busyPages?.count(page, 'invalidations')
    this.#watch.lost(page)
    this.#trace.taken(page, 'none')
    this.#adviser?.unmapped(page, had, givenUp)
  }

  /** The page is being evicted to stay within the limit. */
  evicting(): void {
    this.#counters.add('evictions', 1)
  }

  sent(to: number, message: CoherenceMessage): void {
    this.#counters.add('messagesSent', 1)
    this.#watch.sent(to, message)
    this.#trace.sent(to, message)
  }

  pushed(to: number, page: number): void {
    this.#counters.add('pagesSent', 1)
    this.#counters.add('bytesSent', this.#pageBytes)
    this.#watch.pushed(to, page)
  }

  /** `handle` acts on a message. */
  receiving(message: CoherenceMessage, node: EpochNode, handle: () => void): void {
    if (this.#trace.listens) this.#trace.receiving(message, node, () => this.#received(message, handle))
    else this.#received(message, handle)
  }

  /** Something happened to the page. */
  changed(page: number): void {
    this.#watch.changed(page)
  }

  /** The region is served again after a death. */
  recovered(epoch: number): void {
    this.#watch.changedAll()
    this.#trace.recovered(epoch)
  }

  /** What this rank saw of a page that bounces. */
  adviceAnswer(question: AdviceQuestion): AdviceAnswer {
    return answerAdvice(this.#adviser?.watch, question)
  }

  close(): void {
    this.#watch.close()
    this.#counters.close()
    this.#adviser?.close()
    this.#faultNs.close()
    this.#busyPages?.close()
  }

  #received(message: CoherenceMessage, handle: () => void): void {
    if (message.from !== this.#rank && carriesBytes(message.kind)) {
      this.#counters.add('pagesReceived', 1)
      this.#counters.add('bytesReceived', this.#pageBytes)
    }
    this.#watch.received(message)
    handle()
    this.#watch.changed(message.page)
  }
}

/** What is counted for profiles beside what is told to those who watch. */
function countedToo(watch: TransitionWatch, count: TransitionWatch | undefined): TransitionWatch {
  if (count === undefined) return watch
  return (side, state, event) => {
    watch(side, state, event)
    count(side, state, event)
  }
}
