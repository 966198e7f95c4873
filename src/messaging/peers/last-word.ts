import type { PeerChannel } from './peer-channel.ts'

/**
 * What a member says to those that still take part in a group in which it does not any more: that it has left, or why
 * the group has failed. Once over each link: who has not been told may be back over another, and have made the group
 * only then.
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
   * `since`: the first collective that this member had no part in. Default: it had part in none, which is true of a
   * link that was made later: nothing of those before comes over it, and what had come over another was forgotten with
   * that.
   */
  tell(channel: PeerChannel | undefined, since: number = 1): void {
    if (channel === undefined || this.#toldOver.has(channel)) return
    this.#toldOver.add(channel)
    channel.control(this.#kind, since, 0, this.#group, 0, this.#payload)
  }
}
