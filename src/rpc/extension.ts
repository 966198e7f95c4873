import { Buffer } from 'node:buffer'
import { ArgumentError, shown } from '../native/index.ts'
import type { RemotePart, RemoteParts } from './call-memory.ts'
import { MalformedFrameError } from './errors.ts'
import { ExtensionTag, KEY_BYTES_MAX, METADATA_BYTES_MAX } from './frame.ts'

/** Strings that travel with a call beside the request, such as the caller's identity or a trace id. */
export type Metadata = Readonly<Record<string, string>>

/** A call is a repetition: it first went to the server of this incarnation, this long ago. */
export interface Repetition {
  readonly incarnation: number
  readonly ageMs: number
}

/** What a frame carries beside its body. */
export interface Extension extends RemoteParts {
  /** The length of the whole body if it comes in parts, else 0. */
  readonly totalBytes: number
  readonly metadata: Metadata | undefined
  readonly key: string | undefined
  readonly repeated: Repetition | undefined
  /** Where the body lies, if the frame offers it. */
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

/** Encode the entries of an extension; undefined if there are none. @throws ArgumentError if it would be too long. */
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
  const texts = isObject(metadata) ? Object.values(metadata) : []
  if (!mayHaveTexts(metadata) || !texts.every((text) => text === undefined || typeof text === 'string'))
    throw new ArgumentError(
      'options.metadata',
      'metadata must be an object whose values are strings; put the rest into the request',
    )
  // A copy has no method `toJSON`: that of a class might make text that is no object, which would end the connection.
  const bytes = Buffer.from(JSON.stringify({ ...metadata }))
  if (bytes.length <= METADATA_BYTES_MAX) return bytes
  throw new ArgumentError(
    'options.metadata',
    `metadata can have at most ${METADATA_BYTES_MAX} bytes of JSON, not ${bytes.length}; put it into the request`,
  )
}

/** An object of a class has texts of its own, or is something else, such as a Map or a Date. */
function mayHaveTexts(metadata: unknown): boolean {
  if (!isObject(metadata)) return false
  const prototype: unknown = Object.getPrototypeOf(metadata)
  return Object.keys(metadata).length > 0 || prototype === null || Object.getPrototypeOf(prototype) === null
}

function keyBytes(key: string): Uint8Array {
  if (typeof key !== 'string')
    throw new ArgumentError('options.idempotencyKey', `idempotencyKey must be true or a string, not ${shown(key)}`)
  const bytes = Buffer.from(key)
  if (bytes.length > 0 && bytes.length <= KEY_BYTES_MAX) return bytes
  throw new ArgumentError(
    'options.idempotencyKey',
    `idempotencyKey must have 1 to ${KEY_BYTES_MAX} bytes, not ${bytes.length}`,
  )
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

/** Decode an extension. `bytes` must be private to the reader. @throws MalformedFrameError. */
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
  if (view.byteLength !== PART_BYTES)
    throw new MalformedFrameError(`a part of memory is described by ${view.byteLength} bytes`)
  const [address, length] = [view.getFloat64(0, true), view.getFloat64(8, true)]
  const isPart = address >= 0 && length > 0 && Number.isSafeInteger(address + length)
  if (!isPart || !Number.isSafeInteger(address) || !Number.isSafeInteger(length))
    throw new MalformedFrameError('a part of memory is impossible')
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
    throw new MalformedFrameError('metadata is not valid JSON')
  }
  if (!isObject(value) || !Object.values(value).every((text) => typeof text === 'string'))
    throw new MalformedFrameError('metadata is not an object of strings')
  return value as Metadata
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Add entries to an encoded extension. */
export function withEntries(extension: Uint8Array | undefined, more: Partial<Extension>): Uint8Array {
  const entries = encodeExtension({ ...NO_EXTENSION, ...more })!
  return extension === undefined ? entries : Buffer.concat([extension, entries])
}
