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
import type { CacheRow, DirectoryRow, Protocol } from '../protocol.ts'
import { to } from './cell.ts'

type CacheState =
  | 'I'
  | 'S'
  | 'O'
  | 'M'
  | 'IS'
  | 'IM'
  | 'SM'
  | 'OM'
  | 'IS_A'
  | 'IM_A'
  | 'SM_A'
  | 'IS_P'
  | 'IM_P'
  | 'SM_P'
  | 'OI_A'
  | 'EI_A'

type Row = CacheRow<CacheState>
type HomeRow = DirectoryRow<'H'>

/** The end of an earlier persistent request is being acknowledged; nothing waits for that. */
const closing = (state: CacheState): Row['on'] => ({ AckMore: to(state), AckLast: to(state) })

/** Nothing is mapped: tokens go to the node that asks first. */
const giveWay = (state: CacheState): Row['on'] => ({
  StarvingShared: to(state, 'yieldOwner'),
  StarvingSharedLast: to(state, 'yieldAll'),
  StarvingModified: to(state, 'yieldAll'),
})

/** Home serves others before us. */
const answerQuestions = (state: CacheState): Row['on'] => ({
  ForwardShared: to(state, 'answerShared'),
  ForwardSharedLast: to(state, 'answerAll'),
  ForwardModified: to(state, 'answerAll'),
  ForwardMiss: to(state, 'answerNothing'),
})

const I: Row = {
  describe:
    'Nothing is mapped here. There may be tokens, and bytes if a request was refused while they came; any node that asks gets them.',
  transient: false,
  right: 'none',
  worth: 'none',
  on: {
    Load: to('IS', 'requestShared'),
    Store: to('IM', 'requestModified'),
    Evict: to('EI_A', 'returnTokens'),
    EvictOwner: to('OI_A', 'offerTokens'),
    EvictNothing: to('I', 'evicted'),
    TokensBare: to('I'),
    TokensShared: to('S'),
    TokensOwner: to('O'),
    TokensAll: to('M'),
    ...answerQuestions('I'),
    ...giveWay('I'),
    ...closing('I'),
  },
}

const S: Row = {
  describe: 'Reads: a token and the bytes.',
  transient: false,
  right: 'read',
  worth: 'clean',
  on: {
    Load: to('S', 'mapReadOnly'),
    Store: to('SM', 'requestModified'),
    Evict: to('EI_A', 'unmap', 'returnTokens'),
    TokensShared: to('S'),
    TokensOwner: to('O'),
    TokensAll: to('M'),
    ForwardShared: to('S', 'answerShared'), // a node that has the bytes and a token to spare can serve a reader
    ForwardModified: to('I', 'unmap', 'answerAll'),
    ForwardMiss: to('S', 'answerNothing'),
    StarvingModified: to('I', 'unmap', 'yieldAll'),
    ...closing('S'),
  },
}

const O: Row = {
  describe: 'Reads and answers for the bytes: the owner token, but not every token.',
  transient: false,
  right: 'read',
  worth: 'dirty',
  on: {
    Load: to('O', 'mapReadOnly'),
    Store: to('OM', 'requestModified'),
    EvictOwner: to('OI_A', 'unmap', 'offerTokens'),
    TokensOwner: to('O'),
    TokensAll: to('M'),
    ForwardShared: to('O', 'answerShared'),
    ForwardSharedLast: to('I', 'unmap', 'answerAll'), // readers hold all others: the page moves on
    ForwardModified: to('I', 'unmap', 'answerAll'),
    StarvingShared: to('S', 'yieldOwner'),
    StarvingSharedLast: to('I', 'unmap', 'yieldAll'),
    StarvingModified: to('I', 'unmap', 'yieldAll'),
    ...closing('O'),
  },
}

