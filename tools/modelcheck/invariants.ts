import { MessageKind } from 'aether-dsm/internal/dsm'
import type { LocalFacts } from './local-facts.ts'
import { Violation } from './violation.ts'
import type { World } from './world.ts'

/** No protocol has more to say about a page before it is answered. */
const CHANNEL_MAX = 6

/** What must hold in every state; numbered as in the literature's lists, said in words in each violation. */
export class Invariants {
  readonly #world: World
  readonly #facts: LocalFacts[] = []
  /** By node: pages of which bytes are under way into its frame, and out of it. */
  readonly #into: Int32Array
  readonly #outOf: Int32Array
  /** The same, where the bytes are not those last stored. */
  readonly #staleInto: Int32Array
  readonly #staleOutOf: Int32Array

  constructor(world: World) {
    this.#world = world
    this.#into = new Int32Array(world.model.nodes)
    this.#outOf = new Int32Array(world.model.nodes)
    this.#staleInto = new Int32Array(world.model.nodes)
    this.#staleOutOf = new Int32Array(world.model.nodes)
  }

  /** @throws Violation */
  assertAll(vector: Int32Array): void {
    const { nodes, pages } = this.#world.model
    for (let node = 0; node < nodes; node += 1) this.#facts[node] = this.#world.locals.at(vector[node]!).facts
    this.#assertSingleWriter()
    this.#assertFrames(vector)
    for (let page = 0; page < pages; page += 1) {
      this.#assertValue(vector, page)
      this.#assertCovered(vector, page)
      this.#assertTokens(vector, page)
    }
    if (this.isAtRest(vector)) this.#assertRest(vector)
  }

  /** No message is in transit and no thread waits. */
  isAtRest(vector: Int32Array): boolean {
    const { model, freshAt, locals } = this.#world
    for (let at = model.nodes; at < freshAt; at += 1) if (vector[at] !== 0) return false
    for (let node = 0; node < model.nodes; node += 1) if (locals.at(vector[node]!).facts.waiting !== 0) return false
    return true
  }

