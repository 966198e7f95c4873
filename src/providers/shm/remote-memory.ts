import { closeSync, openSync, readSync } from 'node:fs'
import { AetherError, native } from '../../native/index.ts'
import type { KeyFields } from '../soft/keys.ts'
import { MAX_PIECES, PIECE_DOUBLES, Pieces } from '../soft/pieces.ts'
import {
  KEY_DOUBLES,
  KEY_WORDS,
  KeyDouble,
  KeyKind,
  KeyWord,
  MAX_REGION_BYTES,
  NO_DESCRIPTOR,
  PAGE_BYTES,
} from './layout.ts'
import type { FixedViews } from './segment.ts'
import { Span } from './span.ts'

/** A key that stands for parts of its owner's regions: a window of one, or pieces of several. */
export interface Derivation {
  readonly kind: number
  /** The only queue pair of the owner that may be used with it; 0 for any. */
  readonly queuePair: number
  /** A window's region, and the window's first byte in the region's terms. */
  readonly baseKey: number
  readonly baseAddress: number
  /** For an indirect key. */
  readonly pieces: Pieces | undefined
}

/** What a remote key stands for: read from the peer's key table once, checked, and mapped. */
export class RemoteMemory {
  readonly key: number
  /** Where the key is in the peer's table. It is compared at every access, since the owner may revoke it. */
  readonly word: number
  readonly address: number
  readonly length: number
  readonly access: number
  readonly domainId: number
  /** The generation of the entry when it was read. */
  readonly generation: number
  readonly span: Span
  /** True if its bytes are mapped here, contiguously. */
  readonly direct: boolean
  readonly derivation: Derivation | undefined
  readonly #mapping: ArrayBuffer | undefined

  constructor(
    key: number,
    word: number,
    claim: KeyClaim,
    span: Span,
    mapping: ArrayBuffer | undefined,
    derivation: Derivation | undefined,
  ) {
    this.key = key
    this.word = word
    this.address = claim.address
    this.length = claim.length
    this.access = claim.access
    this.domainId = claim.domainId
    this.generation = claim.generation
    this.span = span
    this.direct = derivation === undefined && span.processId === 0
    this.derivation = derivation
    this.#mapping = mapping
  }

  close(): void {
    if (this.#mapping !== undefined) native.unmapMemory(this.#mapping)
  }
}

/** A key entry as its owner wrote it. */
export interface KeyClaim extends Omit<KeyFields, 'key'> {
  readonly descriptor: number
  readonly offset: number
  readonly kind: number
  readonly queuePair: number
  readonly base: number
  readonly pieces: number
  readonly repeat: number
  readonly generation: number
}

/** Read an entry; undefined if the key is not there, changed in the meantime, or has impossible numbers. */
export function readClaim(views: FixedViews, index: number, key: number): KeyClaim | undefined {
  const { keys, keyDoubles } = views
  const words = index * KEY_WORDS
  const doubles = index * KEY_DOUBLES
  if (Atomics.load(keys, words + KeyWord.Key) !== (key | 0)) return undefined
  const generation = Atomics.load(keys, words + KeyWord.Generation)
  const claim: KeyClaim = {
    address: keyDoubles[doubles + KeyDouble.Address]!,
    length: keyDoubles[doubles + KeyDouble.Length]!,
    access: keys[words + KeyWord.Access]!,
    domainId: keys[words + KeyWord.Domain]!,
    descriptor: keys[words + KeyWord.Descriptor]!,
    offset: keyDoubles[doubles + KeyDouble.Offset]!,
    kind: keys[words + KeyWord.Kind]!,
    queuePair: keys[words + KeyWord.QueuePair]!,
    base: keys[words + KeyWord.Base]!,
    pieces: keys[words + KeyWord.Pieces]!,
    repeat: keys[words + KeyWord.Repeat]!,
    generation,
  }
  // The key first: its owner writes the generation before it.
  if (Atomics.load(keys, words + KeyWord.Key) !== (key | 0)) return undefined
  if (Atomics.load(keys, words + KeyWord.Generation) !== generation) return undefined
  return plausible(claim) ? claim : undefined
}

/** True if `memory`, whose key was just found in the table, is still what the table says. */
export function isCurrent(views: FixedViews, memory: RemoteMemory): boolean {
  const at = memory.word - KeyWord.Key + KeyWord.Generation
  return Atomics.load(views.keys, at) === memory.generation
}

function plausible(claim: KeyClaim): boolean {
  const { address, length, offset, descriptor } = claim
  const exact = Number.isSafeInteger(address) && Number.isSafeInteger(length) && Number.isSafeInteger(offset)
  return (
    exact &&
    address >= 0 &&
    length > 0 &&
    (descriptor === NO_DESCRIPTOR || length <= MAX_REGION_BYTES) &&
    offset >= 0 &&
    Number.isSafeInteger(address + length)
  )
}

/**
 * A window or an indirect key. `descriptor` is that of the owner's segment, which holds the pieces. Undefined if the
 * claim is impossible.
 */
export function deriveMemory(word: number, key: number, claim: KeyClaim, descriptor: number): RemoteMemory | undefined {
  const pieces = claim.kind === KeyKind.Indirect ? readPieces(claim, descriptor) : undefined
  if (claim.kind === KeyKind.Indirect && pieces === undefined) return undefined
  const derivation: Derivation = {
    kind: claim.kind,
    queuePair: claim.queuePair,
    baseKey: claim.base >>> 0,
    baseAddress: claim.offset,
    pieces,
  }
  return new RemoteMemory(key, word, claim, Span.nowhere, undefined, derivation)
}

function readPieces(claim: KeyClaim, descriptor: number): Pieces | undefined {
  const { pieces: count, repeat, base } = claim
  if (count < 1 || count > MAX_PIECES || repeat < 1 || base < 1) return undefined
  const doubles = new Float64Array(count * PIECE_DOUBLES)
  const read = readSync(descriptor, doubles, 0, doubles.byteLength, base * PAGE_BYTES)
  const pieces = new Pieces(doubles, count, repeat)
  return read === doubles.byteLength && pieces.plausible && pieces.totalBytes === claim.length ? pieces : undefined
}

/** Map the peer's memory object, or note that it must be copied across processes. Undefined if it cannot be reached. */
export function openRemoteMemory(
  processId: number,
  word: number,
  key: number,
  claim: KeyClaim,
): RemoteMemory | undefined {
  if (claim.descriptor === NO_DESCRIPTOR)
    return new RemoteMemory(key, word, claim, Span.foreign(processId, claim.offset), undefined, undefined)
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
  const first = Math.floor(claim.offset / page) * page
  const within = claim.offset - first
  const mapped = Math.ceil((within + claim.length) / page) * page
  if (shrinkable || userId !== process.geteuid?.() || first + mapped > Math.ceil(lengthBytes / page) * page)
    return undefined
  const mapping = native.mapMemory(descriptor, first, mapped, 0)
  const span = new Span(new Uint8Array(mapping, within, claim.length), 0, claim.address)
  return new RemoteMemory(key, word, claim, span, mapping, undefined)
}
