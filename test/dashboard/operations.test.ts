import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runningSpaces } from '../../src/cluster/index.ts'
import { type Frame, ObservedSpace, type OperationFrame } from '../../src/dashboard/index.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { Ranks } from '../support/rank-process.ts'

useRuntimeDirectory()
const talker = new URL('fixtures/talker.js', import.meta.url)
const coherent = new URL('../dsm/coherent/fixtures/rank.js', import.meta.url)
const PAGE = 4096

/**
 * Look, in steps of a second of its own, while `work` is done again and again, until all that is wanted was told at
 * some look.
 */
async function seen(
  space: ObservedSpace,
  work: () => Promise<unknown>,
  wanted: readonly ((operation: OperationFrame) => boolean)[],
): Promise<{ readonly frame: Frame; readonly operations: readonly OperationFrame[] }> {
  let atMs = Date.now()
  const found = new Map<number, OperationFrame>()
  let frame = space.look(atMs)
  for (let round = 0; found.size < wanted.length; round += 1) {
    assert.ok(
      round < 50,
      `not told: ${wanted.filter((_, index) => !found.has(index)).join('; ')}, but ${JSON.stringify(frame.operations)}`,
    )
    await work()
    atMs += 1000
    frame = space.look(atMs)
    for (const [index, is] of wanted.entries()) {
      const operation = frame.operations.find(is)
      if (operation !== undefined && !found.has(index)) found.set(index, operation)
    }
  }
  return { frame, operations: wanted.map((_, index) => found.get(index)!) }
}

const isOf =
  (from: number, to: number | null, layer: OperationFrame['layer'], name: string) =>
  (operation: OperationFrame): boolean =>
    operation.from === from && operation.to === to && operation.layer === layer && operation.name === name

function slotsOf(name: string, { processes }: Ranks): readonly [number, number] {
  using space = ObservedSpace.attach(name)
  const { members } = space.look()
  const [first, second] = processes.map((each) => members.find(({ processId }) => processId === each.processId)!.slot)
  return [first!, second!]
}

describe('operations of a link', () => {
  test('members that talk by endpoints and calls have links, and each request, message and call is told', async () => {
    await using talkers = new Ranks(talker, 2, { AETHER_PROFILE: '1' })
    await talkers.on(0, 'join', 'talking')
    await talkers.on(1, 'join', 'talking')
    const { port, rpcPort } = await talkers.on<{ port: number; rpcPort: number }>(0, 'listen')
    await talkers.on(1, 'connect', port, rpcPort)
    await talkers.on(1, 'buy', 1)
    const lent = await talkers.on(0, 'lend')
    const [server, client] = slotsOf('talking', talkers)
    using space = ObservedSpace.attach('talking')
    const work = async (): Promise<void> => {
      await talkers.on(1, 'work', 20, lent)
      await talkers.on(1, 'buy', 10)
    }
    const { frame, operations } = await seen(space, work, [
      isOf(client, server, 'verbs', 'write'),
      isOf(server, client, 'verbs', 'read'),
      isOf(client, server, 'verbs', 'fetch-add'),
      isOf(client, server, 'verbs', 'compare-swap'),
      isOf(client, server, 'messages', 'message'),
      isOf(client, null, 'calls', 'shop/buy'),
      isOf(server, null, 'answers', 'shop/buy'),
    ])
    const [write, read, fetchAdd, compareSwap, message, calls, answers] = operations
    // All of one look are of one second: the ratios are those of the program. Rings and credits are written, too.
    assert.ok(write!.rate >= 20 && write!.bytes >= 20 * 1024, JSON.stringify(write))
    assert.deepEqual([read!.rate, read!.bytes], [20, 20 * 1024])
    assert.deepEqual([fetchAdd!.rate, fetchAdd!.bytes, compareSwap!.rate], [20, 160, 20])
    assert.deepEqual([message!.rate, message!.bytes], [20, 2000])
    assert.deepEqual([calls!.rate, answers!.rate], [10, 10])
    for (const { name, p50Ns, p99Ns } of [write!, read!, compareSwap!, calls!, answers!])
      assert.ok(p50Ns !== null && p99Ns !== null && p50Ns > 0 && p50Ns <= p99Ns, name)
    const link = frame.links.find(({ from, to }) => from === client && to === server)
    assert.ok(link !== undefined && link.totalBytes >= 20 * 1024 && link.bytes > 0, JSON.stringify(frame.links))
    // The link of who has gone is gone, and what no more happens is not told.
    await talkers.kill(0)
    await until(() => space.look().members.length === 1, 'the server is gone')
    assert.deepEqual(space.look().links, [])
  })

  test('ranks that are not profiled tell messages of coherence by kind, and how long pages were waited for', async () => {
    await using ranks = new Ranks(coherent, 2)
    await ranks.all('join')
    await ranks.all('open', 'grid', { coherence: 'mesi', size: 8 * PAGE, pageSize: PAGE, placement: 'block' })
    const [name = ''] = runningSpaces()
    using space = ObservedSpace.attach(name)
    await until(() => space.look().regions.some(({ hasPages }) => hasPages), 'the region is shown')
    const work = async (): Promise<void> => {
      for (const rank of [1, 0]) await ranks.on(rank, 'writeBytes', 'grid', 0, new Uint8Array(8))
    }
    const { operations } = await seen(space, work, [
      isOf(1, 0, 'coherence', 'GetModified'),
      isOf(0, 1, 'coherence', 'page'),
      isOf(0, 1, 'coherence', 'wait to write'),
    ])
    const [asked, page, wait] = operations
    assert.ok(asked!.rate > 0 && asked!.bytes > 0 && asked!.p50Ns === null, JSON.stringify(asked))
    assert.ok(page!.rate > 0 && page!.bytes === PAGE * page!.rate, JSON.stringify(page))
    assert.ok(wait!.rate > 0 && wait!.p50Ns! > 0 && wait!.p50Ns! <= wait!.p99Ns!, JSON.stringify(wait))

    // All of it in the first of five looks of a second: it is of that second nevertheless.
    const atMs = Date.now() + 3_600_000
    space.look(atMs)
    await work()
    for (const later of [200, 400, 600, 800]) space.look(atMs + later)
    const told = space.look(atMs + 1000).operations
    assert.ok(told.some(isOf(1, 0, 'coherence', 'GetModified')), JSON.stringify(told))
    assert.ok(told.some(isOf(0, 1, 'coherence', 'page')), JSON.stringify(told))
  })
})
