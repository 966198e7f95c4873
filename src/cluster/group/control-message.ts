import { isIndex, isRecord } from '../hosts/index.ts'
import type { RegistryAnswer } from './region-registry.ts'

/** What agents send each other on the control channel of the mesh, as JSON. */
export type ControlMessage =
  | { readonly op: 'leave'; readonly passed: number }
  | { readonly op: 'open'; readonly token: number; readonly name: string; readonly parameters: string | null }
  | { readonly op: 'lookUp'; readonly token: number; readonly name: string }
  | { readonly op: 'opened'; readonly token: number; readonly answer: RegistryAnswer }
  | { readonly op: 'close'; readonly token: number; readonly name: string }
  | { readonly op: 'free'; readonly id: number }
  | { readonly op: 'ask'; readonly token: number; readonly question: unknown }
  | { readonly op: 'answer'; readonly token: number; readonly answer: unknown }
  | { readonly op: 'tell'; readonly topic: string; readonly value: unknown }
  | { readonly op: 'link'; readonly value: unknown }

/** Undefined if the bytes are not such a message. */
export function decodeControl(bytes: Uint8Array): ControlMessage | undefined {
  const message = parse(bytes)
  if (!isRecord(message)) return undefined
  const { op, token, name, parameters, answer, passed, id, topic } = message
  const fits =
    (op === 'leave' && isIndex(passed)) ||
    (op === 'free' && isIndex(id)) ||
    (op === 'tell' && typeof topic === 'string') ||
    op === 'link' ||
    (isIndex(token) &&
      ((op === 'open' && typeof name === 'string' && (parameters === null || typeof parameters === 'string')) ||
        ((op === 'lookUp' || op === 'close') && typeof name === 'string') ||
        (op === 'opened' && isAnswer(answer)) ||
        op === 'ask' ||
        op === 'answer'))
  return fits ? (message as unknown as ControlMessage) : undefined
}

function isAnswer(value: unknown): value is RegistryAnswer {
  if (!isRecord(value)) return false
  const { kind, id, parameters, ended, rank } = value
  if (kind === 'opened')
    return isIndex(id) && typeof parameters === 'string' && Array.isArray(ended) && ended.every(isIndex)
  return (kind === 'other' && typeof parameters === 'string') || kind === 'absent' || (kind === 'gone' && isIndex(rank))
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.slice()).toString())
  } catch {
    return undefined
  }
}
