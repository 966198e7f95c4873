/**
 * Random runs of every coherence protocol in which members die at any step, also while the region recovers from another death.
 *
 * Nodes, one channel in order between each two, deaths. After a death the group makes a view, which each survivor hears of on its own, after everything
 * that the dead had sent to it and had arrived; what was still under way is lost behind some point, or half of its bytes are. Asserted at every step,
 * among the living: one writer or many readers, and whoever may touch a page has the bytes that were last written; a page that is said to be lost is had by
 * nobody. At the end: everybody who wanted a page got it or was told that it is lost.
 */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import {
  type CoherenceMessage,
  CoherenceNode,
  type EpochMembers,
  EpochNode,
  type EpochPort,
  MessageKind,
  mesi,
  messageKindName,
  type NodePort,
  noFrame,
  type Protocol,
  protocols,
  type RecoveryMessage,
  type Right,
} from '../../../src/dsm/coherence/index.ts'
import { Random } from '../../../src/runtime/index.ts'

const PAGES = 2
/** The value of bytes of which only a part arrived. */
const TORN = -1

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
type Item =
  | { readonly message: CoherenceMessage; readonly epoch: number }
  | { readonly recovery: RecoveryMessage }
  | { readonly push: number; readonly value: number; readonly torn?: boolean }

class Run {
  readonly size: number
  readonly random: Random
  readonly nodes: EpochNode[]
  readonly copies: Copy[][]
  readonly channels: Item[][]
  readonly alive: boolean[]
  /** What the group has agreed on so far. */
  readonly views: EpochMembers[]
  readonly trace: string[] = []
  /** Pages that each node has begun to evict and has not heard of since. */
  readonly leaving: Set<number>[]
  /** The number of the last store to each page. */
  readonly stored: number[]
  deathsLeft: number
  served = 0
  failures = 0
  recoveries = 0

  constructor(seed: number, protocol: Protocol) {
    this.random = new Random(seed)
    this.size = 2 + this.random.below(3)
    this.deathsLeft = 1 + this.random.below(this.size - 1)
    const { size } = this
    const view: EpochMembers = { epoch: 0, members: Array.from({ length: size }, (_, rank) => rank) }
    this.views = [view]
    this.stored = new Array<number>(PAGES).fill(0)
    this.leaving = Array.from({ length: size }, () => new Set<number>())
    this.alive = new Array<boolean>(size).fill(true)
    this.channels = Array.from({ length: size * size }, () => [])
    this.copies = Array.from({ length: size }, () =>
      Array.from(
        { length: PAGES },
        () => ({ right: 'none', value: 0, wants: 'none', held: false, failed: false }) as Copy,
      ),
    )
    const homeOf = (page: number): number => page % size
    this.nodes = view.members.map(
      (rank) => new EpochNode({ rank, ranks: size, protocol, homeOf, view, recovered: 0, port: this.#port(rank) }),
    )
  }

  #port(rank: number): EpochPort {
    const copy = (page: number): Copy => this.copies[rank]![page]!
    const map = (page: number, right: Right): void => {
      this.leaving[rank]!.delete(page)
      copy(page).right = right
      copy(page).held = copy(page).wants !== 'none'
    }
    const channel = (to: number): Item[] => this.channels[rank * this.size + to]!
    return {
      send: (to, message, epoch) => channel(to).push({ message, epoch }),
      sendRecovery: (to, recovery) => channel(to).push({ recovery }),
      push: (page, to) => channel(to).push({ push: page, value: copy(page).value }),
      ownFrame: () => noFrame,
      mapReadOnly: (page) => map(page, 'read'),
      mapWritable: (page) => map(page, 'write'),
      protect: (page) => {
        copy(page).right = 'read'
      },
      unmap: (page) => {
        copy(page).right = 'none'
      },
      evicted: (page) => {
        this.leaving[rank]!.delete(page)
        copy(page).value = TORN
      },
      failed: (page) => this.#lost(rank, page),
      mustHold: (page) => copy(page).held,
      isAlive: (other) => this.#viewOf(rank).members.includes(other),
      restore: () => assert.fail('there are no replicas'),
      recovered: () => this.leaving[rank]!.clear(),
    }
  }

  #lost(rank: number, page: number): void {
    this.failures++
    Object.assign(this.copies[rank]![page]!, { failed: true, wants: 'none', right: 'none', held: false })
    for (const node of this.#living())
      assert.equal(this.copies[node]![page]!.right, 'none', `page ${page} is lost to ${rank}, and node ${node} has it`)
  }

  #viewOf(rank: number): EpochMembers {
    return this.views.findLast(({ epoch }) => epoch <= (this.seen[rank] ?? 0))!
  }
  /** The epoch that each node has heard of. */
  readonly seen: number[] = []

