import { MapFlag, native, SystemError } from '../../native/index.ts'
import { mapForeignMemory } from '../../runtime/index.ts'
import { IndexError } from '../errors.ts'
import { CHUNK_BYTES, CHUNK_SHIFT } from './layout.ts'

/** A piece of shared memory, as one process sees it. */
export class Chunk {
  readonly bytes: Uint8Array
  readonly words: Uint32Array
  /** Of its first byte. */
  readonly place: number
  readonly #mapping: ArrayBuffer

  /** `number`: which one of its table it is. */
  constructor(mapping: ArrayBuffer, number: number) {
    this.#mapping = mapping
    this.place = number * 2 ** CHUNK_SHIFT
    this.bytes = new Uint8Array(mapping, 0, CHUNK_BYTES)
    this.words = new Uint32Array(mapping, 0, CHUNK_BYTES / 4)
  }

  /** Views that someone keeps show private memory from then on. */
  close(): void {
    native.unmapMemory(this.#mapping)
  }
}

/** A chunk of one's own. Its space is taken now, so that a full machine is an error here and not a crash later. */
export function createChunk(number: number): { readonly chunk: Chunk; readonly descriptor: number } {
  let descriptor = -1
  try {
    descriptor = native.createMemory('aether-index', CHUNK_BYTES, 0)
    native.reserveMemory(descriptor, 0, CHUNK_BYTES)
    return { chunk: new Chunk(native.mapMemory(descriptor, 0, CHUNK_BYTES, MapFlag.Populate), number), descriptor }
  } catch (error) {
    if (descriptor >= 0) native.closeDescriptor(descriptor)
    if (!(error instanceof SystemError)) throw error
    const message = `this machine has no memory for ${CHUNK_BYTES} bytes more: ${error.message}`
    throw new IndexError('MEMORY', message, { cause: error })
  }
}

/** The chunk of another process; undefined if it cannot be reached from here. */
export function openChunk(processId: number, descriptor: number, number = 0): Chunk | undefined {
  const mapping = mapForeignMemory({ processId, descriptor, lengthBytes: CHUNK_BYTES })
  return mapping && new Chunk(mapping, number)
}
