/** How often a command ran, how long it took, and how often it was refused or failed. */
export interface CommandCount {
  calls: number
  usec: number
  rejected: number
  failed: number
}

/** Different codes of errors that are counted. */
const CODES_MAX = 128

/** What INFO counts, since the door was opened or CONFIG RESETSTAT. */
export class DoorStatistics {
  readonly #byCommand = new Map<string, CommandCount>()
  readonly #byCode = new Map<string, number>()
  connections = 0
  refusedConnections = 0
  /** Connections that were ended because their clients did not read. */
  slowConnections = 0
  receivedBytes = 0
  sentBytes = 0
  lookHits = 0
  lookMisses = 0

  get commands(): ReadonlyMap<string, CommandCount> {
    return this.#byCommand
  }

  get codes(): ReadonlyMap<string, number> {
    return this.#byCode
  }

  of(name: string): CommandCount {
    const known = this.#byCommand.get(name)
    if (known !== undefined) return known
    const count = { calls: 0, usec: 0, rejected: 0, failed: 0 }
    this.#byCommand.set(name, count)
    return count
  }

  fault(code: string): void {
    const known = this.#byCode.get(code) ?? 0
    if (known > 0 || this.#byCode.size < CODES_MAX) this.#byCode.set(code, known + 1)
  }

  reset(): void {
    this.#byCommand.clear()
    this.#byCode.clear()
    this.connections = 0
    this.refusedConnections = 0
    this.slowConnections = 0
    this.receivedBytes = 0
    this.sentBytes = 0
    this.lookHits = 0
    this.lookMisses = 0
  }
}
