import { majorityOf, type Setting } from '../model/algorithm.ts'
import { parseData } from '../model/data-text.ts'
import type { Acts, AgreementEvent, Data, Process } from '../model/process.ts'
import { Acceptor, OwnAcceptor, RemoteAcceptor } from '../paxos/acceptor.ts'
import { PaxosProcess } from '../paxos/paxos-process.ts'

/** A proposal, and what gives it priority. */
export interface Preference {
  readonly value: string
  readonly proof: Data
}

/** So that what processes sign about what others have signed about a value fits a register, even one of a liar. */
const VALUE_BYTES_MAX = 128

/** True for a value that a process may propose: a text of {@link VALUE_BYTES_MAX} bytes at most, as JSON has it. */
export const isProposal = (value: Data): value is string =>
  typeof value === 'string' && Buffer.byteLength(JSON.stringify(value)) <= VALUE_BYTES_MAX

/** @throws RangeError for one's own value that others would not take for one. */
export function checkProposal(value: string): void {
  if (!isProposal(value)) throw new RangeError(`a value has at most ${VALUE_BYTES_MAX} bytes as JSON`)
}

/** How much a preference counts: the higher one is adopted. Deterministic, as others run it again. */
export type PriorityOf = (preference: Preference, acts: Acts) => number

/**
 * *Preferential Paxos* (PODC'19, section 4.3, Algorithm 8): processes first tell each other what they propose, and with
 * what proof. Each waits for n - f of them, and then proposes in Paxos what has the highest priority among those. So
 * what is decided is one of the f + 1 proposals of the highest priority.
 */
export class PreferentialPaxos implements Process {
  readonly me: number
  readonly processes: number
  readonly quorum: number
  readonly priorityOf: PriorityOf
  readonly paxos: PaxosProcess
  heard: (Preference | null)[]
  begun = false
  chosen = false

  constructor(me: number, { processes, quorum = majorityOf(processes) }: Setting, priorityOf: PriorityOf) {
    this.me = me
    this.processes = processes
    this.quorum = quorum
    this.priorityOf = priorityOf
    this.heard = Array.from({ length: processes }, () => null)
    const acceptor = new Acceptor()
    this.paxos = new PaxosProcess({
      me,
      processes,
      acceptor,
      quorum,
      agents: this.heard.map((_, process) =>
        process === me ? new OwnAcceptor(acceptor) : new RemoteAcceptor(process),
      ),
    })
  }

  /** `input` of the event `begin` is a {@link Preference} as JSON. */
  step(event: AgreementEvent, acts: Acts): void {
    if (event.type === 'begin') {
      const preference = preferenceOf(parseData(event.input) ?? null)
      this.begun = true
      this.heard[this.me] = preference
      for (let process = 0; process < this.processes; process += 1)
        if (process !== this.me) acts.send(process, { setup: preference as unknown as Data })
      this.choose(acts)
      return
    }
    if (event.type !== 'message') {
      this.paxos.step(event, acts)
      return
    }
    const { setup } = event.message as { readonly setup?: Data }
    if (setup === undefined) {
      this.paxos.step(event, acts)
      return
    }
    this.heard[event.from] ??= preferenceOf(setup)
    this.choose(acts)
  }

  private choose(acts: Acts): void {
    const heard = this.heard.filter((each) => each !== null)
    if (!this.begun || this.chosen || heard.length < this.quorum) return
    this.chosen = true
    const [best] = heard
      .map((preference) => ({ preference, priority: this.priorityOf(preference, acts) }))
      .sort((one, other) => other.priority - one.priority)
    this.paxos.step({ type: 'begin', input: best!.preference.value }, acts)
  }
}

function preferenceOf(data: Data): Preference {
  const { value, proof } = (data ?? {}) as { readonly value?: Data; readonly proof?: Data }
  return { value: value !== undefined && isProposal(value) ? value : '', proof: proof ?? null }
}
