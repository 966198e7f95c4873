/**
 * Nodes of an index are killed behind each client, while its program writes: what was answered is there, and the
 * program goes on. Clients that know one address find the node there again, those of a cluster go to another one.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { io as connectSocket } from 'socket.io-client'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { cliClusterProgram, cliProgram, pythonClusterProgram, pythonProgram } from './support/child-programs.ts'
import { type ClientProgram, clusterPrograms, type OpenProgram, plainPrograms } from './support/client-programs.ts'
import { noPythonRedis, noRedisTools } from './support/debian-programs.ts'
import { type Answer, RawClient } from './support/raw-client.ts'
import { type ServedNode, startNodes } from './support/served-nodes.ts'
import { openSocketProgram, openSocketServer } from './support/socket-program.ts'

useRuntimeDirectory()

/** How many writes are answered before a node is killed, and how many have to be after. */
const WRITES = 10
/** From the start of a node, or the death of another one, until a program goes on: much, for busy machines. */
const PAUSE_MS_MAX = 60_000
const KEYS_AT_ONCE = 500

let plain: readonly ServedNode[]
let clustered: readonly ServedNode[]

before(async () => {
  ;[plain, clustered] = await Promise.all([startNodes(3), startNodes(3, '--cluster')])
})

/** A program that writes one after the other until it is stopped. */
class Writer {
  readonly name: string
  readonly keys: string[] = []
  answered = 0
  /** The longest time without an answer to a write. */
  pauseMs = 0
  readonly failures: unknown[] = []
  readonly #program: ClientProgram
  readonly #done: Promise<void>
  #stopped = false

  constructor(name: string, program: ClientProgram) {
    this.name = name
    this.#program = program
    this.#done = this.#write()
  }

  get told(): string {
    const { name, answered, failures, pauseMs } = this
    return `${name}: ${answered} answered, ${failures.length} failed, ${Math.round(pauseMs)} ms without an answer at most`
  }

  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    await this.#done
    await this.#program.close()
  }

  async #write(): Promise<void> {
    let last = performance.now()
    for (let at = 1; !this.#stopped; at += 1) {
      try {
        const key = await this.#program.write(at)
        this.answered += 1
        this.pauseMs = Math.max(this.pauseMs, performance.now() - last)
        last = performance.now()
        if (key !== undefined) this.keys.push(key)
        await sleep(2)
      } catch (error) {
        this.failures.push(error)
        await sleep(20)
      }
    }
  }
}

async function startWriters(
  programs: Readonly<Record<string, OpenProgram>>,
  ports: readonly number[],
): Promise<readonly Writer[]> {
  const writers = Object.entries(programs).map(async ([name, open]) => new Writer(name, await open(ports)))
  return await Promise.all(writers)
}

/** Resolves when each has written that often from now on. */
async function goOn(writers: readonly Writer[]): Promise<void> {
  await Promise.all(
    writers.map(async (writer) => {
      const enough = writer.answered + WRITES
      await until(() => writer.answered >= enough, `${writer.name} goes on`, PAUSE_MS_MAX).catch((error: Error) => {
        throw new Error(`${error.message}; its last failure: ${String(writer.failures.at(-1))}`)
      })
    }),
  )
}

/** Those of the keys that a node does not have. */
async function missing({ port }: ServedNode, keys: readonly string[], isCluster: boolean): Promise<readonly string[]> {
  using client = await RawClient.connect(port)
  if (isCluster) assert.equal(await client.ask('READONLY'), 'OK')
  const found: unknown[] = []
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE)
    found.push(...(await client.askAll(keys.slice(at, at + KEYS_AT_ONCE).map((key) => ['EXISTS', key]))))
  return keys.filter((_, at) => found[at] !== 1)
}

async function assertKept(writers: readonly Writer[], node: ServedNode, isCluster: boolean): Promise<void> {
  for (const { name, keys } of writers) assert.deepEqual([name, await missing(node, keys, isCluster)], [name, []])
}

test('clients that know one address go on when its node is there again', async (t) => {
  const victim = plain.find(({ isLeader }) => isLeader)!
  const others = plain.filter((node) => node !== victim)
  const programs = {
    ...plainPrograms,
    '@socket.io/redis-adapter': openSocketProgram,
    ...(noRedisTools === false ? { 'redis-cli': cliProgram } : {}),
    ...(noPythonRedis === false ? { 'python3-redis': pythonProgram } : {}),
  }
  for (const reason of [noRedisTools, noPythonRedis]) if (reason !== false) t.diagnostic(reason)
  const writers = await startWriters(programs, [victim.port, others[0]!.port])
  t.after(() => Promise.all(writers.map((writer) => writer.stop())))
  await goOn(writers)
  // The second time another node leads, but where leaders have changed meanwhile.
  for (let deaths = 0; deaths < 2; deaths += 1) {
    await victim.kill()
    await victim.start()
    await goOn(writers)
  }
  await Promise.all(writers.map((writer) => writer.stop()))
  for (const node of [victim, ...others]) await assertKept(writers, node, false)
  using client = await RawClient.connect(victim.port)
  const { answered } = writers.find(({ name }) => name === 'ioredis: MULTI')!
  assert.ok(Number(await client.ask('GET', 'multi')) >= answered)
  for (const writer of writers) t.diagnostic(writer.told)
})

