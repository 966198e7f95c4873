import { ArgumentError, native, SystemError, UnsupportedError } from '../../native/index.ts'
import { Access, RemoteAccess } from '../access.ts'
import type { OpenDeviceOptions } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { AllocateOptions, BufferOrigin } from '../memory-contract.ts'
import type { Backing, Backings } from '../soft/backings.ts'
import { MAX_REGION_BYTES, PAGE_BYTES } from './layout.ts'
import { Span } from './span.ts'

const MEMORY_LOCK = 2
const NO_BYTES = new Uint8Array(0)

/** The memory behind a region; its descriptor must be closed. */
export interface ShmBacking extends Backing {
  readonly span: Span
  readonly origin: BufferOrigin | undefined
  /** Made by `allocate`, and freed with the region. */
  readonly owned: ArrayBuffer | undefined
}

/** Memory of this process. Peers map it if it is a memory object, and copy across processes otherwise. */
export class ShmBackings implements Backings {
  readonly #allowProcessCopy: boolean
  /** One object, whose offsets are the physical addresses. */
  readonly #physical: ShmBacking | undefined

  constructor(options: OpenDeviceOptions) {
    const { physicalBytes = 0, allowProcessCopy } = options
    if (!Number.isSafeInteger(physicalBytes) || physicalBytes < 0 || physicalBytes > MAX_REGION_BYTES)
      throw new ArgumentError('physicalBytes', `must be from 0 to ${MAX_REGION_BYTES}, not ${physicalBytes}`)
    this.#allowProcessCopy = allowProcessCopy === true
    this.#physical = physicalBytes === 0 ? undefined : this.allocate('ibv_open_device', physicalBytes, {})
  }

  /** One memory object each. Its space is taken now, so that a full machine is an error here and not a crash later. */
  allocate(verb: string, lengthBytes: number, options: AllocateOptions): ShmBacking {
    const page = options.pageBytes ?? PAGE_BYTES
    const rounded = Math.ceil(lengthBytes / page) * page
    if (rounded > MAX_REGION_BYTES)
      throw new VerbsError(verb, Errno.EINVAL, `a region holds at most 4 GiB here, not ${lengthBytes} bytes`)
    let descriptor = -1
    try {
      descriptor = native.createMemory('aether-memory', rounded, page === PAGE_BYTES ? 0 : page)
      native.reserveMemory(descriptor, 0, rounded)
      const owned = native.mapMemory(descriptor, 0, rounded, options.lock === true ? MEMORY_LOCK : 0)
      return backingOf(new Uint8Array(owned, 0, lengthBytes), { descriptor, offsetBytes: 0 }, owned)
    } catch (error) {
      if (descriptor >= 0) native.closeDescriptor(descriptor)
      if (!(error instanceof SystemError)) throw error
      throw new VerbsError(verb, error.errno, `${lengthBytes} bytes could not be allocated: ${error.message}`, {
        cause: error,
      })
    }
  }

