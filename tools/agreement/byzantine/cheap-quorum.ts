import type { Setting } from '../model/algorithm.ts'
import type { RegionRule } from '../model/memory.ts'
import type { Acts, AgreementEvent, Data, Register } from '../model/process.ts'
import { hasTexts } from './has-texts.ts'
import { checkProposal, isProposal, type Preference } from './preferential-paxos.ts'
import { type ReplicatedAnswer, ReplicatedRegisters } from './replicated-registers.ts'

const LEADER = 0
const LEADER_REGION = 'leader'
const regionOf = (process: number): string => `quorum/${process}`
const registerIn = { value: 0, proof: 1, panic: 2 } as const
const POLL = 'quorum'
const TIMEOUT = 'quorum timeout'
/** How long a process waits for the others, in delays. */
const PATIENCE = 60

/** The leader's region, from which anyone may take its right to write, and one of each process. */
export function cheapQuorumRegions(processes: number): RegionRule[] {
  const regions: RegionRule[] = [{ name: LEADER_REGION, registers: 1, writers: [LEADER], changes: 'revoke' }]
  for (let process = 0; process < processes; process += 1)
    regions.push({ name: regionOf(process), registers: 3, writers: [process], changes: 'none' })
  return regions
}

/** A value with the leader's signature, and with that of the process that copied it. */
interface Signed {
  readonly value: string
  readonly leader: string
  readonly copied: string
}

/** Everyone has copied the value: a signature of each process. */
export interface Unanimity {
  readonly leader: string
  readonly copies: readonly string[]
}

/** How it ended. */
export type CheapQuorumEnd = { readonly decided: string } | { readonly abort: Preference }

/**
 * *Cheap Quorum* (PODC'19, section 4.2, Algorithms 4 and 5): the leader decides by one write, which it has signed. The
 * others decide when all have copied it, and know that all have. If anything takes too long, a process panics: it
 * takes the leader's right to write, and then gives up with what it has seen. A write that succeeded before is seen.
 */
export class CheapQuorum {
  readonly me: number
  readonly processes: number
  readonly registers: ReplicatedRegisters
  input = ''
  stage: 'idle' | 'leading' | 'waiting' | 'copying' | 'copied' | 'proving' | 'proved' | 'panic' | 'revoke' | 'rest' =
    'idle'
  looks = false
  decided = false
  aborted = false
  copy: Signed | null = null
  proof: Unanimity | null = null

  constructor(me: number, setting: Setting) {
    this.me = me
    this.processes = setting.processes
    this.registers = new ReplicatedRegisters(setting)
  }

  /** @throws RangeError for an input that is too long. */
  begin(input: string, acts: Acts): void {
    checkProposal(input)
    this.input = input
    acts.wake(PATIENCE, TIMEOUT)
    if (this.me !== LEADER) {
      this.stage = 'waiting'
      this.look(acts)
      return
    }
    this.stage = 'leading'
    const leader = acts.sign(valueText(input))
    this.copy = { value: input, leader, copied: '' }
    this.registers.write('lead', leaderRegister, { value: input, leader }, acts)
  }

  /** How it has ended, when it does: by a decision, by giving up, or by one after the other. */
  step(event: AgreementEvent, acts: Acts): CheapQuorumEnd | undefined {
    if (event.type === 'timer') {
      if (event.tag === TIMEOUT && !this.decided) this.panic(acts)
      if (event.tag !== POLL) return undefined
      // The leader copies its value as all do, once it has decided: the others need a copy of everyone.
      if (this.stage === 'leading' && this.decided) this.put(acts)
      this.look(acts)
      return undefined
    }
    const answer = this.registers.hear(event)
    return answer === undefined ? undefined : this.go(answer, acts)
  }

  private go({ name, ok, values }: ReplicatedAnswer, acts: Acts): CheapQuorumEnd | undefined {
    if (name === 'look') return this.see(values, acts)
    if (name === 'lead') {
      if (!ok) this.panic(acts)
      else return this.decide(this.input, acts)
    } else if (name === 'copy' && this.stage === 'copying') this.stage = 'copied'
    else if (name === 'prove' && this.stage === 'proving') this.stage = 'proved'
    else if (name === 'panic') {
      this.stage = 'revoke'
      this.registers.permit('revoke', LEADER_REGION, [], acts)
    } else if (name === 'revoke') {
      if (this.copy !== null) return this.abort(this.copy.value, this.proof ?? { leader: this.copy.leader })
      this.registers.read('rest', [leaderRegister], acts)
    } else if (name === 'rest') {
      const signed = this.ledBy(values[0]!, acts)
      return signed === null ? this.abort(this.input, null) : this.abort(signed.value, { leader: signed.leader })
    }
    return undefined
  }

