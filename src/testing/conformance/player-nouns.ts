import { type Device, type MemoryRegion, type OpenDeviceOptions, openDevice } from '../../verbs/index.ts'
import { errorFacts, PlayerError } from './player.ts'
import type { Handle, MemoryFacts } from './player-data.ts'

/** Any verbs object. */
interface Noun {
  close(): void
}

/** The device of a player in this process, and its nouns by handle. */
export class PlayerNouns {
  #device: Device | undefined
  #next = 1
  readonly #nouns = new Map<Handle, Noun>()
  readonly #handles = new Map<Noun, Handle>()

  close(handle: Handle): Promise<void> {
    return attempt(() => this.#nouns.get(handle)?.close())
  }

  reset(): Promise<void> {
    return attempt(() => {
      this.#device?.close()
      this.#device = undefined
      this.#nouns.clear()
      this.#handles.clear()
    })
  }

  protected openDevice(name: string, options: OpenDeviceOptions): Device {
    this.#device = openDevice(name, options)
    return this.#device
  }

  protected get device(): Device {
    if (this.#device === undefined) throw new Error('the player has no open device')
    return this.#device
  }

  protected keep(noun: Noun): Handle {
    const handle = this.#next
    this.#next += 1
    this.#nouns.set(handle, noun)
    this.#handles.set(noun, handle)
    return handle
  }

  protected handleOf(noun: Noun): Handle {
    return this.#handles.get(noun)!
  }

  protected get<T extends Noun>(handle: Handle, kind: { readonly prototype: T; readonly name: string }): T {
    const noun = this.#nouns.get(handle)
    if (noun === undefined || !Object.prototype.isPrototypeOf.call(kind.prototype, noun))
      throw new Error(`handle ${handle} is not a ${kind.name}`)
    return noun as T
  }

  protected factsOf(handle: Handle, memory: MemoryRegion): MemoryFacts {
    const { address, length, localKey, remoteKey } = memory
    return { handle, address, length, localKey, remoteKey }
  }

  protected keepMemory(memory: MemoryRegion): MemoryFacts {
    return this.factsOf(this.keep(memory), memory)
  }
}

/** Run `action` now. A failure becomes a PlayerError, as it does if it comes from another process. */
export async function attempt<T>(action: () => T): Promise<T> {
  try {
    return action()
  } catch (error) {
    throw new PlayerError(errorFacts(error))
  }
}
