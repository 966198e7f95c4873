/**
 * Token coherence: rights are decided by counting tokens, not by the order of requests.
 *
 * A page has as many tokens as there are ranks; one of them is the owner token. Every token is always somewhere: at a
 * node or in a message. Four rules keep copies coherent, whatever messages do to each other:
 *
 * 1. A writer holds every token.
 * 2. A reader holds at least one, and the bytes.
 * 3. The owner token travels with the bytes, and its holder answers for them.
 * 4. Tokens are never dropped: an eviction sends them home.
 *
 * The rest of the table only ensures that tokens get where they are wanted.
 *
 * *Requests.*
 * 1. Home has hints of which nodes hold tokens. It asks those on the requester's behalf (one for a reader, all for a
 *    writer) and says how many it has asked (`Asked`). Each answers once, with tokens or with none.
 * 2. A node that itself waits, and that home has served before, keeps the question until it has used the page. A node
 *    that home has not served yet gives what it has. So usually the order of home holds, as in a directory.
 *
 * *Starvation.*
 * 1. Hints may be wrong and tokens under way elsewhere. If every answer is in and they do not suffice, the node asks
 *    persistently.
 * 2. All nodes note it in a table, and give what they have and what they get to the starving node of the lowest rank: a
 *    writer gets every token, a reader the owner token.
 * 3. When it is served it ends the request and marks those that wait in its table. It starves again only when they have
 *    been served.
 * 4. No clock is needed: every question is answered, so a node knows when its request fell short.
 *
 * *Frames.*
 * 1. A node's frame is written only by a node that answers its question, or that feeds it while it starves.
 * 2. A node evicts only when every question has been answered and every node has acknowledged the end of its persistent
 *    request (`Deactivated`, behind all bytes on the same queue pair). So nothing comes late.
 * 3. What is pushed is never old: its tokens are on the way with it, so no node can write meanwhile.
 *
 * Home's own copy is where a page's memory is: it starts with every token and never evicts.
 *
 * Rights follow the tokens; states say what a node waits for: _A home has asked, answers are missing; _P asks
 * persistently.
 */
import type { Protocol } from '../protocol.ts'
import { type CacheTransition, cacheTable, directoryTable, idle, on, resting, stay, waiting } from './table.ts'

const states = {
  I: resting(
    'none',
    'none',
    'Nothing is mapped here. There may be tokens, and bytes if a request was refused while they came; any node that asks gets them.',
  ),
  S: resting('read', 'clean', 'Reads: a token and the bytes.'),
  O: resting('read', 'dirty', 'Reads and answers for the bytes: the owner token, but not every token.'),
  M: resting('write', 'dirty', 'Writes: every token.'),
  IS: waiting(
    'none',
    'none',
    'Wants to read; has asked home, or will when the end of its persistent request is acknowledged by all.',
  ),
  IM: waiting(
    'none',
    'none',
    'Wants to write; has asked home, or will when the end of its persistent request is acknowledged by all.',
  ),
  SM: waiting(
    'read',
    'clean',
    'Reads, wants to write; has asked home, or will when the end of its persistent request is acknowledged.',
  ),
  OM: waiting('read', 'dirty', 'Reads and answers for the bytes, wants to write; has asked home, or will.'),
  IS_A: waiting('none', 'none', 'Wants to read; home has asked on its behalf, the answer is missing.'),
  IM_A: waiting('none', 'none', 'Wants to write; home has asked on its behalf, answers are missing.'),
  SM_A: waiting('read', 'dirty', 'Reads, wants to write; home has asked on its behalf, answers are missing.'),
  IS_P: waiting('none', 'none', 'Starves for reading: asks every node persistently, or waits for its turn to.'),
  IM_P: waiting('none', 'none', 'Starves for writing: asks every node persistently, or waits for its turn to.'),
  SM_P: waiting('read', 'dirty', 'Reads, starves for writing: asks every node persistently, or waits for its turn to.'),
  OI_A: waiting(
    'none',
    'dirty',
    'Evicts a copy with the owner token; waits for home to say where the bytes go, and answers until then.',
  ),
  EI_A: waiting('none', 'none', 'Has sent its tokens home; waits for home to acknowledge.'),
}

type CacheState = keyof typeof states

const threads: readonly CacheTransition<CacheState>[] = [
  on('I', 'Load', 'IS', 'requestShared'),
  on('I', 'Store', 'IM', 'requestModified'),
  on('S', 'Store', 'SM', 'requestModified'),
  on('O', 'Store', 'OM', 'requestModified'),
  on('M', ['Load', 'Store'], stay, 'mapWritable'),
  on(['S', 'O', 'SM', 'OM', 'SM_A', 'SM_P'], 'Load', stay, 'mapReadOnly'),
  // It is asked for. A thread that wants to write what will be readable faults once more.
  on(['IS', 'IM', 'IS_A', 'IM_A', 'IS_P', 'IM_P'], ['Load', 'Store'], stay),
  on(['SM', 'OM', 'SM_A', 'SM_P'], 'Store', stay),
  on(['OI_A', 'EI_A'], ['Load', 'Store'], stay, 'demandLater'),
]

