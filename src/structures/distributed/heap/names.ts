import { hashBytes } from '../../../codecs/index.ts'
import { StructureError } from '../../errors.ts'
import { checkStructureName } from '../../heap/directory.ts'
import { StructureKind, type StructureKindName } from '../../heap/structure-kind.ts'
import { disagreement, initialValue, type Parameter } from '../../parameter.ts'
import { CompareExchangeCommand, WriteCommand } from '../memory/command.ts'
import { NAMES_MAX, NAMES_OFFSET } from '../memory/layout.ts'
import type { BlockPool, OwnBlock } from './block-pool.ts'
import { decodeBlock, encodeBlock } from './block-word.ts'
import type { HomeMemory } from './home-memory.ts'
import { BODY_OFFSET, type NameEntry, readEntryAt, writeEntry } from './name-entry.ts'

/** What is asked of the names of a home. */
export interface NameRequest {
  readonly kind: StructureKindName
  readonly name: string
  /** None of a group's changes once the structure is made. */
  readonly parameters: readonly Parameter[]
  /** What the body is when it is made. */
  makeBody(): Promise<NewBody>
}

/** A body to be; `made` when the structure is, `undo` where another made it meanwhile. */
export interface NewBody {
  readonly bytes: Uint8Array
  made?(): void
  undo(): Promise<void>
}

/** A structure that is there. */
export interface NamedStructure extends NameEntry {
  /** Where its body begins, from the beginning of the home's part. */
  readonly offset: number
}

/** A body of this many bytes, all zero. */
export function zeros(lengthBytes: number): () => Promise<NewBody> {
  return async () => ({ bytes: new Uint8Array(lengthBytes), undo: async () => {} })
}

/**
 * The structures of a home by name: 1024 slots (block-word.ts).
 * 1. A name is looked for from the place given by its hash to the first empty slot. That is also the only place where
 *    it may be put.
 * 2. Slots never become empty again. So if two ranks make the same name, one finds that of the other.
 * 3. The entry is written before the slot names it. A rank that dies in between has left a block that no slot names.
 */
export class Names {
  readonly #memory: HomeMemory
  readonly #pool: BlockPool

  constructor(memory: HomeMemory, pool: BlockPool) {
    this.#memory = memory
    this.#pool = pool
  }

  /**
   * Find it, or make it. @throws StructureError for another kind or other parameters; HeapFullError; HomeLostError;
   * ArgumentError.
   */
  async open(request: NameRequest): Promise<NamedStructure> {
    const name = checkStructureName(request.name)
    const first = hashBytes(name, name.length, 0) % NAMES_MAX
    for (let probe = 0; probe < NAMES_MAX; probe += 1) {
      const place = NAMES_OFFSET + ((first + probe) % NAMES_MAX) * 8
      const word = (await this.#memory.load64(place)) || (await this.#make(place, name, request))
      const found = await this.#entry(word)
      if (found?.name === request.name) return checked(found, request)
    }
    const rule = `a rank keeps at most ${NAMES_MAX} names`
    throw new StructureError(
      'ERR_AETHER_STRUCTURES_FULL',
      request.name,
      `${rule}; keep many things in one map instead of many structures`,
    )
  }

  /** Names and kinds of all. */
  async list(): Promise<{ readonly name: string; readonly kind: StructureKindName }[]> {
    const words = await this.#memory.read(NAMES_OFFSET, NAMES_MAX * 8)
    const found: { name: string; kind: StructureKindName }[] = []
    for (let at = 0; at < NAMES_MAX; at += 1) {
      const entry = await this.#entry(words.word(at * 8))
      if (entry !== undefined) found.push({ name: entry.name, kind: nameOfKind(entry.kind) })
    }
    return found
  }

  async #takeBlock(body: NewBody): Promise<OwnBlock> {
    try {
      return await this.#pool.take(BODY_OFFSET + body.bytes.length)
    } catch (error) {
      await body.undo()
      throw error
    }
  }

  async #entry(word: bigint): Promise<NamedStructure | undefined> {
    const block = decodeBlock(word)
    if (block === undefined) return undefined
    const entry = await readEntryAt(this.#memory, block)
    return entry && { ...entry, offset: block.offset + BODY_OFFSET }
  }

  /** Put a new entry into an empty slot; gives what is there then. */
  async #make(place: number, name: Uint8Array, { kind, parameters, makeBody }: NameRequest): Promise<bigint> {
    const body = await makeBody()
    const block = await this.#takeBlock(body)
    const bytes = writeEntry(block.tag, StructureKind[kind], name, parameters.map(initialValue), body.bytes)
    const word = wordOf(block)
    const link = new CompareExchangeCommand(place, 0n, word)
    await this.#memory.run([new WriteCommand(block.offset, bytes), link])
    if (link.swapped) {
      this.#pool.linked(block)
      body.made?.()
      return word
    }
    this.#pool.release(block)
    await body.undo()
    return link.before
  }
}

function wordOf(block: OwnBlock): bigint {
  return encodeBlock({ ...block, fingerprint: 0, tentative: false })
}

function nameOfKind(kind: number): StructureKindName {
  const names = Object.keys(StructureKind) as StructureKindName[]
  return names.find((name) => StructureKind[name] === kind)!
}

function checked(found: NamedStructure, request: NameRequest): NamedStructure {
  const kind = nameOfKind(found.kind)
  if (kind !== request.kind) throw mismatch(request.name, `is a ${kind}, not a ${request.kind}`)
  const differs = disagreement(request.parameters, found.parameters)
  if (differs !== undefined) throw mismatch(request.name, differs)
  return found
}

function mismatch(name: string, how: string): StructureError {
  const advice = 'use another name, or the same options'
  return new StructureError('ERR_AETHER_STRUCTURE_MISMATCH', name, `'${name}' ${how}; ${advice}`)
}
