import type { Algorithm, Setting } from '../model/algorithm.ts'
import type { RegionRule } from '../model/memory.ts'
import { wrongNeighbours } from './graphs.ts'
import { MessageNotices, type Notices, noticeRegions, RegisterNotices } from './notices.ts'
import { candidacyOf, OmegaProcess } from './omega-process.ts'

/** A register for each process, in its own memory: it writes, and everyone reads. */
const candidacyRegions = (processes: number): RegionRule[] =>
  Array.from({ length: processes }, (_, process) => ({
    name: candidacyOf(process).region,
    registers: 1,
    writers: [process],
    changes: 'none',
    at: [process],
  }))

function refusalOf({ processes, memories, neighbours }: Setting): string | undefined {
  if (memories !== processes) return `each process has a memory: there are ${memories} for ${processes} processes`
  if (neighbours === undefined) return undefined
  const wrong = wrongNeighbours(neighbours, processes)
  if (wrong !== undefined) return wrong
  const isComplete = neighbours.every(({ length }) => length === processes - 1)
  return isComplete ? undefined : 'each process reads the registers of all others: the graph has to be complete'
}

interface Election {
  readonly name: string
  readonly title: string
  readonly section: string
  readonly delays: number
  readonly regions: (processes: number) => readonly RegionRule[]
  readonly noticesOf: (me: number, processes: number) => Notices
}

const electionOf = ({ name, title, section, delays, regions, noticesOf }: Election): Algorithm => ({
  name,
  title,
  source: `Aguilera et al., Passing Messages while Sharing Memory, PODC 2018, ${section}`,
  failures: 'crash',
  task: 'election',
  onGraph: true,
  resilience: 'all processes but one, which takes steps in time from some time on',
  bound: ({ processes }) => ({ processes: processes - 1, memories: 0 }),
  // Until all processes have elected the same one.
  commonCase: { delays, signatures: 0 },
  refuse: refusalOf,
  regions: ({ processes }) => [...candidacyRegions(processes), ...regions(processes)],
  create: (me, { processes }) => new OmegaProcess({ me, processes, notices: noticesOf(me, processes) }),
})

/**
 * Leader election over reliable links. In the end no messages are sent; the leader writes its own register, and all
 * others read it.
 */
export const omegaReliable: Algorithm = electionOf({
  name: 'omega-reliable',
  title: 'Leader election over reliable links',
  section: 'section 5',
  delays: 5,
  regions: () => [],
  noticesOf: () => new MessageNotices(),
})

/**
 * Leader election over links that lose messages. In the end it is as {@link omegaReliable}, and each process reads in
 * its own memory whether there are notices for it: the leader, too.
 */
export const omegaFairLossy: Algorithm = electionOf({
  name: 'omega-fair-lossy',
  title: 'Leader election over fair-lossy links',
  section: 'section 5',
  delays: 7,
  regions: noticeRegions,
  noticesOf: (me, processes) => new RegisterNotices(me, processes),
})
