import { type CoherenceMessage, MessageKind } from 'aether-dsm/internal/dsm'
import { ChannelTable } from './channel-table.ts'
import type { Coverage } from './coverage.ts'
import { Operation } from './input.ts'
import { LocalAutomaton, type LocalStep } from './local-automaton.ts'
import { MessageTable } from './message-table.ts'
import { homesOf, type Model } from './model.ts'
import { Violation } from './violation.ts'

/**
 * One possible event: an input of a program at a node, or the first message of a channel. The message is delivered, or
 * refused by a home that has no memory or has lost the page.
 */
export type Action =
  | { readonly do: 'program'; readonly node: number; readonly input: number }
  | { readonly do: 'deliver' | 'refuse' | 'lose'; readonly from: number; readonly to: number }

/** Something that happens at a node in a state of its own; the numbers are those of its `LocalAutomaton`. */
export interface Doing {
  readonly local: number
  readonly input: number
}

/**
 * Labels of transitions, for the analysis of progress. Transitions with label 0 are optional: a new access, an
 * eviction, a refusal. All others must happen eventually while they are possible: a delivery, a woken thread that runs,
 * a timeout.
 */
export const OPTIONAL = 0
/** The number of bits of a label. */
export const LABEL_BITS = 5

/**
 * A state of the whole as a vector of small integers, and what can happen in it.
 *
 * ```text
 *   [ node 0 | … | node n-1 | channel 0->1 | … | channel n-1->n-2 | fresh | refusals left ]
 *     numbers of LocalAutomaton      numbers of ChannelTable        bit node * pages + page: the frame has what was
 *                                                                   last stored
 * ```
 *
 * Values are abstract: bytes are *fresh* while they are those last stored to their page. Bytes that are not never
 * become so again, so a bit is all that the data-value invariant needs, and the space is finite.
 */
export class World {
  readonly model: Model
  readonly homes: readonly number[]
  readonly messages: MessageTable = new MessageTable()
  readonly channels: ChannelTable
  readonly locals: LocalAutomaton
  readonly length: number
  readonly channelCount: number
  readonly freshAt: number
  readonly refusalsAt: number
  /** The label of the first thread; those of deliveries come before, those of pins that end after. */
  readonly firstRunLabel: number
  readonly firstTimeoutLabel: number
  /** Where {@link take} puts what an action leads to. */
  readonly next: Int32Array

  constructor(model: Model, coverage: Coverage) {
    const { nodes, pages } = model
    this.model = model
    this.homes = homesOf(model)
    this.channels = new ChannelTable(pages, this.messages)
    this.locals = new LocalAutomaton(model, this.messages, coverage)
    this.channelCount = nodes * (nodes - 1)
    this.freshAt = nodes + this.channelCount
    this.refusalsAt = this.freshAt + 1
    this.length = this.refusalsAt + 1
    this.firstRunLabel = 1 + this.channelCount
    this.firstTimeoutLabel = this.firstRunLabel + 2 * nodes * pages
    this.next = new Int32Array(this.length)
  }

  /** Nothing has been touched; home's memory is what counts. */
  initial(): Int32Array {
    const vector = new Int32Array(this.length)
    for (let node = 0; node < this.model.nodes; node += 1) vector[node] = this.locals.initial(node)
    this.homes.forEach((home, page) => {
      vector[this.freshAt]! |= this.freshBit(home, page)
    })
    vector[this.refusalsAt] = this.model.refusals
    return vector
  }

  /** Where the channel between two nodes stands in a vector. */
  channelAt(from: number, to: number): number {
    const { nodes } = this.model
    return nodes + from * (nodes - 1) + (to < from ? to : to - 1)
  }

  freshBit(node: number, page: number): number {
    return 1 << (node * this.model.pages + page)
  }