const evictions: readonly CacheTransition<CacheState>[] = [
  on('I', 'EvictNothing', stay, 'evicted'),
  on('I', 'Evict', 'EI_A', 'returnTokens'),
  on('S', 'Evict', 'EI_A', 'unmap', 'returnTokens'),
  on('I', 'EvictOwner', 'OI_A', 'offerTokens'),
  on(['O', 'M'], 'EvictOwner', 'OI_A', 'unmap', 'offerTokens'),
  on('OI_A', 'WriteBack', 'EI_A', 'returnTokens'),
  on('EI_A', 'PutAcknowledged', 'I', 'evicted'),
]

const requests: readonly CacheTransition<CacheState>[] = [
  on('IS', 'Asked', 'IS_A'),
  on('IM', 'Asked', 'IM_A'),
  on(['SM', 'OM'], 'Asked', 'SM_A'),
  on(['IS', 'IM'], ['Refused', 'NoMemory'], 'I', 'fail'),
  on('SM', ['Refused', 'NoMemory'], 'S', 'fail'),
  on('OM', ['Refused', 'NoMemory'], 'O', 'fail'),
  // The end of an earlier persistent request is being acknowledged. Only another request waits for that.
  on(['I', 'S', 'O', 'M'], ['AckMore', 'AckLast'], stay),
  on(['IS', 'IM', 'SM', 'OM'], 'AckMore', stay),
  on('IS', 'AckLast', stay, 'requestShared'),
  on(['IM', 'SM', 'OM'], 'AckLast', stay, 'requestModified'),

  // Every answer is in: it has what it wants, or asks persistently.
  on(['IS', 'IM', 'SM', 'OM', 'IM_A', 'SM_A'], 'AnswerMore', stay),
  on(['IS', 'IM', 'SM', 'OM', 'IS_A', 'IM_A', 'SM_A'], 'AnsweredAll', 'M', 'mapWritable'),
  on(['IS', 'IS_A'], 'AnsweredOwner', 'O', 'mapReadOnly'),
  on(['IS', 'IS_A'], 'AnsweredShared', 'S', 'mapReadOnly'),
  on(['IS', 'IS_A'], 'AnsweredShort', 'IS_P', 'activateShared'),
  on(['IM', 'IM_A'], ['AnsweredOwner', 'AnsweredShared', 'AnsweredShort'], 'IM_P', 'activateModified'),
  // It reads meanwhile: tokens that come do not take that away.
  on(['SM', 'SM_A'], ['AnsweredOwner', 'AnsweredShared'], 'SM_P', 'activateModified'),
  on('OM', 'AnsweredOwner', 'SM_P', 'activateModified'), // it has the owner token itself

  on('IS_P', 'TurnCame', stay, 'activateShared'),
  on(['IM_P', 'SM_P'], 'TurnCame', stay, 'activateModified'),
]

/** Tokens that were no answer. */
const tokens: readonly CacheTransition<CacheState>[] = [
  on('I', 'TokensBare', stay),
  on(['I', 'S'], 'TokensShared', 'S'),
  on(['I', 'S', 'O'], 'TokensOwner', 'O'),
  on(['I', 'S', 'O'], 'TokensAll', 'M'),
  // While others are waited for, they are only counted.
  on(['IS', 'IM', 'IS_A', 'IM_A'], ['TokensBare', 'TokensShared', 'TokensOwner', 'TokensAll'], stay),
  on('SM', 'TokensShared', stay),
  on(['SM', 'OM'], ['TokensOwner', 'TokensAll'], 'OM'),
  on('SM_A', ['TokensShared', 'TokensOwner', 'TokensAll'], stay),
  // One that starves waits for them.
  on(['IS_P', 'IM_P'], 'TokensBare', stay),
  on('IS_P', 'TokensOwner', 'O', 'mapReadOnly', 'deactivate'),
  on(['IM_P', 'SM_P'], ['TokensShared', 'TokensOwner'], stay),
  on(['IS_P', 'IM_P', 'SM_P'], 'TokensAll', 'M', 'mapWritable', 'deactivate'),
]

