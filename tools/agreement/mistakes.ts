import type { Mistake } from '../simulation/replicas/mistakes.ts'

/** A mistake in one algorithm, and the plays that have to show it. */
export interface AgreementMistake extends Mistake {
  readonly module: string
  readonly algorithm: string
}

const paxos = (file: string): string => `/agreement/paxos/${file}.js`
const byzantine = (file: string): string => `/agreement/byzantine/${file}.js`

/** Changes nothing that matters. */
export const agreementCanary: AgreementMistake = {
  name: 'majority counted from one',
  breaks: 'nothing',
  algorithm: 'protected-memory-paxos',
  module: paxos('algorithms'),
  find: 'const majorityOf = (agents) => Math.floor(agents / 2) + 1',
  replace: 'const majorityOf = (agents) => 1 + Math.floor(agents / 2)',
}

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
    module: paxos('algorithms'),
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
    name: 'proof after one copy',
    breaks: 'two processes deliver different messages of one sender',
    algorithm: 'non-equivocating-broadcast',
    module: byzantine('broadcast'),
    find: 'if (copies.length * 2 <= this.processes)',
    replace: 'if (copies.length < 1)',
  },
]
