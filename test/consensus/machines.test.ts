/** Replicated machines over machines, as far as programs can tell: processes and cables are lost, and come back. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReplicatedStatus } from '../../src/public/consensus.ts'
import { Machines } from '../support/machines.ts'
import { RankProcess } from '../support/rank-process.ts'
import { assertLinearizable } from './histories.ts'

const skip = Machines.reasonAgainst()
const fixture = new URL('./fixtures/replica-rank.js', import.meta.url)
const CLIENTS = 3
const KEYS = 8
const PAUSE_MS = 4
const LEASE_MS = 2000

const started = new Set<RankProcess>()
afterEach(async () => {
  await Promise.all([...started].map((each) => each.kill()))
  started.clear()
})

/** One process on each of three machines, with clients that write down what they did. */
class Replicas {
  readonly machines: Machines
  readonly #name: string
  readonly path: string
  readonly members: RankProcess[] = []
  #firstClient = 1

  constructor(machines: Machines, name: string) {
    this.machines = machines
    this.#name = name
    this.path = join(machines.folder, 'history')
  }

  async join(machine: number): Promise<RankProcess> {
    const { environment, under } = await this.machines.place(machine)
    const member = new RankProcess(fixture, environment, under)
    started.add(member)
    this.members[machine] = member
    await member.call('join', {
      ...{ name: this.#name, leaseMs: LEASE_MS, timeoutMs: 40_000 },
      ...this.machines.joinOptions,
    })
    return member
  }

  async open(machine: number, options: object = {}): Promise<void> {
    const first = this.#firstClient
    this.#firstClient += CLIENTS
    await this.members[machine]!.call('open', options)
    await this.members[machine]!.call('begin', this.path, first, CLIENTS, KEYS, PAUSE_MS)
  }

  /** Those on `indices` vote, and their clients are answered. */
  async goOn(indices: readonly number[]): Promise<void> {
    const members = indices.map((index) => this.members[index]!)
    const ranks = await Promise.all(members.map((each) => each.call<number>('rank')))
    const before = await Promise.all(members.map((each) => each.call<number>('applied')))
    for (let look = 0; ; look += 1) {
      const now = await Promise.all(members.map((each) => each.call<number>('applied')))
      const { voters = [] } = await members[0]!.call<ReplicatedStatus>('status')
      if (ranks.every((rank) => voters.includes(rank)) && now.every((count, at) => count > before[at]! + 5)) return
      assert.ok(look < 4000, `${JSON.stringify(voters)} vote, ${now} calls after ${before}`)
      await sleep(5)
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.members.map((member) => member.call('stop')))
    assert.ok(assertLinearizable(this.path) > 100)
    await Promise.all(this.members.map((member) => member.call('closeGroup')))
  }
}

test('on three machines any process and any cable may be lost, and another takes its place', { skip }, async () => {
  using machines = new Machines(3)
  const replicas = new Replicas(machines, 'anywhere')
  await Promise.all([0, 1, 2].map((machine) => replicas.join(machine)))
  await Promise.all([0, 1, 2].map((machine) => replicas.open(machine)))
  await replicas.goOn([0, 1, 2])
  for (const [machine, isKilled] of [
    [0, true],
    [1, false],
  ] as const) {
    if (isKilled) await replicas.members[machine]!.kill()
    else machines.networks.unplug(machine)
    await replicas.goOn([0, 1, 2].filter((each) => each !== machine))
    if (!isKilled) {
      assert.equal((await replicas.members[machine]!.ended()).code, 72)
      machines.networks.plug(machine)
    }
    await replicas.join(machine)
    await replicas.open(machine)
    await replicas.goOn([0, 1, 2])
  }
  await replicas.end()
})

test('with files on each machine one comes back as the voter that it was, and when all were killed nothing answered is lost', {
  skip,
}, async () => {
  using machines = new Machines(3)
  const replicas = new Replicas(machines, 'filed')
  const directoryOf = (machine: number): string => join(machines.folder, `log-${machine}`)
  const begin = async (machine: number): Promise<void> => {
    await replicas.join(machine)
    await replicas.open(machine, { directory: directoryOf(machine) })
  }
  await Promise.all([0, 1, 2].map(begin))
  await replicas.goOn([0, 1, 2])
  await replicas.members[0]!.kill()
  await replicas.goOn([1, 2])
  await begin(0)
  await replicas.goOn([0, 1, 2])
  assert.equal(await replicas.members[1]!.call('propose', 50, { type: 'set', value: 7 }), 1)
  await Promise.all(replicas.members.map((member) => member.kill()))
  await Promise.all([0, 1, 2].map(begin))
  assert.equal(await replicas.members[2]!.call('get', 50), 7)
  await replicas.goOn([0, 1, 2])
  await replicas.end()
})

test('of processes on three machines one leads at a time, and another one once its machine is cut off', {
  skip,
}, async () => {
  using machines = new Machines(3)
  const processes = await Promise.all(
    [0, 1, 2].map(async (machine) => {
      const { environment, under } = await machines.place(machine)
      const each = new RankProcess(new URL('./fixtures/election-rank.js', import.meta.url), environment, under)
      started.add(each)
      await each.call('open', 'elect', 1000, { leaseMs: LEASE_MS, ...machines.joinOptions })
      return each
    }),
  )
  const first = await processes[0]!.call<number>('campaign')
  const second = processes[1]!.call<number>('campaign')
  machines.networks.unplug(0)
  assert.ok((await second) > first)
  assert.equal((await processes[1]!.call<{ isLeader: boolean }>('state')).isLeader, true)
  assert.equal((await processes[0]!.ended()).code, 72)
})
