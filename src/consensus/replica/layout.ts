import type { ReplicaSettings } from './settings.ts'

/**
 * The memory that each replica registers, in words of 8 bytes, and cells.
 *
 * ```
 * 0   counter      advances while the replica is alive                          own processor
 * 8   taken        all entries up to this one are here, and decided             own processor
 * 16  promise      the highest term that was promised                           compare-and-swap
 * 24  left         the last term that it led, or wanted to, and does no more    own processor
 * 32  check        number and hash of its newest check, see `state-checks.ts`   own processor
 * 40  known        the last entry that it knows to be decided                   own processor
 * 48  leads        its term while it leads and has decided an entry, else 0     own processor
 * 56  version      of the configuration that holds for it                       own processor
 * 64  id           of the replica                                               own processor
 * 72  by rights    1 if slots are written by the leader that was granted it       own processor
 * 80  granted      the term of that leader                                      own processor
 * 128 owners       for each frame: 1 + the replica that may write it, or 0      own processor
 *     commits      for each frame: entries up to this one are decided,          WRITE by its owner
 *                  and lie here as they were decided
 *     slots        for each place of the ring: its word                         compare-and-swap, or by rights
 *     cells        for each frame, bank and place                               WRITE by the frame's owner
 * ```
 *
 * Frames are apart so that no proposer touches what another has written. Banks are two, so that a proposer of a later
 * term leaves the value alone that the slot's word names.
 */
export class ReplicaLayout {
  readonly window: number
  readonly frames: number
  readonly cellBytes: number
  readonly owners = 128
  readonly commits: number
  readonly slots: number
  /** Everything before the cells. */
  readonly headBytes: number
  readonly cells: number
  readonly lengthBytes: number

  constructor({ window, frames, cellBytes }: ReplicaSettings) {
    this.window = window
    this.frames = frames
    this.cellBytes = cellBytes
    this.commits = this.owners + 8 * frames
    this.slots = this.commits + 8 * frames
    this.headBytes = this.slots + 8 * window
    this.cells = Math.ceil(this.headBytes / 4096) * 4096
    this.lengthBytes = this.cells + frames * BANKS * window * cellBytes
  }

  place(index: number): number {
    return index % this.window
  }

  slot(index: number): number {
    return this.slots + 8 * this.place(index)
  }

  commit(frame: number): number {
    return this.commits + 8 * frame
  }

  owner(frame: number): number {
    return this.owners + 8 * frame
  }

  cell(frame: number, bank: number, index: number): number {
    return this.cells + ((frame * BANKS + bank) * this.window + this.place(index)) * this.cellBytes
  }
}

export const BANKS = 2

/** Offsets of the words at the start. */
export const HeadWord = {
  Counter: 0,
  Taken: 8,
  Promise: 16,
  Left: 24,
  Check: 32,
  Known: 40,
  Leads: 48,
  Version: 56,
  Id: 64,
  ByRights: 72,
  Granted: 80,
} as const

/** The words that others look at regularly. */
export const LOOK_BYTES = 40
