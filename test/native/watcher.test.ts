import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { ArgumentError, native, SystemError } from '../../src/native/index.ts'
import { inChild, startChild, startWorker, until } from './elsewhere.ts'
import { Memory, Pipe, pageBytes } from './resources.ts'

/** A watcher that notes what it was told, and keeps this process alive meanwhile. */
function listening() {
  const heard: number[] = []
  const watcher = native.createWatcher((token) => heard.push(token))
  watcher.ref()
  return { heard, watcher, [Symbol.dispose]: () => watcher.close() }
}

const idle = () => {
  setInterval(() => {}, 1000)
  console.log('1')
}

test('the death of a process is seen by a thread that spins and never returns to its event loop', async () => {
  using memory = new Memory(pageBytes)
  const words = new Int32Array(memory.map(0, pageBytes))
  using ears = listening()
  const child = startChild(idle, undefined)
  const descriptor = native.openProcess(child.id)
  ears.watcher.add(7, descriptor, words, 3)
  native.closeDescriptor(descriptor)
  await child.message()
  process.kill(child.id, 'SIGKILL')
  while (Atomics.load(words, 3) === 0);
  assert.equal(Atomics.load(words, 3), 1)
  assert.deepEqual(ears.heard, [], 'the event loop has not run')
  await until(() => ears.heard.length > 0)
  assert.deepEqual(ears.heard, [7])
  await child.ended()
  native.unmapMemory(words.buffer)
})

test('a waiter on the word is woken', () => {
  using pipe = new Pipe()
  using ears = listening()
  const words = new Int32Array(new SharedArrayBuffer(8))
  native.ringPipe(pipe.writeEnd)
  ears.watcher.add(1, pipe.readEnd, words, 1)
  while (Atomics.load(words, 1) === 0) native.futexWait(words, 1, 0, 20_000)
  assert.equal(Atomics.load(words, 1), 1)
})

test('it fires once until it is armed again', async () => {
  using pipe = new Pipe()
  using ears = listening()
  const words = new Int32Array(new SharedArrayBuffer(4))
  ears.watcher.add(0, pipe.readEnd, words)
  native.ringPipe(pipe.writeEnd)
  await until(() => ears.heard.length === 1)
  native.ringPipe(pipe.writeEnd)
  assert.equal(Atomics.load(words, 0), 1, 'still readable, and still disarmed')
  ears.watcher.rearm(0)
  await until(() => ears.heard.length === 2)
  native.drainPipe(pipe.readEnd)
  ears.watcher.rearm(0)
  native.ringPipe(pipe.writeEnd)
  await until(() => ears.heard.length === 3)
  assert.equal(Atomics.load(words, 0), 3)
})

test('what was removed is not reported, even where it had fired already', async () => {
  using pipe = new Pipe()
  using other = new Pipe()
  using ears = listening()
  const words = new Int32Array(new SharedArrayBuffer(8))
  native.ringPipe(pipe.writeEnd)
  ears.watcher.add(1, pipe.readEnd, words, 0)
  while (Atomics.load(words, 0) === 0);
  ears.watcher.remove(1)
  ears.watcher.remove(1)
  ears.watcher.remove(99)
  native.ringPipe(other.writeEnd)
  ears.watcher.add(2, other.readEnd)
  await until(() => ears.heard.includes(2))
  assert.deepEqual(ears.heard, [2])
})

test('a token that is used again belongs to its new descriptor alone', async () => {
  using readable = new Pipe()
  using quiet = new Pipe()
  using last = new Pipe()
  using ears = listening()
  const words = new Int32Array(new SharedArrayBuffer(8))
  native.ringPipe(readable.writeEnd)
  native.ringPipe(last.writeEnd)
  for (let round = 0; round < 2000; round += 1) {
    // The first may be on its way through the watching thread when its token gets another meaning.
    ears.watcher.add(1, readable.readEnd, words, 0)
    ears.watcher.remove(1)
    ears.watcher.add(1, quiet.readEnd, words, 1)
    if (round % 100 === 0) await new Promise(setImmediate)
    ears.watcher.remove(1)
  }
  ears.watcher.add(2, last.readEnd)
  await until(() => ears.heard.includes(2))
  assert.deepEqual(ears.heard, [2])
  assert.equal(Atomics.load(words, 1), 0, 'the quiet one never fired')
})