  /** An existing buffer, perhaps a mapping of a memory object; that claim is checked as far as possible. */
  register(bytes: Uint8Array, access: number, origin: BufferOrigin | undefined): ShmBacking {
    // Copies count offsets in 32 bits, and since Node.js 22 buffers may be longer.
    if (bytes.length > MAX_REGION_BYTES)
      throw new VerbsError('ibv_reg_mr', Errno.EINVAL, `a region holds at most 4 GiB here, not ${bytes.length} bytes`)
    if (origin === undefined) {
      if ((access & Access.RemoteAtomic) !== 0) {
        throw new UnsupportedError(
          'ibv_reg_mr: remote atomics need memory that peers can map; use allocate(), or say which memory object the buffer maps',
        )
      }
      const shown = (access & (RemoteAccess | Access.MemoryWindowBind)) !== 0
      if (shown && this.#allowProcessCopy) native.allowProcessAccess(-1)
      return backingOf(bytes, undefined, undefined)
    }
    const { lengthBytes, shrinkable } = native.describeMemory(origin.descriptor)
    if (shrinkable) {
      throw new VerbsError(
        'ibv_reg_mr',
        Errno.EINVAL,
        'the memory object could be shrunk while peers map it; seal it (F_SEAL_SHRINK), or create it with createMemory',
      )
    }
    const { offsetBytes } = origin
    if (!(Number.isSafeInteger(offsetBytes) && offsetBytes >= 0 && offsetBytes + bytes.length <= lengthBytes)) {
      const range = `offset ${offsetBytes} + ${bytes.length} bytes`
      throw new VerbsError('ibv_reg_mr', Errno.EINVAL, `${range} is not within the object's ${lengthBytes}`)
    }
    return sharedBacking(bytes, origin)
  }

  /**
   * It is reached by cross-process copy even from here, so a missing page is an error, not a crash. It is made only if
   * the owner of the device allowed it.
   */
  wholeProcess(access: number): ShmBacking {
    if ((access & Access.RemoteAtomic) !== 0)
      throw new UnsupportedError(
        'ibv_reg_mr: remote atomics need memory that peers can map, and peers cannot map a whole address space',
      )
    if (!this.#allowProcessCopy)
      throw new VerbsError(
        'ibv_reg_mr',
        Errno.EPERM,
        'a key to the whole address space needs a device that was opened with { allowProcessCopy: true }',
      )
    native.allowProcessAccess(-1)
    const span = Span.foreign(process.pid, 0)
    const length = Number.MAX_SAFE_INTEGER
    return { bytes: NO_BYTES, address: 0, span, length, zeroBased: false, origin: undefined, owned: undefined }
  }

  physical(): ShmBacking {
    if (this.#physical === undefined)
      throw new VerbsError(
        'ibv_exp_reg_mr',
        Errno.EPERM,
        'this device has no physical memory: open it with { physicalBytes }; any process with the key then reaches all of it',
      )
    const { bytes, origin } = this.#physical
    return { ...sharedBacking(bytes, origin!), zeroBased: true }
  }

  /** A memory object whose bytes the program cannot see. */
  allocateOnDevice(lengthBytes: number): ShmBacking {
    return this.allocate('ibv_alloc_dm', lengthBytes, {})
  }

  part({ bytes, origin }: ShmBacking, offset: number, length: number): ShmBacking {
    const { descriptor } = origin!
    const part = sharedBacking(bytes.subarray(offset, offset + length), { descriptor, offsetBytes: offset })
    return { ...part, bytes: NO_BYTES, zeroBased: true }
  }

  release(backing: ShmBacking): void {
    const { owned, origin } = backing
    if (origin === undefined) return
    if (owned !== undefined) {
      // Peers may still map the object: punching a hole gives the memory back all the same.
      native.releaseMemory(origin.descriptor, 0, native.describeMemory(origin.descriptor).lengthBytes)
      native.unmapMemory(owned)
    }
    native.closeDescriptor(origin.descriptor)
  }

  close(): void {
    if (this.#physical !== undefined) this.release(this.#physical)
  }
}

function backingOf(bytes: Uint8Array, origin: BufferOrigin | undefined, owned: ArrayBuffer | undefined): ShmBacking {
  const address = native.addressOf(bytes)
  const span = new Span(bytes, 0, address)
  return { bytes, address, span, length: bytes.length, zeroBased: false, origin, owned }
}

/**
 * A part of a memory object that stays its owner's, with a descriptor of our own. The owner may close its descriptor,
 * and the number would then mean another file to peers.
 */
function sharedBacking(bytes: Uint8Array, origin: BufferOrigin): ShmBacking {
  const descriptor = native.duplicateDescriptor(origin.descriptor)
  return backingOf(bytes, { descriptor, offsetBytes: origin.offsetBytes }, undefined)
}
