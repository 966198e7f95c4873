import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { native } from '../../src/native/index.ts'
import { LocalAgent, type Machine, type MachineFactory } from '../../src/runtime/index.ts'
import { descriptors, until } from '../cluster/support.ts'
import { createMachine } from './fixtures/machine.ts'

function start(make: MachineFactory = createMachine): {
  readonly agent: LocalAgent
  readonly words: Int32Array
  readonly notes: readonly unknown[]
  readonly turns: () => number
} {
  const words = new Int32Array(new SharedArrayBuffer(16))
  const notes: unknown[] = []
  let turns = 0
  const agent = new LocalAgent({
    createMachine: make,
    data: { words: words.buffer },
    seed: 1,
    onNote: (note) => notes.push(note),
    onTurned: () => {
      turns += 1
    },
  })
  return { agent, words, notes, turns: () => turns }
}

/** A machine that does nothing but what `parts` do. */
function machineOf(parts: Partial<Machine>): MachineFactory {
  return () => ({
    descriptors: [],
    turn: () => false,
    prepareSleep: () => true,
    command: () => undefined,
    close: () => undefined,
    ...parts,
  })
}

test('what is asked for in shared memory is done before ring() returns', async () => {
  const { agent, words, turns } = start()
  for (let asked = 1; asked <= 100; asked += 1) {
    words[0] = asked
    agent.ring()
    assert.equal(words[1], asked)
  }
  assert.ok(turns() >= 100)
  await agent.close()
})

test('commands are answered, refused, answered later, and each in its turn', async () => {
  const { agent } = start()
  const echoes = Array.from({ length: 100 }, (_, index) => agent.command('echo', index))
  assert.deepEqual(
    await Promise.all(echoes),
    Array.from({ length: 100 }, (_, index) => index),
  )
  await assert.rejects(agent.command('reject', 0), /no/)
  await assert.rejects(agent.command('unknown', 0), /no command unknown/)
  assert.equal(await agent.command('later', 'x'), 'x')
  await agent.close()
})

test('a note comes after the turn in which it was said', async () => {
  const { agent, notes } = start()
  const said = agent.command('note', 'hello')
  assert.deepEqual(notes, [])
  await said
  await until(() => notes.length > 0, 'the note comes')
  assert.deepEqual(notes, ['hello'])
  await agent.close()
})

test('timers are run in their order, none before its time, also those that come before one that is set', async () => {
  const ran: string[] = []
  let startNs = 0
  const { agent } = start((context) => ({
    ...machineOf({})(context, undefined),
    command(name, _payload, reply) {
      const { runtime } = context
      startNs = runtime.now()
      const at = (ms: number, what: string): void =>
        runtime.timers.at(startNs + ms * 1e6, () => {
          assert.ok(runtime.now() >= startNs + ms * 1e6)
          ran.push(what)
        })
      if (name === 'far') at(60_000, 'far')
      else
        for (const [ms, what] of [
          [30, 'c'],
          [1, 'a'],
          [10, 'b'],
        ] as const)
          at(ms, what)
      reply.resolve(undefined)
    },
  }))
  await agent.command('far', 0)
  await sleep(5)
  await agent.command('near', 0)
  await until(() => ran.length === 3, 'all have run')
  assert.deepEqual(ran, ['a', 'b', 'c'])
  await agent.close()
})

test('what becomes readable ends the sleep, also a descriptor that comes later; close() lets go of all', async () => {
  const before = descriptors()
  const pipes = [native.createPipe(), native.createPipe()]
  let watched = 1
  let heard = 0
  const { agent } = start(() => ({
    get descriptors() {
      return pipes.slice(0, watched).map(([readEnd]) => readEnd)
    },
    turn() {
      const got = pipes.slice(0, watched).reduce((sum, [readEnd]) => sum + native.drainPipe(readEnd), 0)
      heard += got
      return got > 0
    },
    prepareSleep: () => true,
    command: () => undefined,
    close: () => undefined,
  }))
  await sleep(5)
  native.ringPipe(pipes[0]![1])
  await until(() => heard === 1, 'the first is heard')
  watched = 2
  agent.ring()
  await sleep(5)
  native.ringPipe(pipes[1]![1])
  await until(() => heard === 2, 'the second is heard')
  await agent.close()
  for (const end of pipes.flat()) native.closeDescriptor(end)
  assert.deepEqual(descriptors(), before)
})

test('one that rings within a turn has another turn, not one within it', async () => {
  let depth = 0
  let left = 3
  const { agent } = start(
    machineOf({
      turn() {
        assert.equal(depth, 0)
        depth += 1
        if (left > 0) agent.ring()
        depth -= 1
        left -= 1
        return left > 0
      },
    }),
  )
  agent.ring()
  assert.equal(left, 0)
  await agent.close()
})

test('a machine that always has something to do lets the event loop have its turn', async () => {
  const { agent } = start(machineOf({ turn: () => true }))
  agent.ring()
  await sleep(20)
  await agent.close()
})

test('a machine that cannot be made throws; one that is closed takes no commands', async () => {
  assert.throws(
    () =>
      start(() => {
        throw new Error('there is no such device')
      }),
    /no such device/,
  )
  const { agent, words } = start()
  await agent.close()
  await agent.close()
  assert.equal(words[1], -1)
  await assert.rejects(agent.command('echo', 0), { code: 'ERR_AETHER_CLOSED' })
  agent.ring()
})

test('it keeps a process alive while a command is unanswered, and no longer', () => {
  const url = new URL('../../src/runtime/index.js', import.meta.url)
  const machine = new URL('./fixtures/machine.js', import.meta.url)
  const program = `
    import { LocalAgent } from '${url}'
    import { createMachine } from '${machine}'
    const data = { words: new SharedArrayBuffer(16) }
    const agent = new LocalAgent({ createMachine, data, seed: 1, onNote() {}, onTurned() {} })
    console.log(await agent.command('later', 'answered'))`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    timeout: 20_000,
  })
  assert.equal(String(stdout), 'answered\n', String(stderr))
  assert.equal(status, 0)
})
