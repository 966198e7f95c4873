import type { PeerEnds } from 'aether-dsm/internal/cluster'

/** The ends of other processes, told when they are certain. */
export class SimulatedEnds implements PeerEnds {
  readonly descriptors: readonly number[] = []
  readonly #ended = new Set<number>()
  readonly #onKill: (peer: number) => void

  /** `onKill`: the process of a peer is to end at once. */
  constructor(onKill: (peer: number) => void) {
    this.#onKill = onKill
  }

  /** The process of `peer` has ended, and all that it sent is here. */
  tell(peer: number): void {
    this.#ended.add(peer)
  }

  watch(): boolean {
    return true
  }

  isEnding(): boolean {
    return false
  }

  kill(peer: number): boolean {
    this.#onKill(peer)
    return true
  }

  refresh(): void {}

  look(peer: number): { readonly why: string; readonly certain: boolean } | undefined {
    return this.#ended.has(peer) ? { why: 'its process ended', certain: true } : undefined
  }

  forget(): void {}

  close(): void {}
}
