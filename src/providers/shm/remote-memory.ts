import { closeSync, openSync } from 'node:fs'
import { AetherError, native } from '../../native/index.ts'
import { KEY_DOUBLES, KEY_WORDS, KeyDouble, KeyWord, MAX_REGION_BYTES, NO_DESCRIPTOR, PAGE_BYTES } from './layout.ts'
import type { FixedViews } from './segment.ts'
import { Span } from './span.ts'

/** What a remote key was found to stand for: read from the peer's key table once, checked, and mapped. */
export class RemoteMemory {
  readonly key: number
  /** Where the key stands in the peer's table: compared at every access, since the owner may revoke it. */
  readonly word: number
  readonly address: number
  readonly length: number
  readonly access: number
  readonly domainId: number
  readonly span: Span
  readonly #mapping: ArrayBuffer | undefined

  constructor(key: number, word: number, claim: KeyClaim, span: Span, mapping: ArrayBuffer | undefined) {
    this.key = key
    this.word = word
    this.address = claim.address
    this.length = claim.length
    this.access = claim.access
    this.domainId = claim.domainId
    this.span = span
    this.#mapping = mapping
  }

  close(): void {
    if (this.#mapping !== undefined) native.unmapMemory(this.#mapping)
  }
}

/** A key entry as its owner states it. */
export interface KeyClaim {
  readonly address: number
  readonly length: number
  readonly access: number
  readonly domainId: number
  readonly descriptor: number
  readonly offsetBytes: number
}

/** Read an entry; undefined where the key is not there, changed meanwhile, or the numbers cannot be true. */
export function readClaim(views: FixedViews, index: number, key: number): KeyClaim | undefined {
  const words = index * KEY_WORDS
  const doubles = index * KEY_DOUBLES
  if (Atomics.load(views.keys, words + KeyWord.Key) !== (key | 0)) return undefined
  const claim: KeyClaim = {
    address: views.keyDoubles[doubles + KeyDouble.Address] as number,
    length: views.keyDoubles[doubles + KeyDouble.Length] as number,
    access: views.keys[words + KeyWord.Access] as number,
    domainId: views.keys[words + KeyWord.Domain] as number,
    descriptor: views.keys[words + KeyWord.Descriptor] as number,
    offsetBytes: views.keyDoubles[doubles + KeyDouble.Offset] as number,
  }
  if (Atomics.load(views.keys, words + KeyWord.Key) !== (key | 0)) return undefined
  return plausible(claim) ? claim : undefined
}

function plausible(claim: KeyClaim): boolean {
  const { address, length, offsetBytes } = claim
  const exact = Number.isSafeInteger(address) && Number.isSafeInteger(length) && Number.isSafeInteger(offsetBytes)
  return (
    exact &&
    address > 0 &&
    length > 0 &&
    length <= MAX_REGION_BYTES &&
    offsetBytes >= 0 &&
    Number.isSafeInteger(address + length)
  )
}

/** Map the peer's memory object (or note that it must be copied across processes). Undefined where it cannot be reached. */
export function openRemoteMemory(
  processId: number,
  word: number,
  key: number,
  claim: KeyClaim,
): RemoteMemory | undefined {
  if (claim.descriptor === NO_DESCRIPTOR)
    return new RemoteMemory(key, word, claim, Span.foreign(processId, claim.address), undefined)
  try {
    const descriptor = openSync(`/proc/${processId}/fd/${claim.descriptor}`, 'r+')
    try {
      return mapClaim(descriptor, word, key, claim)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (error instanceof AetherError || (error as NodeJS.ErrnoException).errno !== undefined) return undefined
    throw error
  }
}

function mapClaim(descriptor: number, word: number, key: number, claim: KeyClaim): RemoteMemory | undefined {
  const { lengthBytes, userId, pageBytes, shrinkable } = native.describeMemory(descriptor)
  const page = Math.max(PAGE_BYTES, pageBytes)
  const first = Math.floor(claim.offsetBytes / page) * page
  const within = claim.offsetBytes - first
  const mapped = Math.ceil((within + claim.length) / page) * page
  if (shrinkable || userId !== process.geteuid?.() || first + mapped > Math.ceil(lengthBytes / page) * page)
    return undefined
  const mapping = native.mapMemory(descriptor, first, mapped, 0)
  const span = new Span(new Uint8Array(mapping, within, claim.length), 0, claim.address)
  return new RemoteMemory(key, word, claim, span, mapping)
}
