import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CompletionStatus, QueuePairState } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, type Context, type End, Opcode, Success } from '../context.ts'
import type { Handle } from '../player-data.ts'

const XRC = 'IB specification annex A14 (XRC); ibv_open_xrcd(3), ibv_create_srq_ex(3)'

/** A shared receive queue of XRC with memory and a completion queue of its own. */
interface Service {
  readonly end: End
  readonly queue: Handle
  readonly number: number
  readonly completions: Handle
}

async function serve(context: Context, index: 0 | 1, xrcDomain: Handle, within?: End): Promise<Service> {
  const end = within ?? (await context.end(index))
  const completions = await end.player.queue(64)
  const specification = { maxRequests: 16, maxSegments: 2, xrcDomain, completionQueue: completions }
  const { handle, number } = await end.player.sharedQueue(end.domain, specification)
  return { end, queue: handle, number, completions }
}

function receive({ end, queue }: Service, id: number, offset: number): Promise<void> {
  return end.player.receiveShared(queue, { id, local: [end.segment(offset, 16)] })
}

/** A sender of player 0, connected to a receive queue pair of player 1 in `xrcDomain`. */
async function connect(context: Context, xrcDomain: Handle): Promise<readonly [End, End]> {
  const a = await context.end(0, { type: 'xrc-send' })
  const b = await context.end(1, { type: 'xrc-receive', xrcDomain })
  await a.connect(b.pair.endpoint)
  await b.connect(a.pair.endpoint)
  return [a, b]
}

async function send(a: End, id: number, value: number, number: number): Promise<void> {
  await a.fill(0, [value])
  await a.post({ id, opcode: Opcode.Send, local: [a.segment(0, 1)], to: { number } })
}

