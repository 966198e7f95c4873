import { hashBytes } from '../../../codecs/index.ts'
import type { RemoteEndpoint } from '../../../verbs/index.ts'
import type { PartAddress } from '../verbs/home-link.ts'

/** Of what is laid into the memory, and of what ranks say to each other. */
export const CARD_VERSION = 3

/** What a rank says to another when structures are opened. */
export interface Card {
  readonly version: number
  /** Options that have to agree, in words. */
  readonly agreed: string
  readonly endpoint: Omit<RemoteEndpoint, 'gid'> & { readonly gid: string }
  readonly memory: PartAddress
}

/** Lists that are longer are told by their hash: a card is one message. */
const HOMES_SHOWN = 64

/** Options that have to agree, short enough for a card. */
export function agreedText(lengthBytes: number, homes: readonly number[], ranks: number): string {
  if (homes.length === ranks) return `size ${lengthBytes}, all homes`
  const list = homes.join(' ')
  const text = Buffer.from(list)
  const shown = homes.length > HOMES_SHOWN ? `${homes.length} of hash ${hashBytes(text, text.length, 0)}` : list
  return `size ${lengthBytes}, homes ${shown}`
}

/** Whether what a peer has said is a card of this version. */
export function isCard(value: unknown): value is Card {
  if (!isRecord(value) || !isRecord(value['endpoint']) || !isRecord(value['memory'])) return false
  const { version, agreed, endpoint, memory } = value
  const numbers = [endpoint['queuePairNumber'], endpoint['psn'], memory['address'], memory['key']]
  const optional = [endpoint['localIdentifier'], endpoint['initiatorDepth'], endpoint['responderResources']]
  return (
    version === CARD_VERSION &&
    typeof agreed === 'string' &&
    typeof endpoint['gid'] === 'string' &&
    /^\d{1,39}$/.test(endpoint['gid']) &&
    numbers.every(isCount) &&
    optional.every((number) => number === undefined || isCount(number))
  )
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
