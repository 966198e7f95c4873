import type { Codec } from '../../codecs/index.ts'
import { checkAbort, checkIteration, type OptionNames } from '../../native/index.ts'
import type { WaitOptions } from '../waiting/wait-options.ts'
import type { Follower } from './follower.ts'
import { LogBase } from './shared-log.ts'

/** Messages that a channel keeps for slow subscribers unless told otherwise. */
export const CHANNEL_CAPACITY = 1024

/** Options of `channel()`. */
export interface ChannelOptions<V> {
  /** How messages become bytes. Default `structured`. All openers must agree. */
  readonly codec?: Codec<V>
  /**
   * How many messages a subscriber may fall behind before it misses some. Default of a new channel: 1024. The latest
   * opener that passes it sets it for all; in a group all must agree.
   */
  readonly capacity?: number
  /** The longest message that this process publishes, in bytes when encoded. Default 1 MiB. */
  readonly valueBytesMax?: number
}

export const channelNames: OptionNames<ChannelOptions<unknown>> = { codec: true, capacity: true, valueBytesMax: true }

/**
 * Messages to all subscribers. Publishing does not wait for them. The latest messages are kept, and a subscriber that
 * falls behind them is told how many it missed. Subscribers are not recorded, so a subscriber that is killed leaves
 * nothing. Made by {@link Structures.channel}.
 */
export class SharedChannel<V> extends LogBase<V> {
  /** Publish a message. Resolves with its index when all subscribers can read it. @throws HeapFullError */
  async publish(message: V, options?: WaitOptions): Promise<number> {
    checkAbort('publish', options)
    return this.publishSync(message)
  }

  publishSync(message: V): number {
    return this.add(message)
  }

  /** Receive all messages published from this call on. Leaving the loop, `close()` or the signal ends it. */
  subscribe(options?: WaitOptions): Follower<V> {
    checkIteration('subscribe', options)
    this.checkOpen()
    return this.followFrom(this.core.bounds().end, options?.signal)
  }
}
