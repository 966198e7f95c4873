import { isIndex, isRecord } from '../../hosts/index.ts'
import { ranksInWords } from '../errors.ts'
import type { LockMachine } from '../locks/index.ts'
import type { OpenWait, SubjectAnswers, WaitFinding, WaitingPart, WaitSubject } from './subject.ts'

/** Waits for locks of the group and its regions. */
export class LockWaits implements WaitingPart {
  readonly #locks: LockMachine

  constructor(locks: LockMachine) {
    this.#locks = locks
  }

  *waits(): Iterable<OpenWait> {
    for (const { token, name, mode, sinceNs } of this.#locks.waiting()) {
      const object = `lock '${name}'${mode === 'read' ? ' (to read)' : ''}`
      yield { key: `lock ${token}`, kind: 'lock', object, sinceNs, subject: { about: 'lock', name, token, mode } }
    }
  }

  answer(subject: WaitSubject): unknown {
    if (subject.about !== 'lock') return undefined
    const { name } = subject
    return { holds: this.#locks.holds(name), queue: this.#locks.queueOf(name) }
  }

  /** Holders report it themselves. If one does not answer, the rank that keeps the queue reports for it. */
  explain(subject: WaitSubject, { self, said }: SubjectAnswers): WaitFinding | undefined {
    if (subject.about !== 'lock') return undefined
    const holders = new Set<number>()
    const ahead = new Set<number>()
    for (const [rank, answer] of said) {
      if (!isRecord(answer)) continue
      if (answer['holds'] === true) holders.add(rank)
      for (const { rank: other, granted, isOurs } of entriesOf(answer['queue'], self, subject.token)) {
        if (isOurs) break
        if (granted) holders.add(other)
        else ahead.add(other)
      }
    }
    const inOrder = (ranks: Iterable<number>): number[] => [...ranks].sort((a, b) => a - b)
    if (holders.size === 0 && ahead.size === 0) return { ranks: [], state: 'its holder is not known' }
    // A reader waits behind a writer that itself waits.
    const ranks = inOrder(subject.mode === 'read' ? [...new Set([...holders, ...ahead])] : holders)
    const behind = ahead.size === 0 ? '' : `, ${ranksInWords(inOrder(ahead))} asked before`
    return { ranks, state: `held by ${ranksInWords(inOrder(holders))}${behind}` }
  }
}

function* entriesOf(
  queue: unknown,
  self: number,
  token: number,
): Iterable<{ rank: number; granted: boolean; isOurs: boolean }> {
  if (!Array.isArray(queue)) return
  for (const entry of queue as unknown[]) {
    if (!Array.isArray(entry)) continue
    const [rank, entryToken, granted] = entry as unknown[]
    if (!isIndex(rank)) continue
    yield { rank, granted: granted === 1, isOurs: rank === self && entryToken === token }
  }
}
