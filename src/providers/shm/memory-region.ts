import { native, SystemError, UnsupportedError } from '../../native/index.ts'
import { Access, describeAccess, RemoteAccess } from '../access.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { AllocateOptions, BufferOrigin, ProviderMemoryRegion, ReregisterChanges } from '../memory-contract.ts'
import type { ShmDevice } from './device.ts'
import type { KeyedMemory } from './key-table.ts'
import { MAX_REGION_BYTES, NO_DESCRIPTOR, PAGE_BYTES } from './layout.ts'
import type { ShmProtectionDomain } from './protection-domain.ts'
import { Span } from './span.ts'

const MEMORY_LOCK = 2

/** What a region's bytes rest on. */
interface Backing {
  readonly bytes: Uint8Array
  /** Its descriptor is ours to close. */
  readonly origin: BufferOrigin | undefined
  /** Made by `allocate`, freed with the region. */
  readonly owned: ArrayBuffer | undefined
}

/** A memory region: a key in the own segment's table, and the bytes it stands for. */
export class ShmMemoryRegion implements ProviderMemoryRegion {
  readonly token: number
  readonly bytes: Uint8Array
  readonly address: number
  readonly length: number
  readonly localKey: number
  readonly remoteKey: number
  readonly access: number
  readonly #domain: ShmProtectionDomain
  readonly #backing: Backing
  #entry: KeyedMemory | undefined

  constructor(domain: ShmProtectionDomain, backing: Backing, access: number) {
    const { bytes, origin } = backing
    this.bytes = bytes
    this.address = native.addressOf(bytes)
    this.length = bytes.length
    this.access = access
    this.#domain = domain
    this.#backing = backing
    const entry = domain.device.keys.publish((key) => ({
      key,
      address: this.address,
      length: this.length,
      access,
      domainId: domain.id,
      descriptor: origin?.descriptor ?? NO_DESCRIPTOR,
      offsetBytes: origin?.offsetBytes ?? 0,
      span: new Span(bytes, 0, this.address),
    }))
    this.#entry = entry
    this.localKey = entry.key
    this.remoteKey = (access & RemoteAccess) === 0 ? 0 : entry.key
    this.token = entry.key
  }

  reregister(_changes: ReregisterChanges): void {
    throw new UnsupportedError('ibv_rereg_mr: not on the shm device yet')
  }

  destroy(): void {
    const { device } = this.#domain
    if (this.#entry !== undefined) device.keys.revoke(this.#entry.key)
    const tryAgain = this.#entry === undefined
    this.#entry = undefined
    // Who tries again goes ahead: the peer may be stopped, or broken, for ever. It has mappings of its own.
    if (!tryAgain) device.awaitPeersOutside('ibv_dereg_mr')
    this.#domain.memories.delete(this)
    const { owned, origin } = this.#backing
    if (origin === undefined) return
    if (owned !== undefined) {
      // Peers may still map the object: punching gives the memory back all the same.
      native.releaseMemory(origin.descriptor, 0, native.describeMemory(origin.descriptor).lengthBytes)
      native.unmapMemory(owned)
    }
    native.closeDescriptor(origin.descriptor)
  }
}

/** Remote write and atomic rights need the local one (ibv_reg_mr(3)); zero-based regions and on-demand paging are not built yet. */
export function checkAccess(access: number): void {
  const known = Object.values(Access).reduce((mask: number, bit) => mask | bit, 0)
  if (!Number.isInteger(access) || (access & ~known) !== 0)
    throw new VerbsError('ibv_reg_mr', Errno.EINVAL, `unknown access bits in ${access}`)
  if ((access & (Access.RemoteWrite | Access.RemoteAtomic)) !== 0 && (access & Access.LocalWrite) === 0) {
    throw new VerbsError('ibv_reg_mr', Errno.EINVAL, `${describeAccess(access)} needs LocalWrite too`)
  }
  if ((access & (Access.ZeroBased | Access.OnDemand | Access.MemoryWindowBind)) !== 0) {
    throw new UnsupportedError(
      `ibv_reg_mr: the shm device does not do ${describeAccess(access & (Access.ZeroBased | Access.OnDemand | Access.MemoryWindowBind))}`,
    )
  }
}

/** Memory for `allocate`: one memory object each, its space taken now so that a full machine is an error here and not a crash later. */
export function allocateBacking(lengthBytes: number, options: AllocateOptions): Backing {
  const page = options.pageBytes ?? PAGE_BYTES
  const rounded = Math.ceil(lengthBytes / page) * page
  if (rounded > MAX_REGION_BYTES)
    throw new VerbsError('ibv_reg_mr', Errno.EINVAL, `a region holds at most 4 GiB here, not ${lengthBytes} bytes`)
  let descriptor = -1
  try {
    descriptor = native.createMemory('aether-memory', rounded, page === PAGE_BYTES ? 0 : page)
    native.reserveMemory(descriptor, 0, rounded)
    const owned = native.mapMemory(descriptor, 0, rounded, options.lock === true ? MEMORY_LOCK : 0)
    return { bytes: new Uint8Array(owned, 0, lengthBytes), origin: { descriptor, offsetBytes: 0 }, owned }
  } catch (error) {
    if (descriptor >= 0) native.closeDescriptor(descriptor)
    if (!(error instanceof SystemError)) throw error
    throw new VerbsError('ibv_reg_mr', error.errno, `${lengthBytes} bytes could not be taken: ${error.message}`, {
      cause: error,
    })
  }
}

/** An existing buffer, perhaps a mapping of a memory object, whose claim is checked as far as it can be. */
export function registeredBacking(
  device: ShmDevice,
  bytes: Uint8Array,
  access: number,
  origin: BufferOrigin | undefined,
): Backing {
  if (origin === undefined) {
    if ((access & Access.RemoteAtomic) !== 0) {
      throw new UnsupportedError(
        'ibv_reg_mr: remote atomics need memory that peers can map; use allocate(), or say which memory object the buffer maps',
      )
    }
    if ((access & RemoteAccess) !== 0) device.allowProcessCopy()
    return { bytes, origin: undefined, owned: undefined }
  }
  const { lengthBytes, shrinkable } = native.describeMemory(origin.descriptor)
  if (shrinkable) {
    throw new VerbsError(
      'ibv_reg_mr',
      Errno.EINVAL,
      'the memory object could be made shorter under the peers that map it; seal it (F_SEAL_SHRINK), or make it with createMemory',
    )
  }
  if (
    !(
      Number.isSafeInteger(origin.offsetBytes) &&
      origin.offsetBytes >= 0 &&
      origin.offsetBytes + bytes.length <= lengthBytes
    )
  ) {
    throw new VerbsError(
      'ibv_reg_mr',
      Errno.EINVAL,
      `offset ${origin.offsetBytes} + ${bytes.length} bytes is not within the object's ${lengthBytes}`,
    )
  }
  // A descriptor of our own: the caller may close theirs, and its number would then mean another file to peers.
  const descriptor = native.duplicateDescriptor(origin.descriptor)
  return { bytes, origin: { descriptor, offsetBytes: origin.offsetBytes }, owned: undefined }
}
