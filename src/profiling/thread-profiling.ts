import process from 'node:process'
import { checkBoolean, native } from '../native/index.ts'
import { Profile } from './profile.ts'
import { PROFILING_AREA_BYTES, ProfilingArea } from './profiling-area.ts'

/** Turns profiling on from the start of a process. */
const PROFILE_VARIABLE = 'AETHER_PROFILE'

interface Home {
  readonly buffer: ArrayBufferLike
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** Where this thread's blocks may be, the first of them where they are. The last is memory of this thread's own. */
const homes: Home[] = []
let area: ProfilingArea | undefined
let on = process.env[PROFILE_VARIABLE] === '1'

/**
 * The area for objects of this thread outside any space or group: queue pairs, connections, methods. It is private
 * memory until the first space or group is entered in this thread. Then its blocks move into the member's area, where
 * others can read them.
 */
export function threadProfiling(): ProfilingArea {
  if (area === undefined) {
    const home = ownHome()
    // The kernel's number, as the member's own: it stays the same wherever the blocks are.
    area = new ProfilingArea(home.buffer, home.offsetBytes, home.lengthBytes, native.threadId())
  }
  return area
}

/**
 * Return what this thread has counted, wherever that is. In a space or group it is in the member's memory. So the
 * figures of the member's other threads, the agent's among them, are included.
 */
export function threadProfile(): Profile {
  threadProfiling()
  const { buffer, offsetBytes, lengthBytes } = homes[0] ?? ownHome()
  return Profile.read(buffer, offsetBytes, lengthBytes)
}

/**
 * Have this thread count in that area from now on. If it already counts in another member's area, the new one is used
 * when that ends. Call the returned function to take the blocks back. @internal
 */
export function shareThreadProfiling(buffer: ArrayBufferLike, offsetBytes: number, lengthBytes: number): () => void {
  const home: Home = { buffer, offsetBytes, lengthBytes }
  threadProfiling()
  homes.splice(-1, 0, home)
  if (homes[0] === home) move(home)
  return () => {
    const index = homes.indexOf(home)
    if (index < 0) return
    homes.splice(index, 1)
    if (index === 0) move(homes[0]!)
  }
}

/**
 * True if new objects also count what costs time: each queue pair and region separately, busy pages, and the durations
 * of calls.
 */
export function isProfiling(): boolean {
  return on
}

/**
 * Turn profiling on for what this thread and its new Workers make from now on, as `AETHER_PROFILE=1` does from the
 * start of a process. `false` turns it off. Existing objects stay as they were made.
 */
export function setProfiling(wanted: boolean): void {
  checkBoolean('wanted', wanted)
  on = wanted
  if (wanted) process.env[PROFILE_VARIABLE] = '1'
  else delete process.env[PROFILE_VARIABLE]
}

function move({ buffer, offsetBytes, lengthBytes }: Home): void {
  area?.moveTo(buffer, offsetBytes, lengthBytes)
}

function ownHome(): Home {
  const buffer = new SharedArrayBuffer(PROFILING_AREA_BYTES)
  const home = { buffer, offsetBytes: 0, lengthBytes: PROFILING_AREA_BYTES }
  homes.push(home)
  return home
}
