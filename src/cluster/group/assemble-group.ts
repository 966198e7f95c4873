import { availableParallelism, hostname } from 'node:os'
import process from 'node:process'
import { Agent } from '../../runtime/index.ts'
import type { RemoteEndpoint } from '../../verbs/index.ts'
import { Barrier } from './barrier.ts'
import { MemberEndedError, ranksInWords } from './errors.ts'
import type { GroupParts } from './group.ts'
import type { GroupAgentData } from './group-agent-data.ts'
import type { GroupPeer, GroupStart } from './group-machine.ts'
import { checkJoinNames, type JoinOptions, type JoinPlan, planGrowth, planJoin } from './group-options.ts'
import { growGroup } from './growth/grow-group.ts'
import { LocalMeeting } from './local-meeting.ts'
import type { Meeting } from './meeting.ts'
import { NoteBox } from './note-box.ts'
import type { RankMember } from './rank-member.ts'
import { shownPlaces } from './shown-places.ts'
import { TcpMeeting } from './tcp-meeting.ts'

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
  checkJoinNames(options)
  if (options.name !== undefined) return growGroup(planGrowth(options.name, options), machine, extra)
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
      ...shownPlaces(membership),
    }
    const spinNs = plan.spinMs === undefined ? defaultSpinNs(meeting.ranksHere) : plan.spinMs * 1e6
    agent = await Agent.start({ machine, data, spinNs, seed: process.pid, onNote: notes.take })
    barrier.attach(agent)
    const ranks = await connect(agent, meeting, plan)
    await barrier.wait({ timeoutMs: plan.timeoutMs, ...(plan.signal && { signal: plan.signal }) })
    const { rank, size } = plan
    return { parts: { rank, size, grows: false, meeting, agent, barrier, ranks }, notes }
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
