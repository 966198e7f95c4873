import { native, SystemError } from '../../native/index.ts'
import { VerbsError } from '../errors.ts'
import type { AllocateOptions } from '../memory-contract.ts'

const PAGE_BYTES = 4096
const MEMORY_LOCK = 2

/** Memory from `allocate`. */
export interface AllocatedBytes {
  readonly bytes: Uint8Array
  free(): void
}

/** Allocated memory whose pages have not been taken yet. */
export interface FreshBytes extends AllocatedBytes {
  readonly descriptor: number
  /** Whole pages: the size of the descriptor's memory object. */
  readonly mappedBytes: number
  /** The mapping no longer needs it. */
  closeDescriptor(): void
}

/**
 * Whole pages of a memory object of their own, taken now, since the device pins them anyway. They are shared, so that a
 * fork does not copy pinned pages.
 */
export function allocateBytes(lengthBytes: number, options: AllocateOptions): AllocatedBytes {
  const object = createObject(lengthBytes, options)
  try {
    return attempt(lengthBytes, () => {
      native.reserveMemory(object.descriptor, 0, object.mappedBytes)
      return map(object, lengthBytes, options.lock === true ? MEMORY_LOCK : 0)
    })
  } finally {
    native.closeDescriptor(object.descriptor)
  }
}

/** The same without touching a page: the caller takes and locks the pages before they are used. */
export function freshBytes(lengthBytes: number, options: AllocateOptions): FreshBytes {
  const object = createObject(lengthBytes, options)
  const closeDescriptor = (): void => native.closeDescriptor(object.descriptor)
  try {
    return { ...object, ...attempt(lengthBytes, () => map(object, lengthBytes, 0)), closeDescriptor }
  } catch (error) {
    closeDescriptor()
    throw error
  }
}

interface MemoryObject {
  readonly descriptor: number
  readonly mappedBytes: number
}

function createObject(lengthBytes: number, options: AllocateOptions): MemoryObject {
  const page = options.pageBytes ?? PAGE_BYTES
  const mappedBytes = Math.ceil(lengthBytes / page) * page
  const pages = page === PAGE_BYTES ? 0 : page
  return attempt(lengthBytes, () => ({
    descriptor: native.createMemory('aether-memory', mappedBytes, pages),
    mappedBytes,
  }))
}

function map({ descriptor, mappedBytes }: MemoryObject, lengthBytes: number, flags: number): AllocatedBytes {
  const buffer = native.mapMemory(descriptor, 0, mappedBytes, flags)
  return { bytes: new Uint8Array(buffer, 0, lengthBytes), free: () => native.unmapMemory(buffer) }
}

function attempt<T>(lengthBytes: number, call: () => T): T {
  try {
    return call()
  } catch (error) {
    if (!(error instanceof SystemError)) throw error
    throw new VerbsError('ibv_reg_mr', error.errno, `${lengthBytes} bytes could not be allocated: ${error.message}`, {
      cause: error,
    })
  }
}
