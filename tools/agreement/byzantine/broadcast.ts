import { majorityOf, type Setting } from '../model/algorithm.ts'
import type { RegionRule } from '../model/memory.ts'
import type { Acts, AgreementEvent, Data, Register } from '../model/process.ts'
import { hasTexts } from './has-texts.ts'
import { ReplicatedRegisters } from './replicated-registers.ts'

/** How many messages each process can broadcast. */
const BROADCASTS_MAX = 64
const POLL = 'broadcast'
const kinds = ['copy', 'proof', 'witness'] as const
type Kind = (typeof kinds)[number]

const regionOf = (process: number): string => `broadcast/${process}`

/** Registers of each process about each message of each other, which only it may write. */
export function broadcastRegions(processes: number): RegionRule[] {
  return Array.from({ length: processes }, (_, process) => ({
    name: regionOf(process),
    registers: kinds.length * BROADCASTS_MAX * processes,
    writers: [process],
    changes: 'none',
    once: true,
  }))
}

function registerOf(kind: Kind, writer: number, number: number, sender: number, processes: number): Register {
  return { region: regionOf(writer), index: (kinds.indexOf(kind) * BROADCASTS_MAX + number) * processes + sender }
}

/** Where a process writes that a majority has proof of a sender's message. */
export const broadcastWitness = (writer: number, number: number, sender: number, processes: number): Register =>
  registerOf('witness', writer, number, sender, processes)

/** A message with its sender's signature and that of the process that has copied it. */
interface Copy {
  readonly message: Data
  readonly signature: string
  readonly copied: string
}

/** A majority has copied the message: what one process has seen, signed by it. */
interface Proof {
  readonly message: Data
  readonly signature: string
  readonly copies: readonly (readonly [process: number, copied: string])[]
  readonly proved: string
}

/** A majority has such a proof. */
interface Witness {
  readonly message: Data
  readonly signature: string
  readonly proofs: readonly (readonly [process: number, proof: Proof])[]
}

export interface Delivery {
  readonly from: number
  /** Counted from 0, by sender. */
  readonly number: number
  readonly message: Data
}

/** The next message of one sender. */
interface Awaited {
  number: number
  /** What was done about it last; `-ing` while that is being written. */
  stage: 'waiting' | 'copying' | 'copied' | 'proving' | 'proved' | 'witnessing' | 'equivocal'
  copy: Copy | null
}

/**
 * *Non-equivocating broadcast* (PODC'19, section 4.1, Algorithm 2): a process may lie, but it cannot tell different
 * processes different things. Everyone copies what it has read into a register of its own before it looks at the
 * copies of others. So of two processes that copied different messages, one at least sees both, and delivers neither.
 *
 * Needs n >= 2f + 1 processes and a majority of the memories.
 */
export class NonEquivocatingBroadcast {
  readonly me: number
  readonly processes: number
  /** How many have to copy a message, and then to prove that. */
  readonly quorum: number
  readonly registers: ReplicatedRegisters
  sent = 0
  polls = false
  /** The stages that the read under way was begun in; null if there is none. */
  looks: Awaited['stage'][] | null = null
  awaited: Awaited[]

  constructor(me: number, setting: Setting) {
    const { processes, quorum = majorityOf(processes) } = setting
    this.me = me
    this.processes = processes
    this.quorum = quorum
    this.registers = new ReplicatedRegisters(setting)
    this.awaited = Array.from({ length: processes }, () => ({ number: 0, stage: 'waiting', copy: null }))
  }

  /** Begins to take part, with what it has to say and with what it hears. */
  start(acts: Acts): void {
    if (this.polls) return
    this.polls = true
    this.poll(acts)
  }

  /** After {@link BROADCASTS_MAX} messages a process is silent, as if it had crashed. */
  broadcast(message: Data, acts: Acts): void {
    // A liar that begins one ballot after another may have made it answer that often: it must not fail by that.
    if (this.sent === BROADCASTS_MAX) return
    const number = this.sent
    this.sent += 1
    const signature = acts.sign(messageText(this.me, number, message))
    const copied = acts.sign(copyText(this.me, number, signature))
    const copy: Copy = { message, signature, copied }
    this.registers.write('sent', this.register('copy', this.me, number, this.me), copy as unknown as Data, acts)
  }