test('a token is watched once, and only what can be waited for', () => {
  using pipe = new Pipe()
  using memory = new Memory(pageBytes)
  using ears = listening()
  const { watcher } = ears
  watcher.add(1, pipe.readEnd)
  assert.throws(() => watcher.add(1, pipe.readEnd), /watched already/)
  assert.throws(() => watcher.add(2, memory.descriptor), /EPERM.*cannot be waited for/)
  watcher.add(2, pipe.readEnd)
  assert.throws(() => watcher.add(3, 1_000_000), SystemError)
  assert.throws(() => watcher.add(-1, pipe.readEnd), ArgumentError)
  assert.throws(() => watcher.rearm(3), /add it first/)
  assert.throws(() => watcher.add.call({} as never, 4, pipe.readEnd), /this must be a watcher/)
  assert.throws(() => native.createWatcher(1 as never), ArgumentError)
})

test('the word lies in memory that cannot be taken away', () => {
  using pipe = new Pipe()
  using ears = listening()
  assert.throws(
    () => ears.watcher.add(1, pipe.readEnd, new Int32Array(4), 0),
    /mapMemory made, or in a SharedArrayBuffer/,
  )
  const shared = new Int32Array(new SharedArrayBuffer(16))
  assert.throws(() => ears.watcher.add(1, pipe.readEnd, shared, 4), ArgumentError)
  assert.throws(() => ears.watcher.add(1, pipe.readEnd, new Int32Array(0)), ArgumentError)
  assert.throws(() => ears.watcher.add(1, pipe.readEnd, new Float64Array(4) as never, 0), ArgumentError)
})

test('unmapping the word’s buffer while it is watched crashes nobody', async () => {
  using memory = new Memory(pageBytes)
  using pipe = new Pipe()
  using ears = listening()
  const words = new Int32Array(memory.map(0, pageBytes))
  const second = new Int32Array(memory.map(0, pageBytes))
  ears.watcher.add(1, pipe.readEnd, words, 0)
  native.unmapMemory(words.buffer)
  native.ringPipe(pipe.writeEnd)
  await until(() => ears.heard.length === 1)
  assert.deepEqual([Atomics.load(words, 0), Atomics.load(second, 0)], [1, 0], 'counted in memory of nobody')
  ears.watcher.remove(1)
  native.unmapMemory(second.buffer)
})

test('a closed watcher is silent, refuses work, and may be closed again', () => {
  using pipe = new Pipe()
  const { watcher } = listening()
  watcher.add(1, pipe.readEnd)
  watcher.close()
  watcher.close()
  watcher.remove(1)
  watcher.ref()
  watcher.unref()
  assert.throws(() => watcher.add(1, pipe.readEnd), /closed/)
  assert.throws(() => watcher.rearm(1), /closed/)
})

test('closing from within the callback ends the round', async () => {
  using pipe = new Pipe()
  const heard: number[] = []
  const watcher = native.createWatcher((token) => {
    heard.push(token)
    watcher.close()
  })
  watcher.ref()
  native.ringPipe(pipe.writeEnd)
  for (let token = 0; token < 10; token += 1) watcher.add(token, pipe.readEnd)
  await until(() => heard.length > 0)
  await new Promise(setImmediate)
  assert.equal(heard.length, 1)
})

