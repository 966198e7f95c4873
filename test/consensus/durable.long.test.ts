/** Logs on disks that are long, and outages of many processes: snapshots take the place of entries, and hold. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Ranks } from '../support/rank-process.ts'
import { assertLinearizable } from './histories.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/replica-rank.js', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'aether-test-durable-long-'))
after(() => rmSync(folder, { recursive: true, force: true }))

async function opened(log: string, size: number, options: object = {}): Promise<Ranks> {
  const ranks = new Ranks(fixture, size)
  await ranks.all('join', {})
  const open = (rank: number) => ({ directory: join(folder, log, String(rank)), ...options })
  await Promise.all(ranks.processes.map((each, rank) => each.call('open', open(rank))))
  return ranks
}

const kill = (ranks: Ranks) => Promise.all(ranks.processes.map((each) => each.kill()))

function sizeOf(directory: string): number {
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
}

test('a long log becomes a snapshot, which is there after all were killed; one that was away gets one', async () => {
  const lengthBytes = 1_000_000
  let lengths = 0
  const more = async (ranks: Ranks, rank: number, count: number): Promise<void> => {
    for (let call = 0; call < count; call += 1) await ranks.on(rank, 'proposeLong', lengthBytes)
    lengths += count * lengthBytes
  }
  {
    await using ranks = await opened('long', 3)
    await more(ranks, 0, 100)
    assert.deepEqual(await ranks.all('lengths'), [lengths, lengths, lengths])
    assert.ok(readdirSync(join(folder, 'long', '0')).includes('snapshot'))
    await ranks.kill(2)
    await more(ranks, 0, 160)
    assert.ok(sizeOf(join(folder, 'long', '0')) < 2.5 * 2 ** 27, 'old entries are removed')
    await kill(ranks)
  }
  await using ranks = await opened('long', 3)
  assert.deepEqual(await ranks.all('lengths'), [lengths, lengths, lengths])
  await more(ranks, 2, 1)
  assert.deepEqual(await ranks.all('lengths'), [lengths, lengths, lengths])
})

test('five replicas are killed again and again, two of them alone or all at once: all calls have an order', async () => {
  const path = join(folder, 'five-calls')
  const [clients, keys, rounds] = [4, 16, 12]
  let first = 0
  for (let round = 0; round < rounds; round += 1) {
    await using ranks = await opened('five', 5, { replicas: 5 })
    for (const rank of [0, 1, 2, 3, 4]) {
      await ranks.on(rank, 'begin', path, first + 1, clients, keys, 6)
      first += clients
    }
    const goOn = async (rank: number, calls: number): Promise<void> => {
      for (let look = 0; (await ranks.on<number>(rank, 'applied')) < calls; look += 1) {
        assert.ok(look < 8000, 'calls are not answered')
        await sleep(5)
      }
    }
    await Promise.all([0, 1, 2, 3, 4].map((rank) => goOn(rank, 5)))
    const [one, other] = [round % 5, (round + 2) % 5]
    await Promise.all([ranks.kill(one), ranks.kill(other)])
    const living = [0, 1, 2, 3, 4].filter((rank) => rank !== one && rank !== other)
    for (const rank of living) await goOn(rank, (await ranks.on<number>(rank, 'applied')) + 5)
    if (round < rounds - 1) await kill(ranks)
    else for (const rank of living) await ranks.on(rank, 'stop')
  }
  assert.ok(assertLinearizable(path) > 1000)
})