async function withFile(action: (path: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'xrc-'))
  try {
    const path = join(directory, 'domain')
    writeFileSync(path, '')
    await action(path)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/**
 * Extended reliable connections: one connection to a machine, and behind it shared receive queues that each request
 * names.
 */
export const xrcCases: readonly ConformanceCase[] = [
  rule('xrc: a message goes to the shared receive queue that it names', XRC, async (context) => {
    const domain = await context.players[1].xrcDomain()
    const [a, b] = await connect(context, domain)
    const [one, other] = [await serve(context, 1, domain), await serve(context, 1, domain)]
    await receive(one, 1, 0)
    await receive(other, 2, 0)
    await send(a, 5, 50, other.number)
    await a.sentWith(Success, 5)
    await send(a, 6, 60, one.number)
    await a.sentWith(Success, 6)
    const [first] = await other.end.completions(other.completions, 1)
    const [second] = await one.end.completions(one.completions, 1)
    assert.deepEqual([first?.id, first?.queuePairNumber], [2, b.pair.number])
    assert.deepEqual([second?.id, second?.queuePairNumber], [1, b.pair.number])
    assert.deepEqual([...(await one.end.bytes(0, 1)), ...(await other.end.bytes(0, 1))], [60, 50])
  }),
  rule('xrc: keys are those of the protection domain of the queue that is named', XRC, async (context) => {
    const domain = await context.players[1].xrcDomain()
    const [a] = await connect(context, domain)
    const service = await serve(context, 1, domain)
    await a.fill(0, [1, 2, 3, 4, 5, 6, 7, 8])
    const to = { number: service.number }
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 8)], remote: service.end.target(64), to })
    await a.post({ id: 2, opcode: Opcode.Read, local: [a.segment(100, 8)], remote: service.end.target(64), to })
    await a.post({
      id: 3,
      opcode: Opcode.FetchAdd,
      local: [a.segment(200, 8)],
      remote: service.end.target(128),
      compareAdd: 5n,
      to,
    })
    assert.deepEqual(
      (await a.sent(3)).map(({ status }) => status),
      [Success, Success, Success],
    )
    assert.deepEqual(await a.bytes(100, 8), [1, 2, 3, 4, 5, 6, 7, 8])
    assert.equal(await service.end.word(128), 5n)
  }),
  rule('xrc: a shared receive queue of another domain is not reached', XRC, async (context) => {
    const domain = await context.players[1].xrcDomain()
    const [a, b] = await connect(context, domain)
    const stranger = await serve(context, 1, await context.players[1].xrcDomain())
    await receive(stranger, 1, 0)
    await send(a, 5, 50, stranger.number)
    await a.sentWith(CompletionStatus.RemoteInvalidRequest, 5)
    assert.deepEqual(await stranger.end.player.poll(stranger.completions, 1), [])
    await context.until(async () => {
      await b.player.progress()
      return (await b.player.state(b.pair.handle)) === QueuePairState.Error
    }, 10_000)
  }),
  rule('xrc: a message waits until the named queue has a request', 'ibv_modify_qp(3) rnr_retry', async (context) => {
    const domain = await context.players[1].xrcDomain()
    const [a] = await connect(context, domain)
    const service = await serve(context, 1, domain)
    await send(a, 5, 50, service.number)
    assert.deepEqual(await a.player.poll(a.sendQueue, 1), [])
    await receive(service, 1, 0)
    await a.sentWith(Success, 5)
  }),
  rule(
    'xrc: receives cannot be posted to the queue pairs, nor sends to the receiving one',
    'ibv_post_recv(3), ibv_post_send(3) EINVAL',
    async (context) => {
      const [a, b] = await connect(context, await context.players[1].xrcDomain())
      await context.refused('EINVAL', a.receive(1, 0, 8))
      await context.refused('EINVAL', b.receive(1, 0, 8))
      await context.refused('EINVAL', b.post({ id: 1, opcode: Opcode.Send, local: [b.segment(0, 1)] }))
    },
  ),
  rule('xrc: a domain in use cannot be closed', 'ibv_close_xrcd(3) EBUSY', async (context) => {
    const domain = await context.players[1].xrcDomain()
    const [, b] = await connect(context, domain)
    await context.refused('EBUSY', b.player.close(domain))
    await b.player.close(b.pair.handle)
    await b.player.close(domain)
  }),
  rule('xrc: processes share a domain by a file, and a connection serves the queues of all', XRC, (context) =>
    withFile(async (path) => {
      const [mine, theirs] = [
        await context.players[0].xrcDomain({ path }),
        await context.players[1].xrcDomain({ path }),
      ]
      const [a, b] = await connect(context, theirs)
      // Here the queue belongs to the sender, and the connection goes to the other player.
      const service = await serve(context, 0, mine)
      await receive(service, 1, 0)
      await send(a, 5, 50, service.number)
      await a.sentWith(Success, 5)
      const [row] = await service.end.completions(service.completions, 1)
      assert.deepEqual([row?.id, row?.queuePairNumber], [1, b.pair.number])
      assert.deepEqual(await service.end.bytes(0, 1), [50])
    }),
  ),
  rule('xrc: a receive queue pair is opened by its number', 'ibv_open_qp(3)', (context) =>
    withFile(async (path) => {
      const [mine, theirs] = [
        await context.players[0].xrcDomain({ path }),
        await context.players[1].xrcDomain({ path }),
      ]
      const [a, b] = await connect(context, theirs)
      const opened = await a.player.openPair(a.domain, mine, b.pair.number)
      assert.equal(opened.number, b.pair.number)
      assert.equal(await a.player.state(opened.handle), QueuePairState.ReadyToSend)
      await a.player.close(opened.handle)
      assert.equal(await b.player.state(b.pair.handle), QueuePairState.ReadyToSend)
    }),
  ),
  rule(
    'xrc: a number that no receive queue pair of the domain has is not opened',
    'ibv_open_qp(3) EINVAL',
    async (context) => {
      const a = await context.end(0)
      const domain = await a.player.xrcDomain()
      await context.refused('EINVAL', a.player.openPair(a.domain, domain, 0xabcdef))
    },
  ),
  rule(
    'xrc: exclusive refuses a domain that exists, and without create there must be one',
    'ibv_open_xrcd(3) EEXIST, ENOENT',
    (context) =>
      withFile(async (path) => {
        await context.refused('ENOENT', context.players[0].xrcDomain({ path, create: false }))
        const domain = await context.players[0].xrcDomain({ path, exclusive: true })
        await context.refused('EEXIST', context.players[1].xrcDomain({ path, exclusive: true }))
        const second = await context.players[1].xrcDomain({ path, create: false })
        await context.players[1].close(second)
        await context.players[0].close(domain)
      }),
  ),
]
