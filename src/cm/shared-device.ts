import { type Device, openDevice, type ProtectionDomain } from '../verbs/index.ts'

/**
 * The device and protection domain of connections that were given none. There is one for each device and JavaScript
 * environment. It is opened for the first connection and closed with the last. rdma_create_qp(3) has such a default
 * domain, too.
 */
export class SharedDevice {
  readonly device: Device
  readonly domain: ProtectionDomain
  readonly #name: string
  #users = 0

  private constructor(name: string) {
    this.#name = name
    this.device = openDevice(name)
    try {
      this.domain = this.device.createProtectionDomain()
    } catch (error) {
      this.device.close()
      throw error
    }
  }

  /** Each `acquire` needs its `release`. */
  static acquire(name: string): SharedDevice {
    let shared = open.get(name)
    if (shared === undefined) {
      shared = new SharedDevice(name)
      open.set(name, shared)
    }
    shared.#users += 1
    return shared
  }

  release(): void {
    this.#users -= 1
    if (this.#users > 0) return
    open.delete(this.#name)
    this.device.close()
  }
}

const open = new Map<string, SharedDevice>()
