import { LANES_PER_THREAD } from './trace-event.ts'

/** Where a slice of a track is drawn. */
export interface Lane {
  /** The number within this thread, over all tracks. */
  readonly number: number
  /** `faults`, `faults 2`, … */
  readonly name: string
  /** True if nothing was drawn there before. */
  readonly isNew: boolean
}

interface Track {
  readonly lanes: { readonly number: number; readonly name: string }[]
  readonly free: number[]
  /** Lane by id of what is under way. */
  readonly open: Map<number, number>
}

/** Slices of one track overlap, and those of one line must not. So each takes the first free lane. */
export class TraceLanes {
  readonly #tracks = new Map<string, Track>()
  #count = 0

  /** Return the lane for a slice that starts; undefined if none is left, or if the id is under way. */
  begin(name: string, id: number): Lane | undefined {
    let track = this.#tracks.get(name)
    if (track === undefined) {
      track = { lanes: [], free: [], open: new Map() }
      this.#tracks.set(name, track)
    }
    if (track.open.has(id)) return undefined
    const index = takeLowest(track.free) ?? track.lanes.length
    const isNew = index === track.lanes.length
    if (isNew) {
      if (this.#count === LANES_PER_THREAD) return undefined
      track.lanes.push({ number: this.#count++, name: index === 0 ? name : `${name} ${index + 1}` })
    }
    track.open.set(id, index)
    return { ...track.lanes[index]!, isNew }
  }

  /** Return the number of the lane of a slice that ends; undefined if its start was not drawn. */
  end(name: string, id: number): number | undefined {
    const track = this.#tracks.get(name)
    const index = track?.open.get(id)
    if (track === undefined || index === undefined) return undefined
    track.open.delete(id)
    track.free.push(index)
    return track.lanes[index]!.number
  }
}

function takeLowest(free: number[]): number | undefined {
  if (free.length === 0) return undefined
  let at = 0
  for (let index = 1; index < free.length; index += 1) if (free[index]! < free[at]!) at = index
  return free.splice(at, 1)[0]
}
