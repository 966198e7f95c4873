import assert from 'node:assert/strict'
import { afterEach } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Machines } from '../support/machines.ts'
import { RankProcess } from '../support/rank-process.ts'

const fixture = new URL('./fixtures/growing-rank.js', import.meta.url)

/** How many keys a process may write. */
const KEYS = 1_000_000

interface Progress {
  readonly written: number
  readonly rounds: number
  readonly members: number
}

const all = new Set<GrowingRank>()

/** A process that is, was, or will be a member of a group that grows. It ends with its test. */
export class GrowingRank extends RankProcess {
  constructor(environment: Readonly<Record<string, string>> = {}, under: readonly string[] = []) {
    super(fixture, environment, under)
    all.add(this)
  }
}

afterEach(async () => {
  await Promise.all([...all].map((member) => member.kill()))
  all.clear()
})

/** Processes of one group under a load of map writes, barriers and collectives. */
class GrowingLoad {
  readonly #name: string
  /** One for each process; undefined if all are on one. */
  readonly #machines: Machines | undefined
  readonly #members: GrowingRank[] = []
  /** By key that a process begins with: how many it has said that it has written. */
  readonly #written = new Map<number, number>()
  readonly #begins: number[] = []
  readonly #working: Promise<unknown>[] = []
  /** Of those that were killed, too. */
  readonly #failures: string[] = []
  #next = 0

  constructor(name: string, machines: Machines | undefined) {
    this.#name = name
    this.#machines = machines
  }

  /** A process joins and works, in place of the one at `index`. Returns its rank. */
  async start(index: number): Promise<number> {
    const { environment, under } = (await this.#machines?.place(index)) ?? {}
    const member = new GrowingRank(environment, under)
    this.#members[index] = member
    this.#begins[index] = this.#next
    this.#next += KEYS
    const { rank } = await member.call<{ rank: number }>('join', this.#name, this.#machines?.joinOptions)
    this.#working[index] = member.call('work', this.#begins[index])
    this.#working[index].catch((error) => this.#failures.push(`${rank}: ${error}`))
    return rank
  }

  async kill(index: number): Promise<void> {
    await this.#look(index)
    await this.#members[index]!.kill()
  }

  /** Wait until those at `indices` are the members, and have gone on. */
  async goOn(indices: readonly number[]): Promise<void> {
    const before = await Promise.all(indices.map((index) => this.#look(index)))
    for (let looks = 0; looks < 2000; looks += 1) {
      const now = await Promise.all(indices.map((index) => this.#look(index)))
      const isThere = now.every(
        ({ members, rounds }, at) => members === indices.length && rounds > before[at]!.rounds + 2,
      )
      if (isThere) return
      await sleep(20)
    }
    const states = await Promise.all(indices.map((index) => this.#members[index]!.call('state').catch(String)))
    assert.fail(`the members ${indices.join()} do not go on: ${JSON.stringify(states)}; ${this.#failures.join('; ')}`)
  }

  /** All stop and leave, and what was written is there. */
  async end(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.call('stop')))
    await Promise.all(this.#working)
    for (const index of this.#members.keys()) await this.#look(index)
    for (const [from, count] of this.#written)
      assert.deepEqual(await this.#members[0]!.call('missing', from, count), [], `of the keys from ${from} on`)
    await Promise.all(this.#members.map((member) => member.call('close')))
  }

  async #look(index: number): Promise<Progress> {
    const progress = await this.#members[index]!.call<Progress>('progress')
    this.#written.set(this.#begins[index]!, progress.written)
    return progress
  }
}

/**
 * Three processes, each killed and restarted `times` times, and the one that has been there for longest, too. Each is
 * on a machine of its own, if there are any.
 */
export async function killAndRestart(name: string, times: number, machines?: Machines): Promise<void> {
  const load = new GrowingLoad(name, machines)
  const ranks = await Promise.all([0, 1, 2].map((index) => load.start(index)))
  await load.goOn([0, 1, 2])
  for (let turn = 0; turn < 3 * times; turn += 1) {
    const victim = turn % 2 === 0 ? turn % 3 : ranks.indexOf(Math.min(...ranks))
    await load.kill(victim)
    await load.goOn([0, 1, 2].filter((index) => index !== victim))
    const rank = await load.start(victim)
    assert.ok(rank > Math.max(...ranks), `rank ${rank} was given before`)
    ranks[victim] = rank
    await load.goOn([0, 1, 2])
  }
  await load.end()
}
