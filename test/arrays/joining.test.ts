import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { RankProcess } from '../support/rank-process.ts'

useRuntimeDirectory()
const processes: RankProcess[] = []
afterEach(async () => {
  await Promise.all(processes.map((each) => each.kill()))
  processes.length = 0
})

let groups = 0

/** Processes that join a group of this name one after another. */
async function joined(name: string, count: number): Promise<RankProcess[]> {
  const added: RankProcess[] = []
  for (let at = 0; at < count; at += 1) {
    const each = new RankProcess(new URL('./fixtures/joining-rank.js', import.meta.url), {})
    processes.push(each)
    added.push(each)
    await each.call('join', name)
  }
  return added
}

const all = <T = unknown>(
  members: readonly RankProcess[],
  scenario: string,
  ...args: readonly unknown[]
): Promise<T[]> => Promise.all(members.map((each) => each.call<T>(scenario, ...args)))

test('a process that joins opens the arrays of a name, which are divided again among all; a death takes its part', async () => {
  const name = `joining-${process.pid}-${++groups}`
  const members = await joined(name, 2)
  await all(members, 'open')
  await all(members, 'make', 'grid', { shape: [6], partition: 'block' })
  await all(members, 'make', 'same', { shape: [3], partition: 'replicated' })

  members.push(...(await joined(name, 1)))
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
})
