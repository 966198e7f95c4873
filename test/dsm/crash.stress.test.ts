import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Membership, reclaimSpaces } from '../../src/cluster/index.ts'
import { RegionState, RegionTable } from '../../src/dsm/region-table.ts'
import { Space } from '../../src/dsm/space.ts'
import { native } from '../../src/native/index.ts'
import { open } from '../../src/public/index.ts'
import { descriptors, rendezvousFiles, until, useRuntimeDirectory } from '../cluster/support.ts'

/** How many processes are killed; AETHER_TEST_KILLS=5000 makes a soak of it. */
const KILLS = Number(process.env['AETHER_TEST_KILLS'] ?? 24)
const AT_A_TIME = 4
const directory = useRuntimeDirectory()
const fixture = fileURLToPath(new URL('./fixtures/churn.js', import.meta.url))

/**
 * Start a process that opens, makes, deletes and closes without end, and kill it at some instant. Gives what it said
 * besides.
 */
async function killOne(name: string): Promise<string> {
  const child = spawn(process.execPath, [fixture, name], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  const closed = once(child, 'close')
  // One that ends by itself before it has said a word tells why on standard error.
  await Promise.race([once(child.stdout, 'data'), closed])
  await sleep(Math.random() * 30)
  child.kill('SIGKILL')
  await closed
  return said
}

async function killMany(name: string, count: number): Promise<readonly string[]> {
  const said: string[] = []
  const worker = async () => {
    while (said.length < count) said.push(await killOne(name))
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
  return said.filter((text) => text !== '')
}

test('processes killed at any instant leave a space that works, with nothing lost', async () => {
  const before = descriptors()
  const sharedBefore = readdirSync('/dev/shm').sort()
  const membership = await Membership.enter('storm')
  const { arena } = membership
  const space = new Space(membership)
  const keep = await space.openRegion('keep', { size: '1MiB' })
  keep.uint8.fill(7)
  const table = new RegionTable(arena.control)
  const events = space.events()

  assert.deepEqual(await killMany('storm', KILLS), [])
  await until(() => space.members().length === 1, 'all who were killed to be seen')

  // The next to take the lock finishes what they began.
  const probe = await space.openRegion('probe', { size: 4096 })
  assert.deepEqual(table.inState(RegionState.Creating, RegionState.Freeing, RegionState.Deleted), [])
  for (const { name } of space.regions().filter((region) => /^r\d$/.test(region.name))) {
    const region = await space.openRegion(name)
    await region.delete()
    await region.close()
  }
  await probe.delete()
  await probe.close()
  assert.equal(table.inState(RegionState.Free).length, 1023)
  assert.ok(keep.uint8.every((byte) => byte === 7))
  const extents = native.describeMemory(arena.descriptor).allocatedBytes
  assert.ok(extents < 2 ** 20 + 2 ** 23, `${extents} bytes are still taken`)

  await assertTold(events, KILLS)
  await space.close()
  assert.deepEqual(rendezvousFiles(directory), [])
  assert.deepEqual(descriptors(), before)
  assert.deepEqual(readdirSync('/dev/shm').sort(), sharedBefore)
})

test('when all are killed again and again, the next one always gets in', async () => {
  assert.deepEqual(await killMany('lonely', Math.ceil(KILLS / 4)), [])
  const space = await open('lonely')
  assert.equal(space.members().length, 1)
  const region = await space.openRegion('r0', { size: 4096 * 3 })
  assert.equal(region.size, 4096 * 3)
  await space.close()
  reclaimSpaces()
  assert.deepEqual(rendezvousFiles(directory), [])
})

/**
 * Every end follows its join. Of the thousands that came and went some are beyond what the archive remembers, but the
 * killed were there to the last.
 */
async function assertTold(events: ReturnType<Space['events']>, kills: number): Promise<void> {
  const living = new Set<number>()
  let died = 0
  let told = 0
  const stop = setTimeout(() => void events.return?.(), 500)
  for await (const { type, member } of events) {
    told += 1
    if (type === 'joined') living.add(member.epoch)
    else assert.ok(living.delete(member.epoch), `${type} ${member.epoch} that had not joined`)
    if (type === 'died') died += 1
  }
  clearTimeout(stop)
  assert.equal(living.size, 0)
  assert.ok(told > 0 && died <= kills, `${told} events, ${died} deaths`)
}
