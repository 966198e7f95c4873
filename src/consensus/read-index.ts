import type { Configuration } from './replica/configuration.ts'
import { ReplicaHead, type ReplicaSight } from './replica/replica-head.ts'
import { currentNsOf, defaultSettings } from './replica/settings.ts'
import { VoterView } from './replica/voter-view.ts'

/** Voters that could not be seen are looked for again after this time. */
const LOOK_AGAIN_MS = 100

/** From which entry on a read is not older than its call, by what this machine's memory says. */
export class ReadIndex {
  readonly #sights: () => readonly ReplicaSight[]
  readonly #currentMs: number
  #configuration: Configuration | undefined
  #heads: readonly ReplicaHead[] = []
  #view: VoterView | undefined
  #lookedMs = Number.NEGATIVE_INFINITY
  #closed = false

  /** `sights`: where replicas are now. `isDurable`: they may come back from journals. */
  constructor(sights: () => readonly ReplicaSight[], isDurable: boolean) {
    this.#sights = sights
    this.#currentMs = isDurable ? currentNsOf(defaultSettings) / 1e6 : Number.POSITIVE_INFINITY
  }

  /** Those vote from now on. */
  set configuration(configuration: Configuration) {
    this.#configuration = configuration
    this.#look()
  }

  /** Undefined if it has to be asked for. */
  confirm(): number | undefined {
    const index = this.#view?.confirm()
    // Voters may have come whose memory was not known, or have begun again with another.
    if (index === undefined && performance.now() - this.#lookedMs > LOOK_AGAIN_MS) this.#look()
    return index
  }

  close(): void {
    this.#closed = true
    this.#forget()
  }

  #look(): void {
    if (this.#closed) return
    this.#lookedMs = performance.now()
    this.#forget()
    const configuration = this.#configuration
    if (configuration === undefined) return
    const voters = this.#sights().filter((sight) => configuration.voters.some(({ id }) => id === sight.id))
    this.#heads = voters.flatMap((sight) => ReplicaHead.open(sight) ?? [])
    this.#view = new VoterView(configuration, this.#heads, this.#currentMs)
  }

  #forget(): void {
    this.#view = undefined
    for (const head of this.#heads) head.close()
    this.#heads = []
  }
}
