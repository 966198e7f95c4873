/**
 * Random runs of a coherence protocol in which nodes die at any step: what the explorer of all interleavings leaves out.
 *
 * Nodes, one channel in order between each two, deaths. A death is seen by each survivor on its own, after everything that the dead had sent to it
 * and had arrived; what was still under way is lost behind some point. Asserted: among the living one writer or many readers with the bytes that
 * were last written (or the page is lost), no transition is missing, and everybody who wants a page gets it or is told that it is lost.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageKind, messageKindName, noFrame } from '../../../src/dsm/coherence/index.ts'
import {
  type CoherenceMessage,
  CoherenceNode,
  mesi,
  type NodePort,
  type Protocol,
  type Right,
} from '../../../src/dsm/index.ts'
import { Random } from '../../../src/runtime/index.ts'

const PAGES = 2

/** One node's copy of one page, as its program and its memory see it. */
interface Copy {
  right: Right
  /** Which store its bytes are of. */
  value: number
  wants: Right
  held: boolean
  failed: boolean
}

/** Bytes travel in the channel of the messages: a push takes effect when the message behind it could. */
type Item = CoherenceMessage | { readonly push: number; readonly value: number }

class Run {
  readonly size: number
  readonly random: Random
  readonly nodes: CoherenceNode[]
  readonly copies: Copy[][]
  readonly channels: Item[][]
  readonly alive: boolean[]
  /** Whom each node takes for dead. */
  readonly buried: boolean[][]
  readonly trace: string[] = []
  /** The number of the last store to each page, and which stores' bytes may have been lost. */
  readonly stored: number[]
  deathsLeft: number
  served = 0
  failures = 0

  constructor(seed: number, protocol: Protocol) {
    this.random = new Random(seed)
    this.size = 2 + this.random.below(3)
    this.deathsLeft = 1 + this.random.below(this.size - 1)
    const { size } = this
    this.stored = new Array<number>(PAGES).fill(0)
    this.alive = new Array<boolean>(size).fill(true)
    this.buried = Array.from({ length: size }, () => new Array<boolean>(size).fill(false))
    this.channels = Array.from({ length: size * size }, () => [])
    this.copies = Array.from({ length: size }, () =>
      Array.from(
        { length: PAGES },
        () => ({ right: 'none', value: 0, wants: 'none', held: false, failed: false }) as Copy,
      ),
    )
    this.nodes = Array.from(
      { length: size },
      (_, rank) =>
        new CoherenceNode({ rank, ranks: size, protocol, homeOf: (page) => page % size, port: this.#port(rank) }),
    )
  }

  #port(rank: number): NodePort {
    const copy = (page: number): Copy => this.copies[rank]![page]!
    const map = (page: number, right: Right): void => {
      copy(page).right = right
      copy(page).held = copy(page).wants !== 'none'
    }
    const channel = (to: number): Item[] => this.channels[rank * this.size + to]!
    return {
      send: (to, message) => channel(to).push(message),
      push: (page, to) => channel(to).push({ push: page, value: copy(page).value }),
      ownFrame: () => ({ address: 0, key: 0 }),
      mapReadOnly: (page) => map(page, 'read'),
      mapWritable: (page) => map(page, 'write'),
      protect: (page) => {
        copy(page).right = 'read'
      },
      unmap: (page) => {
        copy(page).right = 'none'
      },
      evicted: () => {},
      failed: (page) => {
        this.failures++
        Object.assign(copy(page), { failed: true, wants: 'none', right: 'none', held: false })
      },
      mustHold: (page) => copy(page).held,
      isAlive: (other) => !this.buried[rank]![other],
    }
  }

  /** One random thing that can happen. False where nothing can. */
  step(mayStart: boolean): boolean {
    const steps: (() => void)[] = []
    for (let node = 0; node < this.size; node++) {
      if (!this.alive[node]) continue
      for (let page = 0; page < PAGES; page++) this.#accesses(steps, node, page, mayStart)
      for (let from = 0; from < this.size; from++) this.#arrivals(steps, from, node)
    }
    if (mayStart && this.deathsLeft > 0 && this.random.below(25) === 0) steps.push(() => this.#kill())
    const chosen = steps[this.random.below(steps.length)]
    chosen?.()
    this.#assertCoherent()
    return chosen !== undefined
  }

  #accesses(steps: (() => void)[], node: number, page: number, mayStart: boolean): void {
    const copy = this.copies[node]![page]!
    if (copy.held) steps.push(() => this.#retire(node, page))
    else if (mayStart && copy.wants === 'none' && !copy.failed) {
      steps.push(() => this.#want(node, page, this.random.below(2) === 0 ? 'read' : 'write'))
    }
  }

  #arrivals(steps: (() => void)[], from: number, to: number): void {
    const channel = this.channels[from * this.size + to]!
    if (channel.length > 0 && !this.buried[to]![from]) steps.push(() => this.#deliver(from, to))
    else if (!this.alive[from] && !this.buried[to]![from]) steps.push(() => this.#bury(from, to))
  }

  #want(node: number, page: number, right: Right): void {
    this.trace.push(`node ${node} wants to ${right} page ${page}`)
    this.copies[node]![page]!.wants = right
    this.#access(node, page)
  }

  #retire(node: number, page: number): void {
    this.trace.push(`node ${node} runs on page ${page}`)
    this.copies[node]![page]!.held = false
    this.#access(node, page)
    if (!this.copies[node]![page]!.held) this.nodes[node]!.retry(page)
  }

  #access(node: number, page: number): void {
    const copy = this.copies[node]![page]!
    if (copy.wants === 'none') return
    if (copy.right === 'none' || (copy.wants === 'write' && copy.right === 'read')) {
      this.nodes[node]!.demand(page, copy.wants === 'write')
      return
    }
    if (copy.wants === 'write') copy.value = ++this.stored[page]!
    copy.wants = 'none'
    this.served++
  }

  #deliver(from: number, to: number): void {
    const item = this.channels[from * this.size + to]!.shift()!
    if ('push' in item) {
      this.copies[to]![item.push]!.value = item.value
      return
    }
    this.trace.push(`node ${from} -> node ${to}: ${messageKindName(item.kind)} page ${item.page} for ${item.requester}`)
    this.nodes[to]!.receive(item)
  }

