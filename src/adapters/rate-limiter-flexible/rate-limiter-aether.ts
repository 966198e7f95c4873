import { createRequire } from 'node:module'
import { type IRateLimiterStoreOptions, RateLimiterRes, type RateLimiterStoreAbstract } from 'rate-limiter-flexible'
import { checkText, mustBe, native } from '../../native/index.ts'
import type { SharedMap, Structures } from '../../structures/index.ts'
import { checkWhere } from '../lease.ts'
import { LeasedMap } from '../leased-map.ts'
import { type Consumed, consumed } from './consumed.ts'

/** Options of rate-limiter-flexible; those that name a database's tables have no effect here. */
export interface RateLimiterAetherOptions extends Omit<IRateLimiterStoreOptions, 'storeClient'> {
  /**
   * The name of a space, which this process enters now; or open structures, which the caller has to
   * close.
   */
  readonly storeClient: string | Structures
  /**
   * The map that holds the points of all limiters that share it: `keyPrefix` tells them apart. Default `'rate-limits'`.
   */
  readonly tableName?: string
}

/** The types say what the limiter's base class requires of a store, but the class itself is only in its own file. */
const Base: typeof RateLimiterStoreAbstract = createRequire(import.meta.url)(
  'rate-limiter-flexible/lib/RateLimiterStoreAbstract.js',
)

/**
 * Points by key in windows of time, counted exactly over all processes. Each change is one compare-and-set, so the
 * count stays exact if a process is killed. Windows are measured by the machine's monotonic clock: changing the time of
 * day does not change their length.
 */
export class RateLimiterAether extends Base {
  declare readonly points: number
  readonly #map: LeasedMap<Consumed>

  constructor(options: RateLimiterAetherOptions) {
    checkLimiter(options)
    super(options)
    this.#map = new LeasedMap(options.storeClient, options.tableName ?? 'rate-limits', { codec: consumed })
  }

  /**
   * Resolves when the space is open: from then on this process keeps what is in it. Await it before you announce that
   * the process is ready.
   */
  async ready(): Promise<void> {
    await this.#map.open()
  }

  /** Release the space, if it was named. The points stay while another process has the space open. */
  async close(): Promise<void> {
    await this.#map.close()
  }

  /** @internal Called by the base class, as those below. */
  async _get(key: string): Promise<Consumed | null> {
    return (await this.#map.open()).getSync(key) ?? null
  }

  /** @internal */
  async _delete(key: string): Promise<boolean> {
    return (await this.#map.open()).deleteSync(key)
  }

  /**
   * @internal Add points to what is there. If there is nothing, or it is to be replaced, a window begins. A duration of
   *   0 never ends.
   */
  async _upsert(key: string, points: number, durationMs: number, replace: boolean = false): Promise<Consumed> {
    const amount = wholePoints(points)
    const map = await this.#map.open()
    for (;;) {
      const there = map.getSync(key)
      const wanted = there === undefined || replace ? begun(amount, durationMs) : added(there, amount)
      if (put(map, key, there, wanted)) return wanted
    }
  }

  /** @internal */
  _getRateLimiterRes(_key: string, changed: number, { points, endMs }: Consumed): RateLimiterRes {
    const left = endMs === 0 ? -1 : Math.max(0, Math.ceil(endMs - nowMs()))
    return new RateLimiterRes(Math.max(this.points - points, 0), left, points, points === changed)
  }
}

/** The others are options of the package's base class, which checks them. @throws ArgumentError */
function checkLimiter(options: RateLimiterAetherOptions): void {
  if (typeof options !== 'object' || options === null)
    throw mustBe('options', "an object such as { storeClient: 'shop', points: 5, duration: 1 }", options)
  checkWhere('options.storeClient', options.storeClient)
  if (options.tableName !== undefined) checkText('options.tableName', options.tableName)
}

/**
 * Programs without types pass text too, which a Redis accepts. @throws ArgumentError unless it is a whole number: a
 * Redis accepts no other.
 */
function wholePoints(points: unknown): number {
  const amount = Number(points)
  if (Number.isSafeInteger(amount)) return amount
  throw mustBe('points', 'a whole number', points)
}

/** A window that ended before it was written down would be started for ever. As short as Redis allows. */
const WINDOW_MS_MIN = 1

function begun(points: number, durationMs: number): Consumed {
  return { points, endMs: durationMs > 0 ? nowMs() + Math.max(WINDOW_MS_MIN, durationMs) : 0 }
}

function added({ points, endMs }: Consumed, more: number): Consumed {
  return { points: points + more, endMs }
}

/** False if another change came in between, or the window ended. */
function put(map: SharedMap<Consumed>, key: string, there: Consumed | undefined, wanted: Consumed): boolean {
  if (wanted.endMs === 0) return map.compareAndSetSync(key, there, wanted, { ttlMs: 0 })
  const ttlMs = wanted.endMs - nowMs()
  return ttlMs > 0 && map.compareAndSetSync(key, there, wanted, { ttlMs })
}

/** The clock by which the map's entries end. */
function nowMs(): number {
  return native.monotonicNs() / 1e6
}
