import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { ArgumentError, native } from '../../src/native/index.ts'
import { inChild, startWorker } from './elsewhere.ts'
import { Memory, pageBytes } from './resources.ts'

const wasmPageBytes = 65_536
const sharedMemory = (pages = 1) => new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })

test('a view is a SharedArrayBuffer over the object', () => {
  using memory = new Memory(wasmPageBytes)
  const frames = new Int32Array(memory.map(0, wasmPageBytes))
  const wasm = sharedMemory()
  const address = native.mapView(wasm, 0, memory.descriptor, 0, wasmPageBytes)
  const view = new Int32Array(wasm.buffer)
  assert.ok(wasm.buffer instanceof SharedArrayBuffer)
  assert.equal(address, native.addressOf(view))
  Atomics.store(frames, 5, 55)
  assert.equal(Atomics.load(view, 5), 55)
  Atomics.add(view, 5, 1)
  assert.equal(Atomics.load(frames, 5), 56)
  native.unmapView(wasm, 0, wasmPageBytes)
  native.unmapMemory(frames.buffer)
})

test('parts of several objects lie side by side in one memory', () => {
  using one = new Memory(2 * pageBytes)
  using other = new Memory(2 * pageBytes)
  const wasm = sharedMemory()
  native.mapView(wasm, 0, one.descriptor, pageBytes, pageBytes)
  native.mapView(wasm, pageBytes, other.descriptor, 0, 2 * pageBytes)
  const view = new Uint8Array(wasm.buffer)
  view[0] = 1
  view[pageBytes] = 2
  view[3 * pageBytes] = 3
  const first = new Uint8Array(one.map(0, 2 * pageBytes))
  const second = new Uint8Array(other.map(0, 2 * pageBytes))
  assert.deepEqual([first[0], first[pageBytes]], [0, 1])
  assert.equal(second[0], 2)
  assert.ok(!second.includes(3), 'what lies behind is the memory of the engine')
  native.unmapView(wasm, 0, 3 * pageBytes)
  native.unmapMemory(first.buffer)
  native.unmapMemory(second.buffer)
})

test('what is unmapped is private memory: a stray access is harmless, and seen by nobody', () => {
  using memory = new Memory(wasmPageBytes)
  const frames = new Uint8Array(memory.map(0, wasmPageBytes))
  const wasm = sharedMemory()
  native.mapView(wasm, 0, memory.descriptor, 0, wasmPageBytes)
  const view = new Uint8Array(wasm.buffer)
  frames.fill(9)
  native.unmapView(wasm, pageBytes, pageBytes)
  assert.equal(view[pageBytes], 0)
  view[pageBytes] = 4
  assert.equal(frames[pageBytes], 9)
  assert.equal(view[2 * pageBytes], 9, 'its neighbours stay')
  native.unmapView(wasm, 0, wasmPageBytes)
  native.unmapView(wasm, 0, wasmPageBytes)
  assert.equal(view[0], 0)
  native.unmapMemory(frames.buffer)
})

test('a Worker that was given the view sees the same memory, unmapping included', async () => {
  using memory = new Memory(wasmPageBytes)
  const frames = new Int32Array(memory.map(0, wasmPageBytes))
  const wasm = sharedMemory()
  native.mapView(wasm, 0, memory.descriptor, 0, wasmPageBytes)
  const worker = startWorker(({ threads }, buffer) => {
    const view = new Int32Array(buffer)
    threads.parentPort?.on('message', () => threads.parentPort?.postMessage(Atomics.add(view, 3, 1)))
  }, wasm.buffer)
  const ask = async () => {
    worker.postMessage('go')
    return ((await once(worker, 'message')) as [number])[0]
  }
  Atomics.store(frames, 3, 70)
  assert.equal(await ask(), 70)
  assert.equal(Atomics.load(frames, 3), 71)
  native.unmapView(wasm, 0, wasmPageBytes)
  assert.equal(await ask(), 0)
  assert.equal(Atomics.load(frames, 3), 71)
  await worker.terminate()
  native.unmapMemory(frames.buffer)
})

