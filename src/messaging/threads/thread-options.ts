import { availableParallelism } from 'node:os'
import {
  ArgumentError,
  checkFunction,
  checkOptions,
  mustBe,
  native,
  type OptionNames,
  TIMER_MS_MAX,
} from '../../native/index.ts'
import { AffinityError, type IoThreadError } from './errors.ts'

/** When an ended thread is started again. */
interface RestartOptions {
  /**
   * The delay before the first restart, in milliseconds. It doubles each time the thread has ended soon. Default 50.
   */
  readonly delayMs?: number
  /** The longest delay, in milliseconds; default 5000. A thread that has run for longer starts with `delayMs` again. */
  readonly delayMsMax?: number
}

/** The threads that serve the connections of a listener. */
export interface IoThreadOptions {
  /** The module that each thread loads for itself. What it must export depends on what is served. */
  readonly module: URL | string
  /**
   * 1 to 256. Default: one for each entry of `cpus`; without `cpus`, one for each processor except one, which is left
   * to the caller's thread.
   */
  readonly count?: number
  /**
   * The processor, or processors, of thread 0, 1, and so on. With fewer entries than threads, it starts over. Default:
   * those of the caller's thread.
   */
  readonly cpus?: readonly (number | readonly number[])[]
  /** Passed to each thread by structured clone, as `thread.data`; SharedArrayBuffers are shared. */
  readonly data?: unknown
  /** How an ended thread is restarted; false: never. Default: it is restarted. */
  readonly restart?: RestartOptions | boolean
  /** How long a thread may take to load its module; default 30,000. */
  readonly startTimeoutMs?: number
  /** Called when a thread has ended with its connections. Others go on. Default: a warning of the process. */
  readonly failed?: (error: IoThreadError) => void
}

/** The same options, checked and complete. */
export interface ThreadSettings {
  readonly moduleUrl: string
  readonly count: number
  /** One entry for each thread; empty: the processors of the caller's thread. */
  readonly cpus: readonly (readonly number[])[]
  readonly data: unknown
  readonly restart: Required<RestartOptions> | undefined
  readonly startTimeoutMs: number
  readonly failed: (error: IoThreadError) => void
}

const threadNames: OptionNames<IoThreadOptions> = {
  module: true,
  count: true,
  cpus: true,
  data: true,
  restart: true,
  startTimeoutMs: true,
  failed: true,
}
const restartNames: OptionNames<RestartOptions> = { delayMs: true, delayMsMax: true }

const THREADS_MAX = 256
const DEFAULT_DELAY_MS = 50
const DEFAULT_DELAY_MS_MAX = 5000
const DEFAULT_START_TIMEOUT_MS = 30_000

/** Check the options of `call`. @throws ArgumentError; AffinityError, which names the processors that can be used. */
export function threadSettings(call: string, options: IoThreadOptions): ThreadSettings {
  if (options === undefined) throw mustBe('threads', 'an object such as { module }', options)
  checkOptions(call, options, threadNames, 'threads')
  const { module, cpus = [], data, restart = true, startTimeoutMs = DEFAULT_START_TIMEOUT_MS } = options
  if (!Array.isArray(cpus)) throw mustBe('threads.cpus', 'an array of processor numbers, or of lists of them', cpus)
  if (options.failed !== undefined) checkFunction('threads.failed', options.failed, 'that takes the error')
  const processors = cpus.map((each) => (typeof each === 'number' ? [each] : Array.isArray(each) ? [...each] : []))
  const count = options.count ?? (processors.length > 0 ? processors.length : Math.max(1, availableParallelism() - 1))
  checkInteger('threads.count', count, 1, THREADS_MAX)
  checkInteger('threads.startTimeoutMs', startTimeoutMs, 1, TIMER_MS_MAX)
  checkProcessors(processors)
  return {
    moduleUrl: urlOf(module),
    count,
    cpus: Array.from({ length: count }, (_, index) => processors[index % processors.length] ?? []),
    data,
    restart: restart === false ? undefined : delays(call, restart === true ? {} : restart),
    startTimeoutMs,
    failed: options.failed ?? ((error) => process.emitWarning(error)),
  }
}

function delays(call: string, options: RestartOptions): Required<RestartOptions> {
  checkOptions(call, options, restartNames, 'threads.restart')
  const { delayMs = DEFAULT_DELAY_MS, delayMsMax = DEFAULT_DELAY_MS_MAX } = options
  checkInteger('threads.restart.delayMs', delayMs, 1, TIMER_MS_MAX)
  checkInteger('threads.restart.delayMsMax', delayMsMax, delayMs, TIMER_MS_MAX)
  return { delayMs, delayMsMax }
}

function urlOf(module: URL | string): string {
  try {
    return new URL(module).href
  } catch (cause) {
    const advice = "new URL('./handlers.js', import.meta.url)"
    throw new ArgumentError('threads.module', `module must be a URL: ${advice}, not ${String(module)}`, {
      cause,
    })
  }
}

function checkProcessors(cpus: readonly (readonly number[])[]): void {
  if (cpus.some((each) => each.length === 0))
    throw new ArgumentError('threads.cpus', 'each entry of cpus must be a processor number or a list of them')
  const named = [...new Set(cpus.flat())]
  const allowed = named.length === 0 ? [] : [...native.allowedProcessors()]
  const wrong = named.filter((each) => !allowed.includes(each))
  if (wrong.length > 0) throw new AffinityError(wrong, allowed)
}

function checkInteger(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw mustBe(name, `an integer from ${least} to ${most}`, value)
}
