import process from 'node:process'
import { native } from '../native/index.ts'
import { Profile } from './profile.ts'
import { PROFILING_AREA_BYTES, ProfilingArea } from './profiling-area.ts'

/** Turns profiling on from the start of a process. */
export const PROFILE_VARIABLE = 'AETHER_PROFILE'

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
 * Where things of this thread count that belong to no space or group of their own: queue pairs, connections, methods.
 * It is memory of this thread until the first space or group is entered in it; then its blocks move into the member's
 * area, where others can read them.
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
 * What this thread has counted, wherever it is. In a space or group that is the member's memory, so the figures of its
 * other threads, as those of the agent, are in it, too.
 */
export function threadProfile(): Profile {
  threadProfiling()
  const { buffer, offsetBytes, lengthBytes } = homes[0] ?? ownHome()
  return Profile.read(buffer, offsetBytes, lengthBytes)
}

/**
 * Have this thread count there from now on, unless it does so in another member's area already; then this one is used
 * when that one ends. Calling what it returns takes the blocks back. @internal
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
 * Whether things made now count what costs time: each queue pair and region by itself, busy pages, and how long calls
 * take.
 */
export function isProfiling(): boolean {
  return on
}

/**
 * Profile what this thread and the Workers that it starts make from now on, as `AETHER_PROFILE=1` does from the start
 * of a process; `false`: no more. What exists goes on as it was made.
 */
export function setProfiling(wanted: boolean): void {
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