test('only a shared WebAssembly.Memory takes a view, whatever else looks like one', () => {
  using memory = new Memory(wasmPageBytes)
  const shared = new SharedArrayBuffer(wasmPageBytes)
  const lookalike = Object.create(WebAssembly.Memory.prototype, { buffer: { value: shared } }) as WebAssembly.Memory
  const disguised = Object.defineProperty(sharedMemory(), 'buffer', { value: shared })
  const privateMemory = new WebAssembly.Memory({ initial: 1 })
  for (const wrong of [shared, lookalike, privateMemory, {}, undefined, new Proxy(sharedMemory(), {})])
    assert.throws(
      () => native.mapView(wrong as WebAssembly.Memory, 0, memory.descriptor, 0, pageBytes),
      /memory must be a WebAssembly.Memory with shared: true/,
    )
  native.mapView(disguised, 0, memory.descriptor, 0, pageBytes)
  assert.equal(native.addressOf(shared) === native.mapView(disguised, 0, memory.descriptor, 0, pageBytes), false)
  native.unmapView(disguised, 0, pageBytes)
})

test('a view lies within its memory and within its object', () => {
  using memory = new Memory(2 * wasmPageBytes)
  const wasm = sharedMemory()
  const { descriptor } = memory
  const refused: [number, number, number][] = [
    [0, 0, wasmPageBytes + pageBytes],
    [wasmPageBytes, 0, pageBytes],
    [1, 0, pageBytes],
    [0, 1, pageBytes],
    [0, 0, pageBytes + 1],
    [0, 0, 0],
    [0, 2 * wasmPageBytes, pageBytes],
    [Number.MAX_SAFE_INTEGER - 4095, 0, pageBytes],
  ]
  for (const [viewOffset, offset, length] of refused)
    assert.throws(() => native.mapView(wasm, viewOffset, descriptor, offset, length), ArgumentError)
  assert.throws(() => native.unmapView(wasm, 0, wasmPageBytes + pageBytes), ArgumentError)
  assert.throws(() => native.mapView(wasm, 0, 1_000_000, 0, pageBytes), /EBADF/)
})

test('a memory with a view in it is kept; without one it is collected', async () => {
  const outcome = await inChild(
    async ({ aether: { native } }) => {
      const collect = globalThis.gc
      if (collect === undefined) throw new Error('started without --expose-gc')
      const descriptor = native.createMemory('aether-test', 65_536, 0)
      let collected = 0
      const registry = new FinalizationRegistry(() => {
        collected += 1
      })
      const make = (keepView: boolean) => {
        const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })
        registry.register(memory, undefined)
        const address = native.mapView(memory, 0, descriptor, 0, 65_536)
        if (!keepView) native.unmapView(memory, 0, 65_536)
        return address
      }
      const kept = make(true)
      const dropped = make(false)
      for (let round = 0; round < 200 && collected === 0; round += 1) {
        collect()
        await new Promise(setImmediate)
      }
      if (collected !== 1) throw new Error(`${collected} memories were collected`)
      if (native.zapPages(kept, 65_536) !== 0) throw new Error('the view that is kept cannot be used')
      try {
        native.zapPages(dropped, 65_536)
      } catch {
        return
      }
      throw new Error('what was a view is still taken for one')
    },
    undefined,
    { flags: ['--expose-gc'] },
  )
  assert.deepEqual([outcome.code, outcome.stderr], [0, ''])
})

test('the end of an environment ends its claim to the views that it laid', async () => {
  using memory = new Memory(wasmPageBytes)
  const worker = startWorker(({ aether: { native }, threads }, descriptor) => {
    const wasm = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })
    threads.parentPort?.postMessage(native.mapView(wasm, 0, descriptor, 0, 65_536))
  }, memory.descriptor)
  // Both may come in one turn of the event loop.
  const ended = once(worker, 'exit')
  const [address] = (await once(worker, 'message')) as [number]
  await ended
  assert.throws(() => native.zapPages(address, wasmPageBytes), ArgumentError)
})
