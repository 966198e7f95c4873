import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync, readlinkSync } from 'node:fs'
import { native } from '../native/index.ts'
import {
  ARENA_MAGIC,
  ARENA_VERSION,
  CONTROL_BYTES,
  EXTENTS_OFFSET,
  HEADER_OFFSET,
  MEMBERS_MAX,
  REGIONS_MAX,
} from './layout.ts'

/** Words of the header. */
const Word = { Magic: 0, Version: 1, Nonce: 2, LastEpoch: 6, Members: 7, Regions: 8 } as const
const NONCE_WORDS = 4

/** Tells one arena from all others: its memory object, and a random number written into it. */
export interface ArenaIdentity {
  readonly inode: number
  /** 32 hexadecimal digits. */
  readonly nonce: string
}

/** Why a descriptor of another process is not the wanted arena. */
export type ArenaMismatch = 'other' | 'version'

/** One process's hold on the memory object of a space, with the control part mapped. */
export class Arena {
  /** Opened through `node:fs`, so that a Worker that is terminated does not leak it. */
  readonly descriptor: number
  readonly identity: ArenaIdentity
  /** The first {@link CONTROL_BYTES}. */
  readonly control: ArrayBuffer
  readonly #header: Int32Array
  #open = true

  private constructor(descriptor: number, identity: ArenaIdentity, control: ArrayBuffer) {
    this.descriptor = descriptor
    this.identity = identity
    this.control = control
    this.#header = new Int32Array(control, HEADER_OFFSET, 64)
  }

  /** A new, empty arena. */
  static create(space: string): Arena {
    const made = native.createMemory(`aether-${space}`, EXTENTS_OFFSET, 0)
    const descriptor = reopen(made, constants.O_RDWR)
    const control = mapControl(descriptor)
    const nonce = randomBytes(NONCE_WORDS * 4)
    const words = new Int32Array(control, HEADER_OFFSET, 64)
    new Uint8Array(control, HEADER_OFFSET + Word.Nonce * 4, nonce.length).set(nonce)
    words[Word.Version] = ARENA_VERSION
    words[Word.Members] = MEMBERS_MAX
    words[Word.Regions] = REGIONS_MAX
    Atomics.store(words, Word.Magic, ARENA_MAGIC)
    return new Arena(descriptor, identityOf(descriptor, control), control)
  }

  /**
   * The arena behind a descriptor of another process, if it is the wanted one.
   * @throws the error of open(2) if the descriptor cannot be reached.
   */
  static adopt(processId: number, remoteDescriptor: number, wanted: ArenaIdentity): Arena | ArenaMismatch {
    const path = `/proc/${processId}/fd/${remoteDescriptor}`
    if (!readlinkSync(path).startsWith('/memfd:aether-')) return 'other'
    const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
    const control = mapWanted(descriptor, wanted)
    if (typeof control !== 'string') return new Arena(descriptor, identityOf(descriptor, control), control)
    closeSync(descriptor)
    return control
  }

  /** Epoch of the member that joined last; 0 before the first. */
  get lastEpoch(): number {
    return Atomics.load(this.#header, Word.LastEpoch)
  }

  /** Make `epoch` known, once it is in a slot: a process that reads it here then finds it there. Under the lock. */
  announceEpoch(epoch: number): void {
    Atomics.store(this.#header, Word.LastEpoch, epoch)
  }

  /** Unmap and close. Idempotent. */
  close(): void {
    if (!this.#open) return
    this.#open = false
    native.unmapMemory(this.control)
    closeSync(this.descriptor)
  }
}

/** Open the same file through a descriptor that `node:fs` knows. Closes the given one. */
export function reopen(descriptor: number, flags: number): number {
  try {
    return openSync(`/proc/self/fd/${descriptor}`, flags)
  } finally {
    native.closeDescriptor(descriptor)
  }
}

function mapControl(descriptor: number): ArrayBuffer {
  try {
    return native.mapMemory(descriptor, 0, CONTROL_BYTES, 0)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function mapWanted(descriptor: number, wanted: ArenaIdentity): ArrayBuffer | ArenaMismatch {
  const { inode, lengthBytes } = native.describeMemory(descriptor)
  if (inode !== wanted.inode || lengthBytes < EXTENTS_OFFSET) return 'other'
  const control = mapControl(descriptor)
  const words = new Int32Array(control, HEADER_OFFSET, 64)
  const known =
    Atomics.load(words, Word.Magic) === ARENA_MAGIC && identityOf(descriptor, control).nonce === wanted.nonce
  const mismatch = known ? 'version' : 'other'
  if (known && words[Word.Version] === ARENA_VERSION) return control
  native.unmapMemory(control)
  return mismatch
}

function identityOf(descriptor: number, control: ArrayBuffer): ArenaIdentity {
  const nonce = Buffer.from(control, HEADER_OFFSET + Word.Nonce * 4, NONCE_WORDS * 4).toString('hex')
  return { inode: native.describeMemory(descriptor).inode, nonce }
}
