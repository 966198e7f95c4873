import { type Algorithm, majorityOf, type Setting } from '../model/algorithm.ts'
import type { Process } from '../model/process.ts'
import { Acceptor, OwnAcceptor, RemoteAcceptor } from './acceptor.ts'
import { Disk, diskBlocks } from './disk.ts'
import { PaxosProcess } from './paxos-process.ts'
import { ProtectedMemory, protectedSlots } from './protected-memory.ts'

const minorityOf = (agents: number): number => Math.ceil(agents / 2) - 1
const each = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

const needsMemory = ({ memories }: Setting): string | undefined =>
  memories < 1 ? 'it needs a memory at least' : undefined

/** *Protected Memory Paxos*. */
export const protectedMemoryPaxos: Algorithm = {
  name: 'protected-memory-paxos',
  title: 'Protected Memory Paxos',
  source: 'Aguilera et al., The Impact of RDMA on Agreement, PODC 2019, section 5.1',
  failures: 'crash',
  task: 'consensus',
  resilience: 'all processes but one, and a minority of the memories',
  bound: ({ processes, memories }) => ({ processes: processes - 1, memories: minorityOf(memories) }),
  commonCase: { delays: 2, signatures: 0 },
  refuse: needsMemory,
  regions: ({ processes }) => [protectedSlots(processes)],
  create: (me, { processes, memories, quorum = majorityOf(memories) }) =>
    new PaxosProcess({
      me,
      processes,
      quorum,
      agents: each(memories, (memory) => new ProtectedMemory(me, memory, processes)),
    }),
}

/** *Disk Paxos*. */
export const diskPaxos: Algorithm = {
  name: 'disk-paxos',
  title: 'Disk Paxos',
  source: 'Gafni and Lamport, Disk Paxos, Distributed Computing 16, 2003; PODC 2019, section 5',
  failures: 'crash',
  task: 'consensus',
  resilience: 'all processes but one, and a minority of the memories',
  bound: ({ processes, memories }) => ({ processes: processes - 1, memories: minorityOf(memories) }),
  commonCase: { delays: 4, signatures: 0 },
  refuse: needsMemory,
  regions: ({ processes }) => diskBlocks(processes),
  create: (me, { processes, memories, quorum = majorityOf(memories) }) =>
    new PaxosProcess({ me, processes, quorum, agents: each(memories, (memory) => new Disk(me, memory, processes)) }),
}

/** *Aligned Paxos*. */
export const alignedPaxos: Algorithm = {
  name: 'aligned-paxos',
  title: 'Aligned Paxos',
  source: 'Aguilera et al., The Impact of RDMA on Agreement, PODC 2019, section 5.2',
  failures: 'crash',
  task: 'consensus',
  resilience: 'a minority of processes and memories, counted together',
  bound: ({ processes, memories }) => {
    const together = minorityOf(processes + memories)
    return { processes: Math.min(processes - 1, together), memories: Math.min(memories, together), together }
  },
  commonCase: { delays: 2, signatures: 0 },
  refuse: () => undefined,
  regions: ({ processes }) => [protectedSlots(processes)],
  create: (me, { processes, memories, quorum = majorityOf(processes + memories) }) => {
    const acceptor = new Acceptor()
    return new PaxosProcess({
      me,
      processes,
      quorum,
      acceptor,
      agents: [
        ...each(processes, (process) => (process === me ? new OwnAcceptor(acceptor) : new RemoteAcceptor(process))),
        ...each(memories, (memory) => new ProtectedMemory(me, memory, processes)),
      ],
    })
  },
}

/** Paxos by messages alone. */
export const messagePaxos: Algorithm = {
  name: 'paxos',
  title: 'Paxos',
  source: 'Lamport, The Part-Time Parliament, ACM TOCS 16, 1998',
  failures: 'crash',
  task: 'consensus',
  resilience: 'a minority of the processes',
  bound: ({ processes }) => ({ processes: minorityOf(processes), memories: 0 }),
  commonCase: { delays: 2, signatures: 0 },
  refuse: () => undefined,
  regions: () => [],
  create: (me, setting) => alignedPaxos.create(me, { ...setting, memories: 0 }),
}

/** What a process of these algorithms knows of each memory, and of none. */
export function divideByMemory(process: Process, memories: number): { own: unknown; byMemory: unknown[] } {
  const { proposer, agents, ...rest } = process as PaxosProcess
  const others = agents.length - memories
  const { answered = [], agents: _, ...proposal } = proposer ?? {}
  return {
    own: [rest, proposal, agents.slice(0, others), answered.slice(0, others)],
    byMemory: agents.slice(others).map((agent, memory) => [{ ...agent, memory: 0 }, answered[others + memory]]),
  }
}