/** Home asks for another node. */
const questions: readonly CacheTransition<CacheState>[] = [
  // Protect first, read the bytes after: the other order loses a store.
  on('M', 'ForwardShared', 'O', 'protect', 'answerShared'),
  // Nothing is mapped, or a reader has a token to spare.
  on(['I', 'IS', 'IM', 'OI_A', 'S', 'O', 'SM', 'OM'], 'ForwardShared', stay, 'answerShared'),
  on(['I', 'IS', 'IM', 'OI_A'], ['ForwardSharedLast', 'ForwardModified'], stay, 'answerAll'),
  on(['S', 'O', 'M'], 'ForwardModified', 'I', 'unmap', 'answerAll'),
  on('O', 'ForwardSharedLast', 'I', 'unmap', 'answerAll'), // readers hold all others: the page moves on
  on(['SM', 'OM'], ['ForwardSharedLast', 'ForwardModified'], 'IM', 'unmap', 'answerAll'), // another one was first
  on(['I', 'IS', 'IM', 'OI_A', 'S', 'SM', 'EI_A'], 'ForwardMiss', stay, 'answerNothing'),
  // Home has served us before this one: it waits until we have used the page.
  on(
    ['IS_A', 'IM_A', 'SM_A', 'IM_P', 'SM_P'],
    ['ForwardShared', 'ForwardSharedLast', 'ForwardModified', 'ForwardMiss'],
    stay,
    'defer',
  ),
  // Neither the owner token nor bytes are here, or it would not starve.
  on('IS_P', ['ForwardModified', 'ForwardMiss'], stay, 'defer'),
]

/** One that starves comes first. */
const starving: readonly CacheTransition<CacheState>[] = [
  on(['I', 'IS', 'IM', 'IS_A', 'IM_A', 'IM_P', 'OI_A'], 'StarvingShared', stay, 'yieldOwner'),
  on(['I', 'IS', 'IM', 'IS_A', 'IM_A', 'IM_P', 'OI_A'], ['StarvingSharedLast', 'StarvingModified'], stay, 'yieldAll'),
  on('IS_P', 'StarvingModified', stay, 'yieldAll'),
  on(['S', 'O', 'M'], 'StarvingModified', 'I', 'unmap', 'yieldAll'),
  on('O', 'StarvingShared', 'S', 'yieldOwner'),
  on('O', 'StarvingSharedLast', 'I', 'unmap', 'yieldAll'),
  on('M', 'StarvingShared', 'S', 'protect', 'yieldOwner'),
  on(['SM', 'SM_A', 'SM_P'], 'StarvingShared', stay, 'yieldOwner'), // SM: an answer that overtook `Asked` brought it
  on('OM', 'StarvingShared', 'SM', 'yieldOwner'),
  on(['SM', 'OM'], ['StarvingSharedLast', 'StarvingModified'], 'IM', 'unmap', 'yieldAll'),
  on('SM_A', ['StarvingSharedLast', 'StarvingModified'], 'IM_A', 'unmap', 'yieldAll'),
  on('SM_P', ['StarvingSharedLast', 'StarvingModified'], 'IM_P', 'unmap', 'yieldAll'),
]

const home = {
  // What its memory is worth, home's own copy knows.
  H: idle(
    'stale',
    "Home's hints: the owner should have the owner token (none: home itself), the sharers may have others. Rights do not depend on them.",
  ),
}

export const token: Protocol = {
  name: 'token',
  describe:
    "Token coherence: rights are counted in tokens; requests follow home's hints, and a node that falls short asks every node persistently.",
  source:
    "Martin, Hill, Wood: Token Coherence: Decoupling Performance and Correctness (ISCA 2003). Data-carrying rule and persistent requests with tables at each node as in gem5's MOESI_CMP_token-*.sm. That every question is answered, and the end of a persistent request acknowledged, is new here: frames are written one-sidedly.",
  cache: {
    initial: 'I',
    states: cacheTable(states, [...threads, ...evictions, ...requests, ...tokens, ...questions, ...starving]),
  },
  directory: {
    initial: 'H',
    states: directoryTable(home, [
      on('H', 'GetShared', stay, 'askHolder', 'addSharer'),
      on('H', 'GetModified', stay, 'askHolders', 'expectAlone'),
      on('H', 'ActivateShared', stay, 'expectOwner'),
      on('H', 'ActivateModified', stay, 'expectAlone'),
      on('H', 'PutOffer', stay, 'askForWriteBack'),
      on('H', 'PutTokens', stay, 'removeSharer', 'takeTokens', 'acknowledgePut'),
      on('H', 'PutOwner', stay, 'removeSharer', 'clearOwner', 'takeTokens', 'acknowledgePut'),
    ]),
  },
  recovery: { cache: { none: 'I', shared: 'S', owner: 'M' }, directory: { none: 'H', shared: 'H', owner: 'H' } },
  tokens: { home: 'M', homeShared: 'O' },
} satisfies Protocol<CacheState, 'H'>