  hear(event: AgreementEvent, acts: Acts): Delivery[] {
    if (event.type === 'timer' && event.tag === POLL) {
      this.poll(acts)
      return []
    }
    const answer = this.registers.hear(event)
    if (answer === undefined) return []
    const [what, sender] = answer.name.split('/')
    if (what === 'look') this.look(answer.values, acts)
    return sender === undefined ? [] : this.written(Number(sender), answer.ok)
  }

  private poll(acts: Acts): void {
    if (this.looks !== null) return
    const stages = this.awaited.map(({ stage }) => stage)
    const registers = stages.flatMap((stage, sender) => this.registersAbout(sender, stage))
    if (registers.length === 0) {
      acts.wake(1, POLL)
      return
    }
    this.looks = stages
    this.registers.read('look', registers, acts)
  }

  /** What has to be read about the next message of a sender. */
  private registersAbout(sender: number, stage: Awaited['stage']): Register[] {
    const { number } = this.awaited[sender]!
    if (number === BROADCASTS_MAX) return []
    const of = (kind: Kind, writer: number): Register => this.register(kind, writer, number, sender)
    const everyone = (kind: Kind): Register[] => Array.from({ length: this.processes }, (_, writer) => of(kind, writer))
    if (stage === 'waiting') return [of('copy', sender), ...everyone('witness')]
    if (stage === 'copied') return [...everyone('copy'), ...everyone('witness')]
    if (stage === 'proved') return [...everyone('proof'), ...everyone('witness')]
    return stage === 'equivocal' ? everyone('witness') : []
  }

  private look(values: readonly Data[], acts: Acts): void {
    let at = 0
    const stages = this.looks!
    this.looks = null
    stages.forEach((stage, sender) => {
      const count = this.registersAbout(sender, stage).length
      at += count
      // A stage that began while this was read has yet to be looked at.
      if (count > 0 && this.awaited[sender]!.stage === stage) this.consider(sender, values.slice(at - count, at), acts)
    })
    acts.wake(1, POLL)
  }

  private consider(sender: number, about: readonly Data[], acts: Acts): void {
    const awaited = this.awaited[sender]!
    const known = about
      .slice(-this.processes)
      .map(witnessOf)
      .find((each) => each !== null && this.isWitness(sender, each, acts))
    if (known !== undefined && known !== null) {
      awaited.copy = { message: known.message, signature: known.signature, copied: '' }
      this.put('witness', sender, known as unknown as Data, acts)
      return
    }
    if (awaited.stage === 'waiting') {
      const copy = copyOf(about[0]!)
      if (copy === null || !this.isSigned(sender, copy, acts)) return
      const copied = acts.sign(copyText(sender, awaited.number, copy.signature))
      awaited.copy = { message: copy.message, signature: copy.signature, copied }
      this.put('copy', sender, awaited.copy as unknown as Data, acts)
      return
    }
    if (awaited.stage === 'copied') {
      this.prove(sender, about.slice(0, this.processes), acts)
      return
    }
    if (awaited.stage === 'proved') this.witness(sender, about.slice(0, this.processes), acts)
  }

  private prove(sender: number, found: readonly Data[], acts: Acts): void {
    const awaited = this.awaited[sender]!
    const copies: [number, string][] = []
    for (const [process, data] of found.entries()) {
      const copy = copyOf(data)
      if (copy === null || !this.isSigned(sender, copy, acts)) continue
      if (copy.signature !== awaited.copy!.signature) {
        // The sender has signed two messages with one number: neither is delivered here.
        awaited.stage = 'equivocal'
        return
      }
      if (this.isCopied(sender, awaited.number, copy.signature, process, copy.copied, acts))
        copies.push([process, copy.copied])
    }
    if (copies.length < this.quorum) return
    const { message, signature } = awaited.copy!
    const proved = acts.sign(proofText(sender, awaited.number, signature))
    const proof: Proof = { message, signature, copies: copies.slice(0, this.quorum), proved }
    this.put('proof', sender, proof as unknown as Data, acts)
  }

  private witness(sender: number, found: readonly Data[], acts: Acts): void {
    const awaited = this.awaited[sender]!
    const { message, signature } = awaited.copy!
    const proofs: [number, Proof][] = []
    for (const [process, data] of found.entries()) {
      const proof = proofOf(data)
      if (proof !== null && proof.signature === signature && this.isProof(sender, process, proof, acts))
        proofs.push([process, proof])
    }
    if (proofs.length < this.quorum) return
    const witness: Witness = { message, signature, proofs: proofs.slice(0, this.quorum) }
    this.put('witness', sender, witness as unknown as Data, acts)
  }