test('a client that tracks is told what changes when another node is killed', async () => {
  const victim = plain.find(({ isLeader }) => isLeader)!
  const [near, far] = plain.filter((node) => node !== victim)
  using reader = await RawClient.connect(near!.port, 3)
  using writer = await RawClient.connect(far!.port)
  await writer.ask('MSET', 'tracked', 'before', 'other', 'before')
  assert.equal(await reader.ask('CLIENT', 'TRACKING', 'on'), 'OK')
  assert.deepEqual(await reader.ask('MGET', 'tracked', 'other'), ['before', 'before'])
  await victim.kill()
  // Until another node leads.
  for (let answer: Answer = null; answer !== 'OK'; ) answer = await writer.ask('SET', 'tracked', 'after')
  const message = await reader.next()
  assert.match(JSON.stringify(message), /^\{"push":\["invalidate",(null|\["tracked"\])\]\}$/)
  assert.equal(await readPast(reader, 'tracked'), 'after')
  await victim.start()
})

/** The value of a key, behind any messages. */
async function readPast(client: RawClient, key: string): Promise<Answer> {
  client.send(['GET', key])
  for (;;) {
    const answer = await client.next()
    if (typeof answer !== 'object' || answer === null || !('push' in answer)) return answer
  }
}

test('servers of Socket.IO at several nodes know each other and the clients of all', async () => {
  const servers = await Promise.all(plain.map(({ port }) => openSocketServer(port)))
  const sockets = servers.map(({ port }) => connectSocket(`http://127.0.0.1:${port}`, { transports: ['websocket'] }))
  try {
    await until(() => sockets.every(({ connected }) => connected), 'clients are connected')
    let known = 0
    // The adapters do not wait until they listen.
    for (let tries = 0; known < 3 && tries < 100; tries += 1) {
      known = (await servers[0]!.io.fetchSockets()).length
      await sleep(10)
    }
    assert.equal(known, 3)
    servers[2]!.io.on('ask', (answer: (value: string) => void) => answer('third'))
    servers[1]!.io.on('ask', (answer: (value: string) => void) => answer('second'))
    const answers = await servers[0]!.io.serverSideEmitWithAck('ask')
    assert.deepEqual([...answers].sort(), ['second', 'third'])
  } finally {
    for (const socket of sockets) socket.disconnect()
    await Promise.all(servers.map((server) => server.close()))
  }
})

test('clients of a cluster go on by other nodes while one is gone', async (t) => {
  const victim = clustered.find(({ isLeader }) => isLeader)!
  const others = clustered.filter((node) => node !== victim)
  const programs = {
    ...clusterPrograms,
    ...(noRedisTools === false ? { 'redis-cli -c': cliClusterProgram } : {}),
    ...(noPythonRedis === false ? { 'RedisCluster of python3-redis': pythonClusterProgram } : {}),
  }
  for (const reason of [noRedisTools, noPythonRedis]) if (reason !== false) t.diagnostic(reason)
  const writers = await startWriters(
    programs,
    [victim, ...others].map(({ port }) => port),
  )
  t.after(() => Promise.all(writers.map((writer) => writer.stop())))
  await goOn(writers)
  await victim.kill()
  await goOn(writers)
  await Promise.all(writers.map((writer) => writer.stop()))
  for (const node of others) await assertKept(writers, node, true)
  for (const writer of writers) t.diagnostic(writer.told)
  await victim.start()
})

test('redis-benchmark ends when its node is killed, and runs on another one', { skip: noRedisTools }, async () => {
  const run = promisify(execFile)
  const [victim, other] = plain
  const benchmark = run('redis-benchmark', ['-p', String(victim!.port), '-t', 'set', '-n', '10000000'])
  const failed = assert.rejects(benchmark, { killed: false, code: 1 })
  await sleep(300)
  await victim!.kill()
  await failed
  const { stdout } = await run('redis-benchmark', ['-p', String(other!.port), '-t', 'set', '-n', '2000', '--csv'])
  assert.match(stdout, /"SET","[\d.]+"/)
  await victim!.start()
})
