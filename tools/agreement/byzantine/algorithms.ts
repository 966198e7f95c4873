import type { Algorithm, Faults, Setting } from '../model/algorithm.ts'
import type { RegionRule } from '../model/memory.ts'
import { broadcastRegions } from './broadcast.ts'
import { cheapQuorumRegions } from './cheap-quorum.ts'
import { BroadcastProcess, FastAndRobustProcess, RobustBackupProcess } from './processes.ts'
import { Denier, FalseReporter, FalseWitness, Turncoat } from './traitors.ts'

const shared = {
  failures: 'byzantine',
  resilience: 'a minority of the processes, whatever they do, and a minority of the memories',
  bound: ({ processes, memories }: Setting): Faults => ({
    processes: Math.ceil(processes / 2) - 1,
    memories: Math.ceil(memories / 2) - 1,
  }),
  refuse: ({ memories }: Setting): string | undefined => (memories < 1 ? 'it needs a memory at least' : undefined),
} as const

/** *Non-equivocating broadcast*. */
export const nonEquivocatingBroadcast: Algorithm = {
  ...shared,
  name: 'non-equivocating-broadcast',
  title: 'Non-equivocating broadcast',
  source: 'Aguilera et al., The Impact of RDMA on Agreement, PODC 2019, section 4.1',
  task: 'broadcast',
  commonCase: { delays: 16, signatures: 8 },
  regions: ({ processes }) => broadcastRegions(processes),
  create: (me, setting) => new BroadcastProcess(me, setting),
  traitors: { 'bears false witness': (me, setting) => new FalseWitness(me, setting) },
}

/** *Robust Backup*. */
export const robustBackup: Algorithm = {
  ...shared,
  name: 'robust-backup',
  title: 'Robust Backup (Preferential Paxos)',
  source: 'Aguilera et al., The Impact of RDMA on Agreement, PODC 2019, sections 4.1 and 4.3',
  task: 'consensus',
  commonCase: { delays: 51, signatures: 50 },
  regions: ({ processes }) => broadcastRegions(processes),
  create: (me, setting) => new RobustBackupProcess(me, setting),
  traitors: {
    'denies what it accepted': (me, setting) => new Denier(me, setting),
    'reports a decision that it has not heard': (me, setting) => new FalseReporter(me, setting),
  },
}

/** *Fast & Robust*. */
export const fastAndRobust: Algorithm = {
  ...shared,
  name: 'fast-and-robust',
  title: 'Fast & Robust',
  source: 'Aguilera et al., The Impact of RDMA on Agreement, PODC 2019, sections 4.2 and 4.3',
  task: 'consensus',
  commonCase: { delays: 2, signatures: 1 },
  regions: ({ processes }): RegionRule[] => [...cheapQuorumRegions(processes), ...broadcastRegions(processes)],
  create: (me, setting) => new FastAndRobustProcess(me, setting),
  traitors: { 'turns its coat': (me, setting) => new Turncoat(me, setting) },
}
