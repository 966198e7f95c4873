import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import process from 'node:process'
import { test } from 'node:test'
import type { KeyedWait, MemberWaits, WatchdogMessage } from '../../../src/profiling/index.ts'
import { until } from '../../cluster/support.ts'

// Read when the room is loaded.
process.env['AETHER_WATCHDOG_MS'] = '40'
const { monotonicNow, placeWaits, WaitTable, watchWaits } = await import('../../../src/profiling/index.ts')
const heard: WatchdogMessage[] = []
subscribe('aether:watchdog', (message) => heard.push(message as WatchdogMessage))

test('what a thread waits for is seen in each space that it is in, and a circle is found in any of them', async () => {
  const other = process.pid + 1
  const [first, second] = [new WaitTable(), new WaitTable()]
  const wait: KeyedWait = {
    key: 'mutex',
    kind: 'structure',
    object: "mutex 'a'",
    state: '',
    sinceNs: monotonicNow(),
    ranks: [],
    processes: [other],
  }
  const theirs: MemberWaits = { processId: other, waits: [{ ...wait, object: "mutex 'b'", processes: [process.pid] }] }
  const leaveFirst = placeWaits(first, () => [])
  const leaveSecond = placeWaits(second, () => [theirs])
  const end = watchWaits(() => [wait])
  const objects = (table: InstanceType<typeof WaitTable>): string[] => table.read().map(({ object }) => object)
  await until(() => objects(second).length > 0, 'the wait to be seen in the second space')
  assert.deepEqual([objects(first), objects(second)], [[wait.object], [wait.object]])
  await until(() => heard.some(({ processCycle }) => processCycle !== undefined), 'the circle to be told')
  leaveFirst()
  assert.deepEqual([objects(first), objects(second)], [[], [wait.object]])
  const third = new WaitTable()
  const leaveThird = placeWaits(third, () => [])
  await until(() => objects(third).length > 0, 'the wait to be seen in a space that is entered meanwhile')
  leaveThird()
  end()
  assert.deepEqual([objects(second), objects(third)], [[], []])
  leaveSecond()
})
