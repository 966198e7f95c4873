import type { PeerChannel } from './peer-channel.ts'

/**
 * The last message of a member that no longer takes part in a group: that it has left, or why the group has failed. It
 * is sent once over each link. A member that was not told may come back over another link, and make the group only
 * then.
 */
export class LastWord {
  readonly #group: number
  readonly #kind: number
  readonly #payload: Uint8Array | undefined
  readonly #toldOver = new WeakSet<PeerChannel>()

  /** A frame of the group. */
  constructor(group: number, kind: number, payload?: Uint8Array) {
    this.#group = group
    this.#kind = kind
    this.#payload = payload
  }

  /**
   * `since`: the first collective in which this member has no part. Default: it has no part in any. That is true of a
   * link that was made later. No earlier collective comes over it, and what had come over another link was dropped with
   * that link.
   */
  tell(channel: PeerChannel | undefined, since: number = 1): void {
    if (channel === undefined || this.#toldOver.has(channel)) return
    this.#toldOver.add(channel)
    channel.control(this.#kind, since, 0, this.#group, 0, this.#payload)
  }
}
