/** Mistakes that could have been made in an index, each as a change of what the compiler wrote. */
export interface IndexMistake {
  readonly name: string
  /** What goes wrong with it. */
  readonly breaks: string
  /** Occurs exactly once in the room. */
  readonly find: string
  readonly replace: string
  /** One of these tests, below `test/`, fails with it. */
  readonly tests: readonly string[]
}

const TABLE = ['index-service/memory/record-table.test']
const MARKS = ['index-service/memory/use-marks.test']
const MACHINE = ['index-service/state/shard-machine.test', 'index-service/state/databases.test']
const VICTIMS = ['index-service/state/victims.test']
const EVICTOR = ['index-service/evictor.test']
const REMOTE = ['index-service/remote-reads.test']
const HASHES = ['index-service/client/foreign-hashes.test']
const LOCATE = ['index-service/locate.test']
const OBSERVATIONS = ['index-service/observations.test']
const BACKUP = ['index-service/backup.test']
const CUT = ['index-service/state/snapshot-cut.test']
const REDIS = ['index-service/commands/differential.test']

/** It changes nothing that matters, so nothing may fail with it. */
export const canary: IndexMistake = {
  name: 'marks are found the other way round',
  breaks: 'nothing',
  find: 'const segment = hash >>> MARK_BITS & this.#header[HeaderWord.MarkSegments] - 1;',
  replace: 'const segment = this.#header[HeaderWord.MarkSegments] - 1 & hash >>> MARK_BITS;',
  tests: [...TABLE, ...MACHINE, ...EVICTOR],
}

