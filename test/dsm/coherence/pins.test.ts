/**
 * Pages that are held for as long as anybody likes, as pinned ones are: what waits for them comes late, and in the
 * order in which it came. The model checker holds a page only until the thread that asked for it has run, so it does
 * not see all that can happen then.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CoherenceMessage, CoherenceNode, type Protocol, protocols, type Right } from '../../../src/dsm/index.ts'
import { Random } from '../../../src/runtime/index.ts'
import { drawnSeeds } from '../../support/drawn.ts'

const PAGES = 8
const count = process.env['AETHER_SEEDS']
const seeds = drawnSeeds(Number(count ?? 75), 3, 1, count !== undefined)
const STEPS = 6000
const LAST_STEPS = 20_000

class Play {
  readonly #random: Random
  readonly #ranks: number
  readonly #nodes: CoherenceNode[]
  readonly #channels: CoherenceMessage[][]
  readonly #rights: Right[][]

  constructor(protocol: Protocol, ranks: number, seed: number) {
    this.#random = new Random(seed)
    this.#ranks = ranks
    this.#channels = Array.from({ length: ranks * ranks }, () => [])
    this.#rights = Array.from({ length: ranks }, () => Array.from({ length: PAGES }, () => 'none'))
    this.#nodes = Array.from({ length: ranks }, (_, rank) => this.#node(protocol, rank))
  }

  run(): void {
    for (let step = 0; step < STEPS; step += 1) {
      if (this.#random.below(3) === 0) this.#ask()
      else this.#deliver()
    }
    for (let step = 0; step < LAST_STEPS && !this.#isAtRest(); step += 1) {
      this.#deliver()
      for (const node of this.#nodes) for (let page = 0; page < PAGES; page += 1) node.retry(page)
    }
    assert.ok(this.#isAtRest(), 'it does not come to rest')
  }

  #node(protocol: Protocol, rank: number): CoherenceNode {
    const set = (page: number, right: Right): void => {
      this.#rights[rank]![page] = right
      const rights = this.#rights.map((own) => own[page])
      const others = rights.filter((right) => right !== 'none').length - 1
      assert.ok(!rights.includes('write') || others === 0, `a writer is not alone: ${rights.join()}`)
    }
    const port = {
      send: (to: number, message: CoherenceMessage) => this.#channels[rank * this.#ranks + to]!.push(message),
      push: () => {},
      ownFrame: (page: number) => ({ address: 4096 * page, key: 1 }),
      mapReadOnly: (page: number) => set(page, 'read'),
      mapWritable: (page: number) => set(page, 'write'),
      protect: (page: number) => set(page, 'read'),
      unmap: (page: number) => set(page, 'none'),
      evicted: () => {},
      failed: () => assert.fail('nobody has died'),
      mustHold: () => this.#random.below(4) === 0,
      isAlive: () => true,
    }
    return new CoherenceNode({ rank, ranks: this.#ranks, protocol, homeOf: (page) => page % this.#ranks, port })
  }

  #ask(): void {
    const node = this.#nodes[this.#random.below(this.#ranks)]!
    const page = this.#random.below(PAGES)
    const choice = this.#random.below(4)
    if (choice === 0) node.evict(page)
    else if (choice === 1) node.retry(page)
    else node.demand(page, choice === 3)
  }

  #deliver(): void {
    const busy = this.#channels.flatMap((channel, index) => (channel.length > 0 ? [index] : []))
    if (busy.length === 0) return
    const index = busy[this.#random.below(busy.length)]!
    this.#nodes[index % this.#ranks]!.receive(this.#channels[index]!.shift()!)
  }

  #isAtRest(): boolean {
    return this.#channels.every((channel) => channel.length === 0) && this.#nodes.every((node) => node.isQuiescent())
  }
}

for (const [name, protocol] of protocols) {
  test(`${name}: pages that are held for long lead nowhere that the table does not know`, () => {
    for (const ranks of [3, 4]) {
      for (const seed of seeds) {
        try {
          new Play(protocol, ranks, seed).run()
        } catch (error) {
          throw new Error(`${ranks} ranks, seed ${seed}: ${(error as Error).message}`, { cause: error })
        }
      }
    }
  })
}
