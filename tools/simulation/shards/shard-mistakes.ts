import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { MistakeReport } from '../replicas/mistake-worker.ts'
import type { Mistake } from '../replicas/mistakes.ts'
import { type NodeStrike, type ShardsPlan, stallAt } from './shards-plan.ts'

/** A mistake that could have been made in what moves shards, and in those who look for them. */
export interface ShardMistake extends Pick<Mistake, 'name' | 'breaks' | 'find' | 'replace' | 'and'> {
  readonly module: string
  /** What shows it soonest. */
  readonly plan: Partial<ShardsPlan>
  /** Nodes have directories. */
  readonly onDisks?: boolean
  /** A seed that shows it. */
  readonly seed: number
}

const INDEX = '/src/index-service/room.js'
const CONSENSUS = '/src/consensus/room.js'

/** As it was before clients READ: seeds take their courses. */
const asking = { oneSided: false, tears: 0, callers: 0 }

/** Clients that have calls under way most of the time. */
const busy = { nodes: 4, joins: [900, 1300, 1700], closes: [], clients: 4, calls: 300, thinkMs: 2, keys: 2, reads: 10 }

function crashAt(atMs: number, pick: number): NodeStrike {
  return { atMs, step: undefined, isOther: false, afterMs: 0, pick, blow: { kind: 'crash', certainMs: 5 } }
}

/** Clients that READ what changes. */
const reading = {
  ...{ oneSided: true, callers: 3, nodes: 3, shards: 1, joins: [], closes: [] },
  ...{ clients: 2, calls: 100, thinkMs: 35, keys: 2, reads: 100 },
}

function pauseAt(atMs: number, pick: number): NodeStrike {
  return { atMs, step: undefined, isOther: false, afterMs: 0, pick, blow: { kind: 'pause', forMs: 900 } }
}

/** No one knows for long that it has ended. */
const newcomerEnds: NodeStrike = {
  ...{ atMs: 1000, step: 'start', isOther: false, afterMs: 25, pick: 0 },
  blow: { kind: 'crash', certainMs: 2500 },
}

/** One that has come is cut off when it has caught up. */
function cutOffAt(atMs: number): NodeStrike {
  return { atMs, step: 'card', isOther: false, afterMs: 60, pick: 0, blow: { kind: 'isolate', forMs: 700 } }
}

export const shardMistakes: readonly ShardMistake[] = [
  {
    name: 'left before it is replaced',
    breaks: 'two voters are left, and the death of one loses the shard',
    module: INDEX,
    find: 'if (!await replica.giveUpVote()) return;',
    replace: '',
    plan: { ...asking, nodes: 3, joins: [1000, 1800, 2600], closes: [], strikes: [1000, 1800, 2600].map(cutOffAt) },
    seed: 1,
  },
  {
    name: 'replaced before it is removed',
    breaks: 'a voter that takes the place of one that has ended has ended, too, and two of four are left',
    module: CONSENSUS,
    find: 'if (lost !== void 0) {',
    replace: 'if (lost === voters) {',
    plan: { ...asking, nodes: 4, joins: [1000], closes: [], strikes: [newcomerEnds, crashAt(1040, 1)] },
    seed: 7,
  },
  {
    name: 'one that has just joined taken for gone',
    breaks: 'a replica never speaks to a voter of whose joining its program had not heard',
    module: CONSENSUS,
    find: '!group.closed && group.isGone(rank)',
    replace: '!group.closed && !group.isMember(rank)',
    plan: { ...asking, nodes: 3, shards: 4, joins: [1000, 2500], closes: [], strikes: [990, 2490].map(stallAt) },
    seed: 4,
  },
  {
    name: 'moved not looked for',
    breaks: 'a client asks the node that has left a shard, for ever',
    module: INDEX,
    find: 'if (indexService.isError(error, "moved")) await this.#lookUntil(shard, endMs, signal);',
    replace: 'if (indexService.isError(error, "moved")) await Promise.resolve();',
    plan: { ...asking, strikes: [], closes: [] },
    seed: 4,
  },
  {
    name: 'founded twice',
    breaks: 'a second node begins a log that is there',
    module: CONSENSUS,
    find: 'if (ids.some((voter) => isHere(meeting.rankOf(voter)))) return void 0;',
    replace: '',
    plan: { ...asking, strikes: [], closes: [] },
    seed: 1,
  },
  {
    name: 'read without asking',
    breaks: 'a node that follows answers with what it has',
    module: CONSENSUS,
    find: 'if (stale || this.#reads.staleMs < staleMs) return run();',
    replace: 'if (this.#reads.staleMs !== staleMs) return run();',
    plan: { ...asking, ...busy, reads: 60, strikes: [800, 1200, 1600, 2000].map(crashAt) },
    seed: 9,
  },
  {
    name: 'no one leaves',
    breaks: 'a shard is held by nodes that are not to hold it',
    module: INDEX,
    find: 'return voters?.length === holders.length && voters.every((rank) => have.includes(rank));',
    replace: 'return voters?.length === have.length;',
    plan: asking,
    seed: 1,
  },
  {
    name: 'READ without promises',
    breaks: 'a leader that was deposed while it was stopped answers READs with what it has',
    module: CONSENSUS,
    find: 'if (voter.head.promise > term) return void 0;',
    replace: '',
    plan: { ...reading, strikes: [900, 2000, 3100].map(pauseAt) },
    seed: 1,
  },
  {
    name: 'as many found a log as are there',
    breaks: 'a node that comes back first, with nothing, begins another log',
    module: INDEX,
    find: 'return this.#group.grows ? ranks(replicas) : holdersOf',
    replace: 'return holdersOf',
    plan: {},
    onDisks: true,
    seed: 102,
  },
]

/** Change nothing that matters. */
export const shardCanary: ShardMistake = {
  name: 'leaders wanted in the other order',
  breaks: 'nothing: they are spread, too',
  module: INDEX,
  find: 'return inOrder[shard % inOrder.length];',
  replace: 'return inOrder[inOrder.length - 1 - shard % inOrder.length];',
  plan: {},
  seed: 1,
}

/** Play seeds with a mistake, in a thread whose modules have it, until one is found out. */
export async function playShardMistake(mistake: ShardMistake, seeds: readonly number[]): Promise<MistakeReport> {
  const worker = new Worker(new URL('./shard-mistake-worker.js', import.meta.url), { workerData: { mistake, seeds } })
  const [report] = (await once(worker, 'message')) as [MistakeReport]
  await worker.terminate()
  return report
}
