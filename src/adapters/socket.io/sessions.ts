import type { Session } from 'socket.io-adapter'
import type { SharedMap, Structures } from '../../structures/index.ts'

/** Sessions that are kept at most. Beyond that, or if memory runs out, the oldest go. */
const SESSIONS_MAX = 100_000
/** Socket.IO's have 20. */
const IDENTITY_LENGTH_MAX = 64

/** A session as Socket.IO passes it on. */
export type PlainSession = Pick<Session, 'sid' | 'pid' | 'rooms' | 'data'>

interface Kept {
  readonly namespace: string
  readonly session: PlainSession
}

/** Sessions of clients whose connection broke, for connection state recovery by whichever worker they come back to. */
export class Sessions {
  readonly #map: SharedMap<Kept>

  static async open(structures: Structures, name: string): Promise<Sessions> {
    return new Sessions(await structures.map<Kept>(`${name}:sessions`, { maxEntries: SESSIONS_MAX }))
  }

  private constructor(map: SharedMap<Kept>) {
    this.#map = map
  }

  /** @throws ArgumentError for `data` that structuredClone does not take; StructureError, HeapFullError. */
  keep(namespace: string, session: PlainSession, ttlMs: number): void {
    this.#map.setSync(session.pid, { namespace, session }, { ttlMs })
  }

  /** Only one worker takes a session, so no two sockets are ever the same one. */
  take(namespace: string, pid: string): PlainSession | undefined {
    if (pid.length > IDENTITY_LENGTH_MAX) return undefined
    const kept = this.#map.getSync(pid)
    return kept?.namespace === namespace && this.#map.deleteSync(pid) ? kept.session : undefined
  }
}
