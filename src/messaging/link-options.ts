import { ArgumentError, mustBe, type OptionNames, shown, TIMER_MS_MAX } from '../native/index.ts'
import { isRingLength } from './hello.ts'
import type { LendingMeans } from './memory-lending.ts'
import { RING_BYTES_MAX, RING_BYTES_MIN } from './ring-record.ts'
import { checkSendLimit, type SendLimit } from './send-limit.ts'

/**
 * How the event loop learns of what has come:
 *
 * - `events`: it sleeps until there is something.
 * - `polling`: it looks in each turn and never sleeps, at the cost of a processor.
 * - `adaptive`: after each message it looks for about as long as two wake-ups take (0.05 to 0.25 ms), and then sleeps.
 *   If looking costs more time than it saves, it sleeps at once.
 */
export type CompletionMode = 'events' | 'polling' | 'adaptive'

/** Options of one end of one connection. */
export interface LinkOptions {
  /**
   * Length of the ring in which this end receives: a power of two from 1 KiB to 256 MiB; default 256 KiB. Messages of
   * the peer up to half of it go through the ring.
   */
  readonly ringBytes?: number
  /**
   * How many bytes of the peer's ring this end uses at most, since it mirrors them: the largest power of two in it.
   * Default 16 MiB.
   */
  readonly peerRingBytesMax?: number
  /**
   * How many WRITEs of the peer can wait to be processed, 4 to 8192; default 256. Messages that leave in one turn share
   * a WRITE.
   */
  readonly receives?: number
  /** WRITEs and READs of this end that may be under way, 16 to 8192; default 256. */
  readonly sends?: number
  /** Default `adaptive`. */
  readonly completion?: CompletionMode
  /** Ask a silent peer whether it is there after this many milliseconds; 0: never. Default 5000. */
  readonly keepAliveMs?: number
  /** How long `close` waits for the peer to take what was sent; default 5000. */
  readonly closeTimeoutMs?: number
  /** How fast messages of this end may leave. Default: no limit. */
  readonly sendLimit?: SendLimit
  /**
   * The share of leaving bytes, relative to this thread's other connections of the same priority over the same device
   * (or `domain`). From 1 to 16. Default 1.
   */
  readonly weight?: number
  /**
   * How memory is lent to the peer for a call. Default `auto`: memory windows if the device has good ones, otherwise
   * registrations of the part.
   */
  readonly lending?: LendingMeans | 'auto'
  /** 0 to 7; default 0. A higher priority always leaves first. */
  readonly priority?: number
}

/** The names of options that several calls share. Each call checks its own, since the one below it knows fewer. */
export const linkNames: OptionNames<LinkOptions> = {
  ringBytes: true,
  peerRingBytesMax: true,
  receives: true,
  sends: true,
  completion: true,
  keepAliveMs: true,
  closeTimeoutMs: true,
  sendLimit: true,
  weight: true,
  priority: true,
  lending: true,
}

export type LinkSettings = Required<LinkOptions>

/** The defaults of the options. */
export interface LinkDefaults {
  readonly ringBytes: number
  readonly peerRingBytesMax: number
  readonly sends: number
}

const DEFAULTS: LinkDefaults = { ringBytes: 256 << 10, peerRingBytesMax: 16 << 20, sends: 256 }
/**
 * For ends of which there are a thousand: about 40 KiB each. With 16 receives each, they need no more completions than
 * soft-RoCE's queues hold (32,767).
 */
export const SHARING_DEFAULTS: LinkDefaults = { ringBytes: 16 << 10, peerRingBytesMax: 16 << 10, sends: 16 }
const DEFAULT_RECEIVES = 256
const REQUESTS_MAX = 8192
const DEFAULT_KEEP_ALIVE_MS = 5000
const DEFAULT_CLOSE_TIMEOUT_MS = 5000
const WEIGHT_MAX = 16
const PRIORITY_MAX = 7

export function linkSettings(options: LinkOptions, defaults: LinkDefaults = DEFAULTS): LinkSettings {
  const settings: LinkSettings = {
    ringBytes: options.ringBytes ?? defaults.ringBytes,
    peerRingBytesMax: options.peerRingBytesMax ?? defaults.peerRingBytesMax,
    receives: options.receives ?? DEFAULT_RECEIVES,
    sends: options.sends ?? defaults.sends,
    completion: options.completion ?? 'adaptive',
    keepAliveMs: options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS,
    closeTimeoutMs: options.closeTimeoutMs ?? DEFAULT_CLOSE_TIMEOUT_MS,
    sendLimit: options.sendLimit ?? {},
    weight: options.weight ?? 1,
    priority: options.priority ?? 0,
    lending: options.lending ?? 'auto',
  }
  if (!isRingLength(settings.ringBytes))
    throw new ArgumentError(
      'ringBytes',
      `ringBytes must be a power of two from ${RING_BYTES_MIN} to ${RING_BYTES_MAX}, not ${shown(settings.ringBytes)}`,
    )
  checkInteger('peerRingBytesMax', settings.peerRingBytesMax, RING_BYTES_MIN, RING_BYTES_MAX)
  checkInteger('receives', settings.receives, 4, REQUESTS_MAX)
  checkInteger('sends', settings.sends, 16, REQUESTS_MAX)
  checkInteger('keepAliveMs', settings.keepAliveMs, 0, TIMER_MS_MAX)
  checkInteger('closeTimeoutMs', settings.closeTimeoutMs, 1, TIMER_MS_MAX)
  checkSendLimit(settings.sendLimit)
  checkInteger('weight', settings.weight, 1, WEIGHT_MAX)
  checkInteger('priority', settings.priority, 0, PRIORITY_MAX)
  if (!['auto', 'window', 'registration'].includes(settings.lending))
    throw mustBe('lending', `'auto', 'window' or 'registration'`, settings.lending)
  if (!['events', 'polling', 'adaptive'].includes(settings.completion))
    throw mustBe('completion', `'events', 'polling' or 'adaptive'`, settings.completion)
  return { ...settings, peerRingBytesMax: 2 ** Math.floor(Math.log2(settings.peerRingBytesMax)) }
}

function checkInteger(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw mustBe(name, `an integer from ${least} to ${most}`, value)
}
