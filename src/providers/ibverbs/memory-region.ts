import { readFileSync } from 'node:fs'
import { native, SystemError, type VerbsToken } from '../../native/index.ts'
import { Access, describeAccess, RemoteAccess } from '../access.ts'
import type { AllocateOptions, ProviderMemoryRegion } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { IbverbsProtectionDomain } from './protection-domain.ts'
import { attempt, check } from './verb.ts'

const PAGE_BYTES = 4096
const MEMORY_LOCK = 2

/** Memory that `allocate` made. */
interface OwnedBytes {
  readonly bytes: Uint8Array
  free(): void
}

/** ibv_reg_mr(3). The addon references the buffer until it is deregistered, so the device never writes into memory of somebody else. */
export class IbverbsMemoryRegion implements ProviderMemoryRegion {
  readonly bytes: Uint8Array
  readonly address: number
  readonly length: number
  readonly localKey: number
  readonly remoteKey: number
  readonly access: number
  readonly handle: VerbsToken
  readonly #domain: IbverbsProtectionDomain
  readonly #owned: OwnedBytes | undefined

  constructor(domain: IbverbsProtectionDomain, bytes: Uint8Array, access: number, owned: OwnedBytes | undefined) {
    this.bytes = bytes
    this.address = native.addressOf(bytes)
    this.length = bytes.length
    this.access = access
    this.#domain = domain
    this.#owned = owned
    const { verbs } = domain.device
    const made = attempt(
      () => verbs.registerMemory(domain.handle, bytes, access),
      (errno) => (errno === Errno.ENOMEM ? explainNoMemory(bytes.length) : undefined),
    )
    this.handle = made.handle
    this.localKey = made.localKey
    this.remoteKey = (access & RemoteAccess) === 0 ? 0 : made.remoteKey
  }

  destroy(): void {
    check('ibv_dereg_mr', this.#domain.device.verbs.destroy(this.handle), () => 'the memory is in use')
    this.#domain.memories.delete(this)
    this.#owned?.free()
  }
}

/** What the library would pass on to the kernel unseen, or take for one of its optional flags, is refused here. */
export function checkAccess(access: number): void {
  const known = Object.values(Access).reduce((mask: number, bit) => mask | bit, 0)
  if (!Number.isInteger(access) || (access & ~known) !== 0)
    throw new VerbsError('ibv_reg_mr', Errno.EINVAL, `unknown access bits in ${access}`)
  if ((access & (Access.RemoteWrite | Access.RemoteAtomic)) !== 0 && (access & Access.LocalWrite) === 0)
    throw new VerbsError('ibv_reg_mr', Errno.EINVAL, `${describeAccess(access)} needs LocalWrite too`)
}

/** Whole pages of a memory object of their own, taken now: the device pins them anyway. */
export function allocateBytes(lengthBytes: number, options: AllocateOptions): OwnedBytes {
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

/** The limit of locked memory, in bytes; undefined where it is unlimited or cannot be read. */
function lockedBytesMax(): number | undefined {
  try {
    const line = /^Max locked memory\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    const value = Number(line?.[1])
    return Number.isFinite(value) ? value : undefined
  } catch {
    return undefined
  }
}

function explainNoMemory(lengthBytes: number): string {
  const limit = lockedBytesMax()
  if (limit === undefined)
    return `${lengthBytes} bytes cannot be pinned: there is not enough memory, or the device has no more entries for it`
  return `${lengthBytes} bytes cannot be pinned: memlock too small (${limit} bytes for all that this user registers); raise it with ulimit -l unlimited, in /etc/security/limits.conf, or LimitMEMLOCK=infinity of the service`
}
