import assert from 'node:assert/strict'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../../src/runtime/index.ts'
import { assertLinearizable } from '../../consensus/histories.ts'
import type { Machines } from '../../support/machines.ts'
import type { RankProcess } from '../../support/rank-process.ts'
import { signalTo } from '../../support/signal-to.ts'
import type { SmallDisks } from '../../support/small-disks.ts'
import { loadCallsOf, unlinearizableParts } from './load-calls.ts'
import { TortureGround } from './torture-ground.ts'

const nodeFixture = new URL('../fixtures/index-process.js', import.meta.url)
const loadFixture = new URL('../fixtures/load-process.js', import.meta.url)
const REPLICAS = 3
const NODES_MAX = 5
const KEYS = 12
const CLIENTS = 2
const LOAD_CLIENTS = 2
/** Longer than the lease. */
const STOPPED_MS = 6000
/** A node that was stopped for longer is of the group no longer. Clients may still ask it for this time. */
const LATE_MS = 300
/** Shorter than the lease, and long enough for a change of leader. */
const PAUSED_MS_MAX = 1000
const FULL_MS_MAX = 2000
/** Of each of 300 values, to meet a full disk. */
const FULL_BYTES = 20_000
/** Much, for busy machines. */
const WHOLE_MS_MAX = 45_000

const anywhere = ['kill', 'kill without files', 'kill majority', 'kill all', 'stop', 'pause', 'kill client'] as const
const onOneMachine = [...anywhere, 'add and kill', 'add', 'leave'] as const
const amongMachines = [...anywhere, 'unplug', 'flicker'] as const
const onSmallDisks = [...onOneMachine, 'full disk', 'full disk', 'full disks'] as const
type Action = (typeof onSmallDisks)[number] | (typeof amongMachines)[number]

interface Node {
  readonly process: RankProcess
  readonly rank: number
  readonly directory: string
  readonly place: number
}

interface Pairs {
  readonly answered: number
  readonly unknown: number
  readonly refused: number
  readonly unequal: number
  readonly missing: number
}

interface Status {
  readonly term: number
  readonly isLeader: boolean
  readonly disk?: string
  readonly voters?: readonly number[]
  readonly lags: readonly { readonly entries: number }[]
}

/** What a torture begins with. */
export interface TorturePlan {
  readonly seed: number
  readonly shards: number
  readonly timeMs: number
  /** Nodes at the beginning, on one machine. */
  readonly nodes?: number
  /** All but the last one have a node each. */
  readonly machines?: Machines
  /** Nodes of one machine have such disks, which are full now and then. */
  readonly disks?: SmallDisks
}

/** Nodes of an index that are killed, stopped and begun again, while clients read and write. */
export class IndexTorture {
  readonly #name: string
  readonly #plan: TorturePlan
  readonly #ground: TortureGround
  readonly #random: Random
  readonly #load: RankProcess[] = []
  #nodes: Node[] = []
  #lives = 0
  #directories = 0
  #clients: readonly RankProcess[] = []
  #loadClients = 0
  #fullDisks = 0

  private constructor(plan: TorturePlan) {
    this.#plan = plan
    this.#ground = new TortureGround(plan.machines, plan.disks)
    this.#name = `torture-${process.pid}-${plan.seed}`
    this.#random = new Random(plan.seed)
  }

  /** What was done, and what calls came to. */
  static async run(plan: TorturePlan): Promise<string> {
    const torture = new IndexTorture(plan)
    try {
      return await torture.#run()
    } finally {
      await torture.#ground.end()
    }
  }

  get #loadPath(): string {
    return join(this.#ground.folder, 'load')
  }