const M: Row = {
  describe: 'Writes: every token.',
  transient: false,
  right: 'write',
  worth: 'dirty',
  on: {
    Load: to('M', 'mapWritable'),
    Store: to('M', 'mapWritable'),
    EvictOwner: to('OI_A', 'unmap', 'offerTokens'),
    // Protect first, read the bytes after: the other order loses a store.
    ForwardShared: to('O', 'protect', 'answerShared'),
    ForwardModified: to('I', 'unmap', 'answerAll'),
    StarvingShared: to('S', 'protect', 'yieldOwner'),
    StarvingModified: to('I', 'unmap', 'yieldAll'),
    ...closing('M'),
  },
}

/** Every answer is in: enough to read, or ask persistently. */
const answeredReader: Row['on'] = {
  AnsweredAll: to('M', 'mapWritable'),
  AnsweredOwner: to('O', 'mapReadOnly'),
  AnsweredShared: to('S', 'mapReadOnly'),
  AnsweredShort: to('IS_P', 'activateShared'),
}

/** The same for a writer that does not read. */
const answeredWriter: Row['on'] = {
  AnsweredAll: to('M', 'mapWritable'),
  AnsweredOwner: to('IM_P', 'activateModified'),
  AnsweredShared: to('IM_P', 'activateModified'),
  AnsweredShort: to('IM_P', 'activateModified'),
}

/** The same for a writer that reads meanwhile: tokens that come do not take that away. */
const answeredUpgrader: Row['on'] = {
  AnsweredAll: to('M', 'mapWritable'),
  AnsweredOwner: to('SM_P', 'activateModified'),
  AnsweredShared: to('SM_P', 'activateModified'),
}

/** Tokens that come while others are waited for are only counted. */
const counted = (state: CacheState): Row['on'] => ({
  TokensBare: to(state),
  TokensShared: to(state),
  TokensOwner: to(state),
  TokensAll: to(state),
})

/** Home has served us before this one: it waits until we have used the page. */
const keepQuestions = (state: CacheState): Row['on'] => ({
  ForwardShared: to(state, 'defer'),
  ForwardSharedLast: to(state, 'defer'),
  ForwardModified: to(state, 'defer'),
  ForwardMiss: to(state, 'defer'),
})

const refused = (state: CacheState): Row['on'] => ({ Refused: to(state, 'fail'), NoMemory: to(state, 'fail') })

const IS: Row = {
  describe: 'Wants to read; has asked home, or will when the end of its persistent request is acknowledged by all.',
  transient: true,
  right: 'none',
  worth: 'none',
  on: {
    Load: to('IS'),
    Store: to('IS'), // the thread faults once more when the page is readable
    Asked: to('IS_A'),
    AnswerMore: to('IS'),
    ...answeredReader,
    AckMore: to('IS'),
    AckLast: to('IS', 'requestShared'),
    ...counted('IS'),
    ...answerQuestions('IS'),
    ...giveWay('IS'),
    ...refused('I'),
  },
}

const IM: Row = {
  describe: 'Wants to write; has asked home, or will when the end of its persistent request is acknowledged by all.',
  transient: true,
  right: 'none',
  worth: 'none',
  on: {
    Load: to('IM'),
    Store: to('IM'),
    Asked: to('IM_A'),
    AnswerMore: to('IM'),
    ...answeredWriter,
    AckMore: to('IM'),
    AckLast: to('IM', 'requestModified'),
    ...counted('IM'),
    ...answerQuestions('IM'),
    ...giveWay('IM'),
    ...refused('I'),
  },
}

const SM: Row = {
  describe: 'Reads, wants to write; has asked home, or will when the end of its persistent request is acknowledged.',
  transient: true,
  right: 'read',
  worth: 'clean',
  on: {
    Load: to('SM', 'mapReadOnly'),
    Store: to('SM'),
    Asked: to('SM_A'),
    AnswerMore: to('SM'),
    ...answeredUpgrader,
    AckMore: to('SM'),
    AckLast: to('SM', 'requestModified'),
    TokensShared: to('SM'),
    TokensOwner: to('OM'),
    TokensAll: to('OM'),
    ForwardShared: to('SM', 'answerShared'),
    ForwardSharedLast: to('IM', 'unmap', 'answerAll'),
    ForwardModified: to('IM', 'unmap', 'answerAll'), // another writer was first
    ForwardMiss: to('SM', 'answerNothing'),
    StarvingShared: to('SM', 'yieldOwner'), // an answer that overtook `Asked` brought the owner token
    StarvingSharedLast: to('IM', 'unmap', 'yieldAll'),
    StarvingModified: to('IM', 'unmap', 'yieldAll'),
    ...refused('S'),
  },
}

