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

/** Whole pages of a memory object of their own, taken now: the device pins them anyway. Shared, so that a fork does not copy what is pinned. */
export function allocateBytes(lengthBytes: number, options: AllocateOptions): AllocatedBytes {
  const page = options.pageBytes ?? PAGE_BYTES
  const rounded = Math.ceil(lengthBytes / page) * page
  let descriptor = -1
  try {
    descriptor = native.createMemory('aether-memory', rounded, page === PAGE_BYTES ? 0 : page)
    native.reserveMemory(descriptor, 0, rounded)
    const buffer = native.mapMemory(descriptor, 0, rounded, options.lock === true ? MEMORY_LOCK : 0)
    return { bytes: new Uint8Array(buffer, 0, lengthBytes), free: () => native.unmapMemory(buffer) }
  } catch (error) {
    if (!(error instanceof SystemError)) throw error
    throw new VerbsError('ibv_reg_mr', error.errno, `${lengthBytes} bytes could not be taken: ${error.message}`, {
      cause: error,
    })
  } finally {
    if (descriptor >= 0) native.closeDescriptor(descriptor)
  }
}
