import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Machines } from '../support/machines.ts'
import { RankProcess } from '../support/rank-process.ts'

useRuntimeDirectory()
const processes: RankProcess[] = []
afterEach(async () => {
  await Promise.all(processes.map((each) => each.kill()))
  processes.length = 0
})

const fixture = new URL('./fixtures/joining-rank.js', import.meta.url)

/** A process that has joined the group of this name; on one of these machines, if there are any. */
async function joined(name: string, machines: Machines | undefined): Promise<RankProcess> {
  const place = await machines?.place(processes.length % machines.seeds.length)
  const each = new RankProcess(fixture, place?.environment ?? {}, place?.under)
  processes.push(each)
  await each.call('join', name, machines?.joinOptions)
  return each
}

const all = <T = unknown>(
  members: readonly RankProcess[],
  scenario: string,
  ...args: readonly unknown[]
): Promise<T[]> => Promise.all(members.map((each) => each.call<T>(scenario, ...args)))

const said =
  'a process that joins opens the arrays of a name, which are divided again among all; a death takes its part'

test(said, () => playJoining(undefined))

test(`on several machines, ${said}`, { skip: Machines.reasonAgainst() }, async () => {
  using machines = new Machines(2)
  await playJoining(machines)
})

async function playJoining(machines: Machines | undefined): Promise<void> {
  const name = `joining-${process.pid}`
  const members = [await joined(name, machines)]
  // One that is alone has nothing registered, and others find its arrays nevertheless.
  await all(members, 'open')
  await all(members, 'make', 'alone', { shape: [4], partition: 'block' })
  members.push(await joined(name, machines))
  await all(members, 'open')
  for (const [rank, said] of (await all(members, 'named', 'alone')).entries())
    assert.deepEqual(said, { elements: [0, 1, 2, 3], own: [2 * rank, 2 * rank + 1], partition: 'block' })
  await all(members, 'make', 'grid', { shape: [6], partition: 'block' })
  await all(members, 'make', 'same', { shape: [3], partition: 'replicated' })

  members.push(await joined(name, machines))
  assert.deepEqual(await all(members, 'open'), ['again', 'again', 'first'])
  const elements = [0, 1, 2, 3, 4, 5]
  for (const [rank, said] of (await all(members, 'named', 'grid')).entries())
    assert.deepEqual(said, { elements, own: elements.slice(2 * rank, 2 * rank + 2), partition: 'block' })
  for (const said of await all(members, 'named', 'same'))
    assert.deepEqual(said, { elements: [0, 1, 2], own: [0, 1, 2], partition: 'replicated' })
  for (const { code } of await all<{ code: string }>(members, 'named', 'other'))
    assert.equal(code, 'ERR_AETHER_ARRAY_VALUE')
  assert.deepEqual(await all(members, 'sum'), [20, 20, 20])

  // From now on ranks have a gap.
  await members[1]!.kill()
  const left = [members[0]!, members[2]!]
  await all(left, 'open')
  assert.deepEqual(await all(left, 'sum'), [20, 20])
  for (const { code, message } of await all<{ code: string; message: string }>(left, 'named', 'grid')) {
    assert.equal(code, 'ERR_AETHER_ARRAY_LOST')
    assert.match(message, /from \[2\] on were at rank 1/)
  }
  for (const said of await all(left, 'named', 'same'))
    assert.deepEqual(said, { elements: [0, 1, 2], own: [0, 1, 2], partition: 'replicated' })
  // What is left of it is given up: the name is free.
  await all(left, 'dispose', 'grid')
  assert.deepEqual(await all(left, 'make', 'grid', { shape: [2], partition: 'block' }), ['block', 'block'])
  await all(left, 'closeArrays')
  await all(left, 'close')
}
