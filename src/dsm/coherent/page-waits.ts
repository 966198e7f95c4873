import {
  type OpenWait,
  ranksInWords,
  type SubjectAnswers,
  type WaitFinding,
  type WaitingPart,
  type WaitSubject,
} from '../../cluster/index.ts'
import { PageRight } from '../mmu/page-words.ts'
import { NO_HOME } from './placement.ts'

/** Pages of one region that are told of as waited for, those that are waited for longest. */
const PAGES_MAX = 64
/** Ranks that a home names of each kind. */
const RANKS_MAX = 32

/** What one rank says of a page that another waits for. */
export interface PageFinding {
  readonly right: number
  readonly pinned: boolean
  /** The state of its copy. */
  readonly copy: string
  /** After a death, the members are agreeing again on which rank has what. */
  readonly recovering: boolean
  /** {@link NO_HOME} where it does not know. */
  readonly home: number
  /** The rank that decides on the home. */
  readonly register: number
  /** At the home: the state of its entry, and the ranks that it names. */
  readonly entry?: PageEntry
}

interface PageEntry {
  readonly state: string
  readonly owner: number
  readonly sharers: readonly number[]
  /** The rank whose request is served just now; -1 for none. */
  readonly requester: number
  /** Ranks that were told to answer that request. */
  readonly asked: readonly number[]
}

/** A region that this rank has open, as far as its waits go. */
interface WaitedRegion {
  readonly id: number
  readonly plan: { readonly name: string }
  /** Pages that threads here wait for, the longest wait first. */
  readonly demands: Iterable<{ readonly page: number; readonly write: boolean; readonly sinceNs: number }>
  has(page: number): boolean
  finding(page: number): PageFinding
}

/** By their numbers. */
interface WaitedRegions {
  get(id: number): WaitedRegion | undefined
  values(): Iterable<WaitedRegion>
}

/** Waits for pages, of all regions that this rank has open. */
export class PageWaits implements WaitingPart {
  readonly #servers: WaitedRegions

  constructor(servers: WaitedRegions) {
    this.#servers = servers
  }

  *waits(): Iterable<OpenWait> {
    for (const server of this.#servers.values()) {
      const { id: region } = server
      let count = 0
      for (const { page, write, sinceNs } of server.demands) {
        if (++count > PAGES_MAX) break
        const object = `page ${page} of region '${server.plan.name}' (to ${write ? 'write' : 'read'})`
        const subject = { about: 'page', region, page, write } as const
        yield { key: `page ${region} ${page}`, kind: 'page', object, sinceNs, subject }
      }
    }
  }

  answer(subject: WaitSubject): unknown {
    if (subject.about !== 'page') return undefined
    const { region, page } = subject
    const server = this.#servers.get(region)
    return server?.has(page) === true ? trimmed(server.finding(page)) : { closed: true }
  }

  explain(subject: WaitSubject, answers: SubjectAnswers): WaitFinding | undefined {
    return subject.about === 'page' ? explainPage(subject.write, answers) : undefined
  }
}

function trimmed(finding: PageFinding): PageFinding {
  const { entry } = finding
  if (entry === undefined) return finding
  return {
    ...finding,
    entry: { ...entry, sharers: entry.sharers.slice(0, RANKS_MAX), asked: entry.asked.slice(0, RANKS_MAX) },
  }
}

/**
 * Which ranks a wait for a page is for: ranks that have it, or that have yet to open the region. Also its home and the
 * ranks asked, if they do not answer.
 */
function explainPage(write: boolean, { self, said, silent }: SubjectAnswers): WaitFinding {
  const own = said.get(self) as PageFinding | undefined
  if (own === undefined || !('right' in own)) return { ranks: [], state: 'the region is closed here' }
  if (own.recovering)
    return { ranks: [...silent], state: 'after a death, the members are agreeing on which rank has what' }
  if (own.home === NO_HOME)
    return { ranks: [own.register], state: `its home is not decided yet; rank ${own.register} decides it` }
  const at = said.get(own.home) as PageFinding | { closed: true } | null | undefined
  if (at === null || (at !== undefined && 'closed' in at))
    return { ranks: [own.home], state: `its home, rank ${own.home}, has not opened the region` }
  const holders = holdersOf(write, self, said)
  const suspects = silent.filter((rank) => rank === own.home || isNamed(rank, write, at?.entry))
  const unexplained = holders.length === 0 && suspects.length === 0
  const ranks = [...new Set([...holders.map(({ rank }) => rank), ...(unexplained ? silent : suspects)])].sort(
    (a, b) => a - b,
  )
  return { ranks, state: stateOf(own, at, holders, suspects, write) }
}

interface Holder {
  readonly rank: number
  readonly finding: PageFinding
}

function holdersOf(write: boolean, self: number, said: ReadonlyMap<number, unknown>): Holder[] {
  const holders: Holder[] = []
  for (const [rank, answer] of said) {
    const finding = answer as PageFinding | null
    const isHolder = finding !== null && finding.right >= (write ? PageRight.Read : PageRight.Write)
    if (rank !== self && isHolder) holders.push({ rank, finding })
  }
  return holders
}

/** Whether the home's entry says that the request may need this rank. */
function isNamed(rank: number, write: boolean, entry: PageEntry | undefined): boolean {
  if (entry === undefined) return false
  const { owner, sharers, requester, asked } = entry
  return rank === owner || rank === requester || asked.includes(rank) || (write && sharers.includes(rank))
}

function stateOf(
  own: PageFinding,
  at: PageFinding | undefined,
  holders: readonly Holder[],
  suspects: readonly number[],
  write: boolean,
): string {
  const parts = holders.map(({ rank, finding }) => {
    const right = finding.right === PageRight.Write ? 'for writing' : 'to read'
    return `rank ${rank} has it ${right}${finding.pinned ? ' and holds it pinned' : ''}`
  })
  for (const rank of suspects) parts.push(rankInWords(rank, own.home, at?.entry, write))
  if (parts.length > 0) return parts.join(', ')
  const entry = at?.entry === undefined ? '' : `, at its home, rank ${own.home}, ${at.entry.state}`
  return `its copy here is in state ${own.copy}${entry}`
}

function rankInWords(rank: number, home: number, entry: PageEntry | undefined, write: boolean): string {
  if (rank === entry?.owner) return `rank ${rank} has it`
  if (entry?.asked.includes(rank) === true) return `rank ${rank} was asked for it`
  if (rank === entry?.requester) return `rank ${rank} is being given it`
  if (rank === home) return `its home is rank ${rank}`
  return write ? `${ranksInWords([rank])} has a copy` : `rank ${rank}`
}
