/**
 * Random runs of every coherence protocol in which members die at any step, also while the region recovers from another
 * death.
 *
 * Nodes, one channel in order between each two, deaths. After a death the group makes a view, which each survivor hears
 * of on its own, after everything that the dead had sent to it and had arrived; what was still under way is lost behind
 * some point, or half of its bytes are. Asserted at every step, among the living: one writer or many readers, and
 * whoever may touch a page has the bytes that were last written; a page that is said to be lost is had by nobody. At
 * the end: everybody who wanted a page got it or was told that it is lost.
 *
 * With replicas a page may go back to an older store, never to one before what was fenced, and with one member never to
 * one before what somebody who lives has seen; and no page is lost with one member. Mistakes in keeping what was fenced
 * are found.
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
  livingHome,
  MessageKind,
  mesi,
  messageKindName,
  type NodePort,
  noFrame,
  type Protocol,
  protocols,
  type RecoveryMessage,
  type Restoration,
  type Right,
} from '../../../src/dsm/coherence/index.ts'
import { decodeReplica, encodePage, type ReplicaMessage } from '../../../src/dsm/coherent/replica-channel.ts'
import { ReplicaCopying } from '../../../src/dsm/coherent/replica-copying.ts'
import { ReplicaStore } from '../../../src/dsm/coherent/replica-store.ts'
import { Replication } from '../../../src/dsm/coherent/replication.ts'
import { Random } from '../../../src/runtime/index.ts'
import { drawnSeeds } from '../../support/drawn.ts'

const PAGES = 2
/** Of the replicas. */
const REGION = 1
/** The value of bytes of which only a part arrived. */
const TORN = -1

/** One node's copy of one page, as its program and its memory see it. */
interface Copy {
  right: Right
  /** Which store its bytes are of. */
  value: number
  wants: Right
  /** The right to write was taken from the program alone: what was written is on its way to those who keep it. */
  closed: boolean
  held: boolean
  failed: boolean
}