  #living(): number[] {
    return this.alive.flatMap((alive, rank) => (alive ? [rank] : []))
  }

  /** One random thing that can happen. False where nothing can. */
  step(mayStart: boolean): boolean {
    const steps: (() => void)[] = []
    for (const node of this.#living()) {
      for (let page = 0; page < PAGES; page++) this.#accesses(steps, node, page, mayStart)
      for (let from = 0; from < this.size; from++) this.#arrivals(steps, from, node)
      this.#news(steps, node)
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
      if (this.random.below(4) === 0) steps.push(() => this.#evict(node, page))
    }
  }

  #arrivals(steps: (() => void)[], from: number, to: number): void {
    const channel = this.channels[from * this.size + to]!
    if (channel.length > 0 && this.#viewOf(to).members.includes(from)) steps.push(() => this.#deliver(from, to))
  }

  /** A survivor hears of the next view once it has handled what those who are not in it had sent. */
  #news(steps: (() => void)[], node: number): void {
    const now = this.#viewOf(node)
    const next = this.views.find(({ epoch }) => epoch === now.epoch + 1)
    if (next === undefined) return
    const gone = now.members.filter((rank) => !next.members.includes(rank))
    if (gone.some((rank) => this.channels[rank * this.size + node]!.length > 0)) return
    steps.push(() => {
      this.trace.push(`node ${node} is in epoch ${next.epoch} of ${next.members.join(',')}`)
      this.seen[node] = next.epoch
      this.recoveries++
      this.nodes[node]!.viewChanged(next)
    })
  }

  #want(node: number, page: number, right: Right): void {
    this.trace.push(`node ${node} wants to ${right} page ${page}`)
    this.copies[node]![page]!.wants = right
    this.#access(node, page)
  }

  #evict(node: number, page: number): void {
    // It may be gone before this returns.
    this.leaving[node]!.add(page)
    if (!this.nodes[node]!.evict(page)) this.leaving[node]!.delete(page)
    else this.trace.push(`node ${node} evicts page ${page}`)
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
      // A part of the bytes that are there anyway changes nothing.
      const copy = this.copies[to]![item.push]!
      copy.value = item.torn === true && copy.value !== item.value ? TORN : item.value
    } else if ('recovery' in item) {
      const { kind, epoch } = item.recovery
      this.trace.push(`node ${from} -> node ${to}: ${kind} of epoch ${epoch} ${JSON.stringify(item.recovery)}`)
      this.nodes[to]!.receiveRecovery(from, item.recovery)
    } else {
      const { kind, page, requester } = item.message
      this.trace.push(
        `node ${from} -> node ${to}: ${messageKindName(kind)} page ${page} for ${requester}, epoch ${item.epoch}`,
      )
      this.nodes[to]!.receive(item.message, item.epoch)
    }
  }

  #kill(): void {
    const living = this.#living()
    const victim = living[this.random.below(living.length)]!
    this.deathsLeft--
    this.alive[victim] = false
    this.trace.push(`node ${victim} dies`)
    const { epoch, members } = this.views.at(-1)!
    this.views.push({ epoch: epoch + 1, members: members.filter((rank) => rank !== victim) })
    // It may have been killed in the middle of what we take for one step: the end of what it said last may be missing, or of the bytes.
    for (let other = 0; other < this.size; other++) {
      const channel = this.channels[victim * this.size + other]!
      channel.length -= this.random.below(1 + Math.min(2, channel.length))
      const last = channel.at(-1)
      if (last !== undefined && 'push' in last && this.random.below(2) === 0)
        channel[channel.length - 1] = { ...last, torn: true }
    }
  }

  #assertCoherent(): void {
    for (let page = 0; page < PAGES; page++) {
      const living = this.#living().map((rank) => this.copies[rank]![page]!)
      const writers = living.filter(({ right }) => right === 'write').length
      const readers = living.filter(({ right }) => right === 'read').length
      assert.ok(writers + Math.min(readers, 1) <= 1, `page ${page}: ${writers} writers, ${readers} readers`)
      // A store that nobody alive can have seen may vanish with the dead; that bytes go back in time for the living is not allowed.
      for (const { right, value } of living)
        if (right !== 'none')
          assert.equal(value, this.stored[page], `page ${page}: store ${value} of ${this.stored[page]}`)
    }
  }

  assertNobodyWaits(): void {
    for (const node of this.#living()) {
      for (let page = 0; page < PAGES; page++) {
        const { wants } = this.copies[node]![page]!
        assert.equal(
          wants,
          'none',
          `node ${node} waits for ever to ${wants} page ${page}: ${this.nodes[node]!.copyState(page)}`,
        )
      }
      assert.equal(this.leaving[node]!.size, 0, `node ${node} does not hear that what it evicted is gone`)
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
    const lines = run.trace.slice(-80).join('\n')
    throw new Error(
      `seed ${seed} of ${protocol.name} (replay: AETHER_SEED=${seed}): ${(error as Error).message}\n${lines}`,
      {
        cause: error,
      },
    )
  }
  return run
}

const chosen = process.env['AETHER_SEED']
const seeds =
  chosen === undefined
    ? Array.from({ length: Number(process.env['AETHER_SEEDS'] ?? 2500) }, (_, seed) => seed)
    : [Number(chosen)]

for (const protocol of protocols.values()) {
  test(`members die at any step of ${protocol.name}: the living stay coherent, and nobody waits for ever`, () => {
    let served = 0
    let failures = 0
    let recoveries = 0
    for (const seed of seeds) {
      const run = simulate(seed, protocol)
      served += run.served
      failures += run.failures
      recoveries += run.recoveries
    }
    assert.ok(
      chosen !== undefined || (served > 4 * seeds.length && failures > seeds.length / 5 && recoveries > seeds.length),
      `${served} served, ${failures} lost, ${recoveries} recoveries: too few to mean anything`,
    )
  })
}

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
