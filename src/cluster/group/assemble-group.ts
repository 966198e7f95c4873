import { availableParallelism, hostname } from 'node:os'
import process from 'node:process'
import { PROFILING_AREA_BYTES, WAIT_TABLE_BYTES } from '../../profiling/index.ts'
import { Agent } from '../../runtime/index.ts'
import type { RemoteEndpoint } from '../../verbs/index.ts'
import { PROFILING_OFFSET, WAITS_OFFSET } from '../layout.ts'
import type { Membership } from '../membership.ts'
import { Barrier } from './barrier.ts'
import { MemberEndedError, ranksInWords } from './errors.ts'
import type { GroupParts } from './group.ts'
import type { GroupPeer, GroupStart } from './group-machine.ts'
import { type JoinOptions, type JoinPlan, planJoin } from './group-options.ts'
import { LocalMeeting } from './local-meeting.ts'
import type { Meeting } from './meeting.ts'
import { NoteBox } from './note-box.ts'
import type { RankMember } from './rank-member.ts'
import { TcpMeeting } from './tcp-meeting.ts'

/** Where the agent finds the place for its counters, or for its waits. */
export interface ProfilingPlace {
  readonly descriptor: number
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** How the agent learns that there is a watcher, and where it publishes what it shows. */
interface WatchingPlace {
  readonly descriptor: number
  readonly slot: number
}

/** What the machine's module is started with, besides what the room above adds. */
export interface GroupAgentData {
  readonly group: GroupStart
  readonly profiling: ProfilingPlace
  readonly watching: WatchingPlace
  readonly waits: ProfilingPlace
}

/**
 * If every rank has two processors' worth of threads, a short spin saves a system call at both ends. Otherwise it only
 * steals time.
 */
const SPIN_NS = 20_000
const defaultSpinNs = (ranks: number): number => (2 * ranks <= availableParallelism() ? SPIN_NS : 0)

/**
 * Become a rank: meet the others, start the agent with the machine of module `machine`, and connect it with every other
 * rank's. `extra` is also passed to the machine.
 */
export async function assembleGroup(
  options: JoinOptions,
  machine: URL,
  extra: object,
): Promise<{ parts: GroupParts; notes: NoteBox }> {
  const plan = planJoin(options)
  const meeting = await meet(plan)
  const barrier = new Barrier(plan.size)
  const notes = new NoteBox()
  let agent: Agent | undefined
  try {
    const { device, control, membership } = meeting
    const { leaseMs } = plan
    const group: GroupStart = {
      rank: plan.rank,
      size: plan.size,
      device,
      control,
      barrierWords: barrier.words,
      leaseMs,
    }
    const data: GroupAgentData = {
      ...extra,
      group,
      profiling: profilingPlace(membership),
      watching: { descriptor: membership.arena.descriptor, slot: membership.self.slot },
      waits: waitsPlace(membership),
    }
    const spinNs = plan.spinMs === undefined ? defaultSpinNs(meeting.ranksHere) : plan.spinMs * 1e6
    agent = await Agent.start({ machine, data, spinNs, seed: process.pid, onNote: notes.take })
    barrier.attach(agent)
    const ranks = await connect(agent, meeting, plan)
    await barrier.wait({ timeoutMs: plan.timeoutMs, ...(plan.signal && { signal: plan.signal }) })
    return { parts: { plan, meeting, agent, barrier, ranks }, notes }
  } catch (error) {
    await agent?.close()
    await meeting.close((error as Error).message)
    throw error
  }
}

function meet(plan: JoinPlan): Promise<Meeting> {
  const { place } = plan
  return place.kind === 'local' ? LocalMeeting.begin(plan, place.space) : TcpMeeting.begin(plan, place)
}

async function connect(agent: Agent, meeting: Meeting, plan: JoinPlan): Promise<RankMember[]> {
  const endpoints = (await agent.command('endpoints', undefined)) as RemoteEndpoint[]
  const peers = await meeting.exchange(endpoints)
  const toConnect = peers.map(({ rank, endpoint, processId, visible, pathMtu }): GroupPeer => {
    return { rank, endpoint, processId: visible ? processId : undefined, pathMtu }
  })
  const ended = (await agent.command('connect', toConnect)) as number[]
  if (ended.length > 0) throw new MemberEndedError(ended, `${ranksInWords(ended)} ended before the group was complete`)
  await meeting.connected()
  const { rank } = plan
  const self: RankMember = {
    rank,
    processId: process.pid,
    host: hostname(),
    member: meeting.membership.self,
    pathMtu: undefined,
  }
  return [...peers, self].sort((a, b) => a.rank - b.rank)
}

function profilingPlace(membership: Membership): ProfilingPlace {
  const offsetBytes = PROFILING_OFFSET + membership.self.slot * PROFILING_AREA_BYTES
  return { descriptor: membership.arena.descriptor, offsetBytes, lengthBytes: PROFILING_AREA_BYTES }
}

function waitsPlace(membership: Membership): ProfilingPlace {
  const offsetBytes = WAITS_OFFSET + membership.self.slot * WAIT_TABLE_BYTES
  return { descriptor: membership.arena.descriptor, offsetBytes, lengthBytes: WAIT_TABLE_BYTES }
}