/** Bytes travel in the channel of the messages: a push takes effect when the message behind it could. */
type Item =
  | { readonly message: CoherenceMessage; readonly epoch: number }
  | { readonly recovery: RecoveryMessage }
  | { readonly replica: Uint8Array }
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
  /** The least that a page may go back to. */
  readonly fenced: number[]
  /** By member and page: the last store of another that was seen. */
  readonly known: number[][]
  stores = 0
  restored = 0
  readonly replicas: readonly Replicas[]
  readonly flaw: Flaw | undefined
  /** All but one die, most of them soon after another, and there is much fencing. */
  readonly rush: boolean
  deathsLeft: number
  served = 0
  failures = 0
  recoveries = 0

  constructor(seed: number, protocol: Protocol, withReplicas: boolean, flaw: Flaw | undefined) {
    this.flaw = flaw
    this.random = new Random(seed)
    this.rush = this.random.below(4) === 0
    this.size = this.rush ? 4 : 2 + this.random.below(3)
    this.deathsLeft = this.rush ? 3 : 1 + this.random.below(this.size - 1)
    const { size } = this
    const view: EpochMembers = { epoch: 0, members: Array.from({ length: size }, (_, rank) => rank) }
    this.views = [view]
    this.stored = new Array<number>(PAGES).fill(0)
    this.fenced = new Array<number>(PAGES).fill(0)
    this.known = Array.from({ length: size }, () => new Array<number>(PAGES).fill(0))
    this.leaving = Array.from({ length: size }, () => new Set<number>())
    this.alive = new Array<boolean>(size).fill(true)
    this.channels = Array.from({ length: size * size }, () => [])
    this.copies = Array.from({ length: size }, () =>
      Array.from(
        { length: PAGES },
        () => ({ right: 'none', value: 0, wants: 'none', closed: false, held: false, failed: false }) as Copy,
      ),
    )
    const homeOf = (page: number): number => page % size
    this.nodes = view.members.map(
      (rank) => new EpochNode({ rank, ranks: size, protocol, homeOf, view, recovered: 0, port: this.#port(rank) }),
    )
    this.replicas = withReplicas ? view.members.map((rank) => this.#replicasOf(rank, homeOf)) : []
  }

  #replicasOf(rank: number, homeOf: (page: number) => number): Replicas {
    const { size } = this
    const node = this.nodes[rank]!
    const founders = Array.from({ length: size }, (_, founder) => founder)
    const send = (to: number, bytes: Uint8Array): void => {
      this.channels[rank * size + to]!.push({ replica: bytes })
    }
    const store = new ReplicaStore(REGION, send)
    const replication = new Replication({
      region: REGION,
      rank,
      homeOf,
      send,
      keepersOf: (page) => {
        const home = node.homeOf(page)
        return [...new Set([home, livingHome((home + 1) % size, size, node.members)])]
      },
      read: (page) => bytesOf(this.copies[rank]![page]!.value),
      keepHere: (page, bytes) => store.keep(page, homeOf(page), bytes),
      onSafe: (page) => {
        node.restored(page)
        node.retry(page)
        this.#access(rank, page)
      },
    })
    const members = (): readonly number[] => node.members
    const copying = new ReplicaCopying({ region: REGION, rank, ranks: size, founders, members, store, send })
    const parts = { store, replication, copying }
    this.flaw?.(parts)
    return parts
  }

  #port(rank: number): EpochPort {
    const copy = (page: number): Copy => this.copies[rank]![page]!
    const map = (page: number, right: Right): void => {
      this.leaving[rank]!.delete(page)
      copy(page).right = right
      copy(page).closed = false
      if (right === 'write') this.replicas[rank]?.replication.written(page)
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
        this.replicas[rank]?.replication.forget(page)
        copy(page).right = 'none'
      },
      evicted: (page) => {
        this.leaving[rank]!.delete(page)
        copy(page).value = TORN
      },
      failed: (page) => this.#lost(rank, page),
      mustHold: (page) => copy(page).held || !this.#isSaved(rank, page),
      isAlive: (other) => this.#viewOf(rank).members.includes(other),
      restore: (page) => this.#restore(rank, page),
      recovered: () => {
        this.leaving[rank]!.clear()
        this.replicas[rank]?.copying.begin()
      },
    }
  }

  #isSaved(rank: number, page: number): boolean {
    const replicas = this.replicas[rank]
    if (replicas === undefined) return true
    if (replicas.replication.isUnsaved(page)) this.#save(rank, page)
    return !replicas.replication.isSaving(page)
  }

  #save(rank: number, page: number): void {
    const copy = this.copies[rank]![page]!
    copy.closed ||= !copy.held
    this.replicas[rank]!.replication.save(page, copy.closed)
  }

  #fence(rank: number): void {
    const { replication } = this.replicas[rank]!
    const pages = replication.unsaved().map((page) => ({ page, value: this.copies[rank]![page]!.value }))
    this.trace.push(`node ${rank} fences ${pages.map(({ page, value }) => `store ${value} of page ${page}`).join()}`)
    for (const { page } of pages) this.#save(rank, page)
    replication.whenSaved(() => {
      this.trace.push(`node ${rank} has fenced`)
      for (const { page, value } of pages) this.fenced[page] = Math.max(this.fenced[page]!, value)
    })
  }

  #restore(rank: number, page: number): Restoration {
    const replicas = this.replicas[rank]
    const replica = replicas?.store.get(page)
    const isUnknown = replica === undefined && !replicas?.copying.hasAllOf(page % this.size)
    if (replicas === undefined || isUnknown) return 'unknown'
    const value = replica === undefined ? 0 : numberOf(replica.bytes)
    this.trace.push(`page ${page} goes back to store ${value} at node ${rank}`)
    assert.ok(
      value >= this.fenced[page]!,
      `page ${page} goes back to store ${value}, and ${this.fenced[page]} was fenced`,
    )
    const living = this.#living()
    const seen = Math.max(...living.map((node) => this.known[node]![page]!))
    assert.ok(
      living.length < this.size - 1 || value >= seen,
      `page ${page} goes back to store ${value}, and ${seen} was seen`,
    )
    this.restored += 1
    this.stored[page] = value
    this.copies[rank]![page]!.value = value
    replicas.replication.save(page, true)
    return replicas.replication.isSaving(page) ? 'later' : 'done'
  }

  #lost(rank: number, page: number): void {
    this.failures += 1
    const deaths = this.alive.filter((alive) => !alive).length
    assert.ok(this.replicas.length === 0 || deaths > 1, `page ${page} is lost with one member`)
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
      for (let page = 0; page < PAGES; page += 1) this.#accesses(steps, node, page, mayStart)
      for (let from = 0; from < this.size; from += 1) this.#arrivals(steps, from, node)
      this.#news(steps, node)
      if (mayStart && this.replicas.length > 0 && this.random.below(this.rush ? 2 : 8) === 0)
        steps.push(() => this.#fence(node))
    }
    const isNext = this.random.below(this.rush && this.recoveries > 0 ? 5 : 25) === 0
    if (mayStart && this.deathsLeft > 0 && isNext) steps.push(() => this.#kill())
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
      this.recoveries += 1
      this.replicas[node]?.copying.stop()
      this.nodes[node]!.viewChanged(next)
      this.replicas[node]?.replication.membersChanged()
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
    if (copy.right === 'none' || (copy.wants === 'write' && (copy.right === 'read' || copy.closed))) {
      // `onSafe` asks again.
      if (this.replicas[node]?.replication.isSaving(page) === true) return
      this.nodes[node]!.demand(page, copy.wants === 'write')
      return
    }
    // Who writes sees what was there before.
    this.known[node]![page] = copy.value
    if (copy.wants === 'write') copy.value = this.stored[page] = ++this.stores
    copy.wants = 'none'
    this.served += 1
  }

  #deliver(from: number, to: number): void {
    const item = this.channels[from * this.size + to]!.shift()!
    if ('push' in item) {
      // A part of the bytes that are there anyway changes nothing.
      const copy = this.copies[to]![item.push]!
      copy.value = item.torn === true && copy.value !== item.value ? TORN : item.value
    } else if ('replica' in item) this.#deliverReplica(from, to, item.replica)
    else if ('recovery' in item) {
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

  #deliverReplica(from: number, to: number, bytes: Uint8Array): void {
    const message = decodeReplica(bytes)
    assert.ok(message !== undefined)
    this.trace.push(`node ${from} -> node ${to}: ${JSON.stringify(message)}`)
    const { store, replication, copying } = this.replicas[to]!
    if (message.kind === 'kept') {
      replication.kept(from, message.token)
      copying.kept(from, message.token)
    } else assert.ok(store.receive(from, message))
  }

  #kill(): void {
    const living = this.#living()
    const victim = living[this.random.below(living.length)]!
    this.deathsLeft -= 1
    this.alive[victim] = false
    this.trace.push(`node ${victim} dies`)
    const { epoch, members } = this.views.at(-1)!
    this.views.push({ epoch: epoch + 1, members: members.filter((rank) => rank !== victim) })
    // It may have been killed in the middle of what we take for one step: the end of what it said last may be missing,
    // or of the bytes. Or much of it had not been sent.
    const most = this.random.below(2) === 0 ? 2 : Number.POSITIVE_INFINITY
    for (let other = 0; other < this.size; other += 1) {
      const channel = this.channels[victim * this.size + other]!
      channel.length -= this.random.below(1 + Math.min(most, channel.length))
      const last = channel.at(-1)
      if (last !== undefined && 'push' in last && this.random.below(2) === 0)
        channel[channel.length - 1] = { ...last, torn: true }
    }
  }

  #assertCoherent(): void {
    for (let page = 0; page < PAGES; page += 1) {
      const living = this.#living().map((rank) => this.copies[rank]![page]!)
      const writers = living.filter(({ right }) => right === 'write').length
      const readers = living.filter(({ right }) => right === 'read').length
      assert.ok(writers + Math.min(readers, 1) <= 1, `page ${page}: ${writers} writers, ${readers} readers`)
      // A store that nobody alive can have seen may vanish with the dead; that bytes go back in time for the living is
      // not allowed.
      for (const { right, value } of living)
        if (right !== 'none')
          assert.equal(value, this.stored[page], `page ${page}: store ${value} of ${this.stored[page]}`)
    }
  }

  assertNobodyWaits(): void {
    for (const node of this.#living()) {
      for (let page = 0; page < PAGES; page += 1) {
        const { wants } = this.copies[node]![page]!
        assert.equal(
          wants,
          'none',
          `node ${node} waits for ever to ${wants} page ${page}: ${this.nodes[node]!.copyState(page)}`,
        )
      }
      assert.equal(this.leaving[node]!.size, 0, `node ${node} does not hear that what it evicted is gone`)
      assert.ok(this.replicas[node]?.replication.isQuiescent() !== false, `node ${node} never hears that it is kept`)
      assert.ok(this.nodes[node]!.isQuiescent(), `node ${node} never comes to rest`)
    }
  }
}

