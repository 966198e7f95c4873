import { native, SystemError, UnsupportedError } from '../../native/index.ts'
import { Access, RemoteAccess } from '../access.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { AllocateOptions, BufferOrigin } from '../memory-contract.ts'
import type { ShmDevice } from './device.ts'
import { MAX_REGION_BYTES, PAGE_BYTES } from './layout.ts'
import { Span } from './span.ts'

const MEMORY_LOCK = 2
const NO_BYTES = new Uint8Array(0)

/** The memory behind a region. */
export interface Backing {
  /** The bytes as the program sees them; empty if it must not see them. */
  readonly bytes: Uint8Array
  readonly span: Span
  readonly length: number
  /** True if requests name its bytes from 0 on. */
  readonly zeroBased: boolean
  /** We must close its descriptor. */
  readonly origin: BufferOrigin | undefined
  /** Made by `allocate`, and freed with the region. */
  readonly owned: ArrayBuffer | undefined
}

function backingOf(bytes: Uint8Array, origin: BufferOrigin | undefined, owned: ArrayBuffer | undefined): Backing {
  return {
    bytes,
    span: new Span(bytes, 0, native.addressOf(bytes)),
    length: bytes.length,
    zeroBased: false,
    origin,
    owned,
  }
}

/**
 * Memory for `allocate`, one memory object each. Its space is taken now, so that a full machine is an error here and
 * not a crash later.
 */
export function allocateBacking(verb: string, lengthBytes: number, options: AllocateOptions): Backing {
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
export function registeredBacking(
  device: ShmDevice,
  bytes: Uint8Array,
  access: number,
  origin: BufferOrigin | undefined,
): Backing {
  // Copies count offsets in 32 bits, and since Node.js 22 buffers may be longer.
  if (bytes.length > MAX_REGION_BYTES)
    throw new VerbsError('ibv_reg_mr', Errno.EINVAL, `a region holds at most 4 GiB here, not ${bytes.length} bytes`)
  if (origin === undefined) {
    if ((access & Access.RemoteAtomic) !== 0) {
      throw new UnsupportedError(
        'ibv_reg_mr: remote atomics need memory that peers can map; use allocate(), or say which memory object the buffer maps',
      )
    }
    if ((access & (RemoteAccess | Access.MemoryWindowBind)) !== 0) device.allowProcessCopy()
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
 * A part of a memory object that stays its owner's, with a descriptor of our own. The owner may close its descriptor,
 * and the number would then mean another file to peers.
 */
function sharedBacking(bytes: Uint8Array, origin: BufferOrigin): Backing {
  const descriptor = native.duplicateDescriptor(origin.descriptor)
  return backingOf(bytes, { descriptor, offsetBytes: origin.offsetBytes }, undefined)
}

/** Like {@link sharedBacking}, but zero-based. `visible`: the program may also touch the bytes. */
export function zeroBasedBacking(bytes: Uint8Array, origin: BufferOrigin, visible: boolean): Backing {
  return { ...sharedBacking(bytes, origin), bytes: visible ? bytes : NO_BYTES, zeroBased: true }
}

/**
 * Everything that this process has mapped or will map. It is reached by cross-process copy even from here, so a missing
 * page is an error, not a crash.
 */
export function wholeProcessBacking(): Backing {
  const span = Span.foreign(process.pid, 0)
  const length = Number.MAX_SAFE_INTEGER
  return { bytes: NO_BYTES, span, length, zeroBased: false, origin: undefined, owned: undefined }
}

export function releaseBacking(backing: Backing): void {
  const { owned, origin } = backing
  if (origin === undefined) return
  if (owned !== undefined) {
    // Peers may still map the object: punching a hole gives the memory back all the same.
    native.releaseMemory(origin.descriptor, 0, native.describeMemory(origin.descriptor).lengthBytes)
    native.unmapMemory(owned)
  }
  native.closeDescriptor(origin.descriptor)
}
