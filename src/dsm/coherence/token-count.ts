import type { CacheEvent } from './protocol.ts'

/** The tokens of a page that a node holds; without a token protocol, none. */
export interface TokenCount {
  /** How many, the owner token among them. */
  tokens: number
  /** Whether the owner token is here: its holder answers for the bytes, and it never travels without them. */
  owner: boolean
  /** Whether the bytes in our frame are the ones written last. Holds only while there is a token here. */
  valid: boolean
}

type Level = 'All' | 'Owner' | 'Shared' | 'Bare'

/** What the tokens here allow: to write, to read and to answer, to read, or nothing. */
function level({ tokens, owner, valid }: TokenCount, all: number): Level {
  if (tokens === all) return 'All'
  if (owner) return 'Owner'
  return valid ? 'Shared' : 'Bare'
}

const answered = {
  All: 'AnsweredAll',
  Owner: 'AnsweredOwner',
  Shared: 'AnsweredShared',
  Bare: 'AnsweredShort',
} as const
const received = { All: 'TokensAll', Owner: 'TokensOwner', Shared: 'TokensShared', Bare: 'TokensBare' } as const

/** Every node that was asked has answered. */
export const answeredEvent = (count: TokenCount, all: number): CacheEvent => answered[level(count, all)]

/** Tokens have come that were no answer. */
export const receivedEvent = (count: TokenCount, all: number): CacheEvent => received[level(count, all)]

/** Put tokens to those that are here. */
export function addTokens(count: TokenCount, tokens: number, bytes: boolean, owner: boolean): void {
  count.tokens += tokens
  if (bytes) count.valid = true
  if (owner) count.owner = true
}

/** Take tokens away; what is left may not suffice for the bytes to count. */
export function takeTokens(count: TokenCount, tokens: number, owner: boolean): void {
  count.tokens -= tokens
  if (owner) count.owner = false
  if (count.tokens === 0) count.valid = false
}

/** Another node wants to read or to write. */
export function forwardEvent({ tokens, owner, valid }: TokenCount, write: boolean): CacheEvent {
  if (write) return tokens > 0 ? 'ForwardModified' : 'ForwardMiss'
  if (valid && tokens > 1) return 'ForwardShared'
  return owner ? 'ForwardSharedLast' : 'ForwardMiss'
}

/** This node gives its copy up. */
export function evictEvent({ tokens, owner }: TokenCount): CacheEvent {
  if (tokens === 0) return 'EvictNothing'
  return owner ? 'EvictOwner' : 'Evict'
}

/** A starving node comes first; undefined where nothing is here that it needs. */
export function starvingEvent({ tokens, owner }: TokenCount, write: boolean): CacheEvent | undefined {
  if (write) return tokens > 0 ? 'StarvingModified' : undefined
  if (!owner) return undefined
  return tokens > 1 ? 'StarvingShared' : 'StarvingSharedLast'
}
