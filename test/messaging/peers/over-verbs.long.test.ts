import assert from 'node:assert/strict'
import process from 'node:process'
import test from 'node:test'
import { closeAll, connected } from './connected-peers.ts'

const skip = process.platform === 'linux' ? false : 'shared memory needs Linux'

test('64 peers on one machine, each with its own connection to every other', { skip }, async () => {
  const all = await connected(64, { link: { ringBytes: 4096, receives: 8, sends: 16, completion: 'events' } })
  assert.equal(all[63]!.all.length, 63)
  const groups = all.map((peers) => peers.group())
  await Promise.all(groups.map((group) => group.barrier()))
  const sums = await Promise.all(groups.map((group, rank) => group.allReduce(Float64Array.of(rank, 1), 'sum')))
  for (const sum of sums) assert.deepEqual(sum, Float64Array.of(2016, 64))
  const exchanged = await Promise.all(
    groups.map((group, rank) =>
      group.allToAll(
        Uint16Array.from({ length: 64 }, (_, to) => rank * 64 + to),
        new Uint16Array(64),
      ),
    ),
  )
  for (const [rank, output] of exchanged.entries())
    assert.deepEqual(
      output,
      Uint16Array.from({ length: 64 }, (_, from) => from * 64 + rank),
    )
  await closeAll(all)
})
