import { open, type Space } from '../dsm/index.ts'
import { mustBe } from '../native/index.ts'
import { openStructures, Structures } from '../structures/index.ts'

/** @throws ArgumentError unless it names a space, or is open structures. */
export function checkWhere(argument: string, where: unknown): void {
  if ((typeof where === 'string' && where !== '') || where instanceof Structures) return
  throw mustBe(argument, "the name of a space, such as 'shop', or what openStructures(space) resolved with", where)
}

/** A space that several adapters of one process share, entered once. */
export interface Opened {
  readonly space: Space
  readonly structures: Structures
}

interface Shared {
  readonly opened: Promise<Opened>
  holders: number
}

/**
 * By the name of the space. One process is one member, however many adapters it has: at most 254 members of a space can
 * have structures open.
 */
const shared = new Map<string, Shared>()

/**
 * An adapter's hold on structures. If the adapter names a space, its structures are opened when they are first asked
 * for. They are closed when the last adapter of this process releases them. Structures passed in by the caller stay the
 * caller's to close.
 */
export class Lease {
  readonly #where: string | Structures
  #held: Shared | undefined

  constructor(where: string | Structures) {
    this.#where = where
  }

  /** Opens them unless they are open. After a failure the next call tries again. */
  async structures(): Promise<Structures> {
    return typeof this.#where === 'string' ? (await this.opened()).structures : this.#where
  }

  /** The same with the space, which the adapter must have named. */
  async opened(): Promise<Opened> {
    this.#held ??= hold(this.#where as string)
    const held = this.#held
    try {
      return await held.opened
    } catch (error) {
      if (this.#held === held) this.#held = undefined
      throw error
    }
  }

  /** Release them. Idempotent; {@link structures} opens them again. */
  async release(): Promise<void> {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) await giveUp(this.#where as string, held)
  }
}

function hold(name: string): Shared {
  const known = shared.get(name)
  if (known !== undefined) {
    known.holders += 1
    return known
  }
  const made: Shared = { opened: openBoth(name), holders: 1 }
  shared.set(name, made)
  // The caller has been told; this only lets the next call try again.
  made.opened.catch(() => forget(name, made))
  return made
}

async function openBoth(name: string): Promise<Opened> {
  const space = await open(name)
  try {
    return { space, structures: await openStructures(space) }
  } catch (error) {
    await space.close()
    throw error
  }
}

async function giveUp(name: string, held: Shared): Promise<void> {
  held.holders -= 1
  if (held.holders > 0) return
  forget(name, held)
  const { space, structures } = await held.opened
  await structures.close()
  await space.close()
}

function forget(name: string, held: Shared): void {
  if (shared.get(name) === held) shared.delete(name)
}