  async #run(): Promise<string> {
    const count = this.#ground.nodePlaces ?? this.#plan.nodes ?? REPLICAS
    await this.#begin(Array.from({ length: count }, (_, place) => ({ directory: this.#freshDirectory(), place })))
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, (_, number) => this.#ground.startClient(nodeFixture, number)),
    )
    for (const each of clients) await each.call('connect', this.#name, this.#ground.connectOptions)
    this.#clients = clients
    const path = join(this.#ground.folder, 'history')
    await clients[0]!.call('fill', 0, 300, 100)
    for (let number = 0; number < LOAD_CLIENTS; number += 1) this.#load.push(await this.#loadClient())
    await this.#load[0]!.call('fill')
    for (const each of this.#load) await this.#beginLoad(each)
    for (const [place, client] of clients.entries()) {
      await client.call('begin', path, place * 10, 3, KEYS, 4)
      await client.call('beginPairs', place * 10, 2, 4)
    }
    const done = await this.#actions()
    await Promise.all([...clients, ...this.#load].map((client) => client.call('stop')))
    const pairs = await Promise.all(clients.map((client) => client.call<Pairs>('pairs')))
    const sum = (of: keyof Pairs): number => pairs.reduce((total, each) => total + each[of], 0)
    const calls = assertLinearizable(path)
    const loaded = loadCallsOf(this.#loadPath, this.#plan.shards)
    assert.deepEqual(unlinearizableParts(loaded), [], this.#loadPath)
    assert.deepEqual([sum('unequal'), sum('missing')], [0, 0], 'raised together, and nothing lost')
    const [a, b] = await Promise.all(['{pair}a', '{pair}b'].map((key) => clients[0]!.call<string>('get', key)))
    assert.equal(a, b)
    const [least, most] = [sum('answered'), sum('answered') + sum('unknown')]
    assert.ok(Number(a) >= least && Number(a) <= most, `${a} is not from ${least} to ${most}`)
    for (const client of clients) assert.equal(await client.call('countKeys', 'filled', 300), 300)
    const figures = `${calls} calls of registers, ${loaded.length} of the load, ${least} transactions`
    return `${done.join(', ')}: ${figures}, ${sum('unknown')} unknown, ${sum('refused')} refused, ${this.#fullDisks} times full`
  }

  async #actions(): Promise<readonly Action[]> {
    const { machines, disks } = this.#ground
    const onOne = disks === undefined ? onOneMachine : onSmallDisks
    const actions: readonly Action[] = machines === undefined ? onOne : amongMachines
    const done: Action[] = []
    for (const endMs = performance.now() + this.#plan.timeMs; performance.now() < endMs; ) {
      await sleep(100 + this.#random.below(300))
      const action = actions[this.#random.below(actions.length)]!
      done.push(action)
      await this.#do(action).catch((cause: unknown) => {
        throw new Error(`cannot ${done.join(', ')}: ${String(cause)}`, { cause })
      })
      await this.#untilWhole(done)
    }
    return done
  }

  async #do(action: Action): Promise<void> {
    const at = this.#random.below(this.#nodes.length)
    const node = this.#nodes[at]!
    switch (action) {
      case 'kill':
        return await this.#replace([node], [node])
      case 'kill without files':
        return await this.#replace([node], [{ directory: this.#freshDirectory(), place: node.place }])
      case 'kill majority': {
        const some = [node, this.#nodes[(at + 1) % this.#nodes.length]!]
        if (this.#ground.machines === undefined) return await this.#replace(some, some.toReversed())
        // The others cannot tell whether they were cut off, and end.
        await Promise.all(some.map((each) => each.process.kill()))
        await Promise.all(this.#nodes.map((each) => each.process.ended()))
        return await this.#begin(this.#nodes.splice(0).toReversed())
      }
      case 'pause':
        signalTo(node.process, 'SIGSTOP')
        await sleep(1 + this.#random.below(PAUSED_MS_MAX))
        signalTo(node.process, 'SIGCONT')
        return
      case 'stop':
        signalTo(node.process, 'SIGSTOP')
        await sleep(STOPPED_MS)
        signalTo(node.process, 'SIGCONT')
        await sleep(LATE_MS)
        return await this.#replace([node], [node])
      case 'add and kill':
        await this.#add({ directory: this.#freshDirectory(), place: 0 })
        return await this.#replace([node], [])
      case 'add':
        if (this.#nodes.length < NODES_MAX) await this.#add({ directory: this.#freshDirectory(), place: 0 })
        return
      case 'leave':
        if (this.#nodes.length === REPLICAS) return
        await node.process.call('closeGroup')
        return await this.#replace([node], [])
      case 'unplug':
        this.#ground.machines!.networks.unplug(node.place)
        await node.process.ended()
        this.#ground.machines!.networks.plug(node.place)
        return await this.#replace([node], [node])
      case 'flicker':
        this.#ground.machines!.networks.unplug(node.place)
        await sleep(1 + this.#random.below(PAUSED_MS_MAX))
        this.#ground.machines!.networks.plug(node.place)
        return
      case 'full disk':
        return await this.#whileFull([node])
      case 'full disks':
        return await this.#whileFull(this.#nodes)
      case 'kill client':
        await this.#load.shift()!.kill()
        this.#load.push(await this.#loadClient())
        return await this.#beginLoad(this.#load.at(-1)!)
      case 'kill all': {
        const all = this.#nodes.splice(0)
        await Promise.all(all.map((each) => each.process.kill()))
        const first = this.#random.below(all.length)
        await this.#begin([...all.slice(first), ...all.slice(0, first)].toReversed())
      }
    }
  }

  async #loadClient(): Promise<RankProcess> {
    this.#loadClients += 1
    const client = await this.#ground.startClient(loadFixture, this.#loadClients)
    await client.call('connect', this.#name, this.#loadPath, this.#loadClients, this.#ground.connectOptions)
    return client
  }

  async #beginLoad(client: RankProcess): Promise<void> {
    await client.call('begin', this.#loadClients, 20)
  }

  /** As much is written as no log has room for. It is answered at the latest when there is room again. */
  async #whileFull(nodes: readonly Node[]): Promise<void> {
    const disks = this.#ground.disks!
    for (const { directory } of nodes) disks.fill(directory)
    let isFilled = false
    const filling = this.#clients[0]!.call('fill', 0, 300, FULL_BYTES).then(() => {
      isFilled = true
    })
    let isFull = false
    while (!isFilled && !isFull) {
      await sleep(50)
      isFull = (await Promise.all(nodes.map((node) => this.#isFull(node)))).some(Boolean)
    }
    if (isFull) this.#fullDisks += 1
    assert.ok(isFull || nodes.length < this.#nodes.length, 'no disk was full, and there was no room on any')
    await sleep(this.#random.below(FULL_MS_MAX))
    for (const { directory } of nodes) disks.empty(directory)
    await filling
  }

  async #isFull({ process: node }: Node): Promise<boolean> {
    const shards = [...Array(this.#plan.shards).keys()]
    const all = await Promise.all(
      shards.map((shard) => node.call<Status | undefined>('status', shard).catch(() => undefined)),
    )
    return all.some((status) => status?.disk === 'full')
  }

  #freshDirectory(): string {
    this.#directories += 1
    const directory = join(this.#ground.folder, `node-${this.#directories}`)
    this.#ground.disks?.add(directory)
    return directory
  }

  /** A group of its own, since all of the former one are gone. */
  async #begin(places: readonly NodePlace[]): Promise<void> {
    this.#lives += 1
    this.#nodes = await this.#opened(places)
  }

  /** On one machine, ranks come in this order. Among machines, one may have to wait for another. */
  async #opened(places: readonly NodePlace[]): Promise<Node[]> {
    const nodes: Node[] = []
    if (this.#ground.machines !== undefined)
      nodes.push(...(await Promise.all(places.map((place) => this.#joined(place)))))
    else for (const place of places) nodes.push(await this.#joined(place))
    await Promise.all(nodes.map((node) => this.#open(node)))
    return nodes
  }

  /** Kill these at once, and start those. */
  async #replace(gone: readonly Node[], come: readonly NodePlace[]): Promise<void> {
    await Promise.all(gone.map((node) => node.process.kill()))
    this.#nodes = this.#nodes.filter((node) => !gone.includes(node))
    this.#nodes.push(...(await this.#opened(come)))
  }

  async #add(place: NodePlace): Promise<void> {
    await this.#replace([], [place])
  }

  async #joined({ directory, place }: NodePlace): Promise<Node> {
    const started = await this.#ground.startNode(nodeFixture, place)
    const options = { name: `${this.#name}-${this.#lives}`, ...this.#ground.joinOptions }
    return { process: started, rank: await started.call<number>('join', options), directory, place }
  }

  async #open({ process: started, directory, place }: Node): Promise<void> {
    const { shards } = this.#plan
    const options = { name: this.#name, replicas: REPLICAS, shards, directory, timeoutMs: WHOLE_MS_MAX }
    await started.call('open', { ...options, ...this.#ground.openOptions(place) })
  }

  /** Each shard has three voters that live and have nearly everything: a minority may be taken away again. */
  async #untilWhole(done: readonly string[]): Promise<void> {
    const { shards } = this.#plan
    const endMs = performance.now() + WHOLE_MS_MAX
    for (;;) {
      const wholes = await Promise.all(Array.from({ length: shards }, (_, shard) => this.#isWhole(shard)))
      if (wholes.every(Boolean)) return
      if (performance.now() > endMs) {
        const told = await Promise.all(this.#nodes.map((node) => this.#told(node)))
        assert.fail(`shards are not whole again after ${done.join(', ')}: ${wholes}\n${told.join('\n')}`)
      }
      await sleep(50)
    }
  }

  async #told({ process: node, rank }: Node): Promise<string> {
    const asked = [...Array(this.#plan.shards).keys()].map((shard) => node.call('status', shard).catch(String))
    return JSON.stringify([rank, await Promise.all(asked), await node.call('failures').catch(String)])
  }

  async #isWhole(shard: number): Promise<boolean> {
    const ranks = this.#nodes.map(({ rank }) => rank)
    const all = await Promise.all(
      this.#nodes.map((node) => node.process.call<Status | undefined>('status', shard).catch(() => undefined)),
    )
    const leading = all.filter((status) => status?.isLeader === true)
    const leads = leading.sort((one, other) => other!.term - one!.term)[0]
    const { voters, lags = [] } = leads ?? {}
    if (voters?.length !== REPLICAS || !voters.every((rank) => ranks.includes(rank))) return false
    return lags.every(({ entries }) => entries < 100)
  }
}

/** Where a node is to run, and what it is to have. */
type NodePlace = Pick<Node, 'directory' | 'place'>
