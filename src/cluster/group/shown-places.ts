import { PROFILING_AREA_BYTES, WAIT_TABLE_BYTES } from '../../profiling/index.ts'
import { PROFILING_OFFSET, WAITS_OFFSET } from '../layout.ts'
import type { Membership } from '../membership.ts'

/** Where the agent finds the place for its counters, or for its waits. */
export interface ProfilingPlace {
  readonly descriptor: number
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** What an agent shows to others of its space, and where. */
export interface ShownPlaces {
  readonly profiling: ProfilingPlace
  /** How the agent learns that there is a watcher, and where it publishes what it shows. */
  readonly watching: { readonly descriptor: number; readonly slot: number }
  readonly waits: ProfilingPlace
}

export function shownPlaces({ arena: { descriptor }, self: { slot } }: Membership): ShownPlaces {
  const place = (offset: number, lengthBytes: number): ProfilingPlace => {
    return { descriptor, offsetBytes: offset + slot * lengthBytes, lengthBytes }
  }
  return {
    profiling: place(PROFILING_OFFSET, PROFILING_AREA_BYTES),
    watching: { descriptor, slot },
    waits: place(WAITS_OFFSET, WAIT_TABLE_BYTES),
  }
}
