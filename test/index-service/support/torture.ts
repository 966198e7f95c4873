import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../../src/runtime/index.ts'
import { assertLinearizable } from '../../consensus/histories.ts'
import { RankProcess } from '../../support/rank-process.ts'

const fixture = new URL('../fixtures/index-process.js', import.meta.url)
const NODES = 3
const KEYS = 12
/** Much, for busy machines, and shorter than nodes are stopped for. */
const LEASE_MS = 4000
const STOPPED_MS = 6000
/** A node that was stopped for longer is of the group no longer. Clients may still ask it for this time. */
const LATE_MS = 300
/** Much, for busy machines. */
const WHOLE_MS_MAX = 45_000

const actions = ['kill', 'kill without files', 'stop', 'pause', 'add and kill', 'kill all'] as const

interface Node {
  readonly process: RankProcess
  readonly rank: number
  readonly directory: string
}

interface Pairs {
  readonly answered: number
  readonly unknown: number
  readonly refused: number
  readonly unequal: number
  readonly missing: number
}

interface Status {
  readonly isLeader: boolean
  readonly voters?: readonly number[]
  readonly lags: readonly { readonly entries: number }[]
}

/** Nodes of an index that are killed, stopped and begun again, while clients read and write. */
export class IndexTorture {
  readonly #name: string
  readonly #random: Random
  readonly #folder = mkdtempSync(join(tmpdir(), 'aether-index-torture-'))
  readonly #started: RankProcess[] = []
  #nodes: Node[] = []
  #lives = 0
  #directories = 0

  readonly #shards: number

  private constructor(seed: number, shards: number) {
    this.#shards = shards
    this.#name = `torture-${process.pid}-${seed}`
    this.#random = new Random(seed)
  }

