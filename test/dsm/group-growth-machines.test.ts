/** A group that grows over machines, as far as the network tells, over a tcp device. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { drawn } from '../support/drawn.ts'
import { Machines } from '../support/machines.ts'
import { GrowingRank } from './growing-group.ts'

const skip = Machines.reasonAgainst()

async function startOn(machines: Machines, machine: number): Promise<GrowingRank> {
  const { environment, under } = await machines.place(machine)
  return new GrowingRank(environment, under)
}

/** A process on `machine` that has joined. */
async function joinOn(machines: Machines, machine: number, name: string, options: object = {}): Promise<GrowingRank> {
  const member = await startOn(machines, machine)
  await member.call('join', name, { ...machines.joinOptions, ...options })
  return member
}

const everyone = <T = unknown>(members: readonly GrowingRank[], scenario: string, ...args: unknown[]): Promise<T[]> =>
  Promise.all(members.map((member) => member.call<T>(scenario, ...args)))

test('members of several machines meet at the seeds, compute together, and each may be lost and replaced', {
  skip,
}, async () => {
  using machines = new Machines(3)
  const joined = [0, 1, 2, 1].map((machine) => joinOn(machines, machine, 'far', { seeds: machines.namedSeeds }))
  const members = await Promise.all(joined)
  await everyone(members, 'barrier')
  assert.deepEqual(await everyone(members, 'sum'), Array(4).fill([6, 4]))
  assert.equal(await members[0]!.call('device'), 'tcp0')
  const ranks = await everyone<number>(members, 'rank')
  const [first, heir] = [ranks.indexOf(0), ranks.indexOf(1)]
  assert.equal(await members[first]!.call('lock', 'held'), null)
  const message = members[heir]!.call('message')
  await members[first]!.call('send', 1, 'hello')
  assert.deepEqual(await message, [0, 'hello'])
  await members[first]!.kill()
  assert.equal(await members[heir]!.call('lock', 'held'), 0)
  members[first] = await joinOn(machines, first === 3 ? 1 : first, 'far', { seeds: machines.namedSeeds })
  await everyone(members, 'barrier')
  assert.deepEqual(await everyone(members, 'sum'), Array(4).fill([10, 4]))
  await everyone(members, 'close')
})

test('a member whose cable is pulled is out and ends, the others go on, and it comes back with another rank', {
  skip,
}, async () => {
  using machines = new Machines(3)
  const members: GrowingRank[] = []
  for (const machine of [0, 1, 2]) members.push(await joinOn(machines, machine, 'cut', { leaseMs: 1500 }))
  await everyone(members, 'barrier')
  machines.networks.unplug(0)
  // Its machine has the first seed. It hears from no other, so it makes no second group either.
  const alone = await startOn(machines, 0)
  const lonely = alone.call('join', 'cut', { ...machines.joinOptions, leaseMs: 1500, timeoutMs: 6000 })
  const { code, err } = await members[0]!.ended()
  assert.equal(code, 72, err)
  const others = members.slice(1)
  assert.deepEqual(await everyone(others, 'barrier'), [
    [1, 2],
    [1, 2],
  ])
  await assert.rejects(lonely, { code: 'ERR_AETHER_MISSING_MEMBERS' })
  // The first seed does not answer, and is not waited for.
  const another = await joinOn(machines, 2, 'cut', { timeoutMs: 4000 })
  assert.equal(await another.call('rank'), 3)
  await another.call('close')
  machines.networks.plug(0)
  const back = await joinOn(machines, 0, 'cut')
  assert.equal(await back.call('rank'), 4)
  assert.deepEqual(await everyone([...others, back], 'barrier'), Array(3).fill([1, 2, 4]))
})

