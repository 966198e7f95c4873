import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import process from 'node:process'
import { test } from 'node:test'
import type { WatchdogMessage } from '../../../src/profiling/index.ts'
import type { GroupStructures } from '../../../src/structures/distributed/group-structures.ts'
import { until, useRuntimeDirectory } from '../../cluster/support.ts'

// Read when the rooms are loaded.
process.env['AETHER_WATCHDOG_MS'] = '150'
const { connect, listen } = await import('../../../src/cm/index.ts')
const { clientStream, createServer, defineService, openChannel, serverStream, type, unary } = await import(
  '../../../src/rpc/index.ts'
)
const { serverPair } = await import('../../rpc/support.ts')
const { FakeWorld } = await import('../../structures/distributed/fake-world.ts')
const { Shared } = await import('../../structures/processes.ts')

useRuntimeDirectory()
const heard: WatchdogMessage[] = []
subscribe('aether:watchdog', (message) => heard.push(message as WatchdogMessage))

async function told(pattern: RegExp): Promise<WatchdogMessage> {
  const find = (): WatchdogMessage | undefined => heard.find(({ text }) => pattern.test(text))
  await until(() => find() !== undefined, String(pattern))
  return find()!
}

const slow = defineService({
  name: 'slow',
  methods: { work: unary({ request: type<number>(), response: type<number>() }) },
})

test('a call that is not answered is told of, with its method and its deadline, and no more once it is answered', async () => {
  let answer = (_: number): void => {}
  const handler = (): Promise<number> => new Promise((resolve) => (answer = resolve))
  await using server = createServer().serve(slow, { work: handler })
  const { port } = await server.listen({ device: 'shm0', address: '127.0.0.1' })
  await using channel = openChannel({ device: 'shm0', address: '127.0.0.1', port })
  const client = channel.client(slow)
  const call = client.work(1, { timeoutMs: 60_000 })
  const { text, wait } = await told(/the answer to the call/)
  assert.match(
    text,
    /^process \d+ has waited .* for the answer to the call 'slow[./]work' from 127\.0\.0\.1:(\d+): the request was sent to the server/,
  )
  assert.equal(Number(/:(\d+): the request/.exec(text)?.[1]), port)
  assert.match(text, /nothing has come for .*; its deadline is in /)
  assert.equal(wait.kind, 'call')
  answer(7)
  assert.equal(await call, 7)
})

const streams = defineService({
  name: 'streams',
  methods: {
    list: serverStream({ response: type<number>() }),
    gather: clientStream({ request: type<number>(), response: type<number>() }),
  },
})

test('a stream whose items nobody takes is told of at the end that sends, with its method', async () => {
  let go = (): void => {}
  const handlers = {
    *list() {
      for (let item = 0; ; item += 1) yield item
    },
    async gather(items: AsyncIterable<number>) {
      await new Promise<void>((resolve) => (go = resolve))
      let sum = 0
      for await (const item of items) sum += item
      return sum
    },
  }
  await using pair = serverPair((server) => server.serve(streams, handlers))
  const client = pair.channel.client(streams)
  const answers = client.list()[Symbol.asyncIterator]()
  await answers.next()
  const { text, wait } = await told(/answers of 'streams[./]list/)
  assert.match(
    text,
    /for leave to send the next item of the answers of 'streams[./]list' to link: the peer has not read /,
  )
  assert.equal(wait.kind, 'stream')
  await answers.return?.()
  const all = Array.from({ length: 1000 }, (_, item) => item)
  const sum = client.gather(all)
  const ours = await told(/requests of 'streams[./]gather/)
  assert.match(ours.text, /'streams[./]gather' to link: the peer has not read what it was sent$/)
  go()
  assert.equal(await sum, 499_500)
})

test('a connection that nobody accepts is told of, with the state that it is in', async () => {
  await using listener = await listen({ device: 'shm0', address: '127.0.0.1' })
  const end = new AbortController()
  const asking = connect({
    device: 'shm0',
    address: '127.0.0.1',
    port: listener.port,
    timeoutMs: 60_000,
    signal: end.signal,
  })
  const { text, wait } = await told(/a connection to 127/)
  assert.match(text, /a connection to 127\.0\.0\.1:\d+: requesting, \d+ ms are left$/)
  assert.equal(wait.kind, 'connection')
  end.abort()
  await assert.rejects(asking, { name: 'AbortError' })
})

test('two processes that take two mutexes in opposite order are named, each in the table of the other', async () => {
  await using shared = await Shared.open()
  const other = await shared.start()
  const [a, b] = [await shared.structures.mutex('a'), await shared.structures.mutex('b')]
  const held = await a.lock()
  await other.call('lock', 'b')
  const theirs = other.call('lockSync', 'a')
  const end = new AbortController()
  const ours = b.lock({ signal: end.signal })
  const all = `${process.pid} and ${other.processId}|${other.processId} and ${process.pid}`
  const line = new RegExp(`deadlock: processes (${all}) wait for each other: `)
  const text = await Promise.any([told(line).then((message) => message.text), other.says(line)])
  assert.match(text, line)
  const member = shared.space.members().find(({ processId }) => processId === other.processId)!
  const [wait] = shared.space.waits(member) ?? []
  assert.deepEqual([wait?.kind, wait?.processes], ['structure', [process.pid]])
  assert.match(wait!.object, /^mutex 'a' in '/)
  end.abort()
  await assert.rejects(ours)
  held.release()
  await theirs
  await until(() => shared.space.waits(member)?.length === 0, 'the wait to be over')
})

test('a mutex and a once of a group that another rank has are told of, with that rank', async () => {
  const world = new FakeWorld(2, 1)
  const [one, two] = world.structures as [GroupStructures, GroupStructures]
  const hold = await world.play(one.mutex('stock').then((mutex) => mutex.lock()))
  let end = (): void => {}
  const once = await world.play(one.once('migrate'))
  const doing = once.run(() => new Promise<void>((resolve) => (end = resolve)))
  const locking = two.mutex('stock').then((mutex) => mutex.lock())
  const waiting = two.once('migrate').then((same) => same.run(() => assert.fail('it is done by the other')))
  const said = await world.play(Promise.all([told(/for mutex 'stock'/), told(/for once 'migrate' to be done/)]))
  for (const { text, wait } of said) {
    assert.match(text, /: rank 0 has it$/)
    assert.deepEqual([wait.kind, wait.ranks], ['structure', [0]])
  }
  end()
  hold.release()
  assert.equal(await world.play(waiting), false)
  ;(await world.play(locking)).release()
  await world.play(doing)
})
