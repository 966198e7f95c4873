import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'
import workers, { type WorkerOptions } from 'node:worker_threads'
import type { JournalStart } from 'aether-dsm/internal/consensus'
import { programNow, type SimulatedProgram } from './simulated-program.ts'

/** When simulations begin, in milliseconds since 1970. */
const EPOCH_MS = 1_700_000_000_000
const DELAY_NS_MAX = 50_000
const IMMEDIATE_NS_MAX = 2000

/** A timer of a program. */
class VirtualTimer {
  isOver = false

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return false
  }

  close(): this {
    this.isOver = true
    return this
  }

  [Symbol.dispose](): void {
    this.isOver = true
  }
}

type Run = (...args: unknown[]) => void

function start(program: SimulatedProgram, delayMs: unknown, run: () => void, again: boolean): VirtualTimer {
  const timer = new VirtualTimer()
  const ns = Math.max(Number(delayMs) || 0, 1) * 1e6
  const set = (): void =>
    program.after(ns + program.draws.below(DELAY_NS_MAX), () => {
      if (timer.isOver) return
      if (again) set()
      else timer.isOver = true
      run()
    })
  set()
  return timer
}

function soon(program: SimulatedProgram, run: () => void): VirtualTimer {
  const timer = new VirtualTimer()
  program.after(program.draws.below(IMMEDIATE_NS_MAX), () => {
    if (!timer.isOver) run()
  })
  return timer
}

/** Resolves when that has called its parameter; rejects before, if the signal aborts. */
function promised<T>(
  value: T,
  { signal }: { readonly signal?: AbortSignal },
  begin: (run: () => void) => VirtualTimer,
): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const aborted = (): void => {
      timer.isOver = true
      reject(signal!.reason)
    }
    const timer = begin(() => {
      signal?.removeEventListener('abort', aborted)
      resolve(value)
    })
    signal?.addEventListener('abort', aborted, { once: true })
  })
}

let isInstalled = false

/**
 * From now on the clock, the timers, the threads and the random numbers of Node.js are those of the
 * {@link SimulatedProgram} that asks. All else in this process has those of before.
 */
export function installVirtualTime(): void {
  if (isInstalled) return
  isInstalled = true
  installClocks()
  installTimers()
  const { randomInt } = crypto
  const drawn = (...args: unknown[]): unknown => {
    const program = programNow()
    if (program === undefined) return (randomInt as unknown as (...args: unknown[]) => unknown)(...args)
    const [low, high] = args.length === 1 ? [0, Number(args[0])] : [Number(args[0]), Number(args[1])]
    const part = program.draws.below(2 ** 24) * 2 ** 24 + program.draws.below(2 ** 24)
    return low + (part % (high - low))
  }
  Object.assign(crypto, { randomInt: drawn })
  installThreads()
  syncBuiltinESMExports()
}

function installClocks(): void {
  const realNow = performance.now.bind(performance)
  const realDate = Date.now
  performance.now = () => programNow()?.nowMs ?? realNow()
  Date.now = () => {
    const program = programNow()
    return program === undefined ? realDate() : EPOCH_MS + Math.floor(program.nowMs)
  }
}

/** The one thread that programs start is that of a log. */
function installThreads(): void {
  const construct = (real: typeof workers.Worker, [url, options]: [URL, WorkerOptions]): object =>
    programNow()?.startJournal(options.workerData as JournalStart) ?? new real(url, options)
  Object.assign(workers, { Worker: new Proxy(workers.Worker, { construct }) })
}

function installTimers(): void {
  const real = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate }
  const starting = (name: 'setTimeout' | 'setInterval') =>
    Object.assign((run: Run, delayMs: unknown, ...args: unknown[]): unknown => {
      const program = programNow()
      if (program === undefined) return (real[name] as (...all: unknown[]) => unknown)(run, delayMs, ...args)
      return start(program, delayMs, () => run(...args), name === 'setInterval')
    }, real[name])
  const clearing = (name: 'clearTimeout' | 'clearInterval' | 'clearImmediate') => (timer: unknown) => {
    if (timer instanceof VirtualTimer) timer.isOver = true
    else (real[name] as (timer: unknown) => void)(timer)
  }
  const immediately = Object.assign((run: Run, ...args: unknown[]): unknown => {
    const program = programNow()
    if (program === undefined) return (real.setImmediate as (...all: unknown[]) => unknown)(run, ...args)
    return soon(program, () => run(...args))
  }, real.setImmediate)
  Object.assign(globalThis, {
    setTimeout: starting('setTimeout'),
    setInterval: starting('setInterval'),
    setImmediate: immediately,
    clearTimeout: clearing('clearTimeout'),
    clearInterval: clearing('clearInterval'),
    clearImmediate: clearing('clearImmediate'),
  })
  const slept = timersPromises.setTimeout
  const turned = timersPromises.setImmediate
  type Options = { readonly signal?: AbortSignal }
  Object.assign(timersPromises, {
    setTimeout: (delayMs?: number, value?: unknown, options: Options = {}) => {
      const program = programNow()
      if (program === undefined) return slept(delayMs, value, options)
      return promised(value, options, (run) => start(program, delayMs, run, false))
    },
    setImmediate: (value?: unknown, options: Options = {}) => {
      const program = programNow()
      return program === undefined ? turned(value, options) : promised(value, options, (run) => soon(program, run))
    },
  })
  const timedOut = AbortSignal.timeout.bind(AbortSignal)
  AbortSignal.timeout = (delayMs) => {
    const program = programNow()
    if (program === undefined) return timedOut(delayMs)
    const controller = new AbortController()
    const late = (): void =>
      controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
    start(program, delayMs, late, false)
    return controller.signal
  }
}
