import { bytesOfClass, decodeBlock } from '../heap/block-word.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { HomeLostError } from '../memory/errors.ts'
import { namesVersion } from './layout.ts'
import { readVersion, type Version } from './version.ts'

/** How many objects' versions a rank keeps, and up to which length. */
const KEPT = 1024
const KEPT_BYTES_MAX = 4096

/** What this rank has seen last of an object. */
interface Kept {
  readonly word: bigint
  readonly version: Version
  /** The word of its lock when it was unlocked. */
  readonly unlocked: bigint
}

/** Versions of objects, by the words that name them. The newest that this rank has seen are kept: they never change. */
export class Versions {
  readonly #memory: HomeMemory
  /** By the place of the slot; what was used last comes last. */
  readonly #kept = new Map<number, Kept>()

  constructor(memory: HomeMemory) {
    this.#memory = memory
  }

  /**
   * What the head of the slot at `place` names, undefined where that is nothing. No round trip where this rank has seen
   * it. Within a section.
   */
  async newest(place: number, head: bigint): Promise<Version | undefined> {
    const kept = this.#kept.get(place)
    if (kept?.word === head) return this.#keep(place, kept)
    if (!namesVersion(head)) return undefined
    return this.#keep(place, { word: head, version: await this.read(head), unlocked: 0n })
  }

  /** What the lock of the slot at `place` may be while it is unlocked. */
  unlockedAt(place: number): bigint {
    return this.#kept.get(place)?.unlocked ?? 0n
  }

  /** What it was when this rank has locked it. */
  noteUnlocked(place: number, unlocked: bigint): void {
    const kept = this.#kept.get(place)
    if (kept !== undefined) this.#kept.set(place, { ...kept, unlocked })
  }

  /** This rank has put it there. */
  put(place: number, kept: Kept): void {
    this.#keep(place, kept)
  }

  /** The version that a word names. A round trip. Within a section that can reach it. */
  async read(word: bigint): Promise<Version> {
    const name = decodeBlock(word)!
    const { bytes } = await this.#memory.read(name.offset, bytesOfClass(name.sizeClass))
    const version = readVersion(name, bytes)
    if (version !== undefined) return version
    // No one waits any more for the sections of a rank that was given up.
    throw new HomeLostError(this.#memory.what, this.#memory.home, 'the group has given this rank up')
  }

  #keep(place: number, kept: Kept): Version {
    this.#kept.delete(place)
    if (kept.version.value.length <= KEPT_BYTES_MAX) this.#kept.set(place, kept)
    if (this.#kept.size > KEPT) this.#kept.delete(this.#kept.keys().next().value!)
    return kept.version
  }
}
