import type { DoorStatistics } from '../activity/command-statistics.ts'
import type { DoorParameters } from '../settings/door-parameters.ts'
import type { DoorClient } from './client.ts'

/** Ends connections of clients that say nothing, or do not read what they are sent. */
export class ClientLimits {
  readonly #parameters: DoorParameters
  readonly #statistics: DoorStatistics

  constructor(parameters: DoorParameters, statistics: DoorStatistics) {
    this.#parameters = parameters
    this.#statistics = statistics
  }

  /** After something was sent: too much waits. */
  checkOutput(client: DoorClient): void {
    const { hardBytes, softBytes, softSeconds } = this.#parameters.outputLimits.get(client.outputClass)!
    const bytes = client.line.unsentBytes
    const isOverSoft = softBytes > 0 && bytes > softBytes
    if (!isOverSoft) client.slowSinceMs = undefined
    else client.slowSinceMs ??= Date.now()
    const isSlow = isOverSoft && Date.now() - client.slowSinceMs! > softSeconds * 1000
    if (!isSlow && (hardBytes === 0 || bytes <= hardBytes)) return
    this.#statistics.slowConnections += 1
    client.line.destroy()
  }

  /** Now and then, of all clients. One that waits or is subscribed is not idle. */
  sweep(clients: Iterable<DoorClient>): void {
    const nowMs = Date.now()
    const timeoutMs = this.#parameters.timeoutSeconds * 1000
    for (const client of clients) {
      this.checkOutput(client)
      const mayBeSilent = client.blocked !== undefined || client.subscriptions > 0 || client.isMonitor
      if (timeoutMs > 0 && !mayBeSilent && nowMs - client.lastMs > timeoutMs) client.line.destroy()
    }
  }
}
