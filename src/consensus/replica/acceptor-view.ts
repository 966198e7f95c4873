import { TraceLevel, traceChannel } from '../../profiling/index.ts'
import type { AcceptorLink } from './acceptor-link.ts'
import { type Entry, writeCell } from './cell.ts'
import { BANKS, HeadWord, LOOK_BYTES, type ReplicaLayout } from './layout.ts'
import type { LogHistory } from './log-history.ts'
import { isOfLap, isOfLaterLap, lapOf, packWord, type SlotState, unpackWord } from './slot-word.ts'

const trace = traceChannel('consensus')

/** What a leader has in common for all acceptors. */
export interface AcceptorsLeader {
  readonly term: number
  readonly layout: ReplicaLayout
  readonly ahead: number
  /** An acceptor counts for what it has reported to be on its disk, and no more. */
  readonly isDurable: boolean
  /** The decided entries. */
  readonly history: LogHistory
  /** An entry that is chosen and not decided; undefined if none is. */
  open(index: number): Entry | undefined
  /** An acceptor has promised a higher term. */
  deposed(seen: number): void
  /**
   * An acceptor is further than what this leader knows to be decided. If it votes, this one gives up: true. What
   * another one has taken is at a majority of the voters, and is adopted from there.
   */
  yieldsTo(acceptor: AcceptorView): boolean
  /** Something has moved. */
  progressed(): void
  /** Ask it for the right to write its slots. */
  ask(acceptor: AcceptorView): void
  /** The acceptor cannot go on without a snapshot. */
  needsSnapshot(acceptor: AcceptorView): void
}

/** How often a follower is woken for what no one there waits for: each time costs it two threads' waking up. */
export const WAKE_NS = 1_000_000

/** Where an acceptor holds a value that it had accepted before this term. */
export interface AcceptedPlace {
  readonly frame: number
  readonly bank: number
}

/**
 * What a leader knows of one acceptor, and does to it. Everything is one-sided:
 *
 * 1. READ its head, and promise this term in the word for that.
 * 2. Prepare slots ahead: a compare-and-swap for each, from the word that is predicted. It shows what was accepted.
 * 3. Store entries in order: WRITE the cell, and one compare-and-swap behind it.
 *
 * A prediction that was wrong shows the right word. Then either another leader has come, or it is tried again.
 *
 * An acceptor *by rights* is written by one leader at a time, as in Mu (Aguilera and others, "Microsecond consensus
 * for microsecond applications", OSDI 2020). There the promise is a request, which the acceptor's own thread answers.
 * It takes the right to write from the leader before, and gives it to this one. What slots hold is read after that, and
 * nothing is prepared. To store an entry then takes two WRITEs. Each acceptor says how it is written, and a leader may
 * meet both kinds.
 */
export class AcceptorView {
  readonly id: number
  readonly link: AcceptorLink
  /** All entries up to this one are stored there as decided, or by this leader. */
  stored = 0
  /** The acceptor has taken all entries up to this one. */
  taken = 0
  /** All slots above what is decided and up to this one have promised this term. */
  prepared = 0
  /** What they had accepted before, by index. */
  readonly accepted: Map<number, AcceptedPlace> = new Map<number, AcceptedPlace>()
  /** The commit that it was told last. */
  toldCommit = 0
  /** The first and the last entry with proposals of that replica, which it was not woken for. */
  #awaitedFirst = 0
  #awaitedLast = 0
  /** The commit with which it was woken last, and when. */
  #wokenFor = 0
  #wokenNs = Number.NEGATIVE_INFINITY
  /** True while it may hold no more, or too little is prepared, because it has to take entries first. */
  isFull = false
  readonly #leader: AcceptorsLeader
  readonly #isOther: boolean
  /** Which of its frames is this leader's. */
  readonly frame: number
  readonly #words: BigUint64Array
  readonly #cell: Uint8Array
  /** The next entry to store. */
  #next = 1
  /** Slots up to this one have been asked to promise. */
  #preparing = 0
  /** Compare-and-swaps that are not answered. */
  #underWay = 0
  /** One has failed: until all are answered, words are predicted wrongly, and nothing is posted. */
  #hasFailed = false
  #isLooking = false
  /** The last entry that was decided when it was looked at. */
  #lookedFor = 0
  #hasPromised = false
  #isByRights = false
  /** It is by rights, has this term's promise, and has not answered. */
  #isAsked = false
  /** It has reported its promise of this term, and all entries up to this one, to be on its disk. */
  #durable: number | undefined
  /** Something was stored, or promised, and has to come to its disk. */
  #hasNews = false

