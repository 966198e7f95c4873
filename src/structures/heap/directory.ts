import { hashBytes } from '../../codecs/index.ts'
import { mustBe } from '../../native/index.ts'
import { StructureError } from '../errors.ts'
import { disagreement, initialValue, type Parameter } from '../parameter.ts'
import { type Heap, offsetOf } from './heap.ts'
import { DIRECTORY_OFFSET, STRUCTURES_MAX } from './layout.ts'
import { Reach } from './reach.ts'
import { kindNamed, StructureKind, type StructureKindName } from './structure-kind.ts'

/**
 * The block of a named structure.
 *
 * ```
 *  0  linked   4  kind   8  length of the name   16  three parameters, Float64   64  name, 64 B   128  body
 * ```
 */
export const NamedOffset = { Linked: 0, Kind: 4, NameLength: 8, Parameters: 16, Name: 64, Body: 128 } as const
export const PARAMETERS = 3

/** The longest name of a structure, in bytes of UTF-8. */
export const STRUCTURE_NAME_BYTES_MAX = 64

/** A request to the directory. */
export interface StructureRequest {
  readonly kind: StructureKindName
  readonly name: string
  readonly bodyBytes: number
  readonly parameters: readonly Parameter[]
}

/** A structure as it stands in the directory. */
export interface StructureEntry {
  readonly name: string
  readonly kind: StructureKindName
  readonly parameters: readonly number[]
  /** Where its body starts, in bytes. */
  readonly offset: number
}

/** A structure that exists. */
export interface FoundStructure {
  /** Of its block. */
  readonly reference: number
  /** Where its body starts, in bytes. */
  readonly offset: number
  /** A parameter as it is now. */
  parameter(at: number): number
}

/**
 * The structures of a heap by name: 1024 words, each 0 or the reference of a structure's block. A name is looked for
 * from the place given by its hash to the first empty one. That is also the only place where it may be put. So if two
 * members make the same name, one finds that of the other.
 */
export class Directory {
  readonly #heap: Heap

  constructor(heap: Heap) {
    this.#heap = heap
  }

  /**
   * Find the structure, or make it with a body of zeros. @throws StructureError for another kind or other parameters;
   * HeapFullError; ArgumentError.
   */
  open(request: StructureRequest): FoundStructure {
    const { memory } = this.#heap
    const name = checkStructureName(request.name)
    const home = hashBytes(name, name.length, 0) % STRUCTURES_MAX
    for (let probe = 0; probe < STRUCTURES_MAX; probe += 1) {
      const place = DIRECTORY_OFFSET + ((home + probe) % STRUCTURES_MAX) * 4
      const reference = memory.load(place) || this.#make(place, name, request)
      if (this.#isNamed(reference, name)) return this.#checked(reference, request)
    }
    const rule = `a heap has at most ${STRUCTURES_MAX} names`
    throw new StructureError(
      'ERR_AETHER_STRUCTURES_FULL',
      request.name,
      `${rule}; keep many things in one map instead of many structures`,
    )
  }

  /** All that are there, with their parameters. */
  entries(): readonly StructureEntry[] {
    const { memory } = this.#heap
    const found: StructureEntry[] = []
    for (let at = 0; at < STRUCTURES_MAX; at += 1) {
      const reference = memory.load(DIRECTORY_OFFSET + at * 4)
      if (reference === 0) continue
      const begin = offsetOf(reference)
      const parameters = Array.from({ length: PARAMETERS }, (_, index) =>
        memory.peekFloat(begin + NamedOffset.Parameters + index * 8),
      )
      const offset = begin + NamedOffset.Body
      found.push({ name: this.#nameOf(reference), kind: this.#kindOf(reference), parameters, offset })
    }
    return found
  }

  /** Names and kinds of all. */
  list(): readonly { readonly name: string; readonly kind: StructureKindName }[] {
    const found: { name: string; kind: StructureKindName }[] = []
    for (let at = 0; at < STRUCTURES_MAX; at += 1) {
      const reference = this.#heap.memory.load(DIRECTORY_OFFSET + at * 4)
      if (reference !== 0) found.push({ name: this.#nameOf(reference), kind: this.#kindOf(reference) })
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Put a new block into an empty place; gives what is there then. */
  #make(place: number, name: Uint8Array, request: StructureRequest): number {
    const { memory, intent } = this.#heap
    intent.begin(place, Reach.Cell)
    const { reference } = this.#heap.allocate(NamedOffset.Body + request.bodyBytes)
    const at = offsetOf(reference)
    for (let word = 0; word < NamedOffset.Body + request.bodyBytes; word += 4) memory.poke(at + word, 0)
    memory.poke(at + NamedOffset.Kind, StructureKind[request.kind])
    memory.poke(at + NamedOffset.NameLength, name.length)
    for (const [index, parameter] of request.parameters.entries())
      memory.pokeFloat(at + NamedOffset.Parameters + index * 8, initialValue(parameter))
    memory.write(at + NamedOffset.Name, name, name.length)
    intent.arm(0, 0, 0, 0, 0)
    const there = memory.compareExchange(place, 0, reference)
    if (there !== 0) {
      intent.disarm()
      this.#heap.release(reference)
    }
    intent.end()
    return there === 0 ? reference : there
  }

  #isNamed(reference: number, name: Uint8Array): boolean {
    return this.#nameOf(reference) === Buffer.from(name).toString()
  }

  #nameOf(reference: number): string {
    const at = offsetOf(reference)
    const length = this.#heap.memory.peek(at + NamedOffset.NameLength)
    const bytes = Buffer.alloc(length)
    this.#heap.memory.read(at + NamedOffset.Name, bytes, length)
    return bytes.toString()
  }

  #kindOf(reference: number): StructureKindName {
    return kindNamed(this.#heap.memory.peek(offsetOf(reference) + NamedOffset.Kind))!
  }

  #checked(reference: number, request: StructureRequest): FoundStructure {
    const { memory } = this.#heap
    const at = offsetOf(reference)
    const kind = this.#kindOf(reference)
    if (kind !== request.kind) throw mismatch(request.name, `is a ${kind}, not a ${request.kind}`)
    // One aligned store of 8 bytes changes a parameter, so a reader sees it whole.
    const parameter = (index: number): number => memory.peekFloat(at + NamedOffset.Parameters + index * 8)
    const differs = disagreement(
      request.parameters,
      Array.from({ length: PARAMETERS }, (_, index) => parameter(index)),
    )
    if (differs !== undefined) throw mismatch(request.name, differs)
    for (const [index, { wanted }] of request.parameters.entries())
      if (wanted !== undefined) memory.pokeFloat(at + NamedOffset.Parameters + index * 8, wanted)
    return { reference, offset: at + NamedOffset.Body, parameter }
  }
}

function mismatch(name: string, how: string): StructureError {
  return new StructureError(
    'ERR_AETHER_STRUCTURE_MISMATCH',
    name,
    `'${name}' ${how}; use another name, or the same options`,
  )
}

/** The name in UTF-8. @throws ArgumentError */
export function checkStructureName(name: string): Uint8Array {
  const bytes = typeof name === 'string' ? Buffer.from(name) : new Uint8Array(0)
  if (bytes.length >= 1 && bytes.length <= STRUCTURE_NAME_BYTES_MAX) return bytes
  throw mustBe('name', `a string of 1 to ${STRUCTURE_NAME_BYTES_MAX} bytes`, name)
}