test('what the callback throws is an uncaught exception, and the next event is still reported', async () => {
  const outcome = await inChild(async ({ aether: { native } }) => {
    const caught: string[] = []
    process.on('uncaughtException', (error) => caught.push(error.message))
    const [readEnd, writeEnd] = native.createPipe()
    const watcher = native.createWatcher((token) => {
      if (token === 3) watcher.close()
      throw new Error(`token ${token}`)
    })
    watcher.ref()
    native.ringPipe(writeEnd)
    for (let token = 1; token <= 3; token += 1) {
      watcher.add(token, readEnd)
      while (caught.length < token) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    console.log(caught.join())
  }, undefined)
  assert.deepEqual([outcome.code, outcome.stdout, outcome.stderr], [0, 'token 1,token 2,token 3\n', ''])
})

test('by itself it lets the process end; after ref() it does not, after unref() it does', async () => {
  const outcome = await inChild(({ aether: { native } }) => {
    const [readEnd] = native.createPipe()
    native.createWatcher(() => {}).add(1, readEnd)
    const second = native.createWatcher(() => {})
    second.ref()
    second.unref()
  }, undefined)
  assert.deepEqual([outcome.code, outcome.signal, outcome.stderr], [0, null, ''])

  const kept = await inChild(({ aether: { native } }) => {
    const [readEnd, writeEnd] = native.createPipe()
    const watcher = native.createWatcher(() => {
      console.log('heard')
      watcher.unref()
    })
    watcher.add(1, readEnd)
    watcher.ref()
    // Nothing else keeps this process: the timer does not.
    setTimeout(() => native.ringPipe(writeEnd), 100).unref()
  }, undefined)
  assert.deepEqual([kept.code, kept.stdout], [0, 'heard\n'])
})

test('nobody has to hold on to a watcher that watches', async () => {
  const outcome = await inChild(
    async ({ aether: { native } }) => {
      const [readEnd, writeEnd] = native.createPipe()
      let heard = 0
      native
        .createWatcher(() => {
          heard += 1
        })
        .add(1, readEnd)
      for (let round = 0; round < 50; round += 1) {
        globalThis.gc?.()
        await new Promise(setImmediate)
      }
      native.ringPipe(writeEnd)
      while (heard === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    },
    undefined,
    { flags: ['--expose-gc'] },
  )
  assert.deepEqual([outcome.code, outcome.signal, outcome.stderr], [0, null, ''])
})

test('environments have watchers of their own at the same time', async () => {
  const pipes = [0, 1, 2, 3].map(() => new Pipe())
  const workers = pipes.map((pipe) =>
    startWorker(({ aether: { native }, threads }, readEnd) => {
      let heard = 0
      const watcher = native.createWatcher(() => {
        native.drainPipe(readEnd)
        heard += 1
        if (heard === 50) watcher.close()
        else watcher.rearm(5)
        threads.parentPort?.postMessage(heard)
      })
      watcher.ref()
      watcher.add(5, readEnd)
      threads.parentPort?.postMessage(0)
    }, pipe.readEnd),
  )
  await Promise.all(
    workers.map(async (worker, index) => {
      worker.on('message', (heard: number) => {
        if (heard < 50) native.ringPipe(pipes[index]!.writeEnd)
      })
      const [code] = (await once(worker, 'exit')) as [number]
      assert.equal(code, 0)
    }),
  )
  for (const pipe of pipes) pipe[Symbol.dispose]()
})

test('what has no word is waited for by the event loop: there is no thread until one has', async () => {
  using pipe = new Pipe()
  using ears = listening()
  const before = watcherThreads()
  ears.watcher.add(1, pipe.readEnd)
  native.ringPipe(pipe.writeEnd)
  await until(() => ears.heard.length > 0)
  assert.equal(watcherThreads(), before)
  ears.watcher.add(2, pipe.readEnd, new Int32Array(new SharedArrayBuffer(4)))
  // A thread has the name of the one that started it until it has given itself its own.
  await until(() => watcherThreads() === before + 1)
  await until(() => ears.heard.length === 2)
  assert.deepEqual(ears.heard, [1, 2])
  ears.watcher.close()
  assert.equal(watcherThreads(), before)
})

/** Threads of this process that wait for descriptors. */
function watcherThreads(): number {
  const isOne = (id: string): boolean => {
    try {
      return readFileSync(`/proc/self/task/${id}/comm`, 'utf8') === 'aether-watcher\n'
    } catch {
      return false
    }
  }
  return readdirSync('/proc/self/task').filter(isOne).length
}

test('a watcher may be closed and collected while it reports', async () => {
  const outcome = await inChild(
    async ({ aether: { native } }) => {
      const [readEnd, writeEnd] = native.createPipe()
      native.ringPipe(writeEnd)
      for (let round = 0; round < 50; round += 1) {
        let heard = 0
        let watcher: ReturnType<typeof native.createWatcher> | undefined = native.createWatcher(() => {
          heard += 1
          watcher?.close()
          watcher = undefined
          queueMicrotask(() => globalThis.gc?.())
        })
        for (let token = 0; token < 8; token += 1) watcher.add(token, readEnd)
        while (heard === 0) await new Promise(setImmediate)
        if (heard > 1) console.log(`heard ${heard} times`)
      }
    },
    undefined,
    { flags: ['--expose-gc'] },
  )
  assert.deepEqual([outcome.code, outcome.signal, outcome.stdout, outcome.stderr], [0, null, '', ''])
})

test('a Worker is terminated while the event loop finds its descriptors readable', async () => {
  using pipe = new Pipe()
  native.ringPipe(pipe.writeEnd)
  for (let round = 0; round < 20; round += 1) {
    const worker = startWorker(({ aether: { native }, threads }, readEnd) => {
      let heard = 0
      const watcher = native.createWatcher((token) => {
        heard += 1
        if (heard === 100) threads.parentPort?.postMessage('often')
        watcher.rearm(token)
      })
      watcher.ref()
      for (let token = 0; token < 8; token += 1) watcher.add(token, readEnd)
    }, pipe.readEnd)
    await once(worker, 'message')
    await worker.terminate()
  }
})

test('a Worker is terminated while its watcher fires as fast as it can', async () => {
  using pipe = new Pipe()
  using memory = new Memory(pageBytes)
  const words = new Int32Array(memory.map(0, pageBytes))
  native.ringPipe(pipe.writeEnd)
  for (let round = 0; round < 20; round += 1) {
    const worker = startWorker(
      ({ aether: { native }, threads }, { readEnd, descriptor }) => {
        const watcher = native.createWatcher((token) => watcher.rearm(token))
        // Made after the watcher, so that the environment's end takes it away first.
        const own = new Int32Array(native.mapMemory(descriptor, 0, 4096, 0))
        for (let token = 0; token < 8; token += 1) watcher.add(token, readEnd, own, token)
        threads.parentPort?.postMessage('ready')
        setInterval(() => {}, 1000)
      },
      { readEnd: pipe.readEnd, descriptor: memory.descriptor },
    )
    await once(worker, 'message')
    const seen = Atomics.load(words, 0)
    await until(() => Atomics.load(words, 0) > seen)
    await worker.terminate()
  }
  native.unmapMemory(words.buffer)
})

for (const how of ['process.exit', 'the end of its work'] as const) {
  test(`a process ends by ${how} while its event loop finds descriptors readable`, async () => {
    for (let round = 0; round < 5; round += 1) {
      const outcome = await inChild(async ({ aether: { native } }, ending) => {
        const [readEnd, writeEnd] = native.createPipe()
        native.ringPipe(writeEnd)
        let heard = 0
        const watcher = native.createWatcher((token) => {
          heard += 1
          watcher.rearm(token)
        })
        for (let token = 0; token < 8; token += 1) watcher.add(token, readEnd)
        while (heard < 30) await new Promise((resolve) => setTimeout(resolve, 1))
        if (ending === 'process.exit') process.exit(0)
      }, how)
      assert.deepEqual([outcome.code, outcome.signal, outcome.stderr], [0, null, ''])
    }
  })
}

for (const how of ['process.exit', 'the end of its work'] as const) {
  test(`a process ends by ${how} while its watcher fires`, async () => {
    for (let round = 0; round < 5; round += 1) {
      const outcome = await inChild(async ({ aether: { native } }, ending) => {
        const [readEnd, writeEnd] = native.createPipe()
        native.ringPipe(writeEnd)
        const watcher = native.createWatcher((token) => watcher.rearm(token))
        const words = new Int32Array(native.mapMemory(native.createMemory('aether-test', 4096, 0), 0, 4096, 0))
        for (let token = 0; token < 8; token += 1) watcher.add(token, readEnd, words, token)
        while (Atomics.load(words, 0) < 3) await new Promise((resolve) => setTimeout(resolve, 1))
        if (ending === 'process.exit') process.exit(0)
      }, how)
      assert.deepEqual([outcome.code, outcome.signal, outcome.stderr], [0, null, ''])
    }
  })
}
