/**
 * What is made and given back many times leaves nothing: no descriptor, no mapping, no thread. Counted before and
 * after, once warm.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { native } from '../../src/native/index.ts'
import { inChild, startWorker, until } from './elsewhere.ts'
import { liveThreads, mappingsOf, openDescriptors, pageBytes } from './resources.ts'
import { userfaultRefused } from './toucher.ts'

/** Run `cycle` until what it leaves behind once is there, then `times` more, and compare. */
async function staysLevel(times: number, cycle: () => void | Promise<void>): Promise<void> {
  for (let round = 0; round < 3; round += 1) await cycle()
  await new Promise(setImmediate)
  const level = () => ({
    descriptors: openDescriptors(),
    mappings: mappingsOf('aether-leak'),
    threads: liveThreads(),
  })
  const before = level()
  for (let round = 0; round < times; round += 1) await cycle()
  // A thread that was joined may be listed by the kernel a moment longer.
  await until(() => liveThreads() <= before.threads)
  assert.deepEqual(level(), before)
}

test('memory objects and mappings', async () => {
  await staysLevel(500, () => {
    const descriptor = native.createMemory('aether-leak', 4 * pageBytes, 0)
    const copy = native.duplicateDescriptor(descriptor)
    const buffers = [0, 1, 2].map(() => native.mapMemory(descriptor, 0, 4 * pageBytes, 0))
    for (const buffer of buffers) native.unmapMemory(buffer)
    native.closeDescriptor(descriptor)
    native.closeDescriptor(copy)
  })
})

test('calls that fail', async () => {
  const descriptor = native.createMemory('aether-leak', pageBytes, 0)
  await staysLevel(500, () => {
    assert.throws(() => native.createMemory('aether-leak', 1, 2 ** 21))
    assert.throws(() => native.mapMemory(descriptor, 0, 2 * pageBytes, 0))
    assert.throws(() => native.reserveMemory(descriptor, 0, 2 ** 52))
    assert.throws(() => native.openProcess(2 ** 31 - 1))
    const watcher = native.createWatcher(() => {})
    assert.throws(() => watcher.add(1, descriptor))
    watcher.close()
  })
  native.closeDescriptor(descriptor)
})

test('views', async () => {
  const wasm = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })
  await staysLevel(500, () => {
    const descriptor = native.createMemory('aether-leak', 65_536, 0)
    native.mapView(wasm, 0, descriptor, 0, 65_536)
    native.mapView(wasm, 0, descriptor, 0, 32_768)
    native.unmapView(wasm, 0, 65_536)
    native.closeDescriptor(descriptor)
  })
})

test('userfaultfds', { skip: userfaultRefused() }, async () => {
  const wasm = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })
  const descriptor = native.createMemory('aether-leak', 65_536, 0)
  await staysLevel(200, () => {
    const userfault = native.openUserfault().descriptor
    const address = native.mapView(wasm, 0, descriptor, 0, 65_536)
    native.registerUserfault(userfault, address, 65_536)
    native.closeDescriptor(userfault)
    native.unmapView(wasm, 0, 65_536)
  })
  native.closeDescriptor(descriptor)
})

test('watchers, closed by hand', async () => {
  const [readEnd, writeEnd] = native.createPipe()
  native.ringPipe(writeEnd)
  const descriptor = native.createMemory('aether-leak', pageBytes, 0)
  await staysLevel(200, async () => {
    const words = new Int32Array(native.mapMemory(descriptor, 0, pageBytes, 0))
    let heard = 0
    const watcher = native.createWatcher(() => {
      heard += 1
    })
    for (let token = 0; token < 4; token += 1) watcher.add(token, readEnd, words, token)
    await until(() => heard === 4)
    watcher.remove(0)
    native.unmapMemory(words.buffer)
    watcher.close()
  })
  for (const each of [readEnd, writeEnd, descriptor]) native.closeDescriptor(each)
})

test('Workers that leave everything open', async () => {
  const descriptor = native.createMemory('aether-leak', 65_536, 0)
  const [readEnd, writeEnd] = native.createPipe()
  native.ringPipe(writeEnd)
  await staysLevel(15, async () => {
    const worker = startWorker(
      ({ aether: { native }, threads }, { memory, pipe }) => {
        const words = new Int32Array(native.mapMemory(memory, 0, 65_536, 0))
        native.mapView(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }), 0, memory, 0, 65_536)
        native.createWatcher((token) => threads.parentPort?.postMessage(token)).add(1, pipe, words)
      },
      { memory: descriptor, pipe: readEnd },
    )
    await once(worker, 'exit')
  })
  for (const each of [readEnd, writeEnd, descriptor]) native.closeDescriptor(each)
})

test('watchers and mappings that nobody refers to any more', async () => {
  const outcome = await inChild(
    async ({ aether: { native }, fs }) => {
      const level = () =>
        `${fs.readdirSync('/proc/self/fd').length} descriptors, ${fs.readdirSync('/proc/self/task').length} threads, ${
          fs.readFileSync('/proc/self/maps', 'utf8').split('/memfd:aether-leak').length - 1
        } mappings`
      const descriptor = native.createMemory('aether-leak', 4096, 0)
      const [readEnd] = native.createPipe()
      const collect = async (isEnough: () => boolean) => {
        for (let round = 0; round < 500 && !isEnough(); round += 1) {
          globalThis.gc?.()
          await new Promise(setImmediate)
        }
      }
      native.createWatcher(() => {}).close()
      await collect(() => false)
      const before = level()
      // A function of its own: this one is suspended below, and would hold on to its last watcher.
      const abandon = () => {
        const watcher = native.createWatcher(() => {})
        watcher.add(1, readEnd, new Int32Array(native.mapMemory(descriptor, 0, 4096, 0)))
        watcher.remove(1)
      }
      for (let cycle = 0; cycle < 50; cycle += 1) abandon()
      await collect(() => level() === before)
      if (level() !== before) throw new Error(`before: ${before}; after: ${level()}`)
    },
    undefined,
    { flags: ['--expose-gc'] },
  )
  assert.deepEqual([outcome.code, outcome.stderr], [0, ''])
})
