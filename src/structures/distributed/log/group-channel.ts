import { checkIteration } from '../../../native/index.ts'
import type { SharedChannel } from '../../log/shared-channel.ts'
import type { WaitOptions } from '../../waiting/wait-options.ts'
import type { Promised } from '../memory/promised.ts'
import type { GroupFollower } from './follower.ts'
import { GroupLogBase } from './group-log.ts'

/**
 * Messages to all subscribers, among the ranks of a group; as {@link SharedChannel} on one machine. Publishing does not
 * wait for subscribers. The latest messages are kept, as a log keeps its entries, and a subscriber that falls behind
 * them is told how many it missed. Subscribers are not recorded, so a subscriber that dies leaves nothing.
 */
export class GroupChannel<V> extends GroupLogBase<V> implements Omit<Promised<SharedChannel<V>>, 'subscribe'> {
  /**
   * Publish a message. Resolves with its index when all subscribers can read it. One round trip, as an append to a log.
   * @throws HeapFullError, HomeLostError
   */
  publish(message: V, options?: WaitOptions): Promise<number> {
    return this.add('publish', message, options)
  }

  /**
   * Receive all messages that this rank publishes from this call on. Those of other ranks are received from when
   * `ready` resolves, a round trip later. Leaving the loop, `close()` or the signal ends it.
   */
  subscribe(options?: WaitOptions): GroupFollower<V> {
    checkIteration('subscribe', options)
    return this.followFrom(this.core.beginHere(), options?.signal)
  }
}