  /**
   * One node may write a page and no other may read it, or any number may read it; by what the mmu lets programs do.
   */
  #assertSingleWriter(): void {
    let [readers, writers] = [0, 0]
    for (const { mayRead, mayWrite } of this.#facts) {
      if ((mayWrite & readers) !== 0 || (mayRead & writers) !== 0) {
        const page = pageOf((mayWrite & readers) | (mayRead & writers))
        const who = this.#facts
          .flatMap((facts, node) => ((facts.mayRead >>> page) & 1 ? [`node ${node} may ${may(facts, page)}`] : []))
          .join(', ')
        throw new Violation(`single writer or many readers: page ${page}: ${who}`)
      }
      readers |= mayRead
      writers |= mayWrite
    }
  }

  /**
   * A frame is written by one peer at a time, and only while no program reads it. Bytes that are being sent from it do
   * not change.
   *
   * A freed frame keeps its memory until what was sent from it has left. The port guarantees that, so it is not checked
   * here.
   */
  #assertFrames(vector: Int32Array): void {
    const { model, channels } = this.#world
    for (const masks of [this.#into, this.#outOf, this.#staleInto, this.#staleOutOf]) masks.fill(0)
    let at = model.nodes
    for (let from = 0; from < model.nodes; from += 1) {
      for (let to = 0; to < model.nodes; to += 1) {
        if (from === to) continue
        const channel = vector[at++]!
        if (channel === 0) continue
        if (channels.contents(channel).length > CHANNEL_MAX * model.pages)
          throw new Violation(
            `bounds: more than ${CHANNEL_MAX} messages a page are under way from node ${from} to node ${to}`,
          )
        const pushed = channels.pushed(channel)
        // With tokens, two nodes may answer one request. No node can write meanwhile, so the bytes are the same.
        const different =
          this.#facts[0]!.tokens === undefined ? -1 : this.#staleInto[to]! | (pushed & ~channels.pushedFresh(channel))
        const twice = (channels.pushedTwice(channel) | (this.#into[to]! & pushed)) & different
        if (twice !== 0)
          throw new Violation(`frames: two writes into the frame of page ${pageOf(twice)} at node ${to} are under way`)
        this.#into[to]! |= pushed
        this.#outOf[from]! |= pushed
        const stale = pushed & ~channels.pushedFresh(channel)
        this.#staleOutOf[from]! |= stale
        this.#staleInto[to]! |= stale
      }
    }
    for (let node = 0; node < model.nodes; node += 1) {
      const into = this.#into[node]!
      const out = this.#outOf[node]!
      if ((into | out) !== 0) this.#assertFrame(node, into, out)
    }
  }

  #assertFrame(node: number, into: number, out: number): void {
    const { mayRead, mayWrite, frames } = this.#facts[node]!
    const fail = (pages: number, what: string): void => {
      if (pages !== 0) throw new Violation(`frames: page ${pageOf(pages)} at node ${node}: ${what}`)
    }
    // The same bytes may land on those that are being read or sent: home's program may read while home's memory is
    // brought up to date.
    const stale = this.#staleInto[node]!
    fail(into & mayWrite, 'a peer writes into the frame while the program may write it')
    fail(stale & mayRead, 'a peer writes other bytes into the frame while the program may read it')
    fail(into & ~frames, 'a peer writes into a frame that was given back')
    fail(
      into & out & (stale | this.#staleOutOf[node]!),
      'a peer writes other bytes into the frame while those in it are being sent',
    )
    fail(out & mayWrite, 'the program may store to the frame while its bytes are being sent')
  }

  /**
   * These have what was stored last: every node that may read, every copy that recovery would use, and home if it calls
   * its memory valid. There is at least one of these. Otherwise home has the bytes without knowing it yet, or they are
   * in transit.
   */
  #assertValue(vector: Int32Array, page: number): void {
    const { model, channels, freshAt } = this.#world
    const fresh = vector[freshAt]!
    let kept = false
    for (let node = 0; node < model.nodes; node += 1) {
      const isFresh = (fresh & this.#world.freshBit(node, page)) !== 0
      const facts = this.#facts[node]!
      const counts = ((facts.worthy | facts.valid) >>> page) & 1
      if (isFresh && (counts || node === this.#world.homes[page])) kept = true
      if (isFresh) continue
      if ((facts.mayRead >>> page) & 1)
        throw new Violation(
          `data value: node ${node} may ${may(facts, page)} page ${page}, and its bytes are not those last stored`,
        )
      if (counts)
        throw new Violation(
          `worth: node ${node} counts on its bytes of page ${page}, and they are not those last stored`,
        )
    }
    for (let at = model.nodes; !kept && at < freshAt; at += 1)
      kept = ((channels.pushedFresh(vector[at]!) >>> page) & 1) !== 0
    if (!kept)
      throw new Violation(`lost: what was last stored to page ${page} is nowhere where it counts, and not under way`)
  }

  /** Home knows of every copy, or has said something to its holder that has yet to take effect. */
  #assertCovered(vector: Int32Array, page: number): void {
    const { homes, model, channels } = this.#world
    const home = homes[page]!
    const covers = this.#facts[home]!.covers[page]
    if (covers === undefined) return
    const queued = this.#facts[home]!.queued[page]!
    if (queued > 2 * model.nodes)
      throw new Violation(`bounds: ${queued} requests for page ${page} are queued at its home`)
    for (let node = 0; node < model.nodes; node += 1) {
      const facts = this.#facts[node]!
      if (((facts.mayRead >>> page) & 1) === 0 || (covers >>> node) & 1 || (facts.deferred >>> page) & 1) continue
      const isTold = node !== home && (channels.about(vector[this.#world.channelAt(home, node)]!) >>> page) & 1
      if (!isTold)
        throw new Violation(
          `directory covers holders: node ${node} may ${may(facts, page)} page ${page}, and its home does not know`,
        )
    }
  }

  /**
   * With tokens: as many as there are nodes, one of them the owner token, at nodes and under way; none counts for bytes
   * without a token.
   */
  #assertTokens(vector: Int32Array, page: number): void {
    if (this.#facts[0]!.tokens === undefined) return
    const { model, channels, messages, freshAt } = this.#world
    let [count, owners] = [0, 0]
    this.#facts.forEach(({ tokens, mayRead }, node) => {
      const here = tokens![page]!
      count += here.tokens
      if (here.owner) owners += 1
      if (here.tokens === 0 && (here.owner || here.valid || (mayRead >>> page) & 1))
        throw new Violation(`tokens: node ${node} has none of page ${page}, but goes by bytes`)
    })
    for (let at = model.nodes; at < freshAt; at += 1) {
      if (vector[at] === 0) continue
      for (const envelope of channels.contents(vector[at]!)) {
        const message = messages.at(channels.messageOf(envelope))
        if (message.page !== page || !tokenKinds.has(message.kind)) continue
        count += message.count
        if (ownerKinds.has(message.kind)) owners += 1
      }
    }
    if (count !== model.nodes || owners !== 1)
      throw new Violation(`tokens: page ${page} has ${count} of ${model.nodes} tokens, and ${owners} owner tokens`)
  }

  #assertRest(vector: Int32Array): void {
    const { homes, freshAt, model } = this.#world
    this.#facts.forEach(({ quiescent }, node) => {
      if (!quiescent)
        throw new Violation(`quiescence: no message is in transit and no thread waits, but node ${node} is not at rest`)
    })
    homes.forEach((home, page) => {
      const covers = this.#facts[home]!.covers[page]
      const owner = this.#facts[home]!.owners[page]
      if (covers === undefined || owner === undefined) return
      const keeper = owner < 0 ? home : owner
      if ((vector[freshAt]! & this.#world.freshBit(keeper, page)) === 0)
        throw new Violation(
          `quiescence: home says that node ${keeper} has the bytes of page ${page}, but they are not those last stored`,
        )
      for (let node = 0; node < model.nodes; node += 1) {
        const holds = ((this.#facts[node]!.mayRead >>> page) & 1) !== 0
        if (holds !== (((covers >>> node) & 1) !== 0))
          throw new Violation(
            `quiescence: node ${node} has ${holds ? 'a' : 'no'} copy of page ${page}, and its home says otherwise`,
          )
      }
    })
  }
}

const ownerKinds: ReadonlySet<number> = new Set([
  MessageKind.AnswerOwner,
  MessageKind.TokensOwner,
  MessageKind.PutOwner,
])
const tokenKinds: ReadonlySet<number> = new Set([
  ...ownerKinds,
  MessageKind.Answer,
  MessageKind.AnswerData,
  MessageKind.Tokens,
  MessageKind.PutTokens,
])

const pageOf = (mask: number): number => 31 - Math.clz32(mask & -mask)
const may = ({ mayWrite }: LocalFacts, page: number): string => ((mayWrite >>> page) & 1 ? 'write' : 'read')
