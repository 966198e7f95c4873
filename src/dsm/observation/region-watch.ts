import { native } from '../../native/index.ts'
import {
  type CoherenceMessage,
  cacheEvents,
  carriesBytes,
  directoryEvents,
  MessageKind,
  type Protocol,
  type TransitionWatch,
} from '../coherence/index.ts'
import type { Journal } from './journal.ts'
import { EventKind } from './journal-layout.ts'
import type { RegionFacts, RegionSheet } from './region-sheet.ts'

/** What watches the regions of a rank. */
export interface RegionWatchers {
  /** Undefined without a watcher. */
  readonly journal: Journal | undefined
  add(watch: RegionWatch): void
  remove(watch: RegionWatch): void
}

/** What is asked of the region's node. */
export interface WatchedNode {
  readonly rank: number
  homeOf(page: number): number
  copyState(page: number): string
  directory(page: number): { readonly state: string; readonly owner: number; readonly version: number }
  /** Pages of which anything is remembered. */
  pages(): Iterable<number>
}

const numbersOf = (names: readonly string[]): ReadonlyMap<string, number> =>
  new Map(names.map((name, index) => [name, index]))

const cacheEventNumbers = numbersOf(cacheEvents)
const directoryEventNumbers = numbersOf(directoryEvents)

/** Where it is known which pages bounce. */
export interface AdviceSource {
  /** Another number whenever there is something new. */
  readonly seen: number
  sent(): readonly unknown[]
}

/** How often the advice shown is refreshed. */
const ADVICE_NS = 200e6

/**
 * What one region shows of itself to a watcher. Its methods are called from hot paths: without a watcher each is one
 * comparison.
 */
export class RegionWatch {
  readonly #observation: RegionWatchers
  readonly #facts: RegionFacts
  readonly #messageBytes: number
  readonly #cacheStates: ReadonlyMap<string, number>
  readonly #directoryStates: ReadonlyMap<string, number>
  #node: WatchedNode | undefined
  #sheet: RegionSheet | undefined
  readonly #advice: AdviceSource | undefined
  #advisedNs = 0
  #advised = 0
  /** Pages that the new journal does not tell of yet. */
  #unwritten: Iterator<number> | undefined
  /** The sender of what is being received. */
  #from = -1

  constructor(
    observation: RegionWatchers,
    protocol: Protocol,
    facts: RegionFacts,
    messageBytes: number,
    advice?: AdviceSource,
  ) {
    this.#advice = advice
    this.#observation = observation
    this.#facts = facts
    this.#messageBytes = messageBytes
    this.#cacheStates = numbersOf(Object.keys(protocol.cache.states))
    this.#directoryStates = numbersOf(Object.keys(protocol.directory.states))
  }

  /** Counts cells of the tables. For the node. */
  readonly transition: TransitionWatch = (side, state, event) => {
    const sheet = this.#sheet
    if (sheet === undefined) return
    if (side === 'cache')
      sheet.countCacheCell(this.#cacheStates.get(state)! * cacheEvents.length + cacheEventNumbers.get(event)!)
    else
      sheet.countDirectoryCell(
        this.#directoryStates.get(state)! * directoryEvents.length + directoryEventNumbers.get(event)!,
      )
  }

  /** The node is there: from now on it can be looked at. */
  attach(node: WatchedNode): void {
    this.#node = node
    this.#observation.add(this)
    this.begin()
  }

  /** A thread wants the page. */
  wanted(page: number, write: boolean): void {
    if (this.#sheet === undefined) return
    this.#sheet.countFault(page)
    this.#sheet.record({ what: EventKind.Wanted, page, before: write ? 2 : 1 })
  }

  sent(to: number, { kind, page, requester }: CoherenceMessage): void {
    if (this.#sheet === undefined) return
    this.#observation.journal?.countSent(to, this.#messageBytes, kind)
    this.#sheet.record({ what: EventKind.Sent, page, peer: to, before: kind, requester, bytes: this.#messageBytes })
  }

  pushed(to: number, page: number): void {
    if (this.#sheet === undefined) return
    const bytes = this.#facts.pageBytes
    this.#observation.journal?.countSent(to, bytes, 0)
    this.#sheet.record({ what: EventKind.Pushed, page, peer: to, bytes })
  }

  received({ kind, page, from, requester }: CoherenceMessage): void {
    if (this.#sheet === undefined) return
    this.#from = carriesBytes(kind) || kind === MessageKind.Grant ? from : -1
    this.#sheet.record({ what: EventKind.Received, page, peer: from, before: kind, requester })
  }

  /** A thread that waited has the page. */
  granted(page: number, right: number, tookNs: number): void {
    if (this.#sheet === undefined) return
    if (this.#from >= 0 && this.#from !== this.#node?.rank)
      this.#observation.journal?.countAnswer(this.#from, right, tookNs)
    this.#sheet.record({ what: EventKind.Granted, page, before: right, tookNs })
  }

  /** It was taken away from here. */
  lost(page: number): void {
    this.#sheet?.countLoss(page)
  }

  /** Something happened to the page. */
  changed(page: number): void {
    if (this.#sheet === undefined) return
    this.#from = -1
    const before = this.#sheet.states(page)
    this.#write(page)
    const after = this.#sheet.states(page)
    if (before === after) return
    this.#say(EventKind.Copy, page, before & 0xff, after & 0xff)
    this.#say(EventKind.Home, page, before >> 8, after >> 8)
  }

  /** Every page may have changed: after a death. */
  changedAll(): void {
    if (this.#sheet !== undefined) this.#unwritten = this.#node?.pages()[Symbol.iterator]()
  }

  begin(): void {
    this.#advised = 0
    this.#sheet = this.#observation.journal?.addRegion(this.#facts)
    this.changedAll()
  }

  /** Write some more of what is unwritten; true where some is left. */
  fill(pages: number): boolean {
    if (this.#advice !== undefined) this.#tellAdvice(this.#advice)
    for (let left = pages; left > 0 && this.#unwritten !== undefined; left -= 1) {
      const { done, value } = this.#unwritten.next()
      if (done === true) this.#unwritten = undefined
      else this.#write(value)
    }
    return this.#unwritten !== undefined
  }

  end(): void {
    this.#sheet?.end()
    this.#sheet = undefined
    this.#unwritten = undefined
  }

  /** The region is not served any more. */
  close(): void {
    this.#observation.remove(this)
  }

  #tellAdvice(advice: AdviceSource): void {
    if (advice.seen === this.#advised || native.monotonicNs() - this.#advisedNs < ADVICE_NS) return
    this.#advised = advice.seen
    this.#advisedNs = native.monotonicNs()
    this.#sheet?.advise(advice.sent())
  }

  #say(what: number, page: number, before: number, after: number): void {
    if (before !== after) this.#sheet?.record({ what, page, before, after })
  }

  #write(page: number): void {
    const node = this.#node!
    const copy = this.#cacheStates.get(node.copyState(page))! + 1
    if (node.homeOf(page) !== node.rank) {
      this.#sheet!.write(page, { copy, directory: 0, owner: -1, version: 0 })
      return
    }
    const { state, owner, version } = node.directory(page)
    this.#sheet!.write(page, { copy, directory: this.#directoryStates.get(state)! + 1, owner, version })
  }
}
