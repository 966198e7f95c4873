import type { WaitingFrame } from './waiting-frame.ts'

/** Up to this many places, the frames that have left are not removed. */
const PLACES_MIN = 32

/**
 * Frames that wait for room, in order. A frame that leaves or is given up is no longer kept: memory is used only for
 * waiting frames, whatever becomes of the link.
 */
export class FrameQueue {
  /** The number of waiting frames. */
  length = 0
  /** With those before the head, which have left, and those that were given up. */
  #places: WaitingFrame[] = []
  #head = 0

  push(frame: WaitingFrame): void {
    this.#places.push(frame)
    this.length += 1
  }

  /** The next frame; undefined if none waits. */
  get first(): WaitingFrame | undefined {
    while (this.#places[this.#head]?.dropped === true) this.#head += 1
    return this.#places[this.#head]
  }

  /** The first frame has left. */
  shift(): void {
    const frame = this.first
    if (frame === undefined) return
    frame.letGo()
    this.#head += 1
    this.#lessen()
  }

  /** This frame, no part of which has left, is not wanted any more. */
  drop(frame: WaitingFrame): void {
    if (frame.dropped) return
    frame.dropped = true
    frame.letGo()
    this.#lessen()
  }

  /** Costs a look at each place once in as many steps as there are places. */
  #lessen(): void {
    this.length -= 1
    const places = this.#places
    if (this.length === 0) this.#reset([])
    else if (places.length > PLACES_MIN && places.length > 2 * this.length) this.#reset([...this])
  }

  #reset(places: WaitingFrame[]): void {
    this.#places = places
    this.#head = 0
  }

  /** No frame is wanted any more. */
  clear(): void {
    for (const each of this) {
      each.dropped = true
      each.letGo()
    }
    this.length = 0
    this.#reset([])
  }

  *[Symbol.iterator](): IterableIterator<WaitingFrame> {
    for (const [place, each] of this.#places.entries()) if (place >= this.#head && !each.dropped) yield each
  }
}
