import type { Setting } from '../model/algorithm.ts'
import type { Acts, AgreementEvent, Data } from '../model/process.ts'
import { Acceptor } from '../paxos/acceptor.ts'
import type { AgentReply } from '../paxos/agent.ts'
import { broadcastWitness } from './broadcast.ts'
import type { CheapQuorumEnd } from './cheap-quorum.ts'
import type { PreferentialPaxos } from './preferential-paxos.ts'
import { BroadcastProcess, FastAndRobustProcess, RobustBackupProcess } from './processes.ts'

/** What a traitor would have the others decide. */
const WRONG = 'z'

/** Writes at once that a majority has proof of a message, which no one has sent. */
export class FalseWitness extends BroadcastProcess {
  override step(event: AgreementEvent, acts: Acts): void {
    if (event.type === 'begin') {
      const { region, index } = broadcastWitness(this.me, 0, 0, this.processes)
      const false_ = { message: WRONG, signature: acts.sign(WRONG), proofs: [] }
      for (let memory = 0; memory < this.memories; memory += 1)
        acts.write(memory, { region, index }, false_, `false ${memory}`)
    }
    super.step(event, acts)
  }
}

/** Accepts like any other, and denies it when the next leader asks. */
class DenyingAcceptor extends Acceptor {
  override hear(from: number, data: Data, acts: Acts): boolean {
    const { accepted } = this
    this.accepted = null
    const heard = super.hear(from, data, acts)
    this.accepted ??= accepted
    return heard
  }

  override prepare(ballot: number): AgentReply {
    const reply = super.prepare(ballot)
    return reply.ok ? { ok: true, accepted: null } : reply
  }
}

/** A process in a robust backup whose acceptor denies what it has accepted. */
export class Denier extends RobustBackupProcess {
  constructor(me: number, setting: Setting) {
    super(me, setting)
    const { paxos } = this.backup.own as PreferentialPaxos
    const acceptor = new DenyingAcceptor()
    Object.assign(paxos, { acceptor })
    for (const agent of paxos.agents) if ('acceptor' in agent) Object.assign(agent, { acceptor })
  }
}

/** Says that it has heard of a decision, and tells each of the others another one. */
export class FalseReporter extends RobustBackupProcess {
  override step(event: AgreementEvent, acts: Acts): void {
    const { broadcast, shadows } = this.backup
    if (event.type !== 'begin') {
      broadcast.hear(event, acts)
      return
    }
    broadcast.start(acts)
    const sends = shadows.map((_, to) => [to, { decided: `${WRONG}${to}` }])
    broadcast.broadcast({ causes: [{ why: 'begin', input: event.input }], sends }, acts)
  }
}

/** Helps the others to agree on one value, and then gives up with another, with what proof it can make. */
export class Turncoat extends FastAndRobustProcess {
  protected override go(end: CheapQuorumEnd, acts: Acts): void {
    if ('decided' in end) super.go(end, acts)
    else {
      const copies = Array.from({ length: this.processes }, () => acts.sign(`unanimous ${WRONG}`))
      const proof = this.me === 0 ? { leader: acts.sign(`value ${WRONG}`) } : { leader: acts.sign(WRONG), copies }
      super.go({ abort: { value: WRONG, proof } }, acts)
    }
  }
}
