import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Agent } from '../../src/runtime/index.ts'

const ending = fileURLToPath(new URL('./fixtures/ending.js', import.meta.url))

async function start(): Promise<{ agent: Agent; words: Int32Array; notes: unknown[] }> {
  const words = new Int32Array(new SharedArrayBuffer(16))
  const notes: unknown[] = []
  const machine = new URL('./fixtures/machine.js', import.meta.url)
  const agent = await Agent.start({
    machine,
    data: { words: words.buffer },
    spinNs: 0,
    seed: 1,
    onNote: (note) => notes.push(note),
  })
  return { agent, words, notes }
}

test('commands are answered, refused, answered later, and each in its turn', async () => {
  const { agent } = await start()
  const echoes = Array.from({ length: 100 }, (_, index) => agent.command('echo', index))
  assert.deepEqual(
    await Promise.all(echoes),
    Array.from({ length: 100 }, (_, index) => index),
  )
  await assert.rejects(agent.command('reject', 0), { code: 'ERR_AETHER_AGENT', message: /no/ })
  await assert.rejects(agent.command('unknown', 0), { code: 'ERR_AETHER_AGENT', message: /no command unknown/ })
  assert.equal(await agent.command('later', 'x'), 'x')
  await agent.close()
})

test('many agents have one listener for the end of the process, since Node.js warns of eleven', async () => {
  const before = process.listenerCount('exit')
  const agents = await Promise.all(Array.from({ length: 5 }, start))
  assert.ok(process.listenerCount('exit') <= before + 1)
  await Promise.all(agents.map(({ agent }) => agent.close()))
  assert.equal(process.listenerCount('exit'), before)
})

test('a command can be blocked for, between others', async () => {
  const { agent } = await start()
  const before = agent.command('echo', 1)
  assert.equal(agent.commandSync('echo', 2, 20_000), 2)
  assert.throws(() => agent.commandSync('reject', 0, 20_000), { code: 'ERR_AETHER_AGENT' })
  assert.throws(() => agent.commandSync('never', 0, 50), {
    code: 'ERR_AETHER_TIMEOUT',
    message: /'never' within 50 ms/,
  })
  assert.equal(agent.commandSync('later', 3, 20_000), 3)
  assert.equal(await before, 1)
  await agent.close()
})

test('notes come without being asked for', async () => {
  const { agent, notes } = await start()
  await agent.command('note', 'hello')
  while (notes.length === 0) await sleep(1)
  assert.deepEqual(notes, ['hello'])
  await agent.close()
})

test('a ring ends the sleep, at once or in the middle of falling asleep', async () => {
  const { agent, words } = await start()
  for (let round = 1; round <= 500; round += 1) {
    Atomics.add(words, 0, 1)
    agent.ring()
    while (Atomics.load(words, 1) !== round) Atomics.wait(words, 1, round - 1, 20_000)
    if (round % 100 === 0) await sleep(5)
  }
  await agent.close()
})

test('close() ends the machine, refuses what comes after, rejects what was pending, and may be called twice', async () => {
  const { agent, words } = await start()
  const pending = agent.command('never', 0)
  pending.catch(() => {})
  await agent.close()
  await agent.close()
  assert.equal(words[1], -1)
  await assert.rejects(pending, { code: 'ERR_AETHER_CLOSED' })
  await assert.rejects(agent.command('echo', 0), { code: 'ERR_AETHER_CLOSED' })
  assert.throws(() => agent.commandSync('echo', 0, 100), { code: 'ERR_AETHER_CLOSED' })
})

/** How a process ends that takes the way `what`. */
async function end(
  what: string,
  signal?: NodeJS.Signals,
): Promise<{ code: number | null; signal: string | null; out: string; err: string }> {
  // With a small heap it does not take long to fill.
  const child = spawn(process.execPath, ['--max-old-space-size=64', ending, what], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
    if (signal !== undefined) child.kill(signal)
  })
  child.stderr.on('data', (chunk) => (err += chunk))
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000)
  const [code, ended] = (await once(child, 'close')) as [number | null, string | null]
  clearTimeout(timer)
  return { code, signal: ended, out, err }
}

test('a program that ends with an idle agent ends with 0', async () => {
  const { code, err } = await end('natural')
  assert.deepEqual([code, err], [0, ''])
})

test('process.exit(3) gives 3, an uncaught error 1, SIGTERM ends it', async () => {
  const [exited, uncaught, terminated] = await Promise.all([
    end('exit3'),
    end('uncaught'),
    end('terminated', 'SIGTERM'),
  ])
  assert.deepEqual([exited.code, exited.err], [3, ''])
  assert.equal(uncaught.code, 1)
  assert.match(uncaught.err, /a mistake of the program/)
  assert.equal(terminated.signal, 'SIGTERM')
})

test('a command that is pending keeps the process alive', async () => {
  assert.deepEqual(await end('pending'), { code: 0, signal: null, out: 'answered\n', err: '' })
})

for (const [how, message] of [
  ['throw', /the machine is broken/],
  ['exit', /the agent of this process has failed/],
  ['memory', /agent of this process has failed|heap out of memory/],
] as const) {
  test(`an agent that fails (${how}) while the main thread is blocked ends the process with 70 and a word`, async () => {
    const { code, signal, err } = await end(how)
    assert.deepEqual([code, signal], [70, null], err)
    assert.match(err, message)
  })
}
