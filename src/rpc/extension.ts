import { Buffer } from 'node:buffer'
import { ArgumentError } from '../native/index.ts'
import type { RemotePart, RemoteParts } from './call-memory.ts'
import { MalformedFrameError } from './errors.ts'
import { ExtensionTag, KEY_BYTES_MAX, METADATA_BYTES_MAX } from './frame.ts'

/** Texts that travel with a call, beside the request: who asks, a trace's number. */
export type Metadata = Readonly<Record<string, string>>

/** A call is a repetition of one that first went to the server of this incarnation, so long ago. */
export interface Repetition {
  readonly incarnation: number
  readonly ageMs: number
}

/** What a frame carries besides its body. */
export interface Extension extends RemoteParts {
  /** Of the whole body, where it comes in parts; 0 where it does not. */
  readonly totalBytes: number
  readonly metadata: Metadata | undefined
  readonly key: string | undefined
  readonly repeated: Repetition | undefined
  /** Where the body lies, of a frame that offers it. */
  readonly body: RemotePart | undefined
}

const ENTRY_BYTES = 4
const PART_BYTES = 20

function entry(tag: number, bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(ENTRY_BYTES + bytes.length)
  whole[0] = tag
  whole[2] = bytes.length & 0xff
  whole[3] = bytes.length >>> 8
  whole.set(bytes, ENTRY_BYTES)
  return whole
}

/**
 * The entries of an extension, undefined where there is nothing to say. @throws ArgumentError where it would be too
 * long.
 */
export function encodeExtension({
  totalBytes,
  metadata,
  key,
  repeated,
  source,
  target,
  body,
}: Extension): Uint8Array | undefined {
  const entries: Uint8Array[] = []
  if (totalBytes > 0) entries.push(entry(ExtensionTag.TotalBytes, new Uint8Array(Uint32Array.of(totalBytes).buffer)))
  if (metadata !== undefined) entries.push(entry(ExtensionTag.Metadata, metadataBytes(metadata)))
  if (key !== undefined) entries.push(entry(ExtensionTag.Key, keyBytes(key)))
  if (repeated !== undefined) {
    const numbers = Float64Array.of(repeated.incarnation, repeated.ageMs)
    entries.push(entry(ExtensionTag.Repeated, new Uint8Array(numbers.buffer)))
  }
  if (source !== undefined) entries.push(entry(ExtensionTag.Source, partBytes(source)))
  if (target !== undefined) entries.push(entry(ExtensionTag.Target, partBytes(target)))
  if (body !== undefined) entries.push(entry(ExtensionTag.Body, partBytes(body)))
  return entries.length === 0 ? undefined : Buffer.concat(entries)
}

function metadataBytes(metadata: Metadata): Uint8Array {
  // What is undefined does not travel.
  if (!isObject(metadata) || !Object.values(metadata).every((text) => text === undefined || typeof text === 'string'))
    throw new ArgumentError(
      'options.metadata',
      'metadata is an object whose values are texts; put the rest into the request',
    )
  const bytes = Buffer.from(JSON.stringify(metadata))
  if (bytes.length <= METADATA_BYTES_MAX) return bytes
  throw new ArgumentError(
    'options.metadata',
    `metadata takes ${METADATA_BYTES_MAX} bytes of JSON, not ${bytes.length}; put it into the request`,
  )
}

function keyBytes(key: string): Uint8Array {
  if (typeof key !== 'string')
    throw new ArgumentError('options.idempotencyKey', `a key is true or a text, not ${typeof key}`)
  const bytes = Buffer.from(key)
  if (bytes.length > 0 && bytes.length <= KEY_BYTES_MAX) return bytes
  throw new ArgumentError('options.idempotencyKey', `a key has 1 to ${KEY_BYTES_MAX} bytes, not ${bytes.length}`)
}

function partBytes({ address, key, length }: RemotePart): Uint8Array {
  const bytes = new Uint8Array(PART_BYTES)
  const view = new DataView(bytes.buffer)
  view.setFloat64(0, address, true)
  view.setFloat64(8, length, true)
  view.setUint32(16, key, true)
  return bytes
}

export const NO_EXTENSION: Extension = {
  totalBytes: 0,
  metadata: undefined,
  key: undefined,
  repeated: undefined,
  source: undefined,
  target: undefined,
  body: undefined,
}

/** @throws MalformedFrameError. `bytes` are of the reader alone. */
export function decodeExtension(bytes: Uint8Array): Extension {
  const found = { ...NO_EXTENSION } as { -readonly [K in keyof Extension]: Extension[K] }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at < bytes.length; ) {
    if (at + ENTRY_BYTES > bytes.length) throw new MalformedFrameError('an extension ends within an entry')
    const length = view.getUint16(at + 2, true)
    const from = at + ENTRY_BYTES
    at = from + length
    if (at > bytes.length) throw new MalformedFrameError('an entry is longer than its extension')
    decodeEntry(view.getUint8(from - ENTRY_BYTES), bytes.subarray(from, at), found)
  }
  return found
}

function decodeEntry(tag: number, bytes: Uint8Array, found: { -readonly [K in keyof Extension]: Extension[K] }): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (tag === ExtensionTag.TotalBytes && bytes.length === 4) found.totalBytes = view.getUint32(0, true)
  if (tag === ExtensionTag.Metadata) found.metadata = decodeMetadata(bytes)
  if (tag === ExtensionTag.Key && bytes.length <= KEY_BYTES_MAX) found.key = textOf(bytes)
  if (tag === ExtensionTag.Repeated && bytes.length === 16)
    found.repeated = { incarnation: view.getFloat64(0, true), ageMs: view.getFloat64(8, true) }
  if (tag === ExtensionTag.Source) found.source = decodePart(view)
  if (tag === ExtensionTag.Target) found.target = decodePart(view)
  if (tag === ExtensionTag.Body) found.body = decodePart(view)
}

function decodePart(view: DataView): RemotePart {
  if (view.byteLength !== PART_BYTES) throw new MalformedFrameError(`a part of memory in ${view.byteLength} bytes`)
  const [address, length] = [view.getFloat64(0, true), view.getFloat64(8, true)]
  const isPart = address >= 0 && length > 0 && Number.isSafeInteger(address + length)
  if (!isPart || !Number.isSafeInteger(address) || !Number.isSafeInteger(length))
    throw new MalformedFrameError('a part of memory that cannot be')
  return { address, length, key: view.getUint32(16, true) }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
}

function decodeMetadata(bytes: Uint8Array): Metadata {
  let value: unknown
  try {
    value = JSON.parse(textOf(bytes))
  } catch {
    throw new MalformedFrameError('metadata is no JSON')
  }
  if (!isObject(value) || !Object.values(value).every((text) => typeof text === 'string'))
    throw new MalformedFrameError('metadata is no object of texts')
  return value as Metadata
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An encoded extension with entries more. */
export function withEntries(extension: Uint8Array | undefined, more: Partial<Extension>): Uint8Array {
  const entries = encodeExtension({ ...NO_EXTENSION, ...more })!
  return extension === undefined ? entries : Buffer.concat([extension, entries])
}
