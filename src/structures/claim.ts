/** What a word says of the holder of something. Done: there will be no other. */
export type Holding = 'no one' | 'someone' | 'done'

/**
 * The outcome of a claim. It is `free` if there was no holder, and `abandoned` if the holder is gone. It is `held` if
 * another member has it, and `done` if there will be no other holder.
 */
export type Claim = 'free' | 'abandoned' | 'held' | 'done'

/** How a word of memory names the holder of something. */
export interface HolderWords<Word> {
  says(word: Word): Holding
  /** Whether the one that the word names is there; `ask`: take the time to find out. */
  isThere(word: Word, ask: boolean): boolean
  /** The word with this member as the next holder. */
  next(word: Word): Word
}

/** The outcome of a claim, and the word to replace the one that was looked at; undefined if that has to stay. */
export interface ClaimOutcome<Word> {
  readonly claim: Claim
  readonly word: Word | undefined
}

/**
 * Which member has something next: a mutex, a permit of a semaphore, the work of a `once`, the lead of an election.
 *
 * | the word names | who claims it | |
 * |---|---|---|
 * | no one | replaces the word | free |
 * | someone who is gone | replaces the word | abandoned |
 * | someone who is there | waits | held |
 * | that it is done | goes on | done |
 *
 * The word is replaced by compare-and-swap. So of several who claim it one succeeds, and for the others it is held. One
 * that is killed before the compare-and-swap has nothing. One that is killed after it is gone, and the next takes over.
 */
export function claimOn<Word>(words: HolderWords<Word>, seen: Word, ask: boolean): ClaimOutcome<Word> {
  const says = words.says(seen)
  if (says === 'done') return { claim: 'done', word: undefined }
  if (says === 'no one') return { claim: 'free', word: words.next(seen) }
  if (words.isThere(seen, ask)) return { claim: 'held', word: undefined }
  return { claim: 'abandoned', word: words.next(seen) }
}

/** Whether the one that claimed it has it now. */
export function isTaken(claim: Claim): boolean {
  return claim === 'free' || claim === 'abandoned'
}
