import { MeshChannel } from '../../cluster/index.ts'
import { claimCodes, type RecoveryMessage, verdictCodes } from '../coherence/index.ts'

/**
 * How a {@link RecoveryMessage} travels, in as many messages as it takes:
 *
 *   byte 0 channel, 1 kind, 2 last   Int32 [1] region [2] epoch   then for each entry Int32 page, code (0 of those that
 *   are only pages)
 */
const kinds = ['flush', 'ready', 'claims', 'verdicts', 'held', 'left'] as const
const HEAD = 3
/** With the head they fit into a message of the mesh. */
export const ENTRIES_MAX = 240

export function* encodeRecovery(region: number, message: RecoveryMessage): Generator<Uint8Array> {
  const codes = codesOf(message)
  const last = !('last' in message) || message.last
  for (let begin = 0; begin === 0 || begin < codes.length; begin += ENTRIES_MAX) {
    const part = codes.slice(begin, begin + ENTRIES_MAX)
    const words = new Int32Array(HEAD + 2 * part.length)
    const bytes = new Uint8Array(words.buffer)
    bytes[0] = MeshChannel.Recovery
    bytes[1] = kinds.indexOf(message.kind)
    bytes[2] = last && begin + ENTRIES_MAX >= codes.length ? 1 : 0
    words[1] = region
    words[2] = message.epoch
    words.set(part.flat(), HEAD)
    yield bytes
  }
}

/** Undefined where the bytes are no such message. */
export function decodeRecovery(bytes: Uint8Array): { region: number; message: RecoveryMessage } | undefined {
  const entries = (bytes.length - 4 * HEAD) / 8
  const kind = kinds[bytes[1] ?? kinds.length]
  if (kind === undefined || !Number.isInteger(entries) || entries < 0) return undefined
  const words = new Int32Array(bytes.slice().buffer)
  const [, region, epoch] = words as unknown as [number, number, number]
  const pairs = Array.from({ length: entries }, (_, index) => ({
    page: words[HEAD + 2 * index]!,
    code: words[HEAD + 2 * index + 1]!,
  }))
  if (pairs.some(({ page }) => page < 0)) return undefined
  const last = bytes[2] === 1
  if (kind === 'claims') {
    const claims = pairs.map(({ page, code }) => ({ page, claim: claimCodes[code] }))
    if (claims.some(({ claim }) => claim === undefined)) return undefined
    return { region, message: { kind, epoch, last, entries: claims as { page: number; claim: 'clean' }[] } }
  }
  if (kind === 'verdicts') {
    const verdicts = pairs.map(({ page, code }) => ({ page, verdict: verdictCodes[code] }))
    if (verdicts.some(({ verdict }) => verdict === undefined)) return undefined
    return { region, message: { kind, epoch, last, entries: verdicts as { page: number; verdict: 'none' }[] } }
  }
  if (kind === 'held' || kind === 'left')
    return { region, message: { kind, epoch, pages: pairs.map(({ page }) => page) } }
  return { region, message: { kind, epoch } }
}

function codesOf(message: RecoveryMessage): [number, number][] {
  if (message.kind === 'claims') return message.entries.map(({ page, claim }) => [page, claimCodes.indexOf(claim)])
  if (message.kind === 'verdicts')
    return message.entries.map(({ page, verdict }) => [page, verdictCodes.indexOf(verdict)])
  if (message.kind === 'held' || message.kind === 'left') return message.pages.map((page) => [page, 0])
  return []
}
