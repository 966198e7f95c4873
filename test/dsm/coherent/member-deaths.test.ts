/** Real processes that are killed and stopped while they hold pages. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { launch } from '../../../src/cluster/index.ts'
import { protocols } from '../../../src/dsm/coherence/index.ts'
import { probeUserfault } from '../../../src/dsm/mmu/probe.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'
import { drawn } from '../../support/drawn.ts'
import { Ranks } from '../../support/rank-process.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/rank.js', import.meta.url)
const probe = probeUserfault()
const noViews = 'refused' in probe ? probe.refused.message : false

const names = [...protocols.keys()]

/** Three ranks with an open region of 12 pages: 0 to 3 at home at rank 0, and so on. */
async function three(options: object = {}, environment: Record<string, string> = {}): Promise<Ranks> {
  const ranks = new Ranks(fixture, 3, environment)
  await ranks.all('join')
  await ranks.all('open', 'r', { coherence: 'mesi', size: 12 * 4096, ...options })
  return ranks
}

const read = (ranks: Ranks, rank: number, page: number, name: string = 'r'): Promise<Uint8Array> =>
  ranks.on(rank, 'readBytes', name, page * 4096, 1)
const lost = (rank: number, page: number): object => ({
  name: 'PageLostError',
  message: new RegExp(`page ${page} .*rank ${rank},`),
})

/** Three ranks with such a region of each protocol, by its name: one death is met by all protocols. */
async function threeWithAll(): Promise<Ranks> {
  const ranks = new Ranks(fixture, 3)
  await ranks.all('join')
  for (const coherence of names) await ranks.all('open', coherence, { coherence, size: 12 * 4096 })
  return ranks
}

test('pages that a killed rank alone had are lost, by its name; all others live on', async () => {
  await using ranks = await threeWithAll()
  for (const name of names) {
    await ranks.on(1, 'fillPages', name, 0, 2, 5)
    await ranks.on(0, 'fillPages', name, 2, 4, 6)
    await ranks.on(2, 'fillPages', name, 3, 4, 7)
  }
  const waiting = ranks.on(2, 'barrier')
  await ranks.kill(1)
  await assert.rejects(waiting, { name: 'MemberEndedError' })
  for (const name of names) {
    for (const rank of [0, 2]) {
      await assert.rejects(read(ranks, rank, 0, name), lost(1, 0), name)
      await assert.rejects(ranks.on(rank, 'fetchAddSync', name, 4096, 1n), lost(1, 1), name)
      const kept = [(await read(ranks, rank, 2, name))[0], (await read(ranks, rank, 3, name))[0]]
      assert.deepEqual(kept, [6, 7], name)
      // Its pages were at home there.
      await assert.rejects(read(ranks, rank, 4, name), lost(1, 4), name)
    }
    await ranks.on(0, 'writeBytes', name, 2 * 4096, Uint8Array.of(8))
    assert.equal((await read(ranks, 2, 2, name))[0], 8, name)
  }
  await Promise.all([0, 2].map((rank) => ranks.on(rank, 'closeGroup')))
})

// Page 1 is at home at rank 0, page 4 at the victim's.
for (const page of drawn([1, 4], 1))
  test(`what is asked for of page ${page} at the very moment of a death is had or lost, by name, and nobody hangs`, async () => {
    await using ranks = await threeWithAll()
    const hammering = names.flatMap((name) =>
      [0, 2].map((rank) => ranks.on(rank, 'hammer', name, page, 300).catch((error: unknown) => error)),
    )
    for (const name of names) void ranks.on(1, 'hammer', name, page, 1_000_000).catch(() => {})
    for (const name of names) await ranks.on(0, 'page', name, page)
    await ranks.kill(1)
    for (const said of await Promise.all(hammering)) {
      if (said === undefined) continue
      const { name, message } = said as Error
      assert.equal(name, 'PageLostError', message)
      assert.match(message, /rank 1,/)
    }
  })

test('what anybody holds lives on when its home is killed, for readers and writers', async () => {
  await using ranks = await threeWithAll()
  for (const name of names) {
    await ranks.on(2, 'fillPages', name, 4, 5, 5)
    await ranks.all('readBytes', name, 5 * 4096, 1)
  }
  await ranks.kill(1)
  await assert.rejects(ranks.on(0, 'barrier'), { name: 'MemberEndedError' })
  for (const name of names) {
    assert.equal((await read(ranks, 2, 4, name))[0], 5, name)
    await ranks.on(2, 'fillPages', name, 4, 5, 6)
    assert.equal((await read(ranks, 0, 5, name))[0], 0, name)
    assert.equal(await ranks.on(0, 'fetchAdd', name, 5 * 4096, 1n), 0n, name)
    assert.equal((await read(ranks, 2, 5, name))[0], 1, name)
    assert.equal((await read(ranks, 0, 4, name))[0], 6, name)
  }
})

