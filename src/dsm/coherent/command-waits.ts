import type { OpenWait, WaitFinding, WaitingPart } from '../../cluster/index.ts'
import { monotonicNow } from '../../profiling/index.ts'
import type { Reply } from '../../runtime/index.ts'

/** What is waited for by a command that may take long, and which rank answers it; -1 where several do. */
interface Kind {
  readonly object: (region: string) => string
  readonly rank: number
}

const SEVERAL = -1
const kinds: Readonly<Record<string, Kind>> = {
  fence: { object: (region) => `the ranks that keep what was written in ${region}`, rank: SEVERAL },
  giveUp: { object: (region) => `the homes of the pages of ${region} that are given up`, rank: SEVERAL },
  openRegion: { object: () => 'the registry of regions', rank: 0 },
  lookUpRegion: { object: () => 'the registry of regions', rank: 0 },
  closeRegion: { object: () => 'the registry of regions', rank: 0 },
  allocation: { object: () => 'the keeper of the allocations', rank: 0 },
}

/** Commands of the program's thread that wait for other ranks. */
export class CommandWaits implements WaitingPart {
  readonly #nameOf: (region: number) => string | undefined
  readonly #open = new Map<number, Omit<OpenWait, 'key'>>()
  #last = 0

  /** `nameOf`: of an open region. */
  constructor(nameOf: (region: number) => string | undefined) {
    this.#nameOf = nameOf
  }

  /** The reply to a command, which is taken note of until it is answered. */
  during(command: string, payload: unknown, reply: Reply): Reply {
    const kind = kinds[command]
    if (kind === undefined) return reply
    const token = ++this.#last
    const ranks = kind.rank === SEVERAL ? [] : [kind.rank]
    const state = kind.rank === SEVERAL ? '' : `rank ${kind.rank} answers for that`
    const subject = { about: 'known', ranks, state } as const
    this.#open.set(token, {
      kind: 'agent',
      object: kind.object(this.#regionOf(payload)),
      sinceNs: monotonicNow(),
      subject,
    })
    return {
      resolve: (value) => {
        this.#open.delete(token)
        reply.resolve(value)
      },
      reject: (error) => {
        this.#open.delete(token)
        reply.reject(error)
      },
    }
  }

  *waits(): Iterable<OpenWait> {
    for (const [token, wait] of this.#open) yield { key: `command ${token}`, ...wait }
  }

  answer(): undefined {
    return undefined
  }

  explain(): WaitFinding | undefined {
    return undefined
  }

  #regionOf(payload: unknown): string {
    const id = typeof payload === 'number' ? payload : (payload as { readonly id?: number } | undefined)?.id
    const name = id === undefined ? undefined : this.#nameOf(id)
    return name === undefined ? 'a region' : `region '${name}'`
  }
}
