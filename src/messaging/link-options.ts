import { ArgumentError } from '../native/index.ts'
import { isRingLength } from './hello.ts'
import type { LendingMeans } from './memory-lending.ts'
import { RING_BYTES_MAX, RING_BYTES_MIN } from './ring-record.ts'
import { checkSendLimit, type SendLimit } from './send-limit.ts'

/**
 * How the event loop learns of what has come: `events`, it sleeps until there is something; `polling`, it looks in each
 * turn and never sleeps, at the cost of a processor; `adaptive`, it looks for some turns after each message, more after
 * short sleeps and fewer after long ones, and then sleeps.
 */
export type CompletionMode = 'events' | 'polling' | 'adaptive'

/** Of one end of one connection. */
export interface LinkOptions {
  /**
   * Of the ring in which this end receives: a power of two from 1 KiB to 256 MiB; default 256 KiB. Messages of the peer
   * up to half of it go through the ring.
   */
  readonly ringBytes?: number
  /**
   * Of the peer's ring this end uses at most so many bytes, since it mirrors them: the largest power of two in it;
   * default 16 MiB.
   */
  readonly peerRingBytesMax?: number
  /**
   * WRITEs of the peer that can wait to be looked at: 4 to 8192; default 256. Messages that leave in one turn share a
   * WRITE.
   */
  readonly receives?: number
  /** WRITEs and READs of this end that may be under way: 16 to 8192; default 256. */
  readonly sends?: number
  /** Default `adaptive`. */
  readonly completion?: CompletionMode
  /** Ask a silent peer whether it is there after so many milliseconds; 0: never. Default 5000. */
  readonly keepAliveMs?: number
  /** How long `close` waits for the peer to take what was sent; default 5000. */
  readonly closeTimeoutMs?: number
  /** How fast messages of this end may leave; default: without a limit. */
  readonly sendLimit?: SendLimit
  /**
   * Of the bytes that leave, beside other connections of this thread over the same device (or `domain`) with the same
   * priority: 1 to 16; default 1.
   */
  readonly weight?: number
  /**
   * By what memory is lent to the peer for a call; default `auto`: memory windows where the device has good ones,
   * registrations of the part elsewhere.
   */
  readonly lending?: LendingMeans | 'auto'
  /** 0 to 7; default 0. What has a higher one leaves first, always. */
  readonly priority?: number
}

export type LinkSettings = Required<LinkOptions>

/** What options are unless they are given. */
export interface LinkDefaults {
  readonly ringBytes: number
  readonly peerRingBytesMax: number
  readonly sends: number
}

const DEFAULTS: LinkDefaults = { ringBytes: 256 << 10, peerRingBytesMax: 16 << 20, sends: 256 }
/**
 * For ends of which there are a thousand: some 40 KiB each, and with 16 receives each no more completions than
 * soft-RoCE's queues hold (32,767).
 */
export const SHARING_DEFAULTS: LinkDefaults = { ringBytes: 16 << 10, peerRingBytesMax: 16 << 10, sends: 16 }
const DEFAULT_RECEIVES = 256
const REQUESTS_MAX = 8192
const DEFAULT_KEEP_ALIVE_MS = 5000
const DEFAULT_CLOSE_TIMEOUT_MS = 5000
const WEIGHT_MAX = 16
const PRIORITY_MAX = 7
const TIMER_MS_MAX = 2 ** 31 - 1

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
      `a ring has a power of two of bytes from ${RING_BYTES_MIN} to ${RING_BYTES_MAX}, not ${settings.ringBytes}`,
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
    throw new ArgumentError('lending', `'auto', 'window' or 'registration', not '${settings.lending}'`)
  if (!['events', 'polling', 'adaptive'].includes(settings.completion))
    throw new ArgumentError('completion', `completion is events, polling or adaptive, not ${settings.completion}`)
  return { ...settings, peerRingBytesMax: 2 ** Math.floor(Math.log2(settings.peerRingBytesMax)) }
}

function checkInteger(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw new ArgumentError(name, `${name} is an integer from ${least} to ${most}, not ${value}`)
}