test('a sharer that is killed is not waited for by who wants to write', async () => {
  await using ranks = await threeWithAll()
  for (const name of names) await ranks.all('readBytes', name, 0, 1)
  const victim = ranks.processes[1]
  // It cannot acknowledge while it is stopped, so the writers wait for it.
  victim?.child.kill('SIGSTOP')
  const writing = names.map((name) => ranks.on<bigint>(2, 'fetchAdd', name, 0, 3n))
  await ranks.on(0, 'sleep', 100)
  await victim?.kill()
  assert.deepEqual(
    await Promise.all(writing),
    names.map(() => 0n),
  )
  for (const name of names) assert.equal(await ranks.on(0, 'fetchAdd', name, 0, 0n), 3n, name)
})

test('a requester that is killed holds nobody up', async () => {
  await using ranks = await threeWithAll()
  for (const name of names) await ranks.on(0, 'fillPages', name, 8, 9, 5)
  ranks.processes[0]?.child.kill('SIGSTOP')
  // Rank 1 waits for rank 0, and the home, rank 2, waits for rank 1 to say that it has the page.
  for (const name of names) ranks.on(1, 'readBytes', name, 8 * 4096, 1).catch(() => {})
  await ranks.on(2, 'sleep', 100)
  await ranks.kill(1)
  ranks.processes[0]?.child.kill('SIGCONT')
  for (const name of names) {
    assert.equal((await read(ranks, 2, 8, name))[0], 5, name)
    await ranks.on(2, 'fetchAdd', name, 8 * 4096, 1n)
  }
})

test('a region that is made after a death has its pages at the living: none is lost', async () => {
  for (const placement of ['block', 'cyclic', 'first-touch']) {
    await using ranks = await three()
    await ranks.kill(1)
    await assert.rejects(ranks.on(0, 'barrier'), { name: 'MemberEndedError' })
    for (const rank of [2, 0])
      await ranks.on(rank, 'open', 'late', { coherence: 'directory', size: 12 * 4096, placement })
    for (let page = 0; page < 12; page += 1) await ranks.on(page % 2 === 0 ? 0 : 2, 'fetchAdd', 'late', page * 4096, 5n)
    for (const rank of [0, 2])
      for (let page = 0; page < 12; page += 1)
        assert.equal(await ranks.on(rank, 'fetchAdd', 'late', page * 4096, 0n), 5n)
  }
})

test('the last rank that is left makes a region, and has it', async () => {
  for (const replicas of [0, 1]) {
    await using ranks = new Ranks(fixture, 2)
    await ranks.all('join')
    await ranks.kill(1)
    await assert.rejects(ranks.on(0, 'barrier'), { name: 'MemberEndedError' })
    await ranks.on(0, 'open', 'alone', { coherence: 'mesi', size: 4 * 4096, replicas })
    for (let page = 0; page < 4; page += 1) assert.equal(await ranks.on(0, 'fetchAdd', 'alone', page * 4096, 5n), 0n)
    assert.equal(await ranks.on(0, 'fetchAdd', 'alone', 4096, 0n), 5n)
  }
})

test('a rank that is stopped for a while is waited for', async () => {
  await using ranks = await three()
  await ranks.on(1, 'fillPages', 'r', 0, 12, 9)
  ranks.processes[1]?.child.kill('SIGSTOP')
  const waiting = [0, 2].map((rank) => read(ranks, rank, rank))
  await ranks.on(0, 'sleep', 500)
  ranks.processes[1]?.child.kill('SIGCONT')
  assert.deepEqual(
    (await Promise.all(waiting)).map(([byte]) => byte),
    [9, 9],
  )
  await ranks.all('barrier')
})

test('an explicit call that waits for a stopped rank can be given up, and the page is whole afterwards', async () => {
  await using ranks = await three()
  await ranks.on(1, 'fillPages', 'r', 0, 4, 9)
  await ranks.processes[1]?.stop()
  for (const [page, method] of ['read', 'write', 'fetchAdd', 'prefetch'].entries())
    assert.equal(await ranks.on(2, 'abortedCall', 'r', method, page * 4096, 20), 'AbortError', method)
  ranks.processes[1]?.child.kill('SIGCONT')
  // None of the four has taken place, and none of their pages is pinned.
  for (const page of [0, 1, 2, 3]) assert.equal((await read(ranks, 0, page))[0], 9)
  await ranks.on(1, 'fillPages', 'r', 0, 4, 7)
  assert.equal((await read(ranks, 2, 2))[0], 7)
})