const OM: Row = {
  describe: 'Reads and answers for the bytes, wants to write; has asked home, or will.',
  transient: true,
  right: 'read',
  worth: 'dirty',
  on: {
    Load: to('OM', 'mapReadOnly'),
    Store: to('OM'),
    Asked: to('SM_A'),
    AnswerMore: to('OM'),
    AnsweredAll: to('M', 'mapWritable'),
    AnsweredOwner: to('SM_P', 'activateModified'), // it has the owner token itself
    AckMore: to('OM'),
    AckLast: to('OM', 'requestModified'),
    TokensOwner: to('OM'),
    TokensAll: to('OM'),
    ForwardShared: to('OM', 'answerShared'),
    ForwardSharedLast: to('IM', 'unmap', 'answerAll'),
    ForwardModified: to('IM', 'unmap', 'answerAll'),
    StarvingShared: to('SM', 'yieldOwner'),
    StarvingSharedLast: to('IM', 'unmap', 'yieldAll'),
    StarvingModified: to('IM', 'unmap', 'yieldAll'),
    ...refused('O'),
  },
}

const IS_A: Row = {
  describe: 'Wants to read; home has asked on its behalf, the answer is missing.',
  transient: true,
  right: 'none',
  worth: 'none',
  on: {
    Load: to('IS_A'),
    Store: to('IS_A'),
    ...answeredReader,
    ...counted('IS_A'),
    ...keepQuestions('IS_A'),
    ...giveWay('IS_A'),
  },
}

const IM_A: Row = {
  describe: 'Wants to write; home has asked on its behalf, answers are missing.',
  transient: true,
  right: 'none',
  worth: 'none',
  on: {
    Load: to('IM_A'),
    Store: to('IM_A'),
    AnswerMore: to('IM_A'),
    ...answeredWriter,
    ...counted('IM_A'),
    ...keepQuestions('IM_A'),
    ...giveWay('IM_A'),
  },
}

const SM_A: Row = {
  describe: 'Reads, wants to write; home has asked on its behalf, answers are missing.',
  transient: true,
  right: 'read',
  worth: 'dirty',
  on: {
    Load: to('SM_A', 'mapReadOnly'),
    Store: to('SM_A'),
    AnswerMore: to('SM_A'),
    ...answeredUpgrader,
    TokensShared: to('SM_A'), // it has bytes
    TokensOwner: to('SM_A'),
    TokensAll: to('SM_A'),
    ...keepQuestions('SM_A'),
    StarvingShared: to('SM_A', 'yieldOwner'),
    StarvingSharedLast: to('IM_A', 'unmap', 'yieldAll'),
    StarvingModified: to('IM_A', 'unmap', 'yieldAll'),
  },
}

const IS_P: Row = {
  describe: 'Starves for reading: asks every node persistently, or waits for its turn to.',
  transient: true,
  right: 'none',
  worth: 'none',
  on: {
    Load: to('IS_P'),
    Store: to('IS_P'),
    TokensBare: to('IS_P'),
    TokensOwner: to('O', 'mapReadOnly', 'deactivate'),
    TokensAll: to('M', 'mapWritable', 'deactivate'),
    TurnCame: to('IS_P', 'activateShared'),
    // Neither the owner token nor bytes are here, or it would not starve.
    ForwardModified: to('IS_P', 'defer'),
    ForwardMiss: to('IS_P', 'defer'),
    StarvingModified: to('IS_P', 'yieldAll'),
  },
}

