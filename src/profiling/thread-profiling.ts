import { threadId } from 'node:worker_threads'
import { Profile } from './profile.ts'
import { PROFILING_AREA_BYTES, ProfilingArea } from './profiling-area.ts'

interface Home {
  readonly buffer: ArrayBufferLike
  readonly offsetBytes: number
  readonly lengthBytes: number
  readonly thread: number
}

/** Where this thread's blocks may be, the first of them where they are. The last is memory of this thread's own. */
const homes: Home[] = []
let area: ProfilingArea | undefined

/**
 * Where things of this thread count that belong to no space or group of their own: queue pairs, connections, methods. It is memory of this thread until the
 * first space or group is entered in it; then its blocks move into the member's area, where others can read them.
 */
export function threadProfiling(): ProfilingArea {
  if (area === undefined) {
    const home = ownHome()
    area = new ProfilingArea(home.buffer, home.offsetBytes, home.lengthBytes, home.thread)
  }
  return area
}

/** What this thread has counted, wherever it is. */
export function threadProfile(): Profile {
  threadProfiling()
  const { buffer, offsetBytes, lengthBytes } = homes[0] ?? ownHome()
  return Profile.read(buffer, offsetBytes, lengthBytes)
}

/**
 * Have this thread count there from now on, unless it does so in another member's area already; then this one is used when that one ends. Calling what it
 * returns takes the blocks back. @internal
 */
export function shareThreadProfiling(
  buffer: ArrayBufferLike,
  offsetBytes: number,
  lengthBytes: number,
  thread: number,
): () => void {
  const home: Home = { buffer, offsetBytes, lengthBytes, thread }
  threadProfiling()
  homes.splice(-1, 0, home)
  if (homes[0] === home) move(home)
  return () => {
    const index = homes.indexOf(home)
    if (index < 0) return
    homes.splice(index, 1)
    if (index === 0) move(homes[0] as Home)
  }
}

function move({ buffer, offsetBytes, lengthBytes, thread }: Home): void {
  area?.moveTo(buffer, offsetBytes, lengthBytes, thread)
}

function ownHome(): Home {
  const buffer = new SharedArrayBuffer(PROFILING_AREA_BYTES)
  const home = { buffer, offsetBytes: 0, lengthBytes: PROFILING_AREA_BYTES, thread: threadId }
  homes.push(home)
  return home
}
