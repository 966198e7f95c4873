import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { LocalRange, RemoteAddress, VerbsLink } from '../../../src/messaging/index.ts'
import { defineService, type RdmaBuffer, RpcError, rdmaCall, type Server, type } from '../../../src/rpc/index.ts'
import { deferred, rejection, until } from '../support.ts'
import type { Ground, RdmaPair } from './pairs.ts'

const writer = defineService({
  name: 'writer',
  methods: {
    /** Writes as long as it is let, and counts. */
    obey: rdmaCall({ buffers: 'target', response: type<number>() }),
    /** Writes by the bare link, with the key that it was given, whatever becomes of the call. */
    rogue: rdmaCall({ buffers: 'target', response: type<number>() }),
    /** Writes where it was lent memory to read. */
    wrongWay: rdmaCall({ buffers: 'source' }),
    /** Writes one byte behind what it was lent. */
    behind: rdmaCall({ buffers: 'target' }),
  },
})

/** What the handlers of a test say of themselves. */
class Handlers {
  /** Completed writes. */
  writes = 0
  /** With which the last handler's first operation was refused. */
  refusal: unknown
  done = deferred()
  link: VerbsLink | undefined
  #stop = false

  stop(): void {
    this.#stop = true
  }

  readonly serve = (server: Server): void => {
    server.serve(writer, {
      obey: async (_, { target, allocate }) => {
        await using own = allocate(target.length)
        try {
          for (let round = 0; !this.#stop; round += 1) {
            own.bytes.fill(1 + (round % 200))
            await target.write(own)
            this.writes += 1
          }
        } catch (error) {
          this.refusal = error
          // It does not give up: each further try is refused, too.
          for (let round = 0; round < 3; round += 1) await assert.rejects(target.write(own))
        }
        this.done.resolve()
        return this.writes
      },
      rogue: async (_, { target, allocate }) => {
        const stolen = await this.#steal(async () => target.write(new Uint8Array(1)))
        const own = allocate(target.length)
        await this.#storm(own, stolen, target.length)
        return this.writes
      },
      wrongWay: async (_, { source, allocate }) => {
        const stolen = await this.#steal(async () => source.read(new Uint8Array(1)))
        await this.#storm(allocate(source.length), stolen, source.length)
      },
      behind: async (_, { target, allocate }) => {
        const stolen = await this.#steal(async () => target.write(new Uint8Array(1)))
        const { address, key } = stolen
        await this.#storm(allocate(1), { address: address + target.length, key }, 1)
      },
    })
  }

  /** What the link is told by an operation: address and key of the caller's memory. */
  async #steal(operate: () => Promise<void>): Promise<RemoteAddress> {
    const link = this.link!
    let stolen: RemoteAddress | undefined
    for (const name of ['read', 'write'] as const) {
      const real = link[name].bind(link)
      link[name] = (local: LocalRange, remote: RemoteAddress) => {
        stolen ??= remote
        return real(local, remote)
      }
    }
    await operate()
    return stolen!
  }

  async #storm(own: RdmaBuffer, remote: RemoteAddress, length: number): Promise<void> {
    const link = this.link!
    const buffer = link.lending?.register(own.bytes)
    try {
      for (let round = 0; !this.#stop; round += 1) {
        own.bytes.fill(1 + (round % 200))
        await link.write({ buffer: buffer as never, length }, remote)
        this.writes += 1
      }
    } catch (error) {
      this.refusal = error
    } finally {
      this.done.resolve()
    }
  }
}

interface Scene {
  readonly pair: RdmaPair
  readonly handlers: Handlers
  readonly buffer: RdmaBuffer
}

/** Of a server that is only slow, on whatever machine. */
const LONG_MS = 60_000

async function scene(
  ground: Ground,
  lengthBytes: number,
  fenceMs: number,
  play: (scene: Scene) => Promise<void>,
): Promise<void> {
  const handlers = new Handlers()
  await using pair = await ground.open(handlers.serve, { fenceMs, keepAliveMs: 600_000 })
  handlers.link = pair.serverLink
  const buffer = await pair.channel.allocate(lengthBytes)
  try {
    await play({ pair, handlers, buffer })
  } finally {
    handlers.stop()
    await buffer.release()
  }
}

/** The caller's memory stays as it is, from now on and while the server goes on for a while. */
async function assertUntouched({ buffer, handlers }: Scene, isOver: () => boolean): Promise<void> {
  buffer.bytes.fill(0)
  const start = handlers.writes
  for (let turns = 0; turns < 300 && !(isOver() && turns > 50); turns += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(
      buffer.bytes.every((byte) => byte === 0),
      `the server has written into memory that was given back, after ${start} and ${handlers.writes} writes`,
    )
  }
}

/** Some writes were carried out. A call that ends before says why. */
function writing(handlers: Handlers, call: Promise<unknown>): Promise<void> {
  const failed = call.then((error) => {
    throw error
  })
  return Promise.race([until(() => handlers.writes >= 3), failed])
}

function codeOf(error: unknown): string {
  assert.ok(error instanceof RpcError, String(error))
  return error.code
}

