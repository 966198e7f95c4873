import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until, useRuntimeDirectory } from '../../cluster/support.ts'
import { Ranks } from '../../support/rank-process.ts'
import { fixture, opened } from './opened-ranks.ts'

const directory = useRuntimeDirectory()

test('they are opened and left over and over, under one name', async () => {
  const ranks = new Ranks(fixture, 3)
  await using _ranks = ranks
  await ranks.all('join')
  await ranks.all('openAndLeave', 12)
})

test('a home that one rank filled and emptied has room for another, though the first does nothing any more', async () => {
  await using ranks = await opened(3, { homes: [0] })
  const [many] = await ranks.on<[number, string]>(1, 'fillHome', 'm')
  assert.ok(many > 30, `${many}`)
  await ranks.on(1, 'clearMap', 'm')
  const [more, message] = await ranks.on<[number, string]>(2, 'fillHome', 'm')
  assert.equal(more, many)
  assert.match(message, /kept at rank 0/)
  await ranks.all('close')
})

test('a map grows while a rank that writes to it is killed, and everything that was acknowledged is there', async () => {
  await using ranks = await opened(3, { homes: [0], size: '4MiB' })
  const files = [0, 1, 2].map((rank) => join(directory, `filled-${rank}`))
  // A table has 7168 slots: it is split while all of them write.
  await ranks.on(0, 'fillMap', 'big', 0, 5000, files[0])
  const acknowledged = (rank: number): number => Number(existsSync(files[rank]!) && readFileSync(files[rank]!, 'utf8'))
  const filling = [1, 2].map((rank) => ranks.on(rank, 'fillMap', 'big', rank, 3000, files[rank]))
  filling[1]?.catch(() => {})
  await until(() => acknowledged(2) >= 800, 'nobody writes', 120_000)
  await ranks.processes[2]!.kill()
  await filling[0]
  const found = new Map(await ranks.on<[string, number][]>(0, 'readMap', 'big'))
  for (const [rank, count] of [5000, 3000, acknowledged(2)].entries())
    for (let key = 0; key < count; key += 1) assert.equal(found.get(`${rank}/${key}`), key, `${rank}/${key}`)
  assert.equal(await ranks.on(1, 'sizeOf', 'big'), found.size)
  assert.ok(found.size > 7168)
  await Promise.all([0, 1].map((rank) => ranks.on(rank, 'close')))
})
