import type { Group } from '../../../cluster/index.ts'
import { KeepAlive } from '../../../runtime/index.ts'

/** The part of a group that structures need. */
export type Tellers = Pick<Group, 'rank' | 'size' | 'isMember' | 'tell' | 'onTold' | 'onEvent'>

/** Kept for later exchanges: a rank may be one ahead. */
interface Heard {
  readonly round: number
  readonly value: unknown
}

/**
 * Rounds in which every rank says something to each other rank, and hears their answers. They make connections, and
 * tell all ranks that all are done. Ranks that have left or died are not waited for.
 */
export class Exchange {
  readonly #group: Tellers
  readonly #topic: string
  readonly #heard = new Map<number, Heard[]>()
  readonly #keepAlive = new KeepAlive()
  readonly #stops: readonly (() => void)[]
  #changed: () => void = () => {}
  #round = 0

  constructor(group: Tellers, topic: string) {
    this.#group = group
    this.#topic = topic
    this.#stops = [group.onTold(topic, (rank, value) => this.#take(rank, value)), group.onEvent(() => this.#changed())]
  }

  /**
   * Say `values[rank]` to each rank; what they said, undefined where a rank is gone. One round at a time, the same
   * number at each rank.
   */
  async next(values: readonly unknown[], signal?: AbortSignal): Promise<readonly unknown[]> {
    signal?.throwIfAborted()
    const round = await this.say(values)
    const others = this.#others()
    await this.#keepAlive.during(this.#until(() => others.every((rank) => this.#isThere(rank, round)), signal))
    return Array.from({ length: this.#group.size }, (_, rank) => this.#takeOut(rank, round))
  }

  /** Say `values[rank]` to each rank in the next round, which this one does not wait for. Gives its number. */
  async say(values: readonly unknown[]): Promise<number> {
    this.#round += 1
    const round = this.#round
    const saying = this.#others().map((rank) => this.#group.tell(rank, this.#topic, { round, value: values[rank] }))
    await Promise.all(saying)
    return round
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }

  #others(): readonly number[] {
    return Array.from({ length: this.#group.size }, (_, rank) => rank).filter((rank) => rank !== this.#group.rank)
  }

  #until(predicate: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    const over = new AbortController()
    const waiting = new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (signal?.aborted === true) reject(signal.reason)
        else if (predicate()) resolve()
      }
      this.#changed = look
      // A signal may outlive many groups.
      signal?.addEventListener('abort', look, { once: true, signal: over.signal })
      look()
    })
    return waiting.finally(() => over.abort())
  }

  #isThere(rank: number, round: number): boolean {
    return !this.#group.isMember(rank) || this.#of(rank).some((heard) => heard.round === round)
  }

  /** What is nothing that a rank says is passed over. */
  #take(rank: number, value: unknown): void {
    if (!isHeard(value)) return
    this.#of(rank).push(value)
    this.#changed()
  }

  #takeOut(rank: number, round: number): unknown {
    const heard = this.#of(rank)
    const at = heard.findIndex((one) => one.round === round)
    return at < 0 ? undefined : heard.splice(at, 1)[0]?.value
  }

  #of(rank: number): Heard[] {
    const heard = this.#heard.get(rank) ?? []
    this.#heard.set(rank, heard)
    return heard
  }
}

function isHeard(value: unknown): value is Heard {
  return typeof value === 'object' && value !== null && Number.isSafeInteger((value as Partial<Heard>).round)
}
