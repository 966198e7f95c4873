import { native, type VerbsMemoryFacts, type VerbsToken } from '../../native/index.ts'
import { Access, describeAccess, RemoteAccess } from '../access.ts'
import type { ProviderMemoryRegion, ProviderProtectionDomain, ReregisterChanges } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { AllocateOptions } from '../memory-contract.ts'
import { type AllocatedBytes, allocateBytes } from './allocated-bytes.ts'
import type { IbverbsDomain } from './context.ts'
import { explainUnpinnable } from './locked-memory.ts'
import { attempt, check } from './verb.ts'

const NOTHING = new Uint8Array(0)

/** A protection domain with its regions. */
export interface MemoryDomain extends IbverbsDomain {
  readonly memories: Set<IbverbsMemoryRegion>
}

/**
 * ibv_reg_mr(3). The addon references the buffer until it is deregistered, so the device never writes into memory that
 * was freed and reused.
 */
export class IbverbsMemoryRegion implements ProviderMemoryRegion {
  readonly token: VerbsToken
  bytes: Uint8Array
  address: number
  length: number
  localKey: number
  remoteKey: number
  access: number
  #domain: MemoryDomain
  readonly #allocated: AllocatedBytes | undefined

  private constructor(
    domain: MemoryDomain,
    facts: VerbsMemoryFacts,
    bytes: Uint8Array,
    length: number,
    access: number,
    allocated: AllocatedBytes | undefined,
  ) {
    this.#domain = domain
    this.#allocated = allocated
    this.token = facts.handle
    this.bytes = bytes
    this.length = length
    this.access = access
    this.localKey = facts.localKey
    this.remoteKey = remoteKeyOf(facts, access)
    this.address = addressOf(bytes, access)
  }

  static allocate(
    domain: MemoryDomain,
    lengthBytes: number,
    access: number,
    options: AllocateOptions,
  ): IbverbsMemoryRegion {
    checkAccess(access)
    const allocated = allocateBytes(lengthBytes, options)
    try {
      return IbverbsMemoryRegion.register(domain, allocated.bytes, access, allocated)
    } catch (error) {
      allocated.free()
      throw error
    }
  }

  static register(
    domain: MemoryDomain,
    bytes: Uint8Array,
    access: number,
    allocated: AllocatedBytes | undefined,
  ): IbverbsMemoryRegion {
    checkAccess(access)
    const facts = attempt(
      () => domain.device.verbs.registerMemory(domain.handle, bytes, access),
      (errno) => (errno === Errno.ENOMEM ? explainUnpinnable(bytes.length) : undefined),
    )
    return IbverbsMemoryRegion.of(domain, facts, bytes, access, allocated)
  }

  /** A region of memory that is already registered. */
  static of(
    domain: MemoryDomain,
    facts: VerbsMemoryFacts,
    bytes: Uint8Array,
    access: number,
    allocated: AllocatedBytes | undefined,
  ): IbverbsMemoryRegion {
    return new IbverbsMemoryRegion(domain, facts, bytes, bytes.length, access, allocated)
  }

  /** A region whose memory the program itself cannot touch through it; its addresses start at 0. */
  static beyondReach(
    domain: MemoryDomain,
    facts: VerbsMemoryFacts,
    length: number,
    access: number,
  ): IbverbsMemoryRegion {
    return new IbverbsMemoryRegion(domain, facts, NOTHING, length, access, undefined)
  }

  reregister(changes: ReregisterChanges): void {
    const { access, buffer } = changes
    const domain = changes.domain as (ProviderProtectionDomain & MemoryDomain) | undefined
    checkAccess(access ?? this.access)
    const { verbs } = this.#domain.device
    const facts = attempt(() => verbs.reregisterMemory(this.token, domain?.handle ?? 0, buffer, access ?? -1))
    if (domain !== undefined) this.#moveTo(domain)
    this.access = access ?? this.access
    this.bytes = buffer ?? this.bytes
    this.length = buffer?.length ?? this.length
    this.localKey = facts.localKey
    this.remoteKey = remoteKeyOf(facts, this.access)
    this.address = addressOf(this.bytes, this.access)
  }

  destroy(): void {
    check('ibv_dereg_mr', this.#domain.device.verbs.destroy(this.token), () => 'a memory window is bound to it')
    this.#domain.memories.delete(this)
    this.#allocated?.free()
  }

  #moveTo(domain: MemoryDomain): void {
    this.#domain.memories.delete(this)
    this.#domain = domain
    domain.memories.add(this)
  }
}

function remoteKeyOf(facts: VerbsMemoryFacts, access: number): number {
  return (access & RemoteAccess) === 0 ? 0 : facts.remoteKey
}

function addressOf(bytes: Uint8Array, access: number): number {
  return bytes.length === 0 || (access & Access.ZeroBased) !== 0 ? 0 : native.addressOf(bytes)
}

/** Refuse what the library would pass on to the kernel unchecked, or take for one of its optional flags. */
export function checkAccess(access: number): void {
  const known = Object.values(Access).reduce((mask: number, bit) => mask | bit, 0)
  if (!Number.isInteger(access) || (access & ~known) !== 0)
    throw new VerbsError('ibv_reg_mr', Errno.EINVAL, `unknown access bits in ${access}`)
  if ((access & (Access.RemoteWrite | Access.RemoteAtomic)) !== 0 && (access & Access.LocalWrite) === 0)
    throw new VerbsError('ibv_reg_mr', Errno.EINVAL, `${describeAccess(access)} needs LocalWrite too`)
}
