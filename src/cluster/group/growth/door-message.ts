import type { LinkLayer } from '../../../verbs/index.ts'
import { isRecord } from '../../hosts/index.ts'

/** Increased whenever members of earlier versions would misunderstand present ones. */
export const DOOR_PROTOCOL = 2

/** Why members of one machine may not know each other. */
export const ELSEWHERE =
  'the members of a group are on one machine, in one pid namespace and with one AETHER_RUNTIME_DIRECTORY, unless its seeds are addresses that other machines reach'

/** What the members of a group have in common. */
export interface GroupAddress {
  readonly group: string
  /** The kind of network that connects them. */
  readonly linkLayer: LinkLayer
  /** Over shared memory: the number of their space. */
  readonly space: string | null
}

/** What a process that wants to join sends, after the handshake. */
export type DoorRequest =
  | (GroupAddress & { readonly protocol: number; readonly endianness: string })
  | { readonly token: number; readonly question: unknown }

/** What it hears. */
export type DoorReply =
  | { readonly type: 'welcome' }
  | { readonly type: 'refused'; readonly reason: string }
  /** Null: there is no group here yet. */
  | { readonly type: 'answer'; readonly token: number; readonly answer: unknown }

/** The longest text that is accepted from the other end, in characters. */
const TEXT_LENGTH_MAX = 300

/** Undefined if it is not such a message. */
export function readDoorReply(value: unknown): DoorReply | undefined {
  if (!isRecord(value)) return undefined
  const { type, reason, token, answer } = value
  if (type === 'welcome') return { type }
  if (type === 'refused' && typeof reason === 'string')
    return { type, reason: reason.slice(0, TEXT_LENGTH_MAX).replaceAll(/\p{Cc}/gu, ' ') }
  return type === 'answer' && typeof token === 'number' ? { type, token, answer } : undefined
}