/** A mistake in keeping what was fenced, made at each member. */
type Flaw = (parts: Replicas) => void

interface Replicas {
  readonly store: ReplicaStore
  readonly replication: Replication
  readonly copying: ReplicaCopying
}

const bytesOf = (value: number): Uint8Array => new Uint8Array(Int32Array.of(value).buffer)
const numberOf = (bytes: Uint8Array): number => new Int32Array(bytes.slice().buffer)[0]!

function simulate(seed: number, protocol: Protocol, withReplicas: boolean, flaw?: Flaw): Run {
  const run = new Run(seed, protocol, withReplicas, flaw)
  try {
    for (let count = 0; count < 150; count += 1) run.step(true)
    for (let count = 0; run.step(false); count += 1) assert.ok(count < 10_000, 'the nodes never come to rest')
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
const count = process.env['AETHER_SEEDS']
const seeds = chosen === undefined ? drawnSeeds(Number(count ?? 750), 5, 0, count !== undefined) : [Number(chosen)]

for (const protocol of protocols.values()) {
  test(`members die at any step of ${protocol.name}: the living stay coherent, and nobody waits for ever`, () => {
    let served = 0
    let failures = 0
    let recoveries = 0
    for (const seed of seeds) {
      const run = simulate(seed, protocol, false)
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

for (const protocol of protocols.values()) {
  test(`members die at any step of ${protocol.name} with replicas: what was fenced lives on, and with one member no page is lost`, () => {
    let served = 0
    let restored = 0
    for (const seed of seeds) {
      const run = simulate(seed, protocol, true)
      served += run.served
      restored += run.restored
    }
    assert.ok(
      chosen !== undefined || (served > 4 * seeds.length && restored > seeds.length / 5),
      `${served} served, ${restored} went back: too few to mean anything`,
    )
  })
}

const acknowledgeAll = ({ replication }: Replicas): void => {
  for (let token = 1; token < 200; token += 1)
    for (let keeper = 0; keeper < 4; keeper += 1) replication.kept(keeper, token)
}

/** Each with a seed that comes shortly before one that shows it. */
const flaws: readonly (readonly [name: string, flaw: Flaw, seed: number])[] = [
  [
    'a fence is content with one keeper',
    ({ replication }) => {
      const { kept } = replication
      replication.kept = (_from, token) => {
        for (let keeper = 0; keeper < 4; keeper += 1) kept.call(replication, keeper, token)
      }
    },
    5700,
  ],
  [
    'what is on its way when a keeper dies counts as kept',
    (parts) => {
      parts.replication.membersChanged = () => acknowledgeAll(parts)
    },
    2400,
  ],
  [
    'a page goes to others before it is kept',
    ({ replication }) => {
      replication.isSaving = () => false
    },
    280,
  ],
  [
    'who became a keeper later takes what it was not told of for zeros',
    ({ copying }) => {
      copying.hasAllOf = () => true
    },
    40,
  ],
]

for (const [name, flaw, from] of flaws) {
  test(`a mistake in keeping what was fenced is found: ${name}`, () => {
    const what = /goes back to store -?\d+, and \d+ was (fenced|seen)/
    let found = ''
    for (let seed = from; seed < from + 10_000 && !what.test(found); seed += 1) {
      try {
        simulate(seed, mesi as unknown as Protocol, true, flaw)
      } catch (error) {
        found = String(((error as Error).cause as Error).message)
      }
    }
    assert.match(found, what)
  })
}

test('what another keeper had does not take the place of what a holder has said since', () => {
  const store = new ReplicaStore(REGION, () => {})
  const say = (from: number, kind: 'part' | 'copy', value: number): void => {
    for (const bytes of encodePage(kind, { region: REGION, page: 1, token: 1, home: 0, bytes: bytesOf(value) }))
      store.receive(from, decodeReplica(bytes) as Exclude<ReplicaMessage, { kind: 'kept' }>)
  }
  say(1, 'copy', 1)
  say(2, 'part', 2)
  say(1, 'copy', 1)
  assert.equal(numberOf(store.get(1)!.bytes), 2)
})

test('nobody gets a page that goes back before its other keeper has the same', () => {
  const sent: string[] = []
  const restored: number[] = []
  const nothing = (): void => {}
  const node = new EpochNode({
    rank: 0,
    ranks: 3,
    protocol: mesi as unknown as Protocol,
    homeOf: (page) => page,
    // Rank 2 has ended, and page 2 is nowhere.
    view: { epoch: 1, members: [0, 1] },
    recovered: 1,
    port: {
      send: (_to, { kind }) => sent.push(messageKindName(kind)),
      sendRecovery: nothing,
      push: nothing,
      ownFrame: () => noFrame,
      mapReadOnly: nothing,
      mapWritable: nothing,
      protect: nothing,
      unmap: nothing,
      evicted: nothing,
      failed: () => assert.fail('it is known'),
      mustHold: () => false,
      isAlive: (rank) => rank < 2,
      restore: (page) => {
        restored.push(page)
        return 'later'
      },
      recovered: nothing,
    },
  })
  const kind = MessageKind.GetShared
  const request = { kind, page: 2, from: 1, requester: 1, count: 0, requesterFrame: noFrame, homeFrame: noFrame }
  node.receive(request, 1)
  node.demand(2, false)
  assert.deepEqual([sent, restored, node.isQuiescent()], [[], [2], false])
  node.restored(2)
  assert.deepEqual([sent, restored], [['DataExclusive'], [2]])
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
