import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { FIRST_FORMAT } from './formats.ts'
import { Fragments } from './fragments.ts'
import { SessionTable } from './sessions.ts'
import { StateHash } from './state-hash.ts'

/** All that follows from the entries up to one, besides the machine: the same at every replica. */
export class AppliedState {
  /** Of the last entry that was applied; 0 before the first. */
  index = 0
  /** Commands that the machine has had. */
  commands = 0
  /** The time of the log. */
  timeMs = 0
  /** The format of commands that is in force. */
  format: number = FIRST_FORMAT
  hash: StateHash = new StateHash()
  sessions: SessionTable = new SessionTable()
  fragments: Fragments = new Fragments()

  encode(writer: ByteWriter): void {
    writer.u48(this.index)
    writer.u48(this.commands)
    writer.f64(this.timeMs)
    this.hash.encode(writer)
    this.sessions.encode(writer)
    this.fragments.encode(writer)
  }

  /** @throws RangeError if there are too few bytes. */
  static decode(reader: ByteReader): AppliedState {
    const state = new AppliedState()
    state.index = reader.u48()
    state.commands = reader.u48()
    state.timeMs = reader.f64()
    state.hash = StateHash.decode(reader)
    state.sessions = SessionTable.decode(reader)
    state.fragments = Fragments.decode(reader)
    return state
  }
}
