import { isIndex, isRecord } from '../cluster/index.ts'
import type { LinkCard } from '../messaging/index.ts'

/** What programs of ranks say to each other when they connect, as JSON. */
export type LinkSaying =
  | { readonly step: 'card'; readonly endpoint: EndpointText; readonly hello: string }
  | { readonly step: 'ready' }
  | { readonly step: 'refused'; readonly why: string }

type EndpointText = Omit<LinkCard['endpoint'], 'gid'> & { readonly gid: string }

export function sayCard({ endpoint, hello }: LinkCard): LinkSaying {
  return {
    step: 'card',
    endpoint: { ...endpoint, gid: String(endpoint.gid) },
    hello: Buffer.from(hello).toString('base64'),
  }
}

/** Undefined for what no rank says. */
export function readSaying(
  value: unknown,
): { step: 'card'; card: LinkCard } | { step: 'ready' } | { step: 'refused'; why: string } | undefined {
  if (!isRecord(value)) return undefined
  const { step, endpoint, hello, why } = value
  if (step === 'ready') return { step }
  if (step === 'refused' && typeof why === 'string') return { step, why }
  if (step !== 'card' || typeof hello !== 'string' || !isRecord(endpoint)) return undefined
  const { gid, queuePairNumber, psn } = endpoint
  if (typeof gid !== 'string' || !/^\d+$/.test(gid) || !isIndex(queuePairNumber) || !isIndex(psn)) return undefined
  const { buffer, byteOffset, length } = Buffer.from(hello, 'base64')
  const said = new Uint8Array(buffer, byteOffset, length)
  return { step, card: { endpoint: { ...(endpoint as unknown as EndpointText), gid: BigInt(gid) }, hello: said } }
}