// After half a minute no connection is left by which those whom it knows could tell it.
for (const cutMs of drawn([0, 30_000], 1))
  test(`a member that waits for a quorum ends once it can hear that the others went on: ${cutMs} ms`, {
    skip,
  }, async () => {
    using machines = new Machines(3)
    const members: GrowingRank[] = []
    const options = { leaseMs: 1000, onQuorumLost: 'wait' }
    for (const machine of [0, 1, 2]) members.push(await joinOn(machines, machine, 'waits', options))
    await everyone(members, 'barrier')
    machines.networks.unplug(0)
    assert.deepEqual(await everyone(members.slice(1), 'barrier'), Array(2).fill([1, 2]))
    // Those whom it knows leave: what they have said to it is lost.
    const others = [await joinOn(machines, 1, 'waits', options), await joinOn(machines, 2, 'waits', options)]
    for (const member of members.slice(1)) await member.call('close')
    assert.deepEqual(await everyone(others, 'barrier'), Array(2).fill([3, 4]))
    assert.equal(await members[0]!.call('rank'), 0, 'it waits')
    await sleep(cutMs)
    machines.networks.plug(0)
    const { code, err } = await members[0]!.ended()
    assert.equal(code, 72, err)
    assert.match(
      err,
      /the others (have gone on without this rank, as one of them says at a seed|consider this rank dead)/,
    )
  })

test('members without a seed on their machine end with the last member that has one', { skip }, async () => {
  using machines = new Machines(3, 1)
  const members: GrowingRank[] = []
  for (const machine of [0, 1, 2]) members.push(await joinOn(machines, machine, 'seeded'))
  await everyone(members, 'barrier')
  await members[0]!.kill()
  for (const member of members.slice(1)) {
    const { code, err } = await member.ended()
    assert.equal(code, 72)
    assert.match(err, /no member is left on a machine that has the address of a seed/)
  }
  assert.equal(await (await joinOn(machines, 0, 'seeded')).call('rank'), 0)
})

test('a process that waits for one at the first seed to make the group has one thread that may listen', {
  skip,
}, async () => {
  using machines = new Machines(2)
  const waiting = await startOn(machines, 1)
  const joining = waiting.call('join', 'begins-elsewhere', { ...machines.joinOptions, timeoutMs: 4000 })
  await assert.rejects(joining, { code: 'ERR_AETHER_MISSING_MEMBERS' })
  assert.equal(await waiting.call('workers'), 1)
})

test('a process that is not alike is told what it lacks', { skip }, async () => {
  using machines = new Machines(2)
  await joinOn(machines, 0, 'alike')
  const other = await startOn(machines, 1)
  const told = async (change: object, message: RegExp, code = 'ERR_AETHER_JOIN'): Promise<void> =>
    assert.rejects(other.call('join', 'alike', { ...machines.joinOptions, ...change }), { code, message })
  await told({ secretFile: undefined }, /need a shared secret/, 'ERR_AETHER_SECRET')
  const otherSecret = join(machines.folder, 'other-secret')
  writeFileSync(otherSecret, 'another secret of thirty-two bytes or more', { mode: 0o600 })
  await told({ secretFile: otherSecret }, /the file with the secret is the same on all machines/)
  await told({ device: 'shm0' }, /its device is of the kind tcp/)
  await told({ device: 'tcp9' }, /tcp9/, 'ERR_AETHER_VERBS')
})

test('processes that start at once on all machines make one group, and one that starts alone waits for the rest', {
  skip,
}, async () => {
  using machines = new Machines(3)
  machines.networks.unplug(2)
  const first = joinOn(machines, 0, 'at-once')
  // The third machine does not answer. It may have a member.
  assert.equal(await Promise.race([first, sleep(3000, 'waits')]), 'waits')
  machines.networks.plug(2)
  const members = await Promise.all([first, ...[1, 2, 2, 1].map((machine) => joinOn(machines, machine, 'at-once'))])
  await everyone(members, 'barrier')
  assert.deepEqual(await everyone(members, 'sum'), Array(5).fill([10, 5]))
})
