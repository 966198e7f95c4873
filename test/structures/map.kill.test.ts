import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SharedMap } from '../../src/structures/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Shared } from './processes.ts'

useRuntimeDirectory()

/** How many processes are killed; AETHER_TEST_KILLS=500 makes a soak of it. */
const KILLS = Number(process.env['AETHER_TEST_KILLS'] ?? 6)

interface Whole {
  readonly size: number
  readonly text: string
  readonly end: number
}

function assertWhole(map: SharedMap<Whole>): void {
  let count = 0
  for (const [key, value] of map.entriesSync()) {
    count += 1
    assert.ok(value.end === value.size && value.text.length === value.size, `${key} is torn`)
  }
  assert.equal(map.sizeSync(), count)
}

test('processes that are killed while they change a map leave whole values, a right size and all of the memory', async () => {
  await using shared = await Shared.open()
  const map = await shared.structures.map<Whole>('m')
  for (let round = 0; round < Math.ceil(KILLS / 2); round += 1) {
    const victims = [await shared.start(), await shared.start()]
    for (const victim of victims) await victim.call('changeForEver', 'm', 200)
    await sleep(20 + Math.random() * 50)
    for (const victim of victims) await victim.kill()
    await shared.recovered()
    assertWhole(map)
  }
  map.clearSync()
  assert.equal(map.sizeSync(), 0)
  shared.collect()
  const { usedBytes } = shared.structures.usage()
  assert.ok(usedBytes < 100_000, `${usedBytes} bytes are still in use`)
})

test('what was acknowledged before the kill is there, once', async () => {
  await using shared = await Shared.open()
  const map = await shared.structures.map<Record<string, number>>('m')
  for (let round = 0; round < Math.ceil(KILLS / 2); round += 1) {
    const names = [`a${round}`, `b${round}`]
    const victims = [await shared.start(), await shared.start()]
    for (const [index, victim] of victims.entries()) await victim.call('countInMap', 'm', names[index])
    await sleep(20 + Math.random() * 50)
    for (const victim of victims) await victim.kill()
    for (const name of names) {
      const acknowledged = (await shared.structures.counter(name)).getSync()
      let found = 0
      for (const [, value] of map.entriesSync()) found += value[name] ?? 0
      assert.ok(found === acknowledged || found === acknowledged + 1, `${found} of ${acknowledged}`)
    }
  }
})
