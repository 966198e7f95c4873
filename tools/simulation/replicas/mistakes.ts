import type { ReplicaPlan } from './replica-plan.ts'
import type { ShapeName } from './shapes.ts'

/**
 * Mistakes that could have been made in a replicated log, each as a change of what the compiler wrote. A run with one
 * of them has to violate something: if it does not, the simulation is too tame.
 */
export interface Mistake {
  readonly name: string
  /** What goes wrong with it. */
  readonly breaks: string
  /** Occurs exactly once in the module. */
  readonly find: string
  readonly replace: string
  /** What has to be changed besides, where two checks are for the same. */
  readonly and?: readonly { readonly find: string; readonly replace: string }[]
  /** The end of the module's path; default: the room itself. */
  readonly module?: string
  /** Runs of this shape show it soonest; default: of any. */
  readonly shape?: ShapeName
  /** It is one of acceptors that are written so; default: as the seed draws. */
  readonly writing?: ReplicaPlan['writing']
  /** It is one of replicas with journals. */
  readonly hasDisks?: boolean
}

export const ROOM = '/src/consensus/room.js'
const PROGRAM = '/simulation/replicas/simulated-replica.js'

/** Change nothing that matters, so nothing may come of them: else what is found is not due to mistakes. */
export const canaries: readonly Mistake[] = [
  {
    name: 'majority counted from one',
    breaks: 'nothing',
    find: 'return Math.floor(voters.length / 2) + 1;',
    replace: 'return 1 + Math.floor(voters.length / 2);',
  },
  {
    name: 'banks from the other on',
    breaks: 'nothing: the first value of a lap lies in the other bank',
    find: '(state.bank + 1) % 2 : 0;',
    replace: '(state.bank + 1) % 2 : 1;',
  },
  {
    name: 'frame given away',
    breaks: 'nothing: the next owner of the frame writes the bank that a word does not name',
    find: '!== replica + 1 || this.#isNamed(frame)) continue;',
    replace: '!== replica + 1) continue;',
  },
]