const IM_P: Row = {
  describe: 'Starves for writing: asks every node persistently, or waits for its turn to.',
  transient: true,
  right: 'none',
  worth: 'none',
  on: {
    Load: to('IM_P'),
    Store: to('IM_P'),
    TokensBare: to('IM_P'),
    TokensShared: to('IM_P'),
    TokensOwner: to('IM_P'),
    TokensAll: to('M', 'mapWritable', 'deactivate'),
    TurnCame: to('IM_P', 'activateModified'),
    ...keepQuestions('IM_P'),
    ...giveWay('IM_P'),
  },
}

const SM_P: Row = {
  describe: 'Reads, starves for writing: asks every node persistently, or waits for its turn to.',
  transient: true,
  right: 'read',
  worth: 'dirty',
  on: {
    Load: to('SM_P', 'mapReadOnly'),
    Store: to('SM_P'),
    TokensShared: to('SM_P'),
    TokensOwner: to('SM_P'),
    TokensAll: to('M', 'mapWritable', 'deactivate'),
    TurnCame: to('SM_P', 'activateModified'),
    ...keepQuestions('SM_P'),
    StarvingShared: to('SM_P', 'yieldOwner'),
    StarvingSharedLast: to('IM_P', 'unmap', 'yieldAll'),
    StarvingModified: to('IM_P', 'unmap', 'yieldAll'),
  },
}

/** A thread wants the page while it is being evicted: it is asked for when that is over. */
const later = (state: CacheState): Row['on'] => ({
  Load: to(state, 'demandLater'),
  Store: to(state, 'demandLater'),
})

const OI_A: Row = {
  describe: 'Evicts a copy with the owner token; waits for home to say where the bytes go, and answers until then.',
  transient: true,
  right: 'none',
  worth: 'dirty',
  on: { ...later('OI_A'), ...answerQuestions('OI_A'), ...giveWay('OI_A'), WriteBack: to('EI_A', 'returnTokens') },
}

const EI_A: Row = {
  describe: 'Has sent its tokens home; waits for home to acknowledge.',
  transient: true,
  right: 'none',
  worth: 'none',
  on: { ...later('EI_A'), ForwardMiss: to('EI_A', 'answerNothing'), PutAcknowledged: to('I', 'evicted') },
}

const H: HomeRow = {
  describe:
    "Home's hints: the owner should have the owner token (none: home itself), the sharers may have others. Rights do not depend on them.",
  transient: false,
  memory: 'stale', // home's own copy knows
  on: {
    GetShared: to('H', 'askHolder', 'addSharer'),
    GetModified: to('H', 'askHolders', 'expectAlone'),
    ActivateShared: to('H', 'expectOwner'),
    ActivateModified: to('H', 'expectAlone'),
    PutOffer: to('H', 'askForWriteBack'),
    PutTokens: to('H', 'removeSharer', 'takeTokens', 'acknowledgePut'),
    PutOwner: to('H', 'removeSharer', 'clearOwner', 'takeTokens', 'acknowledgePut'),
  },
}

export const token: Protocol<CacheState, 'H'> = {
  name: 'token',
  describe:
    "Token coherence: rights are counted in tokens; requests follow home's hints, and a node that falls short asks every node persistently.",
  source:
    "Martin, Hill, Wood: Token Coherence: Decoupling Performance and Correctness (ISCA 2003). Data-carrying rule and persistent requests with tables at each node as in gem5's MOESI_CMP_token-*.sm. That every question is answered, and the end of a persistent request acknowledged, is new here: frames are written one-sidedly.",
  cache: {
    initial: 'I',
    states: { I, S, O, M, IS, IM, SM, OM, IS_A, IM_A, SM_A, IS_P, IM_P, SM_P, OI_A, EI_A },
  },
  directory: { initial: 'H', states: { H } },
  recovery: { cache: { none: 'I', shared: 'S', owner: 'M' }, directory: { none: 'H', shared: 'H', owner: 'H' } },
  tokens: { home: 'M', homeShared: 'O' },
}
