import { ArgumentError } from '../native/index.ts'
import { type CompletionChannel, type Device, openDevice, type ProtectionDomain } from '../verbs/index.ts'
import { Departures } from './departures.ts'
import { ProgressLoop } from './progress-loop.ts'

/** A device by its name, or a protection domain of the program. */
export type ContextOf = string | ProtectionDomain

/**
 * What all connections of one thread share over one device or in one protection domain. It is opened for the first
 * connection and closed with the last. A domain of the program stays open.
 */
export class DeviceContext {
  readonly domain: ProtectionDomain
  readonly channel: CompletionChannel
  readonly loop: ProgressLoop
  readonly departures: Departures = new Departures()
  readonly #of: ContextOf
  readonly #own: Device | undefined
  #users = 0

  private constructor(of: ContextOf) {
    this.#of = of
    this.#own = typeof of === 'string' ? openDevice(of) : undefined
    try {
      this.domain = typeof of === 'string' ? this.#own!.createProtectionDomain() : of
      this.channel = this.domain.device.createCompletionChannel()
      this.loop = new ProgressLoop(this.channel)
    } catch (error) {
      this.#own?.close()
      throw error
    }
  }

  /** Each `acquire` needs its `release`. */
  static acquire(of: ContextOf): DeviceContext {
    if (typeof of !== 'string' && typeof of?.createQueuePair !== 'function')
      throw new ArgumentError('device', `device must be the name of a device, not ${typeof of}`)
    let context = contexts.get(of)
    if (context === undefined) {
      context = new DeviceContext(of)
      contexts.set(of, context)
    }
    context.#users += 1
    return context
  }

  /** Close what the contexts of an ending thread have opened, even if it is in use. */
  static closeAll(): void {
    for (const context of contexts.values()) context.#own?.close()
    contexts.clear()
  }

  /** Count one more user, with a `release` of its own. */
  retain(): void {
    this.#users += 1
  }

  release(): void {
    this.#users -= 1
    if (this.#users > 0) return
    contexts.delete(this.#of)
    this.channel.close()
    this.#own?.close()
  }
}

const contexts = new Map<ContextOf, DeviceContext>()