export const mistakes: readonly IndexMistake[] = [
  {
    name: 'a hash is read out of memory while the entry that has changed it last is applied',
    breaks: 'fields of several moments are taken for those of one',
    find: 'if (version > applied) return "again";',
    replace: '',
    tests: HASHES,
  },
  {
    name: 'calls that come packed are seen one by one',
    breaks: 'readers from outside see a part of what is one change',
    find: 'return packed.count > 1 && apart !== true ? this.#asOne(run) : run();',
    replace: 'return run();',
    tests: ['index-service/state/databases.test'],
  },
  {
    name: 'a hash is not looked at again after its fields',
    breaks: 'some fields are of before a change, and others of after it',
    find: 'return after instanceof Uint8Array && versionOf(after) === version ? fields : "again";',
    replace: 'return fields;',
    tests: HASHES,
  },
  {
    name: 'the last look at a hash does not wait for what is decided',
    breaks: 'fields that a command has changed so far come with those that it has yet to change',
    find: 'const after = this.#read(this.#keys.ofKey(key, space));\n\t\treturn after instanceof Uint8Array && versionOf(after) === version ? fields',
    replace:
      'const after = table.get(this.#keys.ofKey(key, space));\n\t\treturn after instanceof Uint8Array && versionOf(after) === version ? fields',
    tests: HASHES,
  },
  {
    name: 'the record of a hash keeps its names when a field is new',
    breaks: 'who reads a hash out of memory misses fields',
    find: 'this.hasNewNames ||= isNew;',
    replace: '',
    tests: HASHES,
  },
  {
    name: 'a voter leaves a shard before the last one that left has been replaced',
    breaks: 'a shard that moves has no majority, and no leader for good',
    find: 'return voters?.length === holders.length && voters.every((rank) => have.includes(rank));',
    replace: 'return true;',
    tests: ['index-service/placement.test'],
  },
  {
    name: 'a bucket that is being divided is read',
    breaks: 'readers from outside miss keys while the table grows',
    find: 'if ((version & 1) !== 0) return "again";',
    replace: '',
    tests: TABLE,
  },
  {
    name: 'what overflows from a bucket is not read',
    breaks: 'readers from outside miss keys whose bucket is full',
    find: 'place = Atomics.load(part.words, bucket + BucketWord.Next);',
    replace: 'place = 0;',
    tests: TABLE,
  },
  {
    name: 'a record stays alive after it was replaced',
    breaks: 'memory that is written over and over grows without end',
    find: 'this.#segments.release(before, this.#bytesAt(before));',
    replace: '',
    tests: TABLE,
  },
  {
    name: 'a cursor of SCAN goes on in the order of the table',
    breaks: 'SCAN misses keys of a table that has grown meanwhile',
    find: 'return reversed(reversed((cursor | ~mask) >>> 0) + 1 >>> 0);',
    replace: 'return cursor + 1 > mask ? 0 : cursor + 1;',
    tests: TABLE,
  },
  {
    name: 'watched keys are not looked at',
    breaks: 'a transaction runs although what it depends on has changed',
    find: 'if (watched !== void 0 && !watched.every((key) => this.#isUnchanged(key))) return null;',
    replace: '',
    tests: MACHINE,
  },
  {
    name: 'a database that was swapped has not changed',
    breaks: 'a transaction runs although SWAPDB has put other keys in their place',
    find: 'return version === 0 ? 0 : Math.max(version, this.#swapped[db]);',
    replace: 'return version;',
    tests: MACHINE,
  },
  {
    name: 'a key expires one millisecond late',
    breaks: 'a key is there at the time at which it expires',
    find: 'return expireAtMs === 0 || expireAtMs > this.#moment.timeMs;',
    replace: 'return expireAtMs === 0 || expireAtMs >= this.#moment.timeMs;',
    tests: MACHINE,
  },
  {
    name: 'a call that waits is served and stays',
    breaks: 'one call takes two elements',
    find: 'this.#waiters.serve(waiter, reply);',
    replace: '',
    tests: MACHINE,
  },
  {
    name: 'a snapshot forgets when databases were swapped',
    breaks: 'replicas that were restored judge watched keys differently',
    find: 'for (const db of this.#swapped.keys()) this.#swapped[db] = reader.count();',
    replace: 'for (const _ of this.#swapped) reader.count();',
    tests: MACHINE,
  },
  {
    name: 'programs do not see that groups have changed',
    breaks: 'a script takes effect although another took the same entries',
    find: 'return Math.max(version, this.stream(key).groupsChangedAt);',
    replace: 'return version;',
    tests: MACHINE,
  },
  {
    name: 'a key that has changed is evicted',
    breaks: 'what was just written goes first',
    find: 'if (this.#isUnchanged(victim) && this.#databases',
    replace: 'if (this.#databases',
    tests: VICTIMS,
  },
  {
    name: 'what was used last goes first',
    breaks: 'a cache keeps what no one asks for',
    find: 'const sign = rule.by === "recency" ? -1 : 1;',
    replace: 'const sign = 1;',
    tests: VICTIMS,
  },
  {
    name: 'marks are not divided when they grow',
    breaks: 'half of all records seem to be unused since 1970',
    find: 'for (let at = 0; at < segments; at += 1) this.#segment(segments + at, fix).set(this.#segment(at, fix));',
    replace: 'for (let at = 0; at < segments; at += 1) this.#segment(segments + at, fix);',
    tests: MARKS,
  },
  {
    name: 'what looks at a key uses it',
    breaks: 'OBJECT IDLETIME is always 0',
    find: 'this.#records.nowMs = spec.isGlance ? 0 : this.#context.timeMs;',
    replace: '',
    tests: VICTIMS,
  },
  {
    name: 'writes do not wait behind others',
    breaks: 'a later write of a connection overtakes an earlier one that waits for room',
    find: 'if (this.#line.length === 0 && this.#fits(bytes)) return',
    replace: 'if (this.#fits(bytes)) return',
    tests: EVICTOR,
  },
  {
    name: 'what is under way is not counted',
    breaks: 'writes that were let go are refused',
    find: 'this.#underWayBytes += bytes;',
    replace: '',
    tests: EVICTOR,
  },
  {
    name: 'writes wait for ever where no key may go',
    breaks: 'a full index hangs',
    find: 'if (victims.length === 0) return this.#underWayBytes > 0 ? "later" : "none";',
    replace: 'if (victims.length === 0) return "later";',
    tests: EVICTOR,
  },
  {
    name: 'a backup forgets what changes while keys are read',
    breaks: 'a backup mixes what was so at different moments',
    find: 'for (const changes of this.#running) changes.add(key, db);',
    replace: '',
    tests: BACKUP,
  },
  {
    name: 'a backup goes on after all keys were removed',
    breaks: 'keys that were removed come back',
    find: 'if (changes.isAll) return void 0;',
    replace: '',
    tests: BACKUP,
  },
  {
    name: 'a backup that is cut off is restored',
    breaks: 'half of the keys are lost without a word',
    find: 'if (number !== parts || endBytes !== this.lengthBytes) throw damaged(this.path, at);',
    replace: '',
    tests: BACKUP,
  },
  {
    name: 'the tail of a tag counts',
    breaks: 'keys of one tag are in different shards',
    find: 'closing > opening + 1 ? crc16(key, opening + 1, closing) : ',
    replace: '',
    tests: ['index-service/keys/slot.test'],
  },
  {
    name: 'a list is served from the wrong end',
    breaks: 'BLPOP takes the last element',
    find: 'return readyKey === void 0 || latin1Of(readyKey) === latin1Of(key);',
    replace: 'return true;',
    tests: [...MACHINE, ...REDIS],
  },
  {
    name: 'a place does not say that its segment was used again',
    breaks: 'what lies there now is taken for the value that was there',
    find: 'offset: HeaderWord.Reused * 4,\n\t\t\t\t\tvalue: reused',
    replace: 'offset: HeaderWord.Magic * 4, value: LAYOUT_MAGIC',
    tests: LOCATE,
  },
  {
    name: 'a place does not say that databases were swapped',
    breaks: 'the value of another database is taken for that of the key',
    find: 'offset: HeaderWord.Swaps * 4,\n\t\t\t\t\tvalue: swaps',
    replace: 'offset: HeaderWord.Magic * 4, value: LAYOUT_MAGIC',
    tests: LOCATE,
  },
  {
    name: 'a write counts as a use in each process',
    breaks: 'keys that are written seem to be hotter than those that are read',
    find: 'if (isRead || this.#leads()) table.use(',
    replace: 'table.use(',
    tests: ['index-service/hot-keys.test'],
  },
  {
    name: 'values of fields take nothing',
    breaks: 'large hashes seem to be small',
    find: 'sum.bytes += recordTakes(record.length, value.length);',
    replace: 'sum.bytes += recordTakes(record.length, isOfKey(record[0]) ? value.length : 0);',
    tests: OBSERVATIONS,
  },
  {
    name: 'a READ does not look which table it has read',
    breaks: 'keys that a device has given to other memory bring values of another shard',
    find: 'if (!table.isTold) {',
    replace: 'if (false) {',
    tests: REMOTE,
  },
  {
    name: 'a table that was emptied meanwhile is as good as any',
    breaks: 'keys seem to be gone while a snapshot comes',
    find: 'if (Atomics.load(after, HeaderWord.Together) !== together) continue;',
    replace: '',
    tests: REMOTE,
  },
  {
    name: 'the first READ of a voter says what it knows as a leader',
    breaks: 'what it knew as a follower counts as what was answered',
    find: 'this.leads = leads === this.#led ? leads : 0;',
    replace: 'this.leads = leads;',
    tests: REMOTE,
  },
  {
    name: 'a collection is not copied before it changes',
    breaks: 'a snapshot has elements that came after its command',
    find: 'if (!this.#isWanted(space, key, record)) return;',
    replace: 'return;',
    tests: CUT,
  },
  {
    name: 'strings that are set together are not copied before',
    breaks: 'a snapshot lacks keys that were there at its command',
    find: 'numbers[SetNumber.Cut] = this.unpacked?.versionMax ?? -1;',
    replace: 'numbers[SetNumber.Cut] = -1;',
    tests: CUT,
  },
  {
    name: 'what the walk has passed is copied again',
    breaks: 'keys are in a snapshot twice',
    find: 'if (this.#records.isPassed(this.#keys.ofKey(key, space), this.#walk.cursor)) return false;',
    replace: '',
    tests: CUT,
  },
  {
    name: 'the last member of a set moves without being kept',
    breaks: 'a snapshot has a member of a set in two places, or in none',
    find: 'this.#kept?.changing(this.#members.length - 1);',
    replace: '',
    tests: CUT,
  },
  {
    name: 'values of fields are not kept',
    breaks: 'a hash is in a snapshot as it became while it was written',
    find: 'if (value !== void 0) kept.set(name, Uint8Array.from(value));',
    replace: '',
    tests: CUT,
  },
]
