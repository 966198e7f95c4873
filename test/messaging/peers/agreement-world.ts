import assert from 'node:assert/strict'
import { Agreement, type AgreementFailure, type Quorum } from '../../../src/messaging/peers/agreement.ts'
import {
  type AgreementMessage,
  decodeAgreement,
  encodeAgreement,
} from '../../../src/messaging/peers/agreement-message.ts'
import { Random } from '../../../src/runtime/index.ts'
import { rangeOf } from './call-all.ts'

export interface WorldOptions {
  readonly quorum: Quorum
  /** Processes that die, each at a step of its own. */
  readonly deaths: number
  /** Links that are cut, each end learning of it at a time of its own. */
  readonly cuts: number
  /** Processes that stand still for a while, and then take what has come. */
  readonly stops: number
  /** Whether the cuts part the members in two. */
  readonly partition?: boolean
  /** How often one gives up, as by a signal or for lack of time, and asks again after a while. */
  readonly retreats?: number
  /** Whether those that lead are the ones that die and stop. */
  readonly leaders?: boolean
}

const ABSENT_AFTER_MS = 100
export const TIMEOUT_MS = 4000
const DELAY_MS_MAX = 8
const TICK_MS = 5

interface Member {
  readonly agreement: Agreement
  alive: boolean
  stopped: boolean
  /** What came while it stood still. */
  readonly held: (() => void)[]
  begunMs: number | undefined
  outcome: { readonly ranks: readonly number[] } | { readonly failure: AgreementFailure } | undefined
}

interface Event {
  readonly atMs: number
  readonly turn: number
  readonly apply: () => void
}

/**
 * Agreements of one group, with links that delay, deaths, cuts and stops drawn from a seed; time goes from event to
 * event.
 */
export class AgreementWorld {
  readonly members: readonly Member[]
  readonly size: number
  readonly options: WorldOptions
  nowMs = 0
  /** When the first member learned of the decision, and who was alive then. */
  firstDecision: { readonly atMs: number; readonly alive: readonly number[] } | undefined
  readonly #random: Random
  readonly #events: Event[] = []
  readonly #cut = new Set<string>()
  readonly #lastArrival = new Map<string, number>()
  #turn = 0
  #messages = 0
  /** By number of messages sent in all: what goes wrong with that one. */
  readonly #faults: { readonly message: number; readonly apply: () => void }[] = []