/** Each is found out within 500 seeds. */
export const mistakes: readonly Mistake[] = [
  // ---- rights
  {
    name: 'right not taken away',
    breaks: 'a leader that was deposed goes on writing beside the next one',
    find: 'if (this.#writer !== link) this.#writer?.allow(VISITOR);',
    replace: '',
    writing: 'rights',
  },
  {
    name: 'slots read before the right',
    breaks: 'a leader does not see what the one before it has stored until then',
    find: '\t\tthis.#readHead(() => {\n\t\t\tif (this.#seeAccepted()) this.#promised();\n\t\t});\n',
    replace: '\t\tif (this.#seeAccepted()) this.#promised();\n',
    writing: 'rights',
  },
  {
    name: 'writes unasked',
    breaks: 'a leader stores entries in slots that another one may write',
    find: 'if (this.#isByRights) this.#ask();\n\t\t\t\telse this.#promised();',
    replace: 'this.#promised();',
    writing: 'rights',
  },
  {
    name: 'leads on without the right',
    breaks: 'a leader whose own memory another one writes stores into it, too',
    find: 'if (id !== this.id) this.#stepDown("another writes here");',
    replace: '',
    writing: 'rights',
  },
  {
    name: 'first slot not looked at',
    breaks: 'a leader overwrites what may have been decided',
    find: 'for (let index = history.last + 1; index <= this.taken + layout.window; index += 1) {\n\t\t\tconst state = unpackWord(this.#words[layout.place(index)]);\n\t\t\tif (this.#isOurs(state, index) && this.#sees',
    replace:
      'for (let index = history.last + 2; index <= this.taken + layout.window; index += 1) {\n\t\t\tconst state = unpackWord(this.#words[layout.place(index)]);\n\t\t\tif (this.#isOurs(state, index) && this.#sees',
    writing: 'rights',
  },
  {
    name: 'decides alone among others',
    breaks: 'an entry counts as decided that no majority has',
    find: '|| this.acceptors.size !== 1) return void 0;',
    replace: ') return void 0;',
    and: [
      { find: '|| this.#host.configuration().voters.length > 1) return void 0;', replace: ') return void 0;' },
      { find: '!== applied || !this.#connections.isEmpty) return void 0;', replace: '!== applied) return void 0;' },
    ],
  },
  {
    name: 'promise not recorded',
    breaks: 'a replica that begins again promises a lower term',
    find: '\t\t\tthis.#journal.promise(promise);\n\t\t\tthis.#records += 1;\n',
    replace: '',
    hasDisks: true,
  },
  {
    name: 'read confirmed by what was begun again',
    breaks: 'a leader reads from the memory that an acceptor had before it began again, and promised another term',
    find: 'this.#durable === void 0 || this.#connections.isCurrent(id, runtime.now())',
    replace: 'true',
    hasDisks: true,
    shape: 'absence',
  },
  {
    name: 'reports at once',
    breaks:
      'others lead with an acceptor that has begun again, while its former memory still confirms reads of another',
    find: 'if (promise > 0) this.#reportsFromNs = runtime.now() + graceNsOf(settings);',
    replace: '',
    hasDisks: true,
    shape: 'absence',
  },
  {
    name: 'learners keep a voter from leading',
    breaks: 'no one leads any more after a leader that had told learners of an entry, and not the voters',
    find: 'const votes = this.#host.configuration().voters.some((voter) => voter.id === id);',
    replace: 'const votes = true;',
    hasDisks: true,
    shape: 'absence',
  },
  {
    name: 'memory counts as disk',
    breaks: 'an entry is decided that no majority has on its disks',
    find: 'return this.#leader.isDurable ? Math.min(this.stored, this.#durable ?? 0) : this.stored;',
    replace: 'return this.stored;',
    hasDisks: true,
  },
  {
    name: 'report of an older term',
    breaks: 'what an acceptor has of a lower term counts for this one',
    find: 'if (term !== this.#leader.term) return;',
    replace: '',
    hasDisks: true,
  },
  {
    name: 'taken before it is on the disk',
    breaks: 'what only lies in memory is overwritten',
    find: 'const taken = this.#durable === void 0 ? last : Math.min(last, this.#durable.index);',
    replace: 'const taken = last;',
    hasDisks: true,
  },
  {
    name: 'mark one too high',
    breaks: 'an entry is reported that was not recorded',
    find: 'index: this.#next - 1\n',
    replace: 'index: this.#next\n',
    hasDisks: true,
  },
  {
    name: 'lower terms count behind a promise',
    breaks: 'what was accepted in a lower term counts for the new one',
    find: '\t\t\tthis.#forgetBehind(history.last);\n\t\t\tthis.#next = Math.max(Math.min(this.#next, history.last + 1), this.#snapshotIndex + 1);\n',
    replace: '',
    hasDisks: true,
  },
  {
    name: 'decided ahead of the journal',
    breaks: 'a journal that ends early says that entries are decided which it does not hold',
    find: 'decided: Math.min(history.last, index)',
    replace: 'decided: history.last',
    hasDisks: true,
  },
  {
    name: 'accepted entries forgotten',
    breaks: 'a replica that begins again does not show what it had accepted',
    find: 'const word = packWord(promise, lapOf(index, layout.window), entry === void 0 ? -1 : frame);',
    replace: 'const word = packWord(promise, lapOf(index, layout.window), -1);',
    hasDisks: true,
  },
  {
    name: 'promise forgotten',
    breaks: 'a replica that begins again promises a lower term',
    find: 'this.#set(HeadWord.Promise, promise);',
    replace: '',
    hasDisks: true,
  },
  // ---- majorities
  {
    name: 'majority of half',
    breaks: 'of an even number of voters, two halves decide apart',
    find: 'return Math.floor(voters.length / 2) + 1;',
    replace: 'return Math.ceil(voters.length / 2);',
  },
  {
    name: 'majority one too small',
    breaks: 'two leaders decide without a common acceptor',
    find: 'return Math.floor(voters.length / 2) + 1;',
    replace: 'return Math.max(1, Math.floor(voters.length / 2));',
  },
  {
    name: 'learners counted',
    breaks: 'a decision counts replicas that do not vote',
    find: 'for (const { id } of voters) {\n\t\t\tconst acceptor = this.acceptors.get(id);',
    replace: 'for (const id of this.acceptors.keys()) {\n\t\t\tconst acceptor = this.acceptors.get(id);',
  },
  {
    name: 'majority of the first voters',
    breaks: 'after a change, the old configuration still decides',
    find: 'configuration: () => this.#configuration,',
    replace: 'configuration: () => this.#marks.at(0)?.configuration ?? this.#configuration,',
  },
  {
    name: 'own words are not compared',
    breaks: 'a leader takes a slot of its own memory that has promised a later term',
    find: 'const before = Atomics.compareExchange(this.#words, offset / 8, expected, next);',
    replace: 'const before = Atomics.exchange(this.#words, offset / 8, next) && expected;',
  },
  {
    name: 'all have to store',
    breaks: 'one that has ended stops the log',
    find: 'return count >= majorityOf(this.#host.configuration());',
    replace: 'return count >= voters.length;',
  },
  // ---- preparing and adopting
  {
    name: 'not prepared',
    breaks: 'an entry is chosen before a majority has promised its slot',
    find: 'if (!this.#count((acceptor) => acceptor.prepared >= index)) return;',
    replace: 'if (!this.#count(() => true)) return;',
  },
  {
    name: 'prepared by one',
    breaks: 'what others had accepted is not seen',
    find: 'if (!this.#count((acceptor) => acceptor.prepared >= index)) return;',
    replace: 'if (![...this.acceptors.values()].some((acceptor) => acceptor.prepared >= index)) return;',
  },
  {
    name: 'prepared when asked',
    breaks: 'a slot counts as promised before the answer',
    find: '\t\tthis.#preparing = index;\n\t\tthis.#words[place] = next;',
    replace: '\t\tthis.#preparing = index;\n\t\tthis.prepared = index;\n\t\tthis.#words[place] = next;',
  },
  {
    name: 'prepared though it failed',
    breaks: 'a promise counts whose compare-and-swap failed',
    find: 'this.#preparing = Math.min(this.#preparing, index - 1);',
    replace: '\t\t\t\tthis.prepared = Math.max(this.prepared, index);',
  },
  {
    name: 'lowest term adopted',
    breaks: 'an older value replaces a decided one',
    find: 'entry.acceptedIn > adoption.best.acceptedIn',
    replace: 'entry.acceptedIn < adoption.best.acceptedIn',
  },
  {
    name: 'nothing adopted',
    breaks: 'what was decided is replaced',
    find: 'if (holders.length > 0) return this.#adopt(index, holders);',
    replace: '',
  },
  {
    name: 'accepted values not noted',
    breaks: 'what an acceptor had is not adopted',
    find: '\t\t\tthis.accepted.set(index, {\n\t\t\t\tframe: state.frame,\n\t\t\t\tbank: state.bank\n\t\t\t});\n',
    replace: '',
  },
  {
    name: 'first seen adopted',
    breaks: 'an older value replaces a decided one',
    find: 'adoption.best === void 0 || entry.acceptedIn > adoption.best.acceptedIn',
    replace: 'adoption.best === void 0',
    shape: 'relay',
  },
  {
    name: 'term of the proposer compared',
    breaks: 'what was adopted and stored again counts as old as it was',
    find: 'entry.acceptedIn > adoption.best.acceptedIn',
    replace: 'entry.term > adoption.best.term',
    shape: 'relay',
  },
  {
    name: 'one read is enough',
    breaks: 'the value of the highest term may be at another acceptor',
    find: 'left: holders.length,',
    replace: 'left: 1,',
    shape: 'relay',
  },
  {
    name: 'accepted values forgotten',
    breaks: 'preparing a slot takes its value away',
    find: 'isOfLap(state, lap) ? packWord(term, lap, state.frame, state.bank) : packWord(term, lap);',
    replace: 'packWord(term, lap);',
    writing: 'swaps',
  },
  {
    name: 'accepted in the term of the proposer',
    breaks: 'a value that was stored again looks old',
    find: 'view.setUint32(20, acceptedIn, true);',
    replace: 'view.setUint32(20, term, true);',
  },
  // ---- promises
  {
    name: 'promise overwritten',
    breaks: 'a leader takes a slot back that a higher term holds',
    find: 'if (state.promised > term) this.#leader.deposed(state.promised);\n\t\telse if',
    replace: 'if',
    and: [
      {
        find: 'if (promised > this.#leader.term) this.#leader.deposed(promised);\n\t\telse this.#leader.progressed();',
        replace: 'this.#leader.progressed();',
      },
    ],
  },
  {
    name: 'term not above',
    breaks: 'a new leader has a term that others have passed',
    find: '(roundOf(seen) + 1) * NUMBERS + number',
    replace: 'Math.max(1, roundOf(seen)) * NUMBERS + number',
  },
  {
    name: 'terms without number',
    breaks: 'two replicas lead in one term',
    find: '(roundOf(seen) + 1) * NUMBERS + number',
    replace: '(roundOf(seen) + 1) * NUMBERS',
  },
  {
    name: 'own term used again',
    breaks: 'a replica leads twice in one term',
    find: 'Math.max(this.#ownTerm, this.#connections.highestPromise)',
    replace: 'this.#connections.highestPromise',
    shape: 'outage',
  },
  {
    name: 'acceptor not held',
    breaks: 'an acceptor counts before it has promised the term',
    find: 'if (before === expected) {\n\t\t\t\tif (this.#isByRights) this.#ask();',
    replace: 'if (true) {\n\t\t\t\tif (this.#isByRights) this.#ask();',
    writing: 'swaps',
  },
  // ---- storing and deciding
  {
    name: 'stored when asked',
    breaks: 'an entry counts as stored before the answer',
    find: '\t\tthis.#next = index + 1;\n\t\tthis.#hasNews = true;\n',
    replace: '\t\tthis.#next = index + 1;\n\t\tthis.stored = index;\n\t\tthis.#hasNews = true;\n',
  },
  {
    name: 'stored though it failed',
    breaks: 'an entry counts as stored whose compare-and-swap failed',
    find: 'if (hasFailed) this.#next = Math.min(this.#next, index);',
    replace: 'if (hasFailed) this.stored = index;',
    writing: 'swaps',
  },
  {
    name: 'frames shared',
    breaks: 'two proposers write the same cells',
    find: 'this.cells + ((frame * 2 + bank)',
    replace: 'this.cells + ((0 * 2 + bank)',
  },
  {
    name: 'swap before the value',
    breaks: 'the word names a cell that is not written yet',
    find: '\t\tthis.link.write(this.#cell.subarray(0, length), layout.cell(this.frame, bank, index));\n',
    replace: '',
    and: [
      {
        find: '\t\t\telse this.#isStored(index);\n\t\t});\n',
        replace:
          '\t\t\telse this.#isStored(index);\n\t\t});\n\t\tthis.link.write(this.#cell.subarray(0, length), layout.cell(this.frame, bank, index));\n',
      },
    ],
  },
  {
    name: 'commit of what is stored',
    breaks: 'an acceptor takes what is not decided',
    find: 'const known = Math.min(index, this.stored);',
    replace: 'const known = this.stored;',
  },
  {
    name: 'commit of what was accepted',
    breaks: 'a replica takes what no one has told it to be decided',
    find: 'while (this.#history.last < decided && this.#options.events.mayTake() && this.#keepsUp) {',
    replace: 'while (this.#connections.memory.accepted(this.#history.last + 1) && this.#options.events.mayTake()) {',
  },
  {
    name: 'lap not looked at',
    breaks: 'an entry of an earlier lap is taken for one of this',
    find: 'if (isOfLap(state, lapOf(index, this.#leader.layout.window)) && state.frame >= 0) {',
    replace: 'if (state.frame >= 0) {',
    and: [
      {
        find: 'isOfLap(state, lap) ? packWord(term, lap, state.frame, state.bank) : packWord(term, lap);',
        replace: 'packWord(term, lap, state.frame, state.bank);',
      },
    ],
  },
  {
    name: 'later lap taken back',
    breaks: 'a leader that lags behind writes over newer entries',
    find: 'else if (!isOfLaterLap(state, lapOf(index, layout.window))) return true;',
    replace: 'else return true;\n\t\tif (false);',
  },
  {
    name: 'ring reused early',
    breaks: 'an entry is overwritten that its acceptor has not taken',
    find: 'const limit = this.taken + this.#words.length;',
    replace: 'const limit = this.stored + this.#words.length;',
  },
  {
    name: 'ring one too long',
    breaks: 'the oldest entry is overwritten before it was taken',
    find: 'const limit = this.taken + this.#words.length;',
    replace: 'const limit = this.taken + this.#words.length + 1;',
  },
  {
    name: 'stored out of order',
    breaks: 'what failed in between counts as stored',
    find: 'if (index === this.stored + 1) this.stored = index;',
    replace: 'this.stored = index;',
    and: [{ find: 'if (hasFailed) this.#next = Math.min(this.#next, index);\n\t\t\telse ', replace: '' }],
    writing: 'swaps',
  },
  {
    name: 'bank not alternated',
    breaks: 'a value is overwritten while the word still names it',
    find: '(state.bank + 1) % 2 : 0;',
    replace: 'state.bank : 0;',
    shape: 'relay',
  },
  {
    name: 'commit beyond what it has',
    breaks: 'an acceptor takes what it does not hold as decided',
    find: 'const known = Math.min(index, this.stored);',
    replace: 'const known = index;',
  },
  {
    name: 'laps twice as long',
    breaks: 'two entries of one place are of the same lap',
    find: 'return Math.floor(index / window);',
    replace: 'return Math.floor(index / (2 * window));',
  },
  // ---- leading and reading
  {
    name: 'reads not confirmed',
    breaks: 'a leader that was replaced answers reads',
    find: 'if (leader.isReady) leader.confirm(() => done(index));',
    replace: 'if (leader.isReady) done(index);',
  },
  {
    name: 'read from what is told now',
    breaks: 'the index of a read is older than the call',
    find: 'const index = this.#history.last;\n\t\tif (leader.isReady)',
    replace: 'const index = this.#history.last - 1;\n\t\tif (leader.isReady)',
  },
  {
    name: 'number given twice',
    breaks: 'two voters have the same terms',
    find: 'while (voters.some(({ number }) => number === nextNumber)) nextNumber = (nextNumber + 1) % numbers;',
    replace: 'nextNumber = 0;',
  },
  {
    name: 'read by the memory of a leader that was deposed',
    breaks: 'a reader believes a leader whose voters have promised another term',
    find: 'if (voter.head.promise > term) return void 0;',
    replace: '',
  },
  {
    name: 'read by the memory of former voters',
    breaks: 'a reader does not see that others vote',
    find: 'if (term === 0 || leader.version !== this.version) return void 0;',
    replace: 'if (term === 0) return void 0;',
  },
  {
    name: 'read by the memory of fewer voters than a majority',
    breaks: 'a reader looks at voters that a new leader did not need',
    find: 'return count >= this.#majority ? known : void 0;',
    replace: 'return known;',
  },
  {
    name: 'read by memory of which a process began again',
    breaks: 'a reader looks at what a voter had promised before it began again',
    find: 'if (!this.#mayComeBack || this.#isCurrent(voter, nowMs, lookedMs)) count += 1;',
    replace: 'count += 1;',
    hasDisks: true,
  },
  {
    name: 'told before it is shown',
    breaks: 'a reader does not see what others were told',
    find: 'this.#connections.memory.known = entry.index;',
    replace: '',
  },
  {
    name: 'reads confirmed by one',
    breaks: 'a leader that was replaced answers reads',
    find: 'let left = majorityOf(this.#host.configuration());',
    replace: 'let left = 1;',
  },
  {
    name: 'reads before the first entry',
    breaks: 'a new leader answers reads before it knows what was decided',
    find: 'if (leader.isReady) leader.confirm(',
    replace: 'if (true) leader.confirm(',
  },
  {
    name: 'ready by what was adopted',
    breaks: 'the first entry of another leader counts as its own',
    find: 'if (entry.term === this.term && (entry.flags & EntryFlag.Begin) !== 0)',
    replace: 'if ((entry.flags & EntryFlag.Begin) !== 0)',
  },
  {
    name: 'confirmed by any term',
    breaks: 'an acceptor that promised another confirms this one',
    find: 'if (promise > this.#leader.term) this.#leader.deposed(promise);\n\t\t\telse if (promise === this.#leader.term) done();',
    replace: 'done();',
  },
  {
    name: 'configuration not taken',
    breaks: 'a replica does not learn who votes',
    find: 'if ((entry.flags & EntryFlag.Configuration) !== 0) this.#configure(',
    replace: 'if (entry.index < 3 && (entry.flags & EntryFlag.Configuration) !== 0) this.#configure(',
  },
  // ---- snapshots and history
  {
    name: 'snapshot one too new',
    breaks: 'an entry is missing between snapshot and log',
    find: '\t\treturn {\n\t\t\tindex,\n\t\t\tterm: began.term,',
    replace: '\t\treturn {\n\t\t\tindex: index + 1,\n\t\t\tterm: began.term,',
  },
  {
    name: 'snapshot without voters',
    breaks: 'who begins from a snapshot does not know who votes',
    find: '\t\tthis.#configure(index, configuration);\n\t\tthis.#begun(index, term);\n',
    replace: '\t\tthis.#begun(index, term);\n',
  },
  {
    name: 'history one off',
    breaks: 'a laggard is sent another entry than it lacks',
    find: 'this.#entries[index - this.#base - 1 + this.#dropped]',
    replace: 'this.#entries[index - this.#base - 1 + this.#dropped + Math.min(1, this.#dropped)]',
  },
  {
    name: 'entry not marked as taken',
    breaks: 'a leader waits for room for ever',
    find: '\t\tthis.#history.push(entry, this.#connections.isEmpty);\n\t\tthis.#connections.memory.known = entry.index;\n\t\tthis.#publishTaken();\n',
    replace:
      '\t\tthis.#history.push(entry, this.#connections.isEmpty);\n\t\tthis.#connections.memory.known = entry.index;\n',
  },
  {
    name: 'taken before it is',
    breaks: 'an entry is overwritten that its acceptor has not taken',
    find: '\t\tthis.#history.push(entry, this.#connections.isEmpty);\n\t\tthis.#connections.memory.known = entry.index;\n\t\tthis.#publishTaken();\n',
    replace:
      '\t\tthis.#history.push(entry, this.#connections.isEmpty);\n\t\tthis.#connections.memory.known = entry.index;\n\t\tthis.#connections.memory.taken = entry.index + 1;\n',
  },
  {
    name: 'snapshot one too old',
    breaks: 'an entry is applied twice',
    find: '\t\treturn {\n\t\t\tindex,\n\t\t\tterm: began.term,',
    replace: '\t\treturn {\n\t\t\tindex: index - 1,\n\t\t\tterm: began.term,',
  },
  {
    name: 'snapshot over newer entries',
    breaks: 'a replica goes back to an old snapshot',
    find: 'if (offer.index <= this.#history.last || this.#leader !== void 0) return;\n\t\tthis.#snapshots.fetch(peer.link, offer, (bytes) => {\n\t\t\tif (offer.index <= this.#history.last || this.#leader !== void 0) return;',
    replace: 'this.#snapshots.fetch(peer.link, offer, (bytes) => {',
    shape: 'lag',
  },
  {
    name: 'applied twice',
    breaks: 'a command that was proposed again is applied again',
    module: PROGRAM,
    find: 'if (before !== undefined && before.call >= call)',
    replace: 'if (false)',
  },
]