  private put(kind: Kind, sender: number, value: Data, acts: Acts): void {
    const awaited = this.awaited[sender]!
    awaited.stage = kind === 'copy' ? 'copying' : kind === 'proof' ? 'proving' : 'witnessing'
    this.registers.write(`${kind}/${sender}`, this.register(kind, this.me, awaited.number, sender), value, acts)
  }

  /**
   * What was being written about that sender's message is there now; or it is refused, as it is too long. Then others
   * cannot see it, so that this process must not go on as if they could.
   */
  private written(sender: number, ok: boolean): Delivery[] {
    const awaited = this.awaited[sender]!
    if (!ok) awaited.stage = 'equivocal'
    else if (awaited.stage === 'copying') awaited.stage = 'copied'
    else if (awaited.stage === 'proving') awaited.stage = 'proved'
    else if (awaited.stage === 'witnessing') {
      const delivery: Delivery = { from: sender, number: awaited.number, message: awaited.copy!.message }
      this.awaited[sender] = { number: awaited.number + 1, stage: 'waiting', copy: null }
      return [delivery]
    }
    return []
  }

  private register(kind: Kind, writer: number, number: number, sender: number): Register {
    return registerOf(kind, writer, number, sender, this.processes)
  }

  private isSigned(sender: number, { message, signature }: Copy | Proof | Witness, acts: Acts): boolean {
    const { number } = this.awaited[sender]!
    return acts.verify(sender, messageText(sender, number, message), signature)
  }

  private isCopied(
    sender: number,
    number: number,
    signature: string,
    process: number,
    copied: string,
    acts: Acts,
  ): boolean {
    return acts.verify(process, copyText(sender, number, signature), copied)
  }

  private isProof(sender: number, process: number, proof: Proof, acts: Acts): boolean {
    const { number } = this.awaited[sender]!
    const { signature, copies, proved } = proof
    return (
      this.isSigned(sender, proof, acts) &&
      acts.verify(process, proofText(sender, number, signature), proved) &&
      isQuorum(copies, this.quorum) &&
      copies.every(([copier, copied]) => this.isCopied(sender, number, signature, copier, copied, acts))
    )
  }

  private isWitness(sender: number, witness: Witness, acts: Acts): boolean {
    const { signature, proofs } = witness
    return (
      this.isSigned(sender, witness, acts) &&
      isQuorum(proofs, this.quorum) &&
      proofs.every(([process, proof]) => proof.signature === signature && this.isProof(sender, process, proof, acts))
    )
  }
}

const messageText = (sender: number, number: number, message: Data): string =>
  `message ${sender} ${number} ${JSON.stringify(message)}`
const copyText = (sender: number, number: number, signature: string): string => `copy ${sender} ${number} ${signature}`
const proofText = (sender: number, number: number, signature: string): string =>
  `proof ${sender} ${number} ${signature}`

/** True if as many processes are named, each once. */
const isQuorum = (named: readonly (readonly [process: number, unknown])[], quorum: number): boolean =>
  new Set(named.map(([process]) => process)).size === named.length && named.length >= quorum

/** What a register holds, if it has the form of what belongs there: a Byzantine process writes what it likes. */
function copyOf(data: Data): Copy | null {
  return hasTexts(data, ['signature', 'copied']) && 'message' in data ? (data as unknown as Copy) : null
}

function proofOf(data: Data): Proof | null {
  const isProof = hasTexts(data, ['signature', 'proved']) && 'message' in data && isList(data['copies'], isText)
  return isProof ? (data as unknown as Proof) : null
}

function witnessOf(data: Data): Witness | null {
  const isWitness =
    hasTexts(data, ['signature']) && 'message' in data && isList(data['proofs'], (each) => proofOf(each) !== null)
  return isWitness ? (data as unknown as Witness) : null
}

const isText = (data: Data): boolean => typeof data === 'string'

/** True for a list of pairs of a process and something. */
const isList = (data: Data | undefined, isRight: (data: Data) => boolean): boolean =>
  Array.isArray(data) &&
  data.every((pair: Data) => Array.isArray(pair) && Number.isSafeInteger(pair[0]) && isRight((pair[1] as Data) ?? null))