  constructor(seed: number, options: WorldOptions) {
    this.options = options
    this.#random = new Random(seed)
    const random = this.#random
    this.size = 2 + random.below(6)
    this.members = rangeOf(this.size).map((rank) => this.#member(rank))
    for (const rank of rangeOf(this.size)) this.#at(random.below(20), () => this.#begin(rank))
    const messagesMax = 6 * this.size * this.size
    const order = rangeOf(this.size)
    if (options.leaders !== true) order.sort(() => random.below(3) - 1)
    for (const victim of order.slice(0, options.deaths))
      this.#faults.push({ message: random.below(messagesMax), apply: () => this.#kill(victim) })
    const sides = new Set(rangeOf(this.size).filter(() => random.below(2) === 0))
    const parting = random.below(messagesMax)
    if (options.partition === true)
      for (const low of rangeOf(this.size))
        for (const high of rangeOf(this.size))
          if (low < high && sides.has(low) !== sides.has(high))
            this.#faults.push({ message: parting, apply: () => this.#cutLink(low, high) })
    for (const _ of rangeOf(options.cuts)) {
      const [low, high] = [random.below(this.size), random.below(this.size)]
      if (low !== high) this.#faults.push({ message: random.below(messagesMax), apply: () => this.#cutLink(low, high) })
    }
    for (const _ of rangeOf(options.retreats ?? 0)) {
      const who = random.below(this.size)
      this.#faults.push({ message: random.below(2 * messagesMax), apply: () => this.#retreat(who) })
    }
    for (const victim of order.slice(options.deaths, options.deaths + options.stops))
      this.#faults.push({ message: random.below(messagesMax), apply: () => this.#stop(victim) })
  }

  /** To the end: until everybody who lives has an answer, or the time is up. */
  run(): void {
    for (let atMs = TICK_MS; atMs < TIMEOUT_MS * 4; atMs += TICK_MS)
      this.#at(atMs, () => {
        for (const [rank, member] of this.members.entries())
          this.#deliver(rank, () => member.agreement.tick(this.nowMs))
      })
    while (this.#events.length > 0) {
      let first = 0
      for (let index = 1; index < this.#events.length; index += 1)
        if (before(this.#events[index]!, this.#events[first]!)) first = index
      const [event] = this.#events.splice(first, 1) as [Event]
      this.nowMs = event.atMs
      event.apply()
      const settled = this.members.every(({ alive, stopped, outcome }) => !stopped && (!alive || outcome !== undefined))
      if (settled && this.nowMs > 30) return
    }
  }

  get decisions(): (readonly number[])[] {
    return this.members.flatMap(({ outcome }) => (outcome !== undefined && 'ranks' in outcome ? [outcome.ranks] : []))
  }

  #member(rank: number): Member {
    const member: Member = {
      agreement: new Agreement(this.size, rank, {
        send: (to, message) => this.#send(rank, to, message),
        decided: (ranks) => {
          this.firstDecision ??= {
            atMs: this.nowMs,
            alive: rangeOf(this.size).filter((each) => this.members[each]!.alive),
          }
          member.outcome ??= { ranks }
        },
        failed: (failure) => {
          member.outcome ??= { failure }
        },
      }),
      alive: true,
      stopped: false,
      held: [],
      begunMs: undefined,
      outcome: undefined,
    }
    return member
  }

  #begin(rank: number): void {
    const { quorum } = this.options
    this.#deliver(rank, () => {
      this.members[rank]!.begunMs = this.nowMs
      if (this.members[rank]!.agreement.decision === undefined)
        this.members[rank]!.agreement.begin(
          { quorum, absentAfterMs: ABSENT_AFTER_MS, timeoutMs: TIMEOUT_MS },
          this.nowMs,
        )
    })
  }

  /** In order over each link; what is wrong with the n-th message happens before or after it leaves. */
  #send(from: number, to: number, message: AgreementMessage): void {
    this.#messages += 1
    for (const fault of this.#faults.splice(0)) {
      if (fault.message > this.#messages) this.#faults.push(fault)
      else fault.apply()
    }
    if (!this.members[from]!.alive || this.#cut.has(linkOf(from, to))) return
    const bytes = encodeAgreement(message, this.size)
    const way = `${from}>${to}`
    const atMs = Math.max(this.nowMs + this.#random.below(DELAY_MS_MAX + 1), this.#lastArrival.get(way) ?? 0)
    this.#lastArrival.set(way, atMs)
    this.#at(atMs, () => {
      if (this.#cut.has(linkOf(from, to))) return
      const decoded = decodeAgreement(bytes, this.size)
      assert.ok(decoded !== undefined)
      this.#deliver(to, () => this.members[to]!.agreement.came(from, decoded, this.nowMs))
    })
  }

  #deliver(rank: number, apply: () => void): void {
    const member = this.members[rank]!
    if (!member.alive) return
    if (member.stopped) member.held.push(apply)
    else apply()
  }

  #retreat(who: number): void {
    const { agreement } = this.members[who]!
    // Not within a step of its own.
    this.#at(this.nowMs, () =>
      this.#deliver(who, () => {
        if (!agreement.busy) return
        agreement.leave()
        this.#at(this.nowMs + this.#random.below(4 * ABSENT_AFTER_MS), () => this.#begin(who))
      }),
    )
  }

  /** What it has sent may arrive for a while; then its links end. */
  #kill(victim: number): void {
    const member = this.members[victim]!
    member.alive = false
    for (const rank of rangeOf(this.size))
      if (rank !== victim)
        this.#at(
          Math.max(this.nowMs, this.#random.below(2) * (this.#lastArrival.get(`${victim}>${rank}`) ?? 0)),
          () => {
            this.#cut.add(linkOf(victim, rank))
            this.#deliver(rank, () => this.members[rank]!.agreement.lostRank(victim, this.nowMs))
          },
        )
  }

  #cutLink(one: number, other: number): void {
    this.#cut.add(linkOf(one, other))
    for (const [here, there] of [
      [one, other],
      [other, one],
    ] as const)
      this.#at(this.nowMs + this.#random.below(60), () =>
        this.#deliver(here, () => this.members[here]!.agreement.lostRank(there, this.nowMs)),
      )
  }

  #stop(victim: number): void {
    const member = this.members[victim]!
    member.stopped = true
    this.#at(this.nowMs + this.#random.below(10 * ABSENT_AFTER_MS), () => {
      member.stopped = false
      // Ticks missed are one; what came is taken in order.
      for (const apply of member.held.splice(0)) if (member.alive) apply()
    })
  }

  #at(atMs: number, apply: () => void): void {
    this.#turn += 1
    this.#events.push({ atMs, turn: this.#turn, apply })
  }
}

const linkOf = (one: number, other: number): string => `${Math.min(one, other)}-${Math.max(one, other)}`
const before = (one: Event, other: Event): boolean =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.turn < other.turn)