  /** `isOther`: its memory is not the leader's own. */
  constructor(id: number, link: AcceptorLink, frame: number, leader: AcceptorsLeader, isOther: boolean) {
    this.id = id
    this.#isOther = isOther
    this.link = link
    this.frame = frame
    this.#leader = leader
    this.#words = new BigUint64Array(leader.layout.window)
    this.#cell = new Uint8Array(leader.layout.cellBytes)
  }

  /** True once it has promised this term. */
  get isHeld(): boolean {
    return this.#hasPromised && (this.#durable !== undefined || !this.#leader.isDurable)
  }

  /** All entries up to this one count as accepted there. */
  get counted(): number {
    return this.#leader.isDurable ? Math.min(this.stored, this.#durable ?? 0) : this.stored
  }

  /** Ask for the promise. */
  begin(): void {
    this.#readHead((promise, head) => {
      this.#isByRights = head.getBigUint64(HeadWord.ByRights, true) === 1n
      this.#promise(promise)
    })
  }

  /** `done` has what it has promised, if that is no higher term. */
  #readHead(done: (promise: bigint, head: DataView) => void): void {
    const { layout, term } = this.#leader
    this.link.read(0, layout.headBytes, (bytes) => {
      const head = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
      this.#words.set(new BigUint64Array(bytes.buffer, bytes.byteOffset + layout.slots, layout.window))
      this.#took(Number(head.getBigUint64(HeadWord.Taken, true)))
      const promise = head.getBigUint64(HeadWord.Promise, true)
      if (Number(promise) > term) this.#leader.deposed(Number(promise))
      else done(promise, head)
    })
  }

  #promise(expected: bigint): void {
    const { term } = this.#leader
    this.link.compareSwap(HeadWord.Promise, expected, BigInt(term), (before) => {
      if (before === expected) {
        if (this.#isByRights) this.#ask()
        else this.#promised()
      } else if (Number(before) > term) this.#leader.deposed(Number(before))
      else this.#promise(before)
    })
  }

  #promised(): void {
    this.#hasPromised = true
    this.prepared = this.#leader.history.last
    this.#hasNews = true
    this.#ring()
    this.#leader.progressed()
  }

  #ask(): void {
    this.#isAsked = true
    this.#leader.ask(this)
  }

  /** What was asked or answered may be lost. */
  askAgain(): void {
    if (this.#isAsked && this.link.isUp) this.#ask()
  }

  /** This leader writes its slots from now on, and no one else does. */
  granted(): void {
    if (!this.#isAsked) return
    this.#isAsked = false
    this.#readHead(() => {
      if (this.#seeAccepted()) this.#promised()
    })
  }

  /** False if this leader gives up. */
  #seeAccepted(): boolean {
    const { history, layout } = this.#leader
    for (let index = history.last + 1; index <= this.taken + layout.window; index += 1) {
      const state = unpackWord(this.#words[layout.place(index)]!)
      if (this.#isOurs(state, index) && this.#sees(state, index)) return false
    }
    return true
  }

  /** Keep what it had accepted for that entry. True if this leader gives up. */
  #sees(state: SlotState, index: number): boolean {
    if (isOfLap(state, lapOf(index, this.#leader.layout.window)) && state.frame >= 0) {
      this.accepted.set(index, { frame: state.frame, bank: state.bank })
      return false
    }
    // It has had that entry by a snapshot, or its journal: its memory never held it.
    return index <= this.taken && this.#leader.yieldsTo(this)
  }

  /** What is on its disk, as it says. */
  reported(term: number, index: number): void {
    if (term !== this.#leader.term) return
    this.#durable = Math.max(this.#durable ?? 0, index)
    this.#leader.progressed()
  }

  /** Post what can be posted. */
  pump(): void {
    this.#post()
    this.#ring()
  }

  #post(): void {
    if (!this.isHeld || !this.link.isUp || this.#hasFailed) return
    const { history, ahead } = this.#leader
    const limit = this.taken + this.#words.length
    while (this.#next <= Math.min(limit, history.last)) {
      const entry = history.get(this.#next)
      if (entry === undefined) {
        this.#leader.needsSnapshot(this)
        this.isFull = true
        return
      }
      if (!this.#store(entry)) return
    }
    this.#preparing = Math.max(this.#preparing, history.last)
    this.prepared = Math.max(this.prepared, history.last)
    // Many at a time: that costs one look at the answers.
    const wanted = history.last + ahead
    if (this.#isByRights) {
      this.#preparing = limit
      this.prepared = limit
    }
    if (this.#preparing < history.last + ahead / 2)
      while (this.#preparing < Math.min(limit, wanted)) if (!this.#prepare(this.#preparing + 1)) return
    for (;;) {
      const entry = this.#next <= this.prepared ? this.#leader.open(this.#next) : undefined
      if (entry === undefined || !this.#store(entry)) break
    }
    this.isFull = limit < wanted
    this.#keepSight()
  }

  /** Look how far it has come before it seems full, if it may have come further. */
  #keepSight(): void {
    const { last } = this.#leader.history
    if (last - this.taken < this.#words.length / 4 || last - this.#lookedFor < this.#words.length / 8) return
    this.#lookedFor = last
    this.look()
  }

  /** It holds the term, and nothing of an earlier one. */
  get isClear(): boolean {
    return this.isHeld && this.accepted.size === 0
  }

  /** It has that entry without a slot, and so has no need of those before. */
  pass(index: number): void {
    this.#took(index)
    this.#preparing = Math.max(this.#preparing, index)
    this.prepared = Math.max(this.prepared, index)
  }

  /** Look how far it has come. Once at a time. */
  look(): void {
    if (this.#isLooking || !this.link.isUp) return
    this.#isLooking = true
    this.link.read(0, LOOK_BYTES, (bytes) => {
      this.#isLooking = false
      const words = new DataView(bytes.buffer, bytes.byteOffset, LOOK_BYTES)
      const promise = Number(words.getBigUint64(HeadWord.Promise, true))
      if (promise > this.#leader.term) return this.#leader.deposed(promise)
      this.#took(Number(words.getBigUint64(HeadWord.Taken, true)))
      this.#leader.progressed()
    })
  }

  /** Call `done` if it still promises this term. */
  confirm(done: () => void): void {
    this.link.read(HeadWord.Promise, 8, (bytes) => {
      const promise = Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true))
      if (promise > this.#leader.term) this.#leader.deposed(promise)
      else if (promise === this.#leader.term) done()
    })
  }

  /** That replica's program waits for the entry `index`: it holds proposals of it, or tells it to propose again. */
  awaits(index: number): void {
    if (this.#awaitedLast <= this.#wokenFor) this.#awaitedFirst = index
    this.#awaitedLast = index
  }

  /**
   * Tell it that entries up to `index` are decided, as far as it has them. It is woken at once for what its program
   * waits for, else now and then. True if it is still to be woken.
   */
  tellCommit(index: number, nowNs: number): boolean {
    const known = Math.min(index, this.stored)
    if (!this.isHeld || known <= this.#wokenFor) return false
    const isAwaited = this.#awaitedLast > this.#wokenFor && this.#awaitedFirst <= known
    const wakes = this.#isOther && (isAwaited || nowNs - this.#wokenNs >= WAKE_NS)
    if (known > this.toldCommit || wakes) this.link.writeWord(known, this.#leader.layout.commit(this.frame), wakes)
    this.toldCommit = known
    if (!wakes) return this.#isOther
    this.#wokenFor = known
    this.#wokenNs = nowNs
    return false
  }

  /** Its own thread brings to the disk what was written into its memory. */
  #ring(): void {
    if (!this.#hasNews || !this.#leader.isDurable || !this.#isOther) return
    this.#hasNews = false
    this.link.writeWord(this.toldCommit, this.#leader.layout.commit(this.frame), true)
  }

  #took(index: number): void {
    this.taken = Math.max(this.taken, index)
    this.stored = Math.max(this.stored, this.taken)
    this.#next = Math.max(this.#next, this.taken + 1)
  }

  /** False where it must not be, and another has been told. */
  #prepare(index: number): boolean {
    const { layout, term } = this.#leader
    const place = layout.place(index)
    const expected = this.#words[place]!
    const state = unpackWord(expected)
    const lap = lapOf(index, layout.window)
    if (!this.#isOurs(state, index)) return false
    const isThere = isOfLap(state, lap)
    const next = isThere ? packWord(term, lap, state.frame, state.bank) : packWord(term, lap)
    this.#preparing = index
    this.#words[place] = next
    this.#swap(index, expected, next, (hasFailed) => {
      if (hasFailed) {
        this.#preparing = Math.min(this.#preparing, index - 1)
        return
      }
      if (index > this.#leader.history.last && this.#sees(state, index)) return
      if (index === this.prepared + 1) this.prepared = index
    })
    return true
  }

  #store(entry: Entry): boolean {
    const { layout, term, history } = this.#leader
    const { index } = entry
    const place = layout.place(index)
    const expected = this.#words[place]!
    const state = unpackWord(expected)
    const lap = lapOf(index, layout.window)
    if (!this.#isOurs(state, index)) return false
    // The value that the word names stays whole until the word names another.
    const bank = isOfLap(state, lap) && state.frame === this.frame ? (state.bank + 1) % BANKS : 0
    const next = packWord(term, lap, this.frame, bank)
    const length = writeCell(this.#cell, entry, { acceptedIn: term, decided: Math.min(history.last, index) })
    this.#next = index + 1
    this.#hasNews = true
    this.#words[place] = next
    this.link.write(this.#cell.subarray(0, length), layout.cell(this.frame, bank, index))
    if (this.#isByRights)
      this.link.store(next, layout.slot(index), () => {
        this.#isStored(index)
        this.#leader.progressed()
      })
    else
      this.#swap(index, expected, next, (hasFailed) => {
        if (hasFailed) this.#next = Math.min(this.#next, index)
        else this.#isStored(index)
      })
    return true
  }

  #isStored(index: number): void {
    this.accepted.delete(index)
    if (index === this.stored + 1) this.stored = index
  }

  /** One that failed shows the word as it is. */
  #swap(index: number, expected: bigint, next: bigint, done: (hasFailed: boolean) => void): void {
    const { layout } = this.#leader
    this.#underWay += 1
    this.link.compareSwap(layout.slot(index), expected, next, (before) => {
      const hasFailed = before !== expected
      this.#underWay -= 1
      this.#hasFailed = (this.#hasFailed || hasFailed) && this.#underWay > 0
      done(hasFailed)
      if (hasFailed) this.#correct(layout.place(index), before)
      else this.#leader.progressed()
    })
  }

  #correct(place: number, word: bigint): void {
    this.#words[place] = word
    const { promised } = unpackWord(word)
    trace.publish(TraceLevel.Debug, 'corrected', () => ({ acceptor: this.id, term: this.#leader.term, promised }))
    if (promised > this.#leader.term) this.#leader.deposed(promised)
    else this.#leader.progressed()
  }

  /** Whether this leader may change a slot for an entry of that lap. */
  #isOurs(state: SlotState, index: number): boolean {
    const { term, history, layout } = this.#leader
    if (state.promised > term) this.#leader.deposed(state.promised)
    else if (!isOfLaterLap(state, lapOf(index, layout.window))) return true
    else if (index > history.last) this.#leader.yieldsTo(this)
    // It has taken that entry by now.
    else this.look()
    return false
  }
}
