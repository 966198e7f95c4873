import { ArgumentError, checkBoolean, checkFunction, checkWhole } from '../../native/index.ts'
import type { Kernel } from './kernel.ts'
import { checkTime } from './numbers.ts'
import type { AdapterOptions } from './options.ts'
import { Process } from './process.ts'

/** Descriptors are of type int. */
const DESCRIPTOR_MAX = 2 ** 31 - 1

/** Told what happens to a host, so that its devices can report it. */
export interface HostListener {
  /** Call `ready` once when the descriptor is readable; undefined if it does not belong to the device. */
  whenReadable(descriptor: number, ready: () => void): (() => void) | undefined
  linkChanged(up: boolean): void
  crashed(): void
}

/** One machine: a processor, an adapter, a link. Faults change its state; its users read that state and act on it. */
export class Host {
  readonly index: number
  /** @internal */
  readonly kernel: Kernel
  readonly adapter: AdapterOptions
  /** @internal True while the adapter reads and writes memory. */
  memoryAnswers = true
  /** @internal */
  losesWakeups = false
  /** @internal It stops in the middle of the next WRITE that arrives from it. */
  stopsInWrite = false
  /** @internal Moments at which its memory may have changed: for those who look on, and compare it with before. */
  changes = 0
  /** @internal The factor by which everything that the adapter does is slower. */
  slowness = 1
  /** @internal */
  readonly listeners: Set<HostListener> = new Set<HostListener>()
  readonly #processes: Process[] = []
  /** The time when the link is free for the next packet. */
  #transmitFreeNs = 0
  #paused = false
  #alive = true
  #serving = true
  #linkUp = true
  /** The rest of a WRITE in whose middle the processor is stopped. */
  #unfinished: (() => void) | undefined

  /** @internal */
  constructor(index: number, kernel: Kernel, adapter: AdapterOptions) {
    this.index = index
    this.kernel = kernel
    this.adapter = adapter
  }

  /** True while the process lives. */
  get alive(): boolean {
    return this.#alive
  }

  /** True while the adapter sends and serves; even for a while after a crash, if a fault says so. */
  get serving(): boolean {
    return this.#serving
  }

  get linkUp(): boolean {
    return this.#linkUp
  }

  get paused(): boolean {
    return this.#paused
  }

  /** A program that runs on this host's processor; see {@link Process}. */
  spawn(step: () => void): Process {
    checkFunction('step', step, 'without parameters')
    const process = new Process(this, step)
    this.#processes.push(process)
    return process
  }

  /**
   * Call `ready` once, within the simulation, when a descriptor of this host is readable: that of a completion channel
   * or of asynchronous events. Returns a function that cancels it.
   */
  whenReadable(descriptor: number, ready: () => void): () => void {
    checkWhole('descriptor', descriptor, 0, DESCRIPTOR_MAX)
    checkFunction('ready', ready, 'without parameters')
    for (const listener of this.listeners) {
      const cancel = listener.whenReadable(descriptor, ready)
      if (cancel !== undefined) return cancel
    }
    throw new ArgumentError(
      'descriptor',
      `no device of host ${this.index} has descriptor ${descriptor}; pass that of a completion channel`,
    )
  }

  /** `inWrite`: not now, but in the middle of the next WRITE that arrives from here. */
  pause(inWrite = false): void {
    checkBoolean('inWrite', inWrite)
    this.#paused = !inWrite
    this.stopsInWrite = inWrite
  }

  resume(): void {
    this.#paused = false
    this.stopsInWrite = false
    const finish = this.#unfinished
    this.#unfinished = undefined
    if (this.#alive) finish?.()
    for (const process of this.#processes) process.resumed()
  }

  setLink(up: boolean): void {
    checkBoolean('up', up)
    this.#linkUp = up
    for (const listener of this.listeners) listener.linkChanged(up)
  }

  crash(keepsMemory: boolean, lingerNs: number): void {
    checkBoolean('keepsMemory', keepsMemory)
    checkTime('lingerNs', lingerNs)
    if (!this.alive) return
    this.#alive = false
    if (keepsMemory) return
    if (lingerNs > 0) this.kernel.after(lingerNs, () => this.#end())
    else this.#end()
  }

  /** @internal The processor is stopped in the middle of a WRITE. */
  get isInWrite(): boolean {
    return this.#alive && this.#unfinished !== undefined
  }

  /** @internal It has stopped: `rest` follows when it goes on. */
  stopInWrite(rest: () => void): void {
    this.stopsInWrite = false
    this.#paused = true
    this.#unfinished = rest
  }

  /** @internal How long the adapter needs for what otherwise takes `ns`. */
  adapterNs(ns: number): number {
    return ns * this.slowness
  }

  /** @internal Put a packet on the link, not before `fromNs`. Returns the time when it is on its way. */
  transmit(fromNs: number, wireNs: number): number {
    this.#transmitFreeNs = Math.max(fromNs, this.#transmitFreeNs) + wireNs * this.slowness
    return this.#transmitFreeNs
  }

  #end(): void {
    this.#serving = false
    for (const listener of [...this.listeners]) listener.crashed()
  }
}
