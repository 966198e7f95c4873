import { native, SystemError } from '../../native/index.ts'
import { VerbsError } from '../errors.ts'
import type { AllocateOptions } from '../memory-contract.ts'

const PAGE_BYTES = 4096
const MEMORY_LOCK = 2

/** Memory that `allocate` made. */
export interface AllocatedBytes {
  readonly bytes: Uint8Array
  free(): void
}

/** Such memory before its pages have been taken. */
export interface FreshBytes extends AllocatedBytes {
  readonly descriptor: number
  /** Whole pages: what the descriptor's object holds. */
  readonly mappedBytes: number
  /** The mapping needs it no more. */
  closeDescriptor(): void
}

/**
 * Whole pages of a memory object of their own, taken now: the device pins them anyway. Shared, so that a fork does not
 * copy what is pinned.
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

/** The same without touching a page: whoever asks takes and locks them before they are used. */
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
    throw new VerbsError('ibv_reg_mr', error.errno, `${lengthBytes} bytes could not be taken: ${error.message}`, {
      cause: error,
    })
  }
}
