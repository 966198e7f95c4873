/**
 * The guard ends the process with its environment. Each case is a child program: what is tested is how a process ends.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { ArgumentError, native } from '../../src/native/index.ts'
import { type Body, inChild, nativeUrl, type Outcome } from './elsewhere.ts'

/** What a guarded Worker does next; `main` is what the main thread does with it meanwhile. */
interface Case {
  /** The end of the Worker's program; it knows `native`. */
  readonly worker: string
  readonly main: 'waits' | 'is blocked' | 'terminates it' | 'exits'
}

const main: Body<{ source: string; main: string }> = async ({ aether: { native }, threads }, { source, main }) => {
  const words = new Int32Array(new SharedArrayBuffer(8))
  const worker = new threads.Worker(source, { eval: true, workerData: words })
  worker.on('error', () => {})
  await new Promise((resolve) => worker.once('message', resolve))
  Atomics.store(words, 0, 1)
  Atomics.notify(words, 0)
  if (main === 'is blocked') native.futexWait(words, 1, 0, -1)
  if (main === 'terminates it') await worker.terminate()
  if (main === 'exits') process.exit(0)
}

const run = ({ worker, main: how }: Case): Promise<Outcome> =>
  inChild(main, {
    main: how,
    // The Worker says that it is guarded, then waits for the main thread to have settled.
    source: `import(${JSON.stringify(nativeUrl)}).then(({ native }) => {
      const { parentPort, workerData: words } = require('node:worker_threads')
      native.guardEnvironment(70, 'the agent has ended\\n')
      parentPort.postMessage('guarded')
      Atomics.wait(words, 0, 0)
      ${worker}
    })`,
  })

const cases: Readonly<Record<string, Case>> = {
  throws: { worker: `throw new Error('of the agent')`, main: 'waits' },
  exits: { worker: `process.exit(3)`, main: 'waits' },
  'comes to its end': { worker: ``, main: 'waits' },
  'is terminated': { worker: `setInterval(() => {}, 1000)`, main: 'terminates it' },
  'throws while the main thread is blocked': { worker: `throw new Error('of the agent')`, main: 'is blocked' },
  'exits while the main thread is blocked': { worker: `process.exit(3)`, main: 'is blocked' },
  'is guarded twice and exits': {
    worker: `native.guardEnvironment(70, 'the agent has ended\\n'); process.exit(3)`,
    main: 'waits',
  },
}

for (const [name, each] of Object.entries(cases)) {
  test(`the process ends with 70 and says why when its guarded Worker ${name}`, async () => {
    const outcome = await run(each)
    assert.deepEqual([outcome.code, outcome.signal], [70, null])
    assert.match(outcome.stderr, /the agent has ended\n$/)
  })
}

test('the guard speaks also at process.exit of the main thread, so take it off before', async () => {
  const outcome = await run({ worker: `setInterval(() => {}, 1000)`, main: 'exits' })
  assert.equal(outcome.code, 70)
})

test('without its guard a Worker ends alone', async () => {
  for (const worker of [`native.unguardEnvironment()`, `native.unguardEnvironment(); native.unguardEnvironment()`]) {
    const outcome = await run({ worker, main: 'waits' })
    assert.deepEqual([outcome.code, outcome.stderr], [0, ''])
  }
})

test('the last guard counts', async () => {
  const outcome = await run({ worker: `native.guardEnvironment(71, 'otherwise\\n')`, main: 'waits' })
  assert.deepEqual([outcome.code, outcome.stderr], [71, 'otherwise\n'])
})

test('exitNow ends the process without exit handlers', async () => {
  const outcome = await inChild(({ aether: { native } }) => {
    process.on('exit', () => console.log('an exit handler'))
    native.exitNow(9)
  }, undefined)
  assert.deepEqual([outcome.code, outcome.stdout], [9, ''])
})

test('codes and messages that cannot be are refused, and guard nothing', () => {
  assert.throws(() => native.guardEnvironment(256, ''), ArgumentError)
  assert.throws(() => native.guardEnvironment(-1, ''), ArgumentError)
  assert.throws(() => native.guardEnvironment(1, 'x'.repeat(5000)), ArgumentError)
  assert.throws(() => native.exitNow(256), ArgumentError)
})
