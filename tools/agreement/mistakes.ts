import type { Mistake } from '../simulation/replicas/mistakes.ts'

/** A mistake in one algorithm, and the plays that have to show it. */
export interface AgreementMistake extends Mistake {
  readonly module: string
  readonly algorithm: string
  /** What the process does that lies, where that shows it soonest. */
  readonly lie?: string
  /** The order that shows it, where seeds hardly ever do: one of `play/directed.ts`. */
  readonly order?: string
}

const paxos = (file: string): string => `/agreement/paxos/${file}.js`
const byzantine = (file: string): string => `/agreement/byzantine/${file}.js`

/** These change nothing that matters. */
export const agreementCanaries: readonly AgreementMistake[] = [
  {
    name: 'majority counted from one',
    breaks: 'nothing',
    algorithm: 'protected-memory-paxos',
    module: '/agreement/model/algorithm.js',
    find: 'const majorityOf = (agents) => Math.floor(agents / 2) + 1',
    replace: 'const majorityOf = (agents) => 1 + Math.floor(agents / 2)',
  },
  // A proof is signed by a process that had copied the message before it looked, and has seen no other. Of two such
  // processes one at least sees the copy of the other. So copies of a majority add nothing to proofs of a majority.
  {
    name: 'a single copy is taken as proof',
    breaks: 'nothing',
    algorithm: 'non-equivocating-broadcast',
    module: byzantine('broadcast'),
    find: 'copies.length < this.quorum',
    replace: 'copies.length < 1',
    and: [{ find: 'isQuorum(copies, this.quorum)', replace: 'isQuorum(copies, 1)' }],
    lie: 'alternates between two faces',
  },
]

