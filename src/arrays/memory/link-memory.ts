import { formatSize, type RegionGroup } from '../../dsm/index.ts'
import type { RegisteredBuffer, VerbsLink } from '../../messaging/index.ts'
import { AetherError } from '../../native/index.ts'
import { ArrayError } from '../errors.ts'
import type { Step } from '../exchange/steps.ts'
import type { Elements } from '../types/dtype.ts'
import { FreeRanges } from './free-ranges.ts'
import type { OwnPiece, PartMemory, Place } from './part-memory.ts'

const ALIGNMENT = 64
/** To register memory takes long, so it is done for this much at once. */
const CHUNK_BYTES = 2 ** 24
/** What a READ or WRITE carries at most: it goes by way of a buffer that stays registered. */
const STAGE_BYTES = 2 ** 20
const OPERATION_MS = 30_000

/** Registered memory, of which pieces are taken. */
interface Chunk {
  readonly buffer: RegisteredBuffer
  readonly free: FreeRanges
}

/**
 * Memory of ranks of several machines, registered with the device that connects them. It is read and written by one
 * READ or WRITE for each run, over the connections of the programs. All connections of a program are in one domain, so
 * memory that one of them registers is reached over all.
 */
export class LinkMemory implements PartMemory {
  readonly #group: RegionGroup
  readonly #chunks: Chunk[] = []
  /** Buffers that no operation uses. */
  readonly #stages: RegisteredBuffer[] = []

  /** After the first collective of the group, which connects the ranks. */
  constructor(group: RegionGroup) {
    this.#group = group
  }

  take(lengthBytes: number): OwnPiece {
    let place: number | undefined
    let chunk = this.#chunks.find(({ free }) => {
      place = free.take(lengthBytes)
      return place !== undefined
    })
    if (chunk === undefined) {
      chunk = this.#newChunk(lengthBytes)
      place = chunk.free.take(lengthBytes)
    }
    const { buffer, free } = chunk
    const offset = place!
    let isTaken = true
    const giveBack = (): void => {
      if (isTaken) free.giveBack(offset, lengthBytes)
      isTaken = false
    }
    const bytes = buffer.bytes.subarray(offset, offset + lengthBytes)
    return { place: { address: buffer.address + offset, key: buffer.key }, bytes, giveBack }
  }

  mapped(): Elements | undefined {
    return undefined
  }

  read(rank: number, place: Place, target: Uint8Array): Step<void> {
    return this.#inStages(rank, place, target, {
      blocking: (link, local, remote) => link.readSync(local, remote, OPERATION_MS),
      awaited: (link, local, remote) => link.read(local, remote),
      after: (stage, part) => part.set(stage),
    })
  }

  write(rank: number, place: Place, source: Uint8Array): Step<void> {
    return this.#inStages(rank, place, source, {
      before: (stage, part) => stage.set(part),
      blocking: (link, local, remote) => link.writeSync(local, remote, OPERATION_MS),
      awaited: (link, local, remote) => link.write(local, remote),
    })
  }

  async close(): Promise<void> {
    for (const { buffer } of this.#chunks.splice(0)) buffer.close()
    for (const stage of this.#stages.splice(0)) stage.close()
  }

  #inStages(
    rank: number,
    place: Place,
    bytes: Uint8Array,
    { before, blocking, awaited, after }: Operation,
  ): Step<void> {
    const parts = partsOf(bytes, place)
    return {
      blocking: () => {
        const link = this.#linkTo(rank)
        const stage = this.#takeStage()
        for (const { part, remote } of parts) {
          const local = { buffer: stage, offset: 0, length: part.length }
          before?.(stage.bytes, part)
          blocking(link, local, remote)
          after?.(stage.bytes.subarray(0, part.length), part)
        }
        this.#stages.push(stage)
      },
      awaited: async () => {
        const link = this.#linkTo(rank)
        const stage = this.#takeStage()
        for (const { part, remote } of parts) {
          const local = { buffer: stage, offset: 0, length: part.length }
          before?.(stage.bytes, part)
          await awaited(link, local, remote)
          after?.(stage.bytes.subarray(0, part.length), part)
        }
        this.#stages.push(stage)
      },
    }
  }

  /** It is not given back if an operation fails: the device may still write to it. */
  #takeStage(): RegisteredBuffer {
    return this.#stages.pop() ?? this.#anyLink().allocate(STAGE_BYTES)
  }

  #newChunk(lengthBytes: number): Chunk {
    const length = Math.ceil(Math.max(lengthBytes, CHUNK_BYTES) / ALIGNMENT) * ALIGNMENT
    try {
      const chunk = { buffer: this.#anyLink().allocate(length), free: new FreeRanges(length, ALIGNMENT) }
      this.#chunks.push(chunk)
      return chunk
    } catch (cause) {
      if (!(cause instanceof AetherError)) throw cause
      const why = `there is no memory to register for a part of ${formatSize(lengthBytes)}: ${cause.message}`
      throw new ArrayError('MEMORY', why, { cause })
    }
  }

  #anyLink(): VerbsLink {
    for (const { rank } of this.#group.members()) {
      const link = rank === this.#group.rank ? undefined : this.#group.linkTo(rank)
      if (link?.open === true) return link
    }
    throw new ArrayError('LOST', 'no other rank is left; open arrays without a group')
  }

  #linkTo(rank: number): VerbsLink {
    const link = this.#group.linkTo(rank)
    if (link?.open === true) return link
    throw new ArrayError(
      'LOST',
      `rank ${rank} has ended, and its parts of arrays with it; go on without it by shrink()`,
    )
  }
}

type Local = Parameters<VerbsLink['read']>[0]

interface Operation {
  readonly before?: (stage: Uint8Array, part: Uint8Array) => void
  readonly blocking: (link: VerbsLink, local: Local, remote: Place) => void
  readonly awaited: (link: VerbsLink, local: Local, remote: Place) => Promise<void>
  readonly after?: (stage: Uint8Array, part: Uint8Array) => void
}

/** Pieces of bytes that fit a stage, and where they lie at the other rank. */
function partsOf(bytes: Uint8Array, { address, key }: Place): { readonly part: Uint8Array; readonly remote: Place }[] {
  const parts = []
  for (let begin = 0; begin < bytes.length; begin += STAGE_BYTES)
    parts.push({ part: bytes.subarray(begin, begin + STAGE_BYTES), remote: { address: address + begin, key } })
  return parts
}
