/** A thread that touches a view when it is told to, and so takes the page faults that a test handles. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { FAULT_NUMBERS, native, type UserfaultDescription } from '../../src/native/index.ts'
import { startWorker } from './elsewhere.ts'
import { Memory, pageBytes } from './resources.ts'

/** Generous: it only bounds a hang. */
const patienceMs = 20_000

// Words of the control block: which touch is asked for, which one is done, and its operands.
const asked = 0
const done = 1
const operation = 2
const wordIndex = 3
const operand = 4
const result = 5

export interface Fault {
  readonly address: number
  readonly flags: number
  readonly threadId: number
}

export class Toucher {
  readonly #worker: Worker
  readonly #control: Int32Array
  readonly threadId: number

  private constructor(worker: Worker, control: Int32Array, threadId: number) {
    this.#worker = worker
    this.#control = control
    this.threadId = threadId
  }

  static async start(view: SharedArrayBuffer): Promise<Toucher> {
    const control = new Int32Array(new SharedArrayBuffer(64))
    const worker = startWorker(
      ({ aether, threads }, shared) => {
        const words = new Int32Array(shared.view)
        const orders = shared.control
        threads.parentPort?.postMessage(aether.native.threadId())
        for (let turn = 0; ; turn += 1) {
          Atomics.wait(orders, 0, turn)
          const index = Atomics.load(orders, 3)
          const write = Atomics.load(orders, 2) === 1
          if (index < 0) return
          Atomics.store(
            orders,
            5,
            write ? Atomics.store(words, index, Atomics.load(orders, 4)) : Atomics.load(words, index),
          )
          Atomics.add(orders, 1, 1)
          Atomics.notify(orders, 1)
        }
      },
      { view, control },
    )
    const [threadId] = (await once(worker, 'message')) as [number]
    return new Toucher(worker, control, threadId)
  }

  #ask(kind: number, index: number, value: number): void {
    assert.equal(this.isDone(), true, 'one touch at a time')
    Atomics.store(this.#control, operation, kind)
    Atomics.store(this.#control, wordIndex, index)
    Atomics.store(this.#control, operand, value)
    Atomics.add(this.#control, asked, 1)
    Atomics.notify(this.#control, asked)
  }

  read(index: number): void {
    this.#ask(0, index, 0)
  }

  write(index: number, value: number): void {
    this.#ask(1, index, value)
  }

  isDone(): boolean {
    return Atomics.load(this.#control, done) === Atomics.load(this.#control, asked)
  }

  /** Wait for the touch that was asked for, and return what it read. */
  finish(): number {
    const before = Atomics.load(this.#control, asked) - 1
    // The thread may still be about to tell of the touch before.
    while (!this.isDone()) {
      const woken = Atomics.wait(this.#control, done, before, patienceMs)
      assert.notEqual(woken, 'timed-out', 'the touch does not come to its end')
    }
    return Atomics.load(this.#control, result)
  }

  /** End the thread. What it waits for must be over, or the userfaultfd closed. */
  async stop(): Promise<void> {
    if (this.isDone()) this.#ask(0, -1, 0)
    await this.#worker.terminate()
  }
}

/** A memory object seen twice: `frames` always, `view` under a userfaultfd; and a thread that touches the view. */
export class Stage implements AsyncDisposable {
  readonly userfault: UserfaultDescription
  readonly memory: Memory
  readonly lengthBytes: number
  readonly frames: Int32Array
  readonly wasm: WebAssembly.Memory
  /** Where the view begins. */
  readonly address: number
  readonly toucher: Toucher

  private constructor(userfault: UserfaultDescription, pages: number, wasm: WebAssembly.Memory, toucher: Toucher) {
    this.userfault = userfault
    this.lengthBytes = pages * pageBytes
    this.memory = new Memory(this.lengthBytes)
    this.frames = new Int32Array(this.memory.map(0, this.lengthBytes))
    this.wasm = wasm
    this.address = native.mapView(wasm, 0, this.memory.descriptor, 0, this.lengthBytes)
    native.registerUserfault(userfault.descriptor, this.address, this.lengthBytes)
    this.toucher = toucher
  }

  static async open(pages: number): Promise<Stage> {
    const userfault = native.openUserfault()
    const wasm = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })
    return new Stage(userfault, pages, wasm, await Toucher.start(wasm.buffer as SharedArrayBuffer))
  }

  get descriptor(): number {
    return this.userfault.descriptor
  }

  /** Where a page of the view begins. */
  page(index: number): number {
    return this.address + index * pageBytes
  }

  /** The next fault; there is one only. */
  fault(): Fault {
    const ready = new Int32Array(1)
    assert.equal(native.poll(Int32Array.of(this.descriptor), ready, 1, patienceMs), 1, 'a fault comes')
    const out = new Float64Array(2 * FAULT_NUMBERS)
    assert.equal(native.takeFaults(this.descriptor, out), 1)
    const [address = 0, flags = 0, threadId = 0] = out
    return { address, flags, threadId }
  }

  noFault(): void {
    assert.equal(native.takeFaults(this.descriptor, new Float64Array(2 * FAULT_NUMBERS)), 0, 'no fault is waiting')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Whoever waits for a fault goes on once the userfaultfd is closed.
    native.closeDescriptor(this.descriptor)
    await this.toucher.stop()
    native.unmapView(this.wasm, 0, this.lengthBytes)
    native.unmapMemory(this.frames.buffer as ArrayBuffer)
    this.memory[Symbol.dispose]()
  }
}

/** Why views cannot be governed here, or `false`. */
export function userfaultRefused(): string | false {
  try {
    native.closeDescriptor(native.openUserfault().descriptor)
    return false
  } catch (error) {
    return `userfaultfd is refused here: ${error instanceof Error ? error.message : error}`
  }
}
