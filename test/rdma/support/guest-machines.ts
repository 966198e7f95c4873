import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MachinePlace } from '../../support/machines.ts'

const PORT = 7471
/** An emulated processor is slow, and shared. */
const SILENCE_MS = 20_000

/**
 * Machines that are runtime directories of this guest: processes take each other for processes of other machines, and
 * talk over its device. Each is found at a port of its own.
 */
export class GuestMachines {
  readonly joinOptions: { readonly seeds: readonly string[]; readonly secretFile: string; readonly device: string }
  readonly #folder: string

  constructor(count: number, device: string, folder: string) {
    this.#folder = folder
    mkdirSync(folder, { recursive: true })
    const secretFile = join(folder, 'secret')
    writeFileSync(secretFile, 'a secret of at least thirty-two bytes', { mode: 0o600 })
    const address = process.env['AETHER_RDMA_ADDRESS'] ?? ''
    this.joinOptions = {
      seeds: Array.from({ length: count }, (_, index) => `${address}:${PORT + index}`),
      ...{ secretFile, device },
    }
  }

  async place(machine: number): Promise<MachinePlace> {
    const directory = join(this.#folder, String(machine))
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const environment = { AETHER_RUNTIME_DIRECTORY: directory, AETHER_SILENCE_MS: String(SILENCE_MS) }
    return { environment, under: [] }
  }
}