export const agreementMistakes: readonly AgreementMistake[] = [
  {
    name: 'permission taken from no one',
    breaks: 'the leader of before still writes, and decides',
    algorithm: 'protected-memory-paxos',
    module: '/agreement/model/memory.js',
    find: 'this.writers[operation.region] = operation.writers',
    replace: 'this.writers[operation.region] = [...this.writers[operation.region], ...operation.writers]',
  },
  {
    name: 'slots not read',
    breaks: 'what may have been decided is not adopted',
    algorithm: 'protected-memory-paxos',
    module: paxos('protected-memory'),
    find: 'promiseOf(event.values.map(slotOf), this.ballot)',
    replace: 'promiseOf([], this.ballot)',
  },
  {
    name: 'higher ballot overlooked',
    breaks: 'a low ballot goes on after a higher one has begun',
    algorithm: 'disk-paxos',
    module: paxos('protected-memory'),
    find: 'if (highest > ballot)',
    replace: 'if (false)',
  },
  {
    name: 'first slot adopted',
    breaks: 'a value of a lower ballot is adopted, where one of a higher was decided',
    algorithm: 'disk-paxos',
    module: paxos('protected-memory'),
    find: 'accepted.ballot > (best?.ballot ?? 0)',
    replace: 'best === null',
  },
  {
    name: 'half is enough',
    breaks: 'two halves decide differently',
    algorithm: 'aligned-paxos',
    module: '/agreement/model/algorithm.js',
    find: 'const majorityOf = (agents) => Math.floor(agents / 2) + 1',
    replace: 'const majorityOf = (agents) => Math.ceil(agents / 2)',
  },
  {
    name: 'own input preferred',
    breaks: 'what may have been decided is not adopted',
    algorithm: 'aligned-paxos',
    module: paxos('proposer'),
    find: 'this.best?.value ?? this.input',
    replace: 'this.input',
  },
  {
    name: 'everyone leaves the first phase out',
    breaks: 'what was decided before is not seen',
    algorithm: 'disk-paxos',
    module: paxos('paxos-process'),
    find: 'this.finish(this.proposer.start(acts, true), acts)',
    replace: 'this.finish(this.proposer.start(acts, false), acts)',
  },
  {
    name: 'disk not read after the write',
    breaks: 'a higher ballot that has begun meanwhile is not seen',
    algorithm: 'disk-paxos',
    module: paxos('disk'),
    find: "if (this.stage === 'write') {",
    replace:
      "if (this.stage === 'write' && this.accepted?.ballot === this.ballot) { this.stage = 'idle'; return { ok: true, accepted: null } }\n        if (this.stage === 'write') {",
  },
  {
    name: 'promise not kept',
    breaks: 'an acceptor accepts a low ballot after it has promised a higher one',
    algorithm: 'paxos',
    module: paxos('acceptor'),
    find: 'accept(ballot, value) {\n        if (ballot < this.promised)',
    replace: 'accept(ballot, value) {\n        if (false)',
  },
  {
    name: 'promise without what was accepted',
    breaks: 'what may have been decided is not adopted',
    algorithm: 'paxos',
    module: paxos('acceptor'),
    find: "say: 'promised', ballot: message.ballot, accepted: this.accepted",
    replace: "say: 'promised', ballot: message.ballot, accepted: null",
  },
  {
    name: 'panic without revocation',
    breaks: 'the leader decides after others have given up without its value',
    lie: 'no one lies',
    algorithm: 'fast-and-robust',
    module: byzantine('cheap-quorum'),
    find: "this.registers.permit('revoke', LEADER_REGION, [], acts)",
    replace: "this.registers.read('revoke', [leaderRegister], acts)",
  },
  {
    name: 'refused write decides',
    breaks: 'the leader decides though others have taken its right to write',
    lie: 'no one lies',
    algorithm: 'fast-and-robust',
    module: byzantine('cheap-quorum'),
    find: 'if (!ok)\n                this.panic(acts)',
    replace: 'if (false)\n                this.panic(acts)',
  },
  {
    name: 'some proofs are enough',
    breaks: 'a process decides what another that gives up cannot prove',
    lie: 'turns its coat',
    algorithm: 'fast-and-robust',
    module: byzantine('cheap-quorum'),
    find: 'of(1).every((proof)',
    replace: 'of(1).some((proof)',
  },
  {
    name: 'nothing has priority',
    breaks: 'the backup decides something else than the leader has decided',
    lie: 'turns its coat',
    algorithm: 'fast-and-robust',
    module: byzantine('cheap-quorum'),
    find: 'if (isUnanimous(value, proof, processes, acts))\n        return 2',
    replace: 'if (processes > 0)\n        return 0',
  },
  {
    name: 'leader not verified',
    breaks: 'a value that the leader has not signed counts as if it had',
    lie: 'turns its coat',
    algorithm: 'fast-and-robust',
    module: byzantine('cheap-quorum'),
    find: 'acts.verify(LEADER, valueText(value), signature)',
    replace: 'signature.length >= 0',
  },
  {
    name: 'any answer of a memory is enough',
    breaks: 'a write that only one memory has is not seen by who reads another',
    lie: 'no one lies',
    algorithm: 'fast-and-robust',
    module: byzantine('replicated-registers'),
    find: 'pending.answers.length < this.quorum',
    replace: 'pending.answers.length < 1',
  },
  {
    name: 'witness not verified',
    breaks: 'a liar makes others deliver what no one has sent',
    lie: 'bears false witness',
    algorithm: 'non-equivocating-broadcast',
    module: byzantine('broadcast'),
    find: 'each !== null && this.isWitness(sender, each, acts)',
    replace: 'each !== null',
  },
  {
    name: 'a broadcast overlooks an equivocation',
    breaks: 'two processes deliver different messages of one liar',
    order: 'a sender that tells each process another story',
    algorithm: 'non-equivocating-broadcast',
    module: byzantine('broadcast'),
    find: 'if (copy.signature !== awaited.copy.signature) {',
    replace: 'if (copy.signature !== awaited.copy.signature) {\n continue',
  },
  {
    name: 'a single proof is taken for a witness',
    breaks: 'a liar proves alone what another process has not',
    order: 'a sender that tells each process another story',
    algorithm: 'non-equivocating-broadcast',
    module: byzantine('broadcast'),
    find: 'if (proofs.length < this.quorum)',
    replace: 'if (proofs.length < 1)',
    and: [{ find: 'isQuorum(proofs, this.quorum)', replace: 'isQuorum(proofs, 1)' }],
  },
  {
    name: 'reports believed without being replayed',
    breaks: 'a liar tells two processes of different decisions',
    lie: 'reports a decision that it has not heard',
    algorithm: 'robust-backup',
    module: byzantine('robust-backup'),
    find: 'if (!this.replay(from, shadow, next.report, acts))',
    replace: 'if (!this.replay(from, shadow, next.report, acts) && false)',
  },
  {
    name: 'accepted before promised',
    breaks: 'a memory takes a write of a low ballot after a higher one was decided there',
    order: 'permission taken back at a memory that has not promised',
    algorithm: 'protected-memory-paxos',
    module: paxos('protected-memory'),
    find: "if (this.stage !== 'idle' && this.ballot === ballot)",
    replace: 'if (false)',
  },
]
