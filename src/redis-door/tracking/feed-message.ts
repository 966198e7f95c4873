import { Buffer } from 'node:buffer'
import { bytesOf, latin1Of } from '../../index-service/index.ts'

/** In front of a message between nodes; those of `Publisher` and `NodeCounts` begin otherwise. */
const FEED_HEAD = 3

/** Asks for changes of shards that the other node holds, and says that they are still wanted. */
export interface FollowMessage {
  readonly follow: string
  readonly rank: number
  readonly shards: readonly number[]
}

/** What is answered to it: of which of them changes are told, and the number of the last message with some. */
export interface AliveMessage {
  readonly alive: string
  readonly sequence: number
  readonly shards: readonly number[]
}

/** A key and who has changed it (0: that is not known); without a key, any may have changed. */
export type FeedChange = readonly [key: string | null, origin: number]

/** Numbers follow each other. Where one is missing, changes were lost. */
export interface ChangesMessage {
  readonly feed: string
  readonly sequence: number
  readonly changes: readonly FeedChange[]
}

type FeedMessage = FollowMessage | AliveMessage | ChangesMessage

export function packFeed(message: FeedMessage): Uint8Array {
  return Buffer.concat([Buffer.of(FEED_HEAD), bytesOf(JSON.stringify(message))])
}

/** Undefined if it is another message. */
export function unpackFeed(bytes: Uint8Array): FeedMessage | undefined {
  return bytes[0] === FEED_HEAD ? (JSON.parse(latin1Of(bytes.subarray(1))) as FeedMessage) : undefined
}
