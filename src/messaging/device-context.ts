import { type CompletionChannel, type Device, openDevice, type ProtectionDomain } from '../verbs/index.ts'
import { ProgressLoop } from './progress-loop.ts'

/** What all connections of one thread over one device share: opened for the first of them and closed with the last. */
export class DeviceContext {
  readonly device: Device
  readonly domain: ProtectionDomain
  readonly channel: CompletionChannel
  readonly loop: ProgressLoop
  readonly #name: string
  #users = 0

  private constructor(name: string) {
    this.#name = name
    this.device = openDevice(name)
    try {
      this.domain = this.device.createProtectionDomain()
      this.channel = this.device.createCompletionChannel()
      this.loop = new ProgressLoop(this.channel)
    } catch (error) {
      this.device.close()
      throw error
    }
  }

  /** Each `acquire` needs its `release`. */
  static acquire(name: string): DeviceContext {
    let context = contexts.get(name)
    if (context === undefined) {
      context = new DeviceContext(name)
      contexts.set(name, context)
    }
    context.#users += 1
    return context
  }

  release(): void {
    this.#users -= 1
    if (this.#users > 0) return
    contexts.delete(this.#name)
    this.device.close()
  }
}

const contexts = new Map<string, DeviceContext>()