/** How calls with buffers end, over one kind of connection, and that nothing of the server comes afterwards. */
export async function fenceCases(t: TestContext, ground: Ground): Promise<void> {
  await t.test('cancelled, it ends when the handler is out of the memory, and the connection goes on', () =>
    scene(ground, 30_000, LONG_MS, async (each) => {
      const { pair, handlers, buffer } = each
      const client = pair.channel.client(writer)
      const abort = new AbortController()
      const call = rejection(client.obey(undefined, { target: buffer, signal: abort.signal }))
      await writing(handlers, call)
      abort.abort(new Error('enough'))
      assert.equal(await call, abort.signal.reason)
      await assertUntouched(each, () => handlers.refusal !== undefined)
      await handlers.done.promise
      assert.equal(codeOf(handlers.refusal), 'ERR_AETHER_RPC_CANCELLED')
      assert.ok(pair.clientLink.open)
      handlers.stop()
      assert.equal(await client.obey(undefined, { target: buffer }), handlers.writes)
    }),
  )

  await t.test('when its time is up, the same', () =>
    scene(ground, 30_000, LONG_MS, async (each) => {
      const { pair, handlers, buffer } = each
      const error = await rejection(pair.channel.client(writer).obey(undefined, { target: buffer, timeoutMs: 60 }))
      assert.equal(codeOf(error), 'ERR_AETHER_RPC_DEADLINE')
      await assertUntouched(each, () => handlers.refusal !== undefined)
      await handlers.done.promise
      assert.ok(['ERR_AETHER_RPC_DEADLINE', 'ERR_AETHER_RPC_CANCELLED'].includes(codeOf(handlers.refusal)))
      assert.ok(pair.clientLink.open)
    }),
  )

  await t.test('it does not end while an operation that was begun is under way', () =>
    scene(ground, 3000, LONG_MS, async ({ pair, handlers, buffer }) => {
      const gate = deferred()
      const begun = deferred()
      const write = pair.serverLink.write.bind(pair.serverLink)
      pair.serverLink.write = async (local, remote) => {
        begun.resolve()
        await gate.promise
        await write(local, remote)
      }
      const abort = new AbortController()
      let isSettled = false
      const call = rejection(
        pair.channel.client(writer).obey(undefined, { target: buffer, signal: abort.signal }),
      ).finally(() => {
        isSettled = true
      })
      await begun.promise
      abort.abort()
      for (let turns = 0; turns < 20; turns += 1) {
        await new Promise((resolve) => setImmediate(resolve))
        assert.equal(isSettled, false)
      }
      assert.equal(buffer.uses, 1)
      gate.resolve()
      await call
      assert.ok(
        buffer.bytes.every((byte) => byte === 1),
        'what was begun was carried out before the call ended',
      )
      assert.ok(pair.clientLink.open)
      assert.equal(handlers.writes, 1)
    }),
  )

  await t.test('a server that does not hear of the end is shut out in bounded time', () =>
    scene(ground, 30_000, 50, async (each) => {
      const { pair, handlers, buffer } = each
      const abort = new AbortController()
      const call = rejection(pair.channel.client(writer).obey(undefined, { target: buffer, signal: abort.signal }))
      await writing(handlers, call)
      pair.serverLink.pause()
      abort.abort(new Error('enough'))
      assert.equal(await call, abort.signal.reason)
      await assertUntouched(each, () => handlers.refusal !== undefined)
      await handlers.done.promise
      assert.equal(codeOf(handlers.refusal), 'ERR_AETHER_RPC_CONNECTION_LOST')
    }),
  )

  await t.test('a handler that goes on by itself after the end reaches nothing', () =>
    scene(ground, 30_000, LONG_MS, async (each) => {
      const { pair, handlers, buffer } = each
      const abort = new AbortController()
      const call = rejection(pair.channel.client(writer).rogue(undefined, { target: buffer, signal: abort.signal }))
      await writing(handlers, call)
      abort.abort(new Error('enough'))
      assert.equal(await call, abort.signal.reason)
      await assertUntouched(each, () => handlers.refusal !== undefined)
      await handlers.done.promise
      await until(() => !pair.clientLink.open)
    }),
  )

  for (const [name, what] of [
    ['wrongWay', 'a handler that writes what it may read reaches nothing'],
    ['behind', 'a handler that writes behind what it may write reaches nothing'],
  ] as const)
    await t.test(what, () =>
      scene(ground, 30_000, LONG_MS, async (each) => {
        const { pair, handlers, buffer } = each
        const client = pair.channel.client(writer)
        const part = { buffer, offset: 4096, length: 100 }
        const call = rejection(
          name === 'wrongWay'
            ? client.wrongWay(undefined, { source: part })
            : client.behind(undefined, { target: part }),
        )
        await handlers.done.promise
        assert.equal(handlers.writes, 0)
        assert.equal(codeOf(await call), 'ERR_AETHER_RPC_CONNECTION_LOST')
        buffer.bytes.fill(0, 4096, 4097)
        assert.ok(buffer.bytes.every((byte) => byte === 0))
      }),
    )

  for (const side of ['clientLink', 'serverLink'] as const)
    await t.test(`when the connection is given up by the ${side}, nothing comes after the call has ended`, () =>
      scene(ground, 30_000, LONG_MS, async (each) => {
        const { pair, handlers, buffer } = each
        const call = rejection(pair.channel.client(writer).obey(undefined, { target: buffer }))
        await writing(handlers, call)
        pair[side].destroy()
        const error = await call
        assert.equal(codeOf(error), 'ERR_AETHER_RPC_CONNECTION_LOST')
        assert.equal((error as RpcError).outcome, 'unknown')
        await assertUntouched(each, () => handlers.refusal !== undefined)
        await handlers.done.promise
        assert.equal(codeOf(handlers.refusal), 'ERR_AETHER_RPC_CONNECTION_LOST')
      }),
    )
}
