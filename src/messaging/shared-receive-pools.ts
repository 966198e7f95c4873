import { ClosedError } from '../native/index.ts'
import type { DeviceContext } from './device-context.ts'
import { checkSharedReceives, type SharedReceiveOptions, type SharedReceiveUse } from './receive-shares.ts'
import { SharedReceivePool, type SharedReceivesSettings } from './shared-receive-pool.ts'

/**
 * The shared receives of one listener: one pool for each device over which it lets links in, made for the first link.
 */
export class SharedReceivePools {
  readonly options: Required<SharedReceiveOptions>
  readonly #settings: SharedReceivesSettings
  readonly #pools = new Map<DeviceContext, SharedReceivePool>()
  #isClosed = false

  /** @throws ArgumentError for an impossible pool. */
  constructor(options: SharedReceiveOptions, settings: SharedReceivesSettings) {
    this.options = checkSharedReceives(options)
    this.#settings = settings
  }

  /** @throws ClosedError after `close` */
  of(context: DeviceContext): SharedReceivePool {
    if (this.#isClosed) throw new ClosedError('the listener')
    let pool = this.#pools.get(context)
    if (pool === undefined) {
      pool = new SharedReceivePool(
        {
          domain: context.domain,
          channel: context.channel,
          wakeSoon: (subject) => context.loop.wake(subject),
          release: (subject) => {
            context.loop.remove(subject)
            setImmediate(() => context.release())
          },
        },
        this.#settings,
        this.options,
      )
      context.retain()
      try {
        context.loop.add(pool)
      } catch (error) {
        pool.close()
        throw error
      }
      this.#pools.set(context, pool)
    }
    return pool
  }

  /** Of each pool. */
  get use(): SharedReceiveUse[] {
    return [...this.#pools.values()].map(({ shares: { connections, connectionsMax, surplus, lent } }) => ({
      connections,
      connectionsMax,
      surplus,
      lent,
    }))
  }

  /** Let no link join any more; each pool is released with its last link. */
  close(): void {
    this.#isClosed = true
    for (const pool of this.#pools.values()) pool.close()
    this.#pools.clear()
  }
}
