import { createHash, randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import type { ProviderXrcDomain, XrcDomainOptions } from '../xrc-domain.ts'
import { BlockKind, BlockWord } from './layout.ts'
import { NoteFolder } from './note-folder.ts'

let serial = 0
function nextSerial(): number {
  serial += 1
  return serial
}

/** What a note in the registry of a domain is about. */
type Noted = 'queue' | 'pair'

const KEY_BYTES = 8

/**
 * An XRC domain: eight bytes that receive queue pairs and shared receive queues carry in their blocks. For a domain
 * with a file they come from its inode. So processes agree on them, and leave each other notes of what they have.
 */
export class ShmXrcDomain implements ProviderXrcDomain {
  readonly users: Set<object> = new Set<object>()
  readonly #gid: Gid
  readonly #siblings: Set<ShmXrcDomain>
  readonly #key: Int32Array
  readonly #registry: NoteFolder | undefined
  readonly #serial: number = nextSerial()

  /** `gid` is the device's, and `siblings` are its domains; this one is among them until it is destroyed. */
  constructor(gid: Gid, siblings: Set<ShmXrcDomain>, options: XrcDomainOptions) {
    const { path, create = true, exclusive = false } = options
    const bytes = path === undefined ? randomBytes(KEY_BYTES) : inodeKey(path)
    this.#gid = gid
    this.#siblings = siblings
    this.#key = new Int32Array(Uint8Array.from(bytes).buffer, 0, 2)
    this.#registry = path === undefined ? undefined : registryOf(this.#key)
    const exists = this.#registry !== undefined && isAlive(this.#registry)
    if (exists && exclusive) throw new VerbsError('ibv_open_xrcd', Errno.EEXIST, `${path} has a domain already`)
    if (!exists && !create) throw new VerbsError('ibv_open_xrcd', Errno.ENOENT, `${path} has no domain yet`)
    this.#registry?.put(this.#openNote, gid)
    siblings.add(this)
  }

  describe(words: Int32Array): void {
    words[BlockWord.XrcDomain] = this.#key[0]!
    words[BlockWord.XrcDomain + 1] = this.#key[1]!
  }

  /** True if that is the block of one of its receive queue pairs. */
  has(words: Int32Array): boolean {
    const at = BlockWord.XrcDomain
    if (words[BlockWord.Kind] !== BlockKind.XrcReceive) return false
    return words[at] === this.#key[0] && words[at + 1] === this.#key[1]
  }

  /** From now on senders find it, and so do processes that open it by number. */
  note(user: object, what: Noted, number: number): void {
    if (this.#registry?.put(noteOf(what, number), this.#gid) === false)
      throw new VerbsError('ibv_open_xrcd', Errno.EAGAIN, `number ${number} is taken in this XRC domain; try again`)
    this.users.add(user)
  }

  forget(user: object, what: Noted, number: number): void {
    this.users.delete(user)
    this.#registry?.remove(noteOf(what, number))
  }

  /** The device that has the receive queue pair of that number; this one if the domain is not shared. */
  ownerOf(number: number): Gid | undefined {
    return this.#registry === undefined ? this.#gid : this.#registry.get(noteOf('pair', number))
  }

  destroy(): void {
    if (this.users.size > 0) {
      const what = `${this.users.size} queue pairs and shared receive queues are still in it`
      throw new VerbsError('ibv_close_xrcd', Errno.EBUSY, what)
    }
    this.#registry?.remove(this.#openNote)
    this.#siblings.delete(this)
  }

  /** One note per handle, since a process may open the domain twice. */
  get #openNote(): string {
    return `open-${this.#gid.toString(16)}-${this.#serial}`
  }
}

/** The device that has the shared receive queue of that number in the domain that a block names. */
export function sharedQueueOwner(words: Int32Array, number: number): Gid | undefined {
  return registryOf(words.subarray(BlockWord.XrcDomain, BlockWord.XrcDomain + 2)).get(noteOf('queue', number))
}

function noteOf(what: Noted, number: number): string {
  return `${what}-${number.toString(16)}`
}

function registryOf(key: Int32Array): NoteFolder {
  const text = [...key].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
  return new NoteFolder(`xrc-${text}`)
}

function isAlive(registry: NoteFolder): boolean {
  return registry.names().some((name) => name.startsWith('open-') && registry.get(name) !== undefined)
}

function inodeKey(path: string): Uint8Array {
  const status = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (status === undefined) throw new VerbsError('ibv_open_xrcd', Errno.ENOENT, `there is no file ${path}`)
  return createHash('sha256').update(`${status.dev}-${status.ino}`).digest().subarray(0, KEY_BYTES)
}
