import {
  type AcceptedEntry,
  type Configuration,
  type Entry,
  HeadWord,
  type ReplicaMemory,
  unpackWord,
} from 'aether-dsm/internal/consensus'
import { ViolationError } from '../observer.ts'
import { type DecidedLog, textOf } from './decided-log.ts'

/** A value that an acceptor has accepted. */
interface Accepted {
  readonly acceptor: number
  readonly index: number
  readonly term: number
  /** Undefined until all of its cell could be seen. If it is replaced before, it may have been anything. */
  text: string | undefined
}

/** What would be there if the acceptor's process ended now. */
interface Disk {
  readonly promised: number
  readonly decided: number
  entry(index: number): AcceptedEntry | undefined
  holds(index: number, text: string | undefined, term: number): boolean
}

/** A host: its memory is as it was while this is. */
interface Changing {
  readonly changes: number
}

/** An acceptor, and the words of its memory as they were seen last. */
interface Watched {
  readonly id: number
  readonly memory: ReplicaMemory
  readonly disk: Disk | undefined
  readonly words: BigUint64Array
  readonly seen: BigUint64Array
  /** The same bytes: numbers are compared faster than bigints. */
  readonly live: Float64Array
  readonly before: Float64Array
  /** How often its host had changed by the last look. */
  readonly host: Changing
  changes: number
  /** Entries up to this one are taken, and were found on the disk. */
  taken: number
  /** By place of the ring: what its word names. */
  readonly named: Map<number, Accepted>
}

const PROMISE_AT = HeadWord.Promise / 8
const GRANTED_AT = HeadWord.Granted / 8

/**
 * Looks at the memories of all acceptors after each event of a simulation. It remembers everything that was ever
 * accepted, even by those that have lost their memory. So it knows what no replica does. It holds Paxos to its proof:
 *
 * 1. What an acceptor has promised never goes down. What it has accepted it does not forget, until it has taken it.
 * 2. The value that a slot's word names is whole, was stored in the term of the word, and stays as it is.
 * 3. In one term one value is proposed for an index.
 * 4. A value is accepted only if it is safe: no other can have been decided in a lower term (Lamport, "Paxos made
 *    simple", 2001, P2c).
 * 5. What a leader counts as decided a majority has accepted, or taken; and a majority has promised its term.
 * 6. What an acceptor is told to be decided is decided, and lies there.
 * 7. By rights, a slot is written in the term that was granted last.
 * 8. With journals, what is on disks counts, and no more: for 5, and for what an acceptor says that it has taken. One
 *    that begins again has what was on its disk.
 *
 * Numbers are counted here, and not by functions of what is tried, in which a mistake may be.
 */
export class AcceptorAudit {
  readonly #log: DecidedLog
  #watched: Watched[] = []
  readonly #accepted = new Map<number, Accepted[]>()
  /** Those whose cell could not be seen yet. */
  readonly #unseen = new Set<{ readonly watched: Watched; readonly place: number; readonly accepted: Accepted }>()
  #looksAtNamed = false

  constructor(log: DecidedLog) {
    this.#log = log
  }

  /** An acceptor begins, or begins again with what its disk holds. */
  watch(id: number, host: Changing, memory: ReplicaMemory, disk: Disk | undefined): void {
    this.#watched = this.#watched.filter((each) => each.id !== id)
    for (const each of this.#unseen) if (each.accepted.acceptor === id) this.#unseen.delete(each)
    const { buffer, byteOffset } = memory.region.bytes
    const length = memory.layout.headBytes / 8
    const words = new BigUint64Array(buffer, byteOffset, length)
    const live = new Float64Array(buffer, byteOffset, length)
    const seen = words.slice()
    const before = new Float64Array(seen.buffer)
    const watched = {
      id,
      memory,
      disk,
      words,
      seen,
      live,
      before,
      host,
      changes: -1,
      taken: 0,
      named: new Map(),
    }
    this.#watched.push(watched)
    if (disk !== undefined) this.#beginAgain(watched, disk)
  }

  #beginAgain({ id, memory, named }: Watched, disk: Disk): void {
    if (memory.promise < disk.promised)
      throw new ViolationError(`disk: ${id} begins with the promise ${memory.promise}, and has ${disk.promised}`)
    if (memory.taken !== disk.decided)
      throw new ViolationError(`disk: ${id} begins with ${memory.taken} entries, and has ${disk.decided}`)
    for (let index = disk.decided + 1; index <= disk.decided + memory.layout.window; index += 1) {
      const [there, here] = [disk.entry(index), memory.accepted(index)]
      if (there?.acceptedIn !== here?.acceptedIn || (there && textOf(there)) !== (here && textOf(here)))
        throw new ViolationError(`disk: what ${id} has accepted for ${index} is not what it has on its disk`)
      if (here !== undefined)
        named.set(memory.layout.place(index), { acceptor: id, index, term: here.acceptedIn, text: textOf(here) })
    }
    // What it had accepted, and did not come to the disk, it has not accepted.
    for (const [index, all] of this.#accepted) {
      if (index <= disk.decided) continue
      const term = disk.entry(index)?.acceptedIn ?? 0
      const left = all.filter((each) => each.acceptor !== id || each.term <= term)
      this.#accepted.set(index, left)
    }
  }