  /** For this time; what was done, and what calls came to. */
  static async run(seed: number, shards: number, timeMs: number): Promise<string> {
    const torture = new IndexTorture(seed, shards)
    try {
      return await torture.#run(timeMs)
    } finally {
      await Promise.all(torture.#started.map((each) => each.kill()))
      rmSync(torture.#folder, { recursive: true, force: true })
    }
  }

  async #run(timeMs: number): Promise<string> {
    await this.#begin(Array.from({ length: NODES }, () => this.#freshDirectory()))
    const clients = [this.#start(), this.#start()]
    for (const each of clients) await each.call('connect', this.#name)
    const path = join(this.#folder, 'history')
    await clients[0]!.call('fill', 0, 300, 100)
    for (const [place, client] of clients.entries()) {
      await client.call('begin', path, place * 10, 3, KEYS, 4)
      await client.call('beginPairs', place * 10, 2, 4)
    }
    const done: string[] = []
    for (const endMs = performance.now() + timeMs; performance.now() < endMs; ) {
      await sleep(100 + this.#random.below(300))
      const action = actions[this.#random.below(actions.length)]!
      done.push(action)
      await this.#do(action)
      await this.#untilWhole(done)
    }
    await Promise.all(clients.map((client) => client.call('stop')))
    const pairs = await Promise.all(clients.map((client) => client.call<Pairs>('pairs')))
    const sum = (of: keyof Pairs): number => pairs.reduce((total, each) => total + each[of], 0)
    const calls = assertLinearizable(path)
    assert.deepEqual([sum('unequal'), sum('missing')], [0, 0], 'raised together, and nothing lost')
    const [a, b] = await Promise.all(['{pair}a', '{pair}b'].map((key) => clients[0]!.call<string>('get', key)))
    assert.equal(a, b)
    const [least, most] = [sum('answered'), sum('answered') + sum('unknown')]
    assert.ok(Number(a) >= least && Number(a) <= most, `${a} is not from ${least} to ${most}`)
    for (const client of clients) assert.equal(await client.call('countKeys', 'filled', 300), 300)
    return `${done.join(', ')}: ${calls} calls of registers, ${least} transactions, ${sum('unknown')} unknown, ${sum('refused')} refused`
  }

  async #do(action: (typeof actions)[number]): Promise<void> {
    const at = this.#random.below(this.#nodes.length)
    const node = this.#nodes[at]!
    switch (action) {
      case 'kill':
      case 'kill without files':
        await node.process.kill()
        this.#nodes.splice(at, 1)
        return await this.#add(action === 'kill' ? node.directory : this.#freshDirectory())
      case 'pause':
        await node.process.stop()
        await sleep(1 + this.#random.below(1000))
        node.process.child.kill('SIGCONT')
        return
      case 'stop':
        await node.process.stop()
        await sleep(STOPPED_MS)
        node.process.child.kill('SIGCONT')
        await sleep(LATE_MS)
        await node.process.kill()
        this.#nodes.splice(at, 1)
        return await this.#add(node.directory)
      case 'add and kill':
        await this.#add(this.#freshDirectory())
        this.#nodes.splice(at, 1)
        await node.process.kill()
        return
      case 'kill all': {
        const all = this.#nodes.splice(0)
        await Promise.all(all.map((each) => each.process.kill()))
        await this.#begin(all.map(({ directory }) => directory))
      }
    }
  }

  #start(): RankProcess {
    const started = new RankProcess(fixture, { AETHER_LEASE_MS: String(LEASE_MS) })
    this.#started.push(started)
    return started
  }

  #freshDirectory(): string {
    this.#directories += 1
    return join(this.#folder, `node-${this.#directories}`)
  }

  /** A group of its own, since all of the former one are gone. */
  async #begin(directories: readonly string[]): Promise<void> {
    this.#lives += 1
    const nodes: Node[] = []
    for (const directory of directories) nodes.push(await this.#joined(directory))
    await Promise.all(nodes.map((node) => this.#open(node)))
    this.#nodes = nodes
  }

  async #add(directory: string): Promise<void> {
    const node = await this.#joined(directory)
    await this.#open(node)
    this.#nodes.push(node)
  }

  async #joined(directory: string): Promise<Node> {
    const started = this.#start()
    const rank = await started.call<number>('join', { name: `${this.#name}-${this.#lives}` })
    return { process: started, rank, directory }
  }

  async #open({ process: started, directory }: Node): Promise<void> {
    await started.call('open', { name: this.#name, replicas: NODES, shards: this.#shards, directory })
  }

  /** Each shard has three voters that live and have nearly everything: a minority may be taken away again. */
  async #untilWhole(done: readonly string[]): Promise<void> {
    const endMs = performance.now() + WHOLE_MS_MAX
    for (;;) {
      const wholes = await Promise.all(Array.from({ length: this.#shards }, (_, shard) => this.#isWhole(shard)))
      if (wholes.every(Boolean)) return
      if (performance.now() > endMs) {
        const told = await Promise.all(this.#nodes.map((node) => this.#told(node)))
        assert.fail(`shards are not whole again after ${done.join(', ')}: ${wholes}\n${told.join('\n')}`)
      }
      await sleep(50)
    }
  }

  async #told({ process: node, rank }: Node): Promise<string> {
    const asked = [...Array(this.#shards).keys()].map((shard) => node.call('status', shard).catch(String))
    return JSON.stringify([rank, await Promise.all(asked), await node.call('failures').catch(String)])
  }

  async #isWhole(shard: number): Promise<boolean> {
    const ranks = this.#nodes.map(({ rank }) => rank)
    const all = await Promise.all(
      this.#nodes.map((node) => node.process.call<Status | undefined>('status', shard).catch(() => undefined)),
    )
    const leads = all.find((status) => status?.isLeader === true)
    const { voters, lags = [] } = leads ?? {}
    if (voters?.length !== NODES || !voters.every((rank) => ranks.includes(rank))) return false
    return lags.every(({ entries }) => entries < 100)
  }
}
