import type { Acts, AgreementEvent, Data } from '../model/process.ts'
import type { Accepted, Agent, AgentReply } from './agent.ts'

/** What processes that accept by message say to each other. */
type PaxosMessage =
  | { readonly say: 'prepare'; readonly ballot: number }
  | { readonly say: 'accept'; readonly ballot: number; readonly value: string }
  | { readonly say: 'promised'; readonly ballot: number; readonly accepted: Accepted | null }
  | { readonly say: 'accepted'; readonly ballot: number }
  | { readonly say: 'refused'; readonly ballot: number; readonly highest: number }

const messageOf = (data: Data): PaxosMessage => data as unknown as PaxosMessage
const dataOf = (message: PaxosMessage): Data => message as unknown as Data

/** The acceptor of Paxos, in a process that remembers by itself. */
export class Acceptor {
  promised = 0
  accepted: Accepted | null = null

  /** Answers a proposer's question; true if the message was one. */
  hear(from: number, data: Data, acts: Acts): boolean {
    const message = messageOf(data)
    if (message.say === 'prepare') {
      const { ok } = this.prepare(message.ballot)
      acts.send(
        from,
        dataOf(
          ok
            ? { say: 'promised', ballot: message.ballot, accepted: this.accepted }
            : { say: 'refused', ballot: message.ballot, highest: this.promised },
        ),
      )
      return true
    }
    if (message.say === 'accept') {
      const { ok } = this.accept(message.ballot, message.value)
      acts.send(
        from,
        dataOf(
          ok
            ? { say: 'accepted', ballot: message.ballot }
            : { say: 'refused', ballot: message.ballot, highest: this.promised },
        ),
      )
      return true
    }
    return false
  }

  prepare(ballot: number): AgentReply {
    if (ballot < this.promised) return { ok: false, ballot: this.promised }
    this.promised = ballot
    return { ok: true, accepted: this.accepted }
  }

  accept(ballot: number, value: string): AgentReply {
    if (ballot < this.promised) return { ok: false, ballot: this.promised }
    this.promised = ballot
    this.accepted = { ballot, value }
    return { ok: true, accepted: null }
  }
}

/** Another process's acceptor, as an agent. */
export class RemoteAcceptor implements Agent {
  ballot = 0
  awaited: 'promised' | 'accepted' | 'nothing' = 'nothing'
  readonly process: number

  constructor(process: number) {
    this.process = process
  }

  prepare(ballot: number, acts: Acts): undefined {
    this.ask({ say: 'prepare', ballot }, 'promised', acts)
  }

  accept(ballot: number, value: string, acts: Acts): undefined {
    this.ask({ say: 'accept', ballot, value }, 'accepted', acts)
  }

  hear(event: AgreementEvent): AgentReply | undefined {
    if (event.type !== 'message' || event.from !== this.process) return undefined
    const message = messageOf(event.message)
    if (message.ballot !== this.ballot || this.awaited === 'nothing') return undefined
    if (message.say === 'refused') return this.end({ ok: false, ballot: message.highest })
    if (message.say !== this.awaited) return undefined
    return this.end({ ok: true, accepted: message.say === 'promised' ? message.accepted : null })
  }

  private ask(message: PaxosMessage, awaited: 'promised' | 'accepted', acts: Acts): void {
    this.ballot = message.ballot
    this.awaited = awaited
    acts.send(this.process, dataOf(message))
  }

  private end(reply: AgentReply): AgentReply {
    this.awaited = 'nothing'
    return reply
  }
}

/** A process's own acceptor, as an agent: asked without a message. */
export class OwnAcceptor implements Agent {
  readonly acceptor: Acceptor

  constructor(acceptor: Acceptor) {
    this.acceptor = acceptor
  }

  prepare(ballot: number): AgentReply {
    return this.acceptor.prepare(ballot)
  }

  accept(ballot: number, value: string): AgentReply {
    return this.acceptor.accept(ballot, value)
  }

  hear(): undefined {}
}