  /** An event has happened. */
  look(): void {
    let isChanged = false
    for (const watched of this.#watched) {
      const { live, before, host } = watched
      if (host.changes === watched.changes) continue
      watched.changes = host.changes
      isChanged = true
      // What lies before is of no interest here. Slots come before commits, which may have changed in the same event.
      for (let at = live.length - 1; at >= PROMISE_AT; at -= 1) if (live[at] !== before[at]) this.#changed(watched, at)
      if (watched.disk !== undefined) this.#checkTaken(watched, watched.disk)
    }
    if (isChanged && this.#unseen.size > 0) this.#lookAgain()
    if (!this.#looksAtNamed) return
    this.#looksAtNamed = false
    for (const watched of this.#watched) for (const place of watched.named.keys()) this.#checkNamed(watched, place)
  }

  #checkTaken(watched: Watched, disk: Disk): void {
    const { id, memory } = watched
    for (; watched.taken < memory.taken; watched.taken += 1) {
      const index = watched.taken + 1
      if (!disk.holds(index, this.#log.text(index), 0))
        throw new ViolationError(`disk: ${id} says that it has taken ${index}, and it is not on its disk`)
    }
  }

  /** A replica decides alone. Its program has the entry, so it counts as what the acceptor has accepted and taken. */
  pass(id: number, entry: Entry): void {
    const { index, term } = entry
    const { voters } = this.#log.configurations.at(-1)!
    if (voters.some((voter) => voter.id !== id))
      throw new ViolationError(`decision: ${id} decides ${index} alone, and others vote`)
    const text = textOf(entry)
    const accepted = { acceptor: id, index, term, text }
    if (!this.#isSafe(accepted, text))
      throw new ViolationError(`safety: ${id} decides ${index}: ${this.#describe(index)}`)
    this.#acceptedAt(index).push(accepted)
  }

  /** A leader counts this entry as decided in its term, and has taken it just now. */
  checkDecided(leader: number, index: number, term: number): void {
    const text = this.#log.text(index)
    const accepted = new Set<number>()
    for (const { acceptor, text: seen } of this.#acceptedAt(index))
      if (seen === undefined || seen === text) accepted.add(acceptor)
    for (const { id, memory, disk } of this.#watched)
      if (disk === undefined) {
        if (id !== leader && memory.taken >= index) accepted.add(id)
        // One that votes alone stores and decides in the same event.
        else if (textOfAccepted(memory, index) === text) accepted.add(id)
      } else if (disk.holds(index, text, term)) accepted.add(id)
      else accepted.delete(id)
    if (!this.#isMajority((id) => accepted.has(id)))
      throw new ViolationError(`decision: ${leader} counts ${index} as decided, which only ${[...accepted]} accepted`)
  }

  /** A leader counts its term as begun. */
  checkReady(leader: number, term: number): void {
    const promised = new Map(this.#watched.map(({ id, memory, disk }) => [id, disk?.promised ?? memory.promise]))
    if (!this.#isMajority((id) => (promised.get(id) ?? 0) >= term))
      throw new ViolationError(`promise: ${leader} leads in ${term}, which no majority has promised`)
  }

  /** The next look is at all values that words name, too: they are as they were. */
  lookAtNamed(): void {
    this.#looksAtNamed = true
  }

  #changed(watched: Watched, at: number): void {
    const { id, memory, words, seen } = watched
    const { layout } = memory
    const [before, now] = [seen[at]!, words[at]!]
    seen[at] = now
    if (at === PROMISE_AT) {
      if (now < before) throw new ViolationError(`promise: ${id} takes back ${before} for ${now}`)
    } else if (at * 8 >= layout.slots) this.#slotChanged(watched, at - layout.slots / 8, before, now)
    else if (at * 8 >= layout.commits) this.#told(watched, Number(now))
  }

  #slotChanged(watched: Watched, place: number, before: bigint, now: bigint): void {
    const { id, memory, named, seen } = watched
    const { window } = memory.layout
    const [was, is] = [unpackWord(before), unpackWord(now)]
    const index = is.lap * window + place
    const which = `of ${index} at ${id}`
    if (is.promised < was.promised)
      throw new ViolationError(`promise: ${which} goes from ${was.promised} to ${is.promised}`)
    if (is.lap === was.lap) {
      if (was.frame >= 0 && is.frame < 0) throw new ViolationError(`accepted: what was accepted ${which} is forgotten`)
      // The same place means that the term was promised, and nothing else.
      if (is.frame === was.frame && is.bank === was.bank) {
        this.#checkNamed(watched, place)
        return
      }
    } else if (is.lap < was.lap) throw new ViolationError(`accepted: the slot ${which} goes back from lap ${was.lap}`)
    else {
      if (index - window > memory.taken)
        throw new ViolationError(`ring: ${which} replaces ${index - window}, and ${memory.taken} are taken`)
      named.delete(place)
      if (is.frame < 0) return
    }
    // What has come lands before the right is given to another, maybe in the same event.
    const granted = [memory.granted, Number(seen[GRANTED_AT])]
    if (memory.isByRights && !granted.includes(is.promised))
      throw new ViolationError(`rights: ${which} is written in ${is.promised}, and ${granted[0]} was granted`)
    const accepted: Accepted = { acceptor: id, index, term: is.promised, text: undefined }
    named.set(place, accepted)
    this.#acceptedAt(index).push(accepted)
    if (!this.#see(watched, accepted)) this.#unseen.add({ watched, place, accepted })
  }

  #lookAgain(): void {
    for (const each of this.#unseen) {
      const { watched, place, accepted } = each
      if (watched.named.get(place) !== accepted || this.#see(watched, accepted)) this.#unseen.delete(each)
    }
  }

  /** False while not all of the value is visible. */
  #see({ id, memory }: Watched, accepted: Accepted): boolean {
    const { index, term } = accepted
    const entry = memory.accepted(index)
    if (entry === undefined) return false
    if (entry.acceptedIn !== term)
      throw new ViolationError(`accepted: of ${index} at ${id} in ${term}, and its cell says ${entry.acceptedIn}`)
    const text = textOf(entry)
    const other = this.#acceptedAt(index).find((each) => each.term === term && (each.text ?? text) !== text)
    if (other !== undefined)
      throw new ViolationError(`term: in ${term} both ${text} and ${other.text} are proposed for ${index}`)
    if (!this.#isSafe(accepted, text))
      throw new ViolationError(`safety: in ${term} ${id} accepts ${text} for ${index}: ${this.#describe(index)}`)
    accepted.text = text
    return true
  }

  /** Some majority has accepted nothing in a lower term, or nothing newer than this same value. */
  #isSafe({ index, term }: Accepted, text: string): boolean {
    const newest = new Map<number, number>()
    let adopted = 0
    for (const each of this.#acceptedAt(index)) {
      if (each.term >= term) continue
      newest.set(each.acceptor, Math.max(newest.get(each.acceptor) ?? 0, each.term))
      if ((each.text ?? text) === text) adopted = Math.max(adopted, each.term)
    }
    return this.#isMajority((id) => (newest.get(id) ?? 0) <= adopted)
  }

  #checkNamed({ id, memory, named }: Watched, place: number): void {
    const accepted = named.get(place)
    if (accepted?.text === undefined || accepted.index <= memory.taken) return
    const entry = memory.accepted(accepted.index)
    if (entry === undefined || entry.acceptedIn !== accepted.term || textOf(entry) !== accepted.text)
      throw new ViolationError(`accepted: the value of ${accepted.index} at ${id} is overwritten while it is named`)
  }

  #told({ id, memory, named }: Watched, commit: number): void {
    if (commit > this.#log.last)
      throw new ViolationError(`commit: ${id} is told that ${commit} are decided of ${this.#log.last}`)
    for (let index = memory.taken + 1; index <= commit; index += 1) {
      const accepted = named.get(memory.layout.place(index))
      if (accepted?.index !== index || (accepted.text ?? this.#log.text(index)) !== this.#log.text(index))
        throw new ViolationError(`commit: ${id} is told that ${commit} are decided, and does not have ${index}`)
    }
  }

  #acceptedAt(index: number): Accepted[] {
    const accepted = this.#accepted.get(index) ?? []
    this.#accepted.set(index, accepted)
    return accepted
  }

  /** Which configuration a leader goes by is not known from outside: one of them is enough. */
  #isMajority(holds: (id: number) => boolean): boolean {
    return this.#log.configurations.some(
      ({ voters }: Configuration) => voters.filter(({ id }) => holds(id)).length * 2 > voters.length,
    )
  }

  #describe(index: number): string {
    return this.#acceptedAt(index)
      .map(({ acceptor, term, text }) => `${acceptor} accepted ${text ?? '?'} in ${term}`)
      .join(', ')
  }
}

function textOfAccepted(memory: ReplicaMemory, index: number): string | undefined {
  const entry = memory.accepted(index)
  return entry && textOf(entry)
}