  /** Every action that is possible in a state, with its label. */
  forEachAction(vector: Int32Array, offset: number, visit: (action: Action, label: number) => void): void {
    const { nodes } = this.model
    for (let node = 0; node < nodes; node += 1) {
      for (const input of this.locals.at(vector[offset + node]!).inputs)
        visit({ do: 'program', node, input }, this.#programLabel(node, input))
    }
    for (let from = 0; from < nodes; from += 1) {
      for (let to = 0; to < nodes; to += 1) {
        if (from === to) continue
        const at = this.channelAt(from, to)
        const channel = vector[offset + at]!
        if (channel === 0) continue
        visit({ do: 'deliver', from, to }, 1 + at - nodes)
        if (vector[offset + this.refusalsAt]! > 0 && this.#mayRefuse(channel)) this.#forEachRefusal(from, to, visit)
      }
    }
  }

  #forEachRefusal(from: number, to: number, visit: (action: Action, label: number) => void): void {
    visit({ do: 'refuse', from, to }, OPTIONAL)
    if (this.model.losses === true) visit({ do: 'lose', from, to }, OPTIONAL)
  }

  /** The node that `action` makes do something, in its state, and what happens there; undefined where it makes none. */
  doingOf(vector: Int32Array, action: Action): Doing | undefined {
    if (action.do === 'program') return { local: vector[action.node]!, input: action.input }
    if (action.do !== 'deliver') return undefined
    const { from, to } = action
    const message = this.channels.messageOf(this.channels.head(vector[this.channelAt(from, to)]!))
    return { local: vector[to]!, input: this.locals.inputs.message(message) }
  }

  /** Whether `action` can happen in a state. */
  isPossible(vector: Int32Array, action: Action): boolean {
    if (action.do === 'program') return this.locals.at(vector[action.node]!).inputs.includes(action.input)
    const channel = vector[this.channelAt(action.from, action.to)]!
    return channel !== 0 && (action.do === 'deliver' || this.#mayRefuse(channel))
  }

  /** Puts what `action` leads to into {@link next}. @throws Violation where a step is wrong by itself. */
  take(vector: Int32Array, offset: number, action: Action): void {
    const { next } = this
    for (let at = 0; at < this.length; at += 1) next[at] = vector[offset + at]!
    if (action.do === 'program') this.#step(action.node, action.input)
    else if (action.do === 'deliver') this.#deliver(action.from, action.to)
    else this.#refuse(action.from, action.to, action.do === 'lose' ? MessageKind.Refused : MessageKind.NoMemory)
  }

  /** The message that a delivery delivers. */
  messageAt(vector: Int32Array, offset: number, from: number, to: number): CoherenceMessage {
    const channel = vector[offset + this.channelAt(from, to)]!
    return this.messages.at(this.channels.messageOf(this.channels.head(channel)))
  }

  #programLabel(node: number, input: number): number {
    const operation = this.locals.inputs.operationOf(input)
    const group = node * this.model.pages + this.locals.inputs.pageOf(input)
    if (operation === Operation.RunReader) return this.firstRunLabel + 2 * group
    if (operation === Operation.RunWriter) return this.firstRunLabel + 2 * group + 1
    if (operation === Operation.Unpin || operation === Operation.Retry) return this.firstTimeoutLabel + group
    return OPTIONAL
  }

  #mayRefuse(channel: number): boolean {
    const { kind } = this.messages.at(this.channels.messageOf(this.channels.head(channel)))
    return kind === MessageKind.GetShared || kind === MessageKind.GetModified
  }

  #deliver(from: number, to: number): void {
    const envelope = this.#pop(from, to)
    const pushed = this.channels.pushedWith(envelope)
    if (pushed !== 0) this.#land(to, pushed, this.channels.freshWith(envelope))
    this.#step(to, this.locals.inputs.message(this.channels.messageOf(envelope)))
  }

  /**
   * A home may be without memory for a page at any time: also late, where it became the home after a death. It says so
   * itself: its coherence node never sees the request.
   */
  #refuse(from: number, to: number, kind: MessageKind): void {
    const request = this.messages.at(this.channels.messageOf(this.#pop(from, to)))
    const refusal = this.messages.idOf({ ...request, kind, from: to, count: to })
    this.next[this.refusalsAt]! -= 1
    this.#append(to, from, this.channels.envelope(refusal, 0, 0))
  }

  #pop(from: number, to: number): number {
    const at = this.channelAt(from, to)
    const channel = this.next[at]!
    this.next[at] = this.channels.rest(channel)
    return this.channels.head(channel)
  }

  #append(from: number, to: number, envelope: number): void {
    const at = this.channelAt(from, to)
    this.next[at] = this.channels.append(this.next[at]!, envelope)
  }

  /**
   * Bytes may land at any time from their sending to the taking of the message behind them. That nothing looks at the
   * frame meanwhile is an invariant, so it is enough to let them land with the message.
   */
  #land(node: number, pushed: number, fresh: number): void {
    const shift = node * this.model.pages
    this.next[this.freshAt] = (this.next[this.freshAt]! & ~(pushed << shift)) | (fresh << shift)
  }

  #step(node: number, input: number): void {
    const step = this.locals.step(this.locals.stepOf(this.next[node]!, input))
    if (step.violation !== undefined) throw new Violation(step.violation)
    this.next[node] = step.next
    for (const effect of step.effects) this.#apply(node, effect)
  }

  #apply(node: number, effect: LocalStep['effects'][number]): void {
    if (effect.do === 'store') this.#store(node, effect.page)
    else this.#send(node, effect.to, effect.message, effect.pushed)
  }

  #send(node: number, to: number, message: number, pushed: number): void {
    const fresh = (this.next[this.freshAt]! >>> (node * this.model.pages)) & pushed
    this.#append(node, to, this.channels.envelope(message, pushed, fresh))
  }

  #store(node: number, page: number): void {
    const { nodes } = this.model
    let fresh = this.next[this.freshAt]!
    for (let other = 0; other < nodes; other += 1) fresh &= ~this.freshBit(other, page)
    this.next[this.freshAt] = fresh | this.freshBit(node, page)
    for (let at = nodes; at < this.freshAt; at += 1) this.next[at] = this.channels.stale(this.next[at]!, page)
  }
}
