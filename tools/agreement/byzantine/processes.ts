import type { Setting } from '../model/algorithm.ts'
import type { Acts, AgreementEvent, Process } from '../model/process.ts'
import { NonEquivocatingBroadcast } from './broadcast.ts'
import { CheapQuorum, type CheapQuorumEnd, priorityOf } from './cheap-quorum.ts'
import { checkProposal, type Preference, PreferentialPaxos } from './preferential-paxos.ts'
import { RobustBackup } from './robust-backup.ts'

function backupOf(me: number, setting: Setting): RobustBackup {
  const { processes } = setting
  const broadcast = new NonEquivocatingBroadcast(me, setting)
  const preferred = (preference: Preference, acts: Acts): number => priorityOf(preference, processes, acts)
  const create = (process: number): Process => new PreferentialPaxos(process, setting, preferred)
  return new RobustBackup(me, processes, broadcast, create)
}

/** Process 0 broadcasts its input; the others decide what they deliver. */
export class BroadcastProcess implements Process {
  readonly me: number
  readonly processes: number
  readonly memories: number
  readonly broadcast: NonEquivocatingBroadcast

  constructor(me: number, setting: Setting) {
    this.me = me
    this.processes = setting.processes
    this.memories = setting.memories
    this.broadcast = new NonEquivocatingBroadcast(me, setting)
  }

  step(event: AgreementEvent, acts: Acts): void {
    if (event.type === 'begin') {
      this.broadcast.start(acts)
      if (this.me === 0) this.broadcast.broadcast(event.input, acts)
      return
    }
    for (const { from, number, message } of this.broadcast.hear(event, acts))
      if (from === 0 && number === 0 && typeof message === 'string') acts.decide(message)
  }
}

/** *Preferential Paxos* in a *Robust Backup*, where no input has any priority. */
export class RobustBackupProcess implements Process {
  readonly backup: RobustBackup

  constructor(me: number, setting: Setting) {
    this.backup = backupOf(me, setting)
  }

  step(event: AgreementEvent, acts: Acts): void {
    if (event.type === 'begin') {
      checkProposal(event.input)
      this.backup.begin(JSON.stringify({ value: event.input, proof: null }), acts)
      return
    }
    const decided = this.backup.step(event, acts)
    if (decided !== undefined) acts.decide(decided)
  }
}

/**
 * *Fast & Robust* (PODC'19, section 4.3): *Cheap Quorum*, and where it is given up, what each has seen goes into
 * *Preferential Paxos* with its proof.
 */
export class FastAndRobustProcess implements Process {
  readonly me: number
  readonly processes: number
  readonly quorum: CheapQuorum
  readonly backup: RobustBackup
  decided = false

  constructor(me: number, setting: Setting) {
    this.me = me
    this.processes = setting.processes
    this.quorum = new CheapQuorum(me, setting)
    this.backup = backupOf(me, setting)
  }

  step(event: AgreementEvent, acts: Acts): void {
    if (event.type === 'begin') {
      this.quorum.begin(event.input, acts)
      return
    }
    // Each knows its own answers and timers by their tags.
    const end = this.quorum.step(event, acts)
    if (end !== undefined) this.go(end, acts)
    const decided = this.backup.step(event, acts)
    if (decided !== undefined) this.decide(decided, acts)
  }

  protected go(end: CheapQuorumEnd, acts: Acts): void {
    if ('decided' in end) this.decide(end.decided, acts)
    else this.backup.begin(JSON.stringify(end.abort), acts)
  }

  private decide(value: string, acts: Acts): void {
    if (this.decided) return
    this.decided = true
    acts.decide(value)
  }
}