  private decide(value: string, acts: Acts): CheapQuorumEnd | undefined {
    if (this.decided) return undefined
    this.decided = true
    if (!this.looks && this.isQuiet) acts.wake(1, POLL)
    return { decided: value }
  }

  private get isQuiet(): boolean {
    return this.stage !== 'panic' && this.stage !== 'revoke' && this.stage !== 'rest'
  }

  /** Reads what the others have written, as long as nothing is wrong. */
  private look(acts: Acts): void {
    if (this.looks || !this.isQuiet) return
    this.looks = true
    const everyone = (what: keyof typeof registerIn): Register[] =>
      Array.from({ length: this.processes }, (_, process) => ({ region: regionOf(process), index: registerIn[what] }))
    const registers = [leaderRegister, ...everyone('value'), ...everyone('proof'), ...everyone('panic')]
    this.registers.read('look', registers, acts)
  }

  private see(values: readonly Data[], acts: Acts): CheapQuorumEnd | undefined {
    this.looks = false
    if (!this.isQuiet) return undefined
    const of = (place: number): readonly Data[] =>
      values.slice(1 + place * this.processes, 1 + (place + 1) * this.processes)
    if (of(2).some((panic) => panic === true)) {
      this.panic(acts)
      return undefined
    }
    acts.wake(1, POLL)
    if (this.stage === 'waiting') {
      const signed = this.ledBy(values[0]!, acts)
      if (signed === null) return undefined
      this.copy = signed
      this.put(acts)
    } else if (this.stage === 'copied') this.prove(of(0), acts)
    else if (this.stage === 'proved' && of(1).every((proof) => this.isUnanimity(proof, acts)))
      return this.decide(this.copy!.value, acts)
    return undefined
  }

  /** Copies the value, signed. */
  private put(acts: Acts): void {
    const { value, leader } = this.copy!
    this.copy = { value, leader, copied: acts.sign(copyText(value)) }
    this.stage = 'copying'
    this.registers.write('copy', this.own('value'), this.copy as unknown as Data, acts)
  }

  private prove(found: readonly Data[], acts: Acts): void {
    const { value, leader } = this.copy!
    const copies = found.flatMap((data, process) =>
      hasTexts(data, ['copied']) && acts.verify(process, copyText(value), data['copied'] as string)
        ? [data['copied'] as string]
        : [],
    )
    if (copies.length < this.processes) return
    this.proof = { leader, copies }
    this.stage = 'proving'
    this.registers.write('prove', this.own('proof'), { value, ...this.proof }, acts)
  }

  private panic(acts: Acts): void {
    if (!this.isQuiet || this.stage === 'idle') return
    this.stage = 'panic'
    this.registers.write('panic', this.own('panic'), true, acts)
  }

  private abort(value: string, proof: Unanimity | { readonly leader: string } | null): CheapQuorumEnd {
    this.stage = 'rest'
    this.aborted = true
    return { abort: { value, proof: proof as unknown as Data } }
  }

  private own(what: keyof typeof registerIn): Register {
    return { region: regionOf(this.me), index: registerIn[what] }
  }

  private ledBy(data: Data, acts: Acts): Signed | null {
    if (!hasTexts(data, ['value', 'leader'])) return null
    const { value, leader } = data as unknown as Signed
    return isProposal(value) && isLed(value, leader, acts) ? { value, leader, copied: '' } : null
  }

  private isUnanimity(data: Data, acts: Acts): boolean {
    return (
      hasTexts(data, ['value']) &&
      data['value'] === this.copy!.value &&
      isUnanimous(data['value'], data, this.processes, acts)
    )
  }
}

const leaderRegister: Register = { region: LEADER_REGION, index: 0 }
const valueText = (value: string): string => `value ${value}`
const copyText = (value: string): string => `unanimous ${value}`

const isLed = (value: string, signature: string, acts: Acts): boolean =>
  acts.verify(LEADER, valueText(value), signature)

function isUnanimous(value: string, proof: Data, processes: number, acts: Acts): boolean {
  if (!hasTexts(proof, [])) return false
  const copies = proof['copies']
  return (
    Array.isArray(copies) &&
    copies.length === processes &&
    copies.every((copied: Data, process) => typeof copied === 'string' && acts.verify(process, copyText(value), copied))
  )
}

/**
 * What a process that has given up brings with it (PODC'19, Definition 3): proof that all have copied the value, the
 * leader's signature, or neither.
 */
export function priorityOf({ value, proof }: Preference, processes: number, acts: Acts): number {
  if (isUnanimous(value, proof, processes, acts)) return 2
  return hasTexts(proof, ['leader']) && isLed(value, proof['leader'] as string, acts) ? 1 : 0
}
