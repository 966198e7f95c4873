import { type CoherenceMessage, messageKindName } from '../coherence/index.ts'

/** One thing that a node says or does to the world in a step. */
export type Said =
  | { readonly do: 'send'; readonly to: number; readonly message: CoherenceMessage }
  | { readonly do: 'push'; readonly page: number; readonly to: number }
  | { readonly do: 'mapReadOnly' | 'mapWritable' | 'protect' | 'unmap' | 'evicted'; readonly page: number }
  | { readonly do: 'failed'; readonly page: number; readonly rank: number; readonly wantsMemory: boolean }

const codes = { send: 1, push: 2, mapReadOnly: 3, mapWritable: 4, protect: 5, unmap: 6, evicted: 7, failed: 8 } as const

const FNV_PRIME = 0x01000193
/** What a hash begins with: FNV-1a of 32 bits, by words instead of bytes. */
export const FNV_OFFSET = 0x811c9dc5

/**
 * `hash` with one more thing said. In place of the things themselves: a recording need not hold what follows from it.
 */
export function hashSaid(hash: number, said: Said): number {
  const begun = mix(hash, codes[said.do])
  if (said.do === 'send') {
    const { kind, page, requester, count } = said.message
    return mix(mix(mix(mix(mix(begun, said.to), kind), page), requester), count)
  }
  const withPage = mix(begun, said.page)
  if (said.do === 'push') return mix(withPage, said.to)
  return said.do === 'failed' ? mix(mix(withPage, said.rank), said.wantsMemory ? 1 : 0) : withPage
}

function mix(hash: number, word: number): number {
  return Math.imul(hash ^ word, FNV_PRIME) >>> 0
}

/** For people. */
export function describeSaid(said: Said): string {
  switch (said.do) {
    case 'send':
      return `-> rank ${said.to}: ${describeMessage(said.message)}`
    case 'push':
      return `-> rank ${said.to}: the bytes of page ${said.page}`
    case 'failed':
      return `page ${said.page} cannot be had: ${said.wantsMemory ? 'no memory' : 'lost'} at rank ${said.rank}`
    default:
      return `${words[said.do]} page ${said.page}`
  }
}

const words = {
  mapReadOnly: 'let the program read',
  mapWritable: 'let the program write',
  protect: 'take the right to write',
  unmap: 'take every right',
  evicted: 'gave up the copy of',
} as const

export function describeMessage({ kind, page, requester, count }: CoherenceMessage): string {
  const extra = [requester >= 0 ? `for rank ${requester}` : '', count === 0 ? '' : `count ${count}`].filter(Boolean)
  return `${messageKindName(kind)} of page ${page}${extra.length > 0 ? ` (${extra.join(', ')})` : ''}`
}