  #kill(): void {
    const living = this.alive.flatMap((alive, rank) => (alive ? [rank] : []))
    const victim = living[this.random.below(living.length)]!
    this.deathsLeft--
    this.alive[victim] = false
    this.trace.push(`node ${victim} dies`)
    for (let other = 0; other < this.size; other++) {
      // It may have been killed in the middle of what we take for one step: the end of what it said last may be missing.
      const channel = this.channels[victim * this.size + other]!
      channel.length -= this.random.below(1 + Math.min(2, channel.length))
    }
  }

  #bury(dead: number, at: number): void {
    this.trace.push(`node ${at} sees that node ${dead} is dead`)
    this.buried[at]![dead] = true
    this.nodes[at]!.memberDied(dead)
  }

  #assertCoherent(): void {
    for (let page = 0; page < PAGES; page++) {
      const living = this.copies.map((copies) => copies[page]!).filter((_, rank) => this.alive[rank])
      const writers = living.filter(({ right }) => right === 'write').length
      const readers = living.filter(({ right }) => right === 'read')
      assert.ok(
        writers === 0 || (writers === 1 && readers.length === 0),
        `page ${page}: ${writers} writers, ${readers.length} readers`,
      )
      const values = new Set(readers.map(({ value }) => value))
      assert.ok(values.size <= 1, `page ${page}: readers see the stores ${[...values].join(' and ')}`)
      if (values.size === 1) {
        // A store that nobody alive can have seen may vanish with the dead; that bytes go back in time for the living is not allowed.
        const [value] = [...values]
        assert.equal(value, this.stored[page], `page ${page}: readers see store ${value} of ${this.stored[page]}`)
      }
    }
  }

  assertNobodyWaits(): void {
    for (let node = 0; node < this.size; node++) {
      if (!this.alive[node]) continue
      for (let page = 0; page < PAGES; page++) {
        const { wants } = this.copies[node]![page]!
        const { state } = this.nodes[page % this.size]!.directory(page)
        const copy = this.nodes[node]!.copyState(page)
        assert.equal(wants, 'none', `node ${node} waits for ever to ${wants} page ${page}: ${copy}, home says ${state}`)
      }
      assert.ok(this.nodes[node]!.isQuiescent(), `node ${node} never comes to rest`)
    }
  }
}

function simulate(seed: number, protocol: Protocol): Run {
  const run = new Run(seed, protocol)
  try {
    for (let count = 0; count < 150; count++) run.step(true)
    for (let count = 0; run.step(false); count++) assert.ok(count < 10_000, 'the nodes never come to rest')
    run.assertNobodyWaits()
  } catch (error) {
    throw new Error(
      `seed ${seed} (replay: AETHER_SEED=${seed}): ${(error as Error).message}\n${run.trace.slice(-60).join('\n')}`,
      {
        cause: error,
      },
    )
  }
  return run
}

const chosen = process.env['AETHER_SEED']

test('nodes die at any step of mesi: the living stay coherent, and nobody waits for ever', () => {
  let served = 0
  let failures = 0
  const seeds =
    chosen === undefined
      ? Array.from({ length: Number(process.env['AETHER_SEEDS'] ?? 5000) }, (_, seed) => seed)
      : [Number(chosen)]
  for (const seed of seeds) {
    const run = simulate(seed, mesi as unknown as Protocol)
    served += run.served
    failures += run.failures
  }
  assert.ok(
    chosen !== undefined || (served > 10_000 && failures > 1000),
    `${served} served, ${failures} lost: too few to mean anything`,
  )
})

test('a home without memory refuses: the page may be asked for again, and is had once there is some', () => {
  const sent: CoherenceMessage[] = []
  const failures: unknown[] = []
  const port: NodePort = {
    send: (_to, message) => sent.push(message),
    push: () => {},
    ownFrame: () => noFrame,
    mapReadOnly: () => {},
    mapWritable: () => {},
    protect: () => {},
    unmap: () => {},
    evicted: () => {},
    failed: (...args) => failures.push(args),
    mustHold: () => false,
    isAlive: () => true,
  }
  const node = new CoherenceNode({ rank: 1, ranks: 2, protocol: mesi as unknown as Protocol, homeOf: () => 0, port })
  const answer = (kind: MessageKind, count: number): void =>
    node.receive({ kind, page: 0, from: 0, requester: 1, count, requesterFrame: noFrame, homeFrame: noFrame })
  for (const [write, kind] of [
    [false, MessageKind.GetShared],
    [true, MessageKind.GetModified],
  ] as const) {
    node.demand(0, write)
    assert.equal(sent.pop()?.kind, kind)
    answer(MessageKind.NoMemory, 0)
    assert.deepEqual([failures.pop(), node.copyState(0)], [[0, 0, true], 'I'])
  }
  node.demand(0, true)
  answer(MessageKind.DataModified, 0)
  assert.deepEqual([failures.length, node.right(0)], [0, 'write'])
})