test('a rank that leaves and is killed before all have left is dead: its pages are lost, not waited for', async () => {
  await using ranks = await three()
  await ranks.on(1, 'fillPages', 'r', 0, 1, 9)
  ranks.on(1, 'closeGroup').catch(() => {})
  await ranks.on(0, 'sleep', 100)
  await ranks.kill(1)
  await assert.rejects(read(ranks, 2, 0), lost(1, 0))
  await Promise.all([0, 2].map((rank) => ranks.on(rank, 'closeGroup')))
})

test('a view of a lost page ends the process with code 71 and says why', { skip: noViews }, async () => {
  await using ranks = await three()
  await ranks.on(1, 'fillPages', 'r', 0, 1, 5)
  await ranks.kill(1)
  const toucher = ranks.processes[2]
  const touching = ranks.on(2, 'getElement', 'r', 'int32', 0)
  await assert.rejects(touching, /ended with 71/)
  const { code, err } = (await toucher?.ended()) ?? { code: 0, err: '' }
  assert.equal(code, 71)
  assert.match(err, /page 0 of region 'r' is lost.*rank 1, which has died/)
})

test('process.exit while another thread is in a fault that nobody answers ends the process', {
  skip: noViews,
}, async () => {
  await using ranks = await three()
  await ranks.on(1, 'fillPages', 'r', 0, 1, 5)
  await ranks.on(2, 'workerTouches', 'r', 2000)
  ranks.processes[1]?.child.kill('SIGSTOP')
  await ranks.on(2, 'workerTouchesLater', 'r', 0)
  ranks.on(2, 'exit', 5).catch(() => {})
  assert.equal((await ranks.processes[2]?.ended())?.code, 5)
})

test('AETHER_USERFAULT=off: explicit calls work, views say why they do not', async () => {
  await using ranks = await three({}, { AETHER_USERFAULT: 'off' })
  await ranks.all('addMixed', 'r', 64, 300, ['async', 'sync'])
  assert.equal(await ranks.on(1, 'fetchAdd', 'r', 64, 0n), 900n)
  await ranks.all('compareWithModel', 'r', 3, 60, 1000, ['async', 'sync'])
  await assert.rejects(ranks.on(0, 'getElement', 'r', 'int32', 0), {
    code: 'ERR_AETHER_UNSUPPORTED',
    message: /AETHER_USERFAULT=off.*explicit calls/,
  })
  await ranks.all('open', 'h', { coherence: 'hardware', size: 4096 })
  await ranks.all('addByView', 'h', 1, 1000)
  assert.equal(await ranks.on(0, 'load', 'h', 1), 3000)
  await ranks.all('close', 'r')
  await ranks.all('closeGroup')
})

test('a page for which no rank has the memory is refused by explicit calls, as often as it is asked for; the process lives on', async () => {
  await using ranks = await three({ size: '2TiB', pageSize: '1TiB' })
  for (const [call, ...args] of [
    ['fetchAdd', 'r', 0, 1n],
    ['fetchAddSync', 'r', 0, 1n],
    ['readBytes', 'r', 2 ** 40, 8, 'async'],
    ['writeBytes', 'r', 2 ** 40, new Uint8Array(8), 'sync'],
  ] as const) {
    await assert.rejects(ranks.on(1, call, ...args), {
      name: 'MemoryExhaustedError',
      message: /rank 1 has no memory left/,
    })
  }
  await ranks.all('open', 'small', { coherence: 'mesi', size: 4096 })
  await ranks.all('addMixed', 'small', 0, 10, ['async', 'sync'])
  assert.equal(await ranks.on(2, 'fetchAdd', 'small', 0, 0n), 30n)
})

class Collector extends Writable {
  text = ''
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

for (const onFailure of drawn(['stop', 'continue'] as const, 1)) {
  test(`a rank killed in the middle under '${onFailure}': the launcher tells the truth`, async () => {
    const [stdout, stderr] = [new Collector(), new Collector()]
    const script = fileURLToPath(new URL('./fixtures/killed-rank.js', import.meta.url))
    const { status, failures } = await launch({
      script,
      ranks: 3,
      onFailure,
      graceMs: 2000,
      stdout,
      stderr,
      environment: { ...(process.env as Record<string, string>) },
    })
    assert.equal(status, 128 + 9, stderr.text)
    assert.deepEqual([failures[0]?.rank, failures[0]?.signal], [1, 'SIGKILL'])
    assert.match(stderr.text, /rank 1 .*SIGKILL/)
    if (onFailure === 'continue') {
      assert.deepEqual(failures.length, 1, stderr.text)
      for (const rank of [0, 2])
        assert.match(stdout.text, new RegExp(`\\[${rank}\\] lost: PageLostError MemberEndedError`))
    }
  })
}
